//! A struct with named fields: a JSON object.

use std::collections::BTreeSet;

use proc_macro2::TokenStream;
use quote::quote;
use syn::punctuated::Punctuated;
use syn::{Error, Field as Source, Result, Token};

use super::Target;
use super::field::Field;

pub(crate) fn derive(
    target: &Target<'_>,
    sources: &Punctuated<Source, Token![,]>,
) -> Result<TokenStream> {
    let ident = &target.input.ident;
    let mut fields = Vec::new();
    let mut seen = BTreeSet::new();
    for (index, source) in sources.iter().enumerate() {
        let field = Field::read(source, index)?;
        if !seen.insert(field.name.clone()) {
            let twice = format!("another field is `{}` on the wire too", field.name);
            return Err(Error::new_spanned(source, twice));
        }
        fields.push(field);
    }

    let (members, defaults): (Vec<_>, Vec<_>) = fields.iter().map(Field::shadow).unzip();
    let serde = target.serde(
        &quote!(struct Shadow { #(#members),* }),
        &quote!(deny_unknown_fields),
    );
    let names = fields.iter().map(|field| &field.name);
    let properties = separated(fields.iter().map(Field::property));
    let required = fields.iter().map(Field::required);
    let description = target.description();
    Ok(quote! {
        #serde
        #(#defaults)*

        #[automatically_derived]
        impl ::stud_sdk::Schema for #ident {
            const DESCRIPTION: &'static str = #description;
            const BODY: ::stud_sdk::schema::Json = &[
                ::stud_sdk::schema::Piece::Raw("\"type\":\"object\",\"properties\":{"),
                ::stud_sdk::schema::Piece::Nested(<Self as ::stud_sdk::schema::Members>::PROPERTIES),
                ::stud_sdk::schema::Piece::Raw("},\"required\":["),
                ::stud_sdk::schema::Piece::Nested(<Self as ::stud_sdk::schema::Members>::REQUIRED),
                ::stud_sdk::schema::Piece::Raw("],\"additionalProperties\":false"),
            ];
        }

        #[automatically_derived]
        impl ::stud_sdk::schema::Members for #ident {
            const NAMES: &'static [&'static str] = &[#(#names),*];
            const PROPERTIES: ::stud_sdk::schema::Json = &[#properties];
            const REQUIRED: ::stud_sdk::schema::Json =
                &::stud_sdk::__private::schema::select([#(#required),*]);
        }
    })
}

fn separated(properties: impl Iterator<Item = TokenStream>) -> TokenStream {
    let mut pieces = TokenStream::new();
    for (index, property) in properties.enumerate() {
        if index > 0 {
            pieces.extend(quote!(::stud_sdk::schema::Piece::Raw(","),));
        }
        pieces.extend(quote!(#property,));
    }
    pieces
}
