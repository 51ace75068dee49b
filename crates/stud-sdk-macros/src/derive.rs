//! `#[derive(Schema)]`, `#[derive(Args)]`, `#[derive(Config)]`: one description of a type, for people, models and serde.

mod field;
mod object;
mod string_enum;

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Data, DeriveInput, Error, Fields, Result};

use crate::docs;

/// What the derived type is for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// Anything: read and written.
    Schema,
    /// The arguments of a tool or a command: read.
    Args,
    /// The config of a plugin: read.
    Config,
}

impl Purpose {
    fn name(self) -> &'static str {
        match self {
            Self::Schema => "Schema",
            Self::Args => "Args",
            Self::Config => "Config",
        }
    }

    /// The trait that marks the type, besides `Schema`.
    fn marker(self) -> Option<TokenStream> {
        match self {
            Self::Schema => None,
            Self::Args => Some(quote!(::stud_sdk::schema::Args)),
            Self::Config => Some(quote!(::stud_sdk::schema::Config)),
        }
    }
}

/// A type being derived for.
pub(crate) struct Target<'a> {
    pub(crate) input: &'a DeriveInput,
    pub(crate) purpose: Purpose,
}

impl Target<'_> {
    fn description(&self) -> String {
        docs::text(&self.input.attrs)
    }

    /// The impls of serde's traits, through a shadow type that carries the attributes.
    ///
    /// The author's type stays free of them, and the author's crate of a dependency on serde.
    fn serde(&self, shadow: &TokenStream, container: &TokenStream) -> TokenStream {
        let ident = &self.input.ident;
        let name = ident.to_string();
        let mut derives = vec![quote!(::stud_sdk::__private::serde::Deserialize)];
        let mut write = TokenStream::new();
        if self.purpose == Purpose::Schema {
            derives.push(quote!(::stud_sdk::__private::serde::Serialize));
            write = quote! {
                #[automatically_derived]
                impl ::stud_sdk::__private::serde::Serialize for #ident {
                    fn serialize<S: ::stud_sdk::__private::serde::Serializer>(
                        &self,
                        serializer: S,
                    ) -> ::core::result::Result<S::Ok, S::Error> {
                        Shadow::serialize(self, serializer)
                    }
                }
            };
        }
        quote! {
            #[derive(#(#derives),*)]
            #[serde(crate = "::stud_sdk::__private::serde", remote = #name, #container)]
            #shadow

            #[automatically_derived]
            impl<'de> ::stud_sdk::__private::serde::Deserialize<'de> for #ident {
                fn deserialize<D: ::stud_sdk::__private::serde::Deserializer<'de>>(
                    deserializer: D,
                ) -> ::core::result::Result<Self, D::Error> {
                    Shadow::deserialize(deserializer)
                }
            }
            #write
        }
    }
}

pub(crate) fn derive(input: &DeriveInput, purpose: Purpose) -> Result<TokenStream> {
    if let Some(parameter) = input.generics.params.first() {
        let generic = format!("`{}` cannot be derived for a generic type", purpose.name());
        return Err(Error::new_spanned(parameter, generic));
    }
    let target = Target { input, purpose };
    let body = match &input.data {
        Data::Struct(data) => match &data.fields {
            Fields::Named(fields) => object::derive(&target, &fields.named)?,
            Fields::Unit => object::derive(&target, &syn::punctuated::Punctuated::new())?,
            Fields::Unnamed(fields) => {
                let unnamed = "give the fields names: they are the members of a JSON object";
                return Err(Error::new_spanned(fields, unnamed));
            }
        },
        Data::Enum(data) if purpose == Purpose::Schema => string_enum::derive(&target, data)?,
        Data::Enum(data) => {
            let wrong = format!(
                "`{}` is for structs; an enum inside one derives `Schema`",
                purpose.name()
            );
            return Err(Error::new(data.enum_token.span, wrong));
        }
        Data::Union(data) => {
            return Err(Error::new(data.union_token.span, "a union has no schema"));
        }
    };
    let ident = &input.ident;
    let marker = purpose.marker().map(|marker| {
        quote! {
            #[automatically_derived]
            impl #marker for #ident {}
        }
    });
    Ok(quote! {
        const _: () = {
            #body
            #marker
        };
    })
}
