//! Functions that are tools or commands.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Error, FnArg, ItemFn, Result, Type};

use crate::docs;

/// A function `fn name(input: Input, cx: &Cx) -> …`; either parameter may be left out.
pub(crate) struct Function {
    pub(crate) item: ItemFn,
    pub(crate) description: String,
    input: Option<Type>,
    takes_cx: bool,
}

impl Function {
    /// Reads the function behind `#[attribute]`; `reader` is who its doc comment is for.
    pub(crate) fn read(attribute: &str, reader: &str, item: ItemFn) -> Result<Self> {
        let signature = &item.sig;
        let name = &signature.ident;
        if let Some(parameter) = signature.generics.params.first() {
            let generic = format!("`#[{attribute}]` cannot be on a generic function");
            return Err(Error::new_spanned(parameter, generic));
        }
        let description = docs::text(&item.attrs);
        if description.is_empty() {
            let missing = format!(
                "`#[{attribute}]` needs a doc comment on `{name}`: it is what {reader} reads"
            );
            return Err(Error::new_spanned(name, missing));
        }
        let shape = format!(
            "`#[{attribute}]` takes `fn {name}(input: Input, cx: &Cx)`, each parameter at most once"
        );
        let mut input = None;
        let mut takes_cx = false;
        for (index, argument) in signature.inputs.iter().enumerate() {
            let FnArg::Typed(argument) = argument else {
                return Err(Error::new_spanned(argument, shape));
            };
            match &*argument.ty {
                Type::Reference(_) if !takes_cx && index + 1 == signature.inputs.len() => {
                    takes_cx = true;
                }
                Type::Reference(_) => return Err(Error::new_spanned(argument, shape)),
                _ if index == 0 => input = Some((*argument.ty).clone()),
                _ => return Err(Error::new_spanned(argument, shape)),
            }
        }
        Ok(Self {
            item,
            description,
            input,
            takes_cx,
        })
    }

    /// The type of the arguments.
    pub(crate) fn input(&self) -> TokenStream {
        self.input_or(quote!(::stud_sdk::schema::Nothing))
    }

    /// The type of the arguments, or this one when the function takes none.
    pub(crate) fn input_or(&self, otherwise: TokenStream) -> TokenStream {
        match &self.input {
            Some(input) => quote!(#input),
            None => otherwise,
        }
    }

    /// The call, with `__stud_input` and `__stud_cx` in scope: names that no function of an author's has.
    pub(crate) fn call(&self) -> TokenStream {
        let name = &self.item.sig.ident;
        let input = self.input.as_ref().map(|_| quote!(__stud_input,));
        let cx = self.takes_cx.then(|| quote!(&__stud_cx));
        let wait = self.item.sig.asyncness.map(|_| quote!(.await));
        quote!(#name(#input #cx) #wait)
    }
}
