//! What tools and commands share: functions, alone or several in one plugin, and structs that are one by themselves.

use proc_macro2::{Span, TokenStream};
use quote::{format_ident, quote};
use syn::{Ident, Path, Result, Type};

use crate::arguments::Arguments;
use crate::declaration::{Declared, Rules};
use crate::export::export;
use crate::function::Function;
use crate::structure::{Addition, Structure};

/// One of the two.
pub(crate) struct Callable {
    /// `tool` or `command`: the attribute, the table, and the module in `__private`.
    pub(crate) word: &'static str,
    /// `Tool` or `Command`: the category, and the beginning of the names in that module.
    pub(crate) category: &'static str,
    /// `tools` or `commands`: the macro for several, and the member of the manifest.
    pub(crate) several: &'static str,
    pub(crate) rules: Rules,
}

/// A function's definition: the type that stands for it, and the impl for that type.
pub(crate) struct Definition {
    /// Pieces of JSON: its entry in the manifest.
    pub(crate) declaration: TokenStream,
    /// Its name on the wire.
    pub(crate) name: String,
    /// The methods of the impl.
    pub(crate) methods: TokenStream,
}

impl Callable {
    fn module(&self) -> TokenStream {
        let word = format_ident!("{}", self.word);
        quote!(::stud_sdk::__private::#word)
    }

    /// A function: a plugin by itself, or with `part` one of several.
    pub(crate) fn function(
        &self,
        mut given: Arguments,
        function: &Function,
        default_id: &str,
        define: impl FnOnce(&mut Arguments) -> Result<Definition>,
    ) -> Result<TokenStream> {
        let definition = define(&mut given)?;
        let part = given.flag("part")?.unwrap_or(false);
        let declaration = if part {
            None
        } else {
            let description = function.description.clone();
            Some(Declared::take(
                &mut given,
                default_id,
                description,
                self.rules,
            )?)
        };
        given.finish()?;

        // A struct with braces has its name in the namespace of types alone, so it may bear that of the function.
        let marker = Ident::new(&function.item.sig.ident.to_string(), Span::call_site());
        let marker_impl = self.marker(function, &marker, &definition);
        let plugin = declaration.map(|declaration| {
            let ty: Type = syn::parse_quote!(#marker);
            self.plugin(
                &declaration,
                &ty,
                &quote!(#marker {}),
                &[syn::parse_quote!(#marker)],
            )
        });
        let item = &function.item;
        Ok(quote! {
            #item
            #marker_impl
            #plugin
        })
    }

    fn marker(&self, function: &Function, marker: &Ident, definition: &Definition) -> TokenStream {
        let visibility = &function.item.vis;
        let module = self.module();
        let part = format_ident!("{}Part", self.category);
        let Definition {
            declaration,
            name,
            methods,
        } = definition;
        quote! {
            #[doc(hidden)]
            #[allow(non_camel_case_types, reason = "it bears the name of its function")]
            #[derive(Debug)]
            #visibility struct #marker {}

            const _: () = {
                #[allow(unused_imports, reason = "needed where the function returns no result")]
                use ::stud_sdk::__private::returned::Infallible as _;

                #[automatically_derived]
                impl #module::#part for #marker {
                    const NAME: &'static str = #name;
                    const DECLARATION: ::stud_sdk::schema::Json = &[#declaration];
                    #methods
                }
            };
        }
    }

    /// The plugin `plugin` of these functions, exported.
    fn plugin(
        &self,
        declaration: &Declared,
        plugin: &Type,
        make: &TokenStream,
        parts: &[Path],
    ) -> TokenStream {
        let module = self.module();
        let part = format_ident!("{}Part", self.category);
        let mut declarations = TokenStream::new();
        for (index, path) in parts.iter().enumerate() {
            if index > 0 {
                declarations.extend(quote!(::stud_sdk::schema::Piece::Raw(","),));
            }
            declarations.extend(quote! {
                ::stud_sdk::schema::Piece::Nested(<#path as #module::#part>::DECLARATION),
            });
        }
        let members = self.members(&declarations);
        let twice = format!("two {} of this plugin have the same name", self.several);
        let entries = self.entries(plugin, &quote!(#(#module::part::<Self, #parts>()),*));
        let category = format_ident!("{}", self.category);
        let about = declaration.about();
        let checks = declaration.checks(self.category);
        let life = declaration.life(make);
        let export = export(&declaration.id, plugin, self.word);
        quote! {
            const _: () = {
                #[automatically_derived]
                impl ::stud_sdk::__private::plugin::Plugin for #plugin {
                    type Category = ::stud_sdk::__private::category::#category;
                    #members
                    #about
                    #life
                }
                #entries
                #checks
                const _: () = ::core::assert!(
                    ::stud_sdk::__private::manifest::all_differ(&[#(<#parts as #module::#part>::NAME),*]),
                    #twice
                );
            };

            #export
        }
    }

    fn members(&self, declarations: &TokenStream) -> TokenStream {
        let head = format!(",\n\"{}\":[", self.several);
        quote! {
            const MEMBERS: ::stud_sdk::schema::Json = &[
                ::stud_sdk::schema::Piece::Raw(#head),
                #declarations
                ::stud_sdk::schema::Piece::Raw("]"),
            ];
        }
    }

    fn entries(&self, plugin: &Type, entries: &TokenStream) -> TokenStream {
        let module = self.module();
        let implemented = format_ident!("{}Plugin", self.category);
        let entry = format_ident!("{}Entry", self.category);
        let list = format_ident!("{}", self.several.to_uppercase());
        quote! {
            #[automatically_derived]
            impl #module::#implemented for #plugin {
                const #list: &'static [#module::#entry<Self>] = &[#entries];
            }
        }
    }

    /// A struct that implements `Tool` or `Command`. `declare` gives its name and its entry in the manifest.
    pub(crate) fn structure(
        &self,
        mut given: Arguments,
        item: TokenStream,
        declare: impl FnOnce(&mut Arguments, &Structure, &TokenStream) -> Result<(String, TokenStream)>,
    ) -> Result<TokenStream> {
        let structure = Structure::read(self.word, &mut given, item, self.rules)?;
        let ident = structure.ident();
        let (word, category) = (
            format_ident!("{}", self.word),
            format_ident!("{}", self.category),
        );
        let input = quote!(<#ident as ::stud_sdk::#word::#category>::Args);
        let (name, declaration) = declare(&mut given, &structure, &input)?;
        given.finish()?;
        let module = self.module();
        let plugin = self.members(&declaration);
        let items = self.entries(
            &syn::parse_quote!(#ident),
            &quote!(#module::object::<Self>(#name)),
        );
        Ok(structure.finish(Addition {
            category: self.category,
            table: self.word,
            plugin,
            items,
        }))
    }

    /// `tools!` or `commands!`.
    pub(crate) fn set(&self, input: TokenStream) -> Result<TokenStream> {
        let mut given = Arguments::parse(input)?;
        let parts: Vec<Path> = given.list(self.several)?;
        let needs = |what: &str| format!("`{}!` needs {what}", self.several);
        if parts.is_empty() {
            let what = format!(
                "`{} = [a, b]`: functions with `#[{}(part)]`",
                self.several, self.word
            );
            return Err(given.missing(&needs(&what)));
        }
        let Some(description) = given.string("description")? else {
            return Err(given.missing(&needs("`description = \"…\"`, the plugin's description")));
        };
        if !given.has("id") {
            return Err(given.missing(&needs("`id = \"…\"`")));
        }
        let declaration = Declared::take(&mut given, self.several, description, self.rules)?;
        given.finish()?;
        let plugin = format_ident!("Stud{}s", self.category);
        let implementation = self.plugin(
            &declaration,
            &syn::parse_quote!(#plugin),
            &quote!(Self),
            &parts,
        );
        Ok(quote! {
            struct #plugin;
            #implementation
        })
    }
}
