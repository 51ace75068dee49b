//! The categories whose plugins are structs: what their attributes have in declaration.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Error, Fields, Ident, ItemStruct, Result, Type};

use crate::arguments::Arguments;
use crate::declaration::{Declared, Rules};
use crate::docs;
use crate::export::export;

/// A struct with a plugin attribute.
pub(crate) struct Structure {
    item: ItemStruct,
    pub(crate) declaration: Declared,
}

/// What a category adds.
pub(crate) struct Addition {
    /// The marker type in `__private::category`.
    pub(crate) category: &'static str,
    /// The module of its table.
    pub(crate) table: &'static str,
    /// More members of `impl Plugin`: at least `MEMBERS`.
    pub(crate) plugin: TokenStream,
    /// More items, such as the impl of the category's own trait.
    pub(crate) items: TokenStream,
}

impl Structure {
    /// Reads the struct and the shared arguments.
    pub(crate) fn read(
        attribute: &str,
        given: &mut Arguments,
        item: TokenStream,
        rules: Rules,
    ) -> Result<Self> {
        let item: ItemStruct = syn::parse2(item)?;
        if let Some(parameter) = item.generics.params.first() {
            return Err(Error::new_spanned(parameter, "a plugin is a concrete type"));
        }
        let description = docs::text(&item.attrs);
        if description.is_empty() {
            let missing = format!(
                "`#[{attribute}]` needs a doc comment on `{}`: it is the plugin's description",
                item.ident
            );
            return Err(Error::new_spanned(&item.ident, missing));
        }
        let mut declaration = Declared::take(given, &item.ident.to_string(), description, rules)?;
        declaration.take_life(given)?;
        Ok(Self { item, declaration })
    }

    pub(crate) fn ident(&self) -> &Ident {
        &self.item.ident
    }

    /// An instance without `init`: a unit struct as it stands, any other by default.
    fn make(&self) -> TokenStream {
        match self.item.fields {
            Fields::Unit => quote!(Self),
            Fields::Named(_) | Fields::Unnamed(_) => {
                quote!(<Self as ::core::default::Default>::default())
            }
        }
    }

    /// The struct as it was, and everything that makes it a plugin.
    pub(crate) fn finish(self, addition: Addition) -> TokenStream {
        let ident = self.ident();
        let item = &self.item;
        let category = Ident::new(addition.category, proc_macro2::Span::call_site());
        let about = self.declaration.about();
        let checks = self.declaration.checks(addition.category);
        let life = self.declaration.life(&self.make());
        let plugin = addition.plugin;
        let items = addition.items;
        let ty: Type = syn::parse_quote!(#ident);
        let export = export(&self.declaration.id, &ty, addition.table);
        quote! {
            #item

            const _: () = {
                #[automatically_derived]
                impl ::stud_sdk::__private::plugin::Plugin for #ident {
                    type Category = ::stud_sdk::__private::category::#category;
                    #about
                    #life
                    #plugin
                }
                #items
                #checks
            };

            #export
        }
    }
}
