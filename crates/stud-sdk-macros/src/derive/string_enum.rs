//! An enum of plain variants: one of a few words.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{DataEnum, Error, Result};

use super::Target;
use super::field::attribute;
use crate::{json, names};

pub(crate) fn derive(target: &Target<'_>, data: &DataEnum) -> Result<TokenStream> {
    let ident = &target.input.ident;
    let mut words: Vec<String> = Vec::new();
    let mut variants = Vec::new();
    for variant in &data.variants {
        if !variant.fields.is_empty() {
            let loaded = "only plain variants have a schema: each is one word";
            return Err(Error::new_spanned(&variant.fields, loaded));
        }
        let mut given = attribute(&variant.attrs)?;
        let name = given.string("rename")?;
        given.finish()?;
        let name = name.unwrap_or_else(|| names::camel(&names::plain(&variant.ident)));
        if words.contains(&name) {
            let twice = format!("another variant is `{name}` on the wire too");
            return Err(Error::new_spanned(variant, twice));
        }
        let plain = &variant.ident;
        variants.push(quote!(#[serde(rename = #name)] #plain));
        words.push(name);
    }
    if words.is_empty() {
        return Err(Error::new_spanned(
            ident,
            "an enum without variants has no value",
        ));
    }

    let serde = target.serde(&quote!(enum Shadow { #(#variants),* }), &TokenStream::new());
    let body = format!("\"type\":\"string\",\"enum\":{}", json::texts(words));
    let description = target.description();
    Ok(quote! {
        #serde

        #[automatically_derived]
        impl ::stud_sdk::Schema for #ident {
            const DESCRIPTION: &'static str = #description;
            const BODY: ::stud_sdk::schema::Json = &[::stud_sdk::schema::Piece::Raw(#body)];
        }
    })
}
