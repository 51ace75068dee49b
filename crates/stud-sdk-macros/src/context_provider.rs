//! `#[context_provider]`: a struct that adds to what the model is told.

use proc_macro2::TokenStream;
use quote::quote;
use syn::Result;

use crate::arguments::Arguments;
use crate::declaration::Rules;
use crate::needs;
use crate::structure::{Addition, Structure};

const RULES: Rules = Rules {
    reload: &["between-turns"],
};

pub(crate) fn expand(attribute: TokenStream, item: TokenStream) -> Result<TokenStream> {
    let mut given = Arguments::parse(attribute)?;
    let structure = Structure::read("context_provider", &mut given, item, RULES)?;
    let needs = needs::member(&mut given)?;
    given.finish()?;
    Ok(structure.finish(Addition {
        category: "ContextProvider",
        table: "context_provider",
        plugin: quote! {
            const MEMBERS: ::stud_sdk::schema::Json = &[::stud_sdk::schema::Piece::Raw(#needs)];
        },
        items: TokenStream::new(),
    }))
}
