//! `#[command]`: a function, or a struct with `impl Command`, behind a slash; `commands!`: several of them.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Error, Item, ItemFn, Path, Result};

use crate::arguments::Arguments;
use crate::callable::{Callable, Definition};
use crate::declaration::Rules;
use crate::function::Function;
use crate::{json, names};

const COMMAND: Callable = Callable {
    word: "command",
    category: "Command",
    several: "commands",
    rules: Rules {
        reload: &["in-turn", "between-turns"],
    },
};

pub(crate) fn expand(attribute: TokenStream, item: TokenStream) -> Result<TokenStream> {
    let given = Arguments::parse(attribute)?;
    match syn::parse2::<Item>(item.clone())? {
        Item::Fn(item) => expand_function(given, item),
        Item::Struct(_) => COMMAND.structure(given, item, |given, structure, input| {
            let default = names::kebab(&structure.ident().to_string());
            let command = Declaration::take(given, default)?;
            let declaration = command.pieces(structure.declaration.description(), input);
            Ok((command.name, declaration))
        }),
        other => Err(Error::new_spanned(
            other,
            "`#[command]` is for a function or a struct",
        )),
    }
}

pub(crate) fn expand_set(input: TokenStream) -> Result<TokenStream> {
    COMMAND.set(input)
}

fn expand_function(given: Arguments, item: ItemFn) -> Result<TokenStream> {
    let function = Function::read("command", "the user", item)?;
    let name = names::kebab(&names::plain(&function.item.sig.ident));
    COMMAND.function(given, &function, &name, |given| {
        let command = Declaration::take(given, name.clone())?;
        let complete: Option<Path> = given.value("complete")?;
        // Without arguments of its own a command is given the words as typed, and a closed schema would refuse them.
        let input = function.input_or(quote!(::stud_sdk::__private::command::Ignored));
        Ok(Definition {
            declaration: command.pieces(&function.description, &input),
            methods: methods(&function, &input, complete.as_ref()),
            name: command.name,
        })
    })
}

fn methods(function: &Function, input: &TokenStream, complete: Option<&Path>) -> TokenStream {
    let call = function.call();
    let complete = if let Some(complete) = complete {
        quote!(#complete(&__stud_draft.draft, __stud_draft.cursor))
    } else {
        quote! {
            let _ = __stud_draft;
            ::std::vec::Vec::new()
        }
    };
    quote! {
        fn run(
            __stud_args: &str,
            __stud_cx: ::stud_sdk::Cx,
        ) -> ::stud_sdk::__private::BoxFuture<'static, ::stud_sdk::Result<::stud_sdk::command::Rendered>> {
            let __stud_input: #input = match ::stud_sdk::__private::command::args(__stud_args) {
                ::core::result::Result::Ok(input) => input,
                ::core::result::Result::Err(error) => return ::stud_sdk::__private::returned::failed(error),
            };
            ::std::boxed::Box::pin(async move {
                let _ = (&__stud_input, &__stud_cx);
                ::stud_sdk::__private::returned::Returned(#call).into_outcome()
            })
        }

        fn complete(
            __stud_draft: &::stud_sdk::command::Draft,
        ) -> ::std::vec::Vec<::stud_sdk::command::Completion> {
            #complete
        }
    }
}

/// What palettes and help show of one command.
struct Declaration {
    name: String,
    display: String,
}

impl Declaration {
    fn take(given: &mut Arguments, default_name: String) -> Result<Self> {
        let name = match given.text("name")? {
            None => default_name,
            Some(name) if is_command_name(&name.value()) => name.value(),
            Some(name) => {
                let wrong = "a command's name is letters, digits, `_` or `-`, without the slash";
                return Err(Error::new_spanned(name, wrong));
            }
        };
        let mut member = |argument: &'static str, name: &str| -> Result<String> {
            let text = given.string(argument)?;
            Ok(text.map_or_else(String::new, |text| {
                format!(",\"{name}\":{}", json::text(&text))
            }))
        };
        let hint = member("argument_hint", "argumentHint")?;
        let category = member("category", "category")?;
        let turn_safe = given.flag("turn_safe")?.unwrap_or(false);
        Ok(Self {
            name,
            display: format!("{hint}{category},\"turnSafe\":{turn_safe}}}"),
        })
    }

    /// The command's entry in the manifest, as pieces.
    fn pieces(&self, description: &str, input: &TokenStream) -> TokenStream {
        let head = format!(
            "{{\"name\":{},\"description\":{},\"argsSchema\":",
            json::text(&self.name),
            json::text(description)
        );
        let tail = &self.display;
        quote! {
            ::stud_sdk::schema::Piece::Raw(#head),
            ::stud_sdk::schema::Piece::Nested(::stud_sdk::__private::schema::of_args::<#input>()),
            ::stud_sdk::schema::Piece::Raw(#tail),
        }
    }
}

fn is_command_name(name: &str) -> bool {
    !name.is_empty()
        && name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))
}
