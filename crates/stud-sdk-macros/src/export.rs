//! The two symbols of a plugin, and the function that leads to both.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::Type;

use crate::declaration::entry_symbol;

/// Exports `plugin` under `id` with the table of its category.
///
/// The attributes that export symbols stand in `stud-abi`, so that a plugin can forbid `unsafe` altogether.
pub(crate) fn export(id: &str, plugin: &Type, table: &str) -> TokenStream {
    let table = format_ident!("{table}");
    let entry = entry_symbol(id);
    let manifest = format!("stud_manifest_{}", id.replace('-', "_"));
    quote! {
        ::stud_sdk::__private::export_plugin! {
            manifest #manifest: <#plugin as ::stud_sdk::__private::manifest::Manifest>::MANIFEST,
            entry #entry: ::stud_sdk::__private::tables::#table::entry::<
                ::stud_sdk::__private::glue::Glue<#plugin>,
            >(),
        }
    }
}
