//! `#[tool]`: a function, or a struct with `impl Tool`, that the model can call; `tools!`: several of them.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Error, Item, ItemFn, Path, Result, Type};

use crate::arguments::Arguments;
use crate::callable::{Callable, Definition};
use crate::declaration::Rules;
use crate::function::Function;
use crate::{json, names};

const TOOL: Callable = Callable {
    word: "tool",
    category: "Tool",
    several: "tools",
    rules: Rules {
        reload: &["between-turns"],
    },
};

pub(crate) fn expand(attribute: TokenStream, item: TokenStream) -> Result<TokenStream> {
    let given = Arguments::parse(attribute)?;
    match syn::parse2::<Item>(item.clone())? {
        Item::Fn(item) => expand_function(given, item),
        Item::Struct(_) => TOOL.structure(given, item, |given, structure, input| {
            let default = names::kebab(&structure.ident().to_string()).replace('-', "_");
            let tool = Declaration::take(given, default)?;
            let declaration = tool.pieces(structure.declaration.description(), input);
            Ok((tool.name, declaration))
        }),
        other => Err(Error::new_spanned(
            other,
            "`#[tool]` is for a function or a struct",
        )),
    }
}

pub(crate) fn expand_set(input: TokenStream) -> Result<TokenStream> {
    TOOL.set(input)
}

fn expand_function(given: Arguments, item: ItemFn) -> Result<TokenStream> {
    let function = Function::read("tool", "the model", item)?;
    let name = names::plain(&function.item.sig.ident);
    TOOL.function(given, &function, &name, |given| {
        let tool = Declaration::take(given, name.clone())?;
        let key: Option<Path> = given.value("approval_key")?;
        let input = function.input();
        Ok(Definition {
            declaration: tool.pieces(&function.description, &input),
            methods: methods(&function, &input, &tool.name, key.as_ref()),
            name: tool.name,
        })
    })
}

fn methods(
    function: &Function,
    input: &TokenStream,
    name: &str,
    key: Option<&Path>,
) -> TokenStream {
    let call = function.call();
    let key = if let Some(key) = key {
        quote! {
            let __stud_input: #input = ::stud_sdk::__private::tool::args(__stud_args)?;
            ::core::result::Result::Ok(#key(&__stud_input))
        }
    } else {
        quote!(::stud_sdk::__private::tool::default_key(#name, __stud_args))
    };
    quote! {
        fn execute(
            __stud_args: &str,
            __stud_cx: ::stud_sdk::Cx,
        ) -> ::stud_sdk::__private::BoxFuture<'static, ::stud_sdk::Result<::stud_sdk::tool::Output>> {
            let __stud_input: #input = match ::stud_sdk::__private::tool::args(__stud_args) {
                ::core::result::Result::Ok(input) => input,
                ::core::result::Result::Err(error) => return ::stud_sdk::__private::returned::failed(error),
            };
            ::std::boxed::Box::pin(async move {
                let _ = (&__stud_input, &__stud_cx);
                ::stud_sdk::__private::returned::Returned(#call).into_outcome()
            })
        }

        fn approval_key(__stud_args: &str) -> ::stud_sdk::Result<::std::string::String> {
            #key
        }
    }
}

/// What an approval covers when nothing is said. It is left out of the manifest, as all tools did that are older than
/// the choice.
const EXACT: &str = "exact";

/// What the model and the gate are told about one tool.
struct Declaration {
    name: String,
    gated: bool,
    executor: String,
    covers: String,
    output: Option<Type>,
}

impl Declaration {
    fn take(given: &mut Arguments, default_name: String) -> Result<Self> {
        let name = match given.text("name")? {
            None => default_name,
            Some(name) if is_tool_name(&name.value()) => name.value(),
            Some(name) => {
                let wrong = "a tool's name is one to 64 letters, digits, `_` or `-`";
                return Err(Error::new_spanned(name, wrong));
            }
        };
        let executor = given.one_of("executor", &["local", "remote"])?;
        Ok(Self {
            name,
            gated: given.flag("gated")?.unwrap_or(true),
            executor,
            covers: given.one_of("covers", &[EXACT, "path", "pathSet"])?,
            output: given.value("output")?,
        })
    }

    /// The tool's entry in the manifest, as pieces.
    fn pieces(&self, description: &str, input: &TokenStream) -> TokenStream {
        let head = format!(
            "{{\"name\":{},\"description\":{},\"inputSchema\":",
            json::text(&self.name),
            json::text(description)
        );
        let output = self.output.as_ref().map(|output| {
            quote! {
                ::stud_sdk::schema::Piece::Raw(",\"outputSchema\":"),
                ::stud_sdk::schema::Piece::Nested(<#output as ::stud_sdk::Schema>::SCHEMA),
            }
        });
        let covers = match self.covers.as_str() {
            EXACT => String::new(),
            further => format!(",\"approvalCoverage\":{}", json::text(further)),
        };
        let tail = format!(
            ",\"executor\":{},\"gated\":{}{covers}}}",
            json::text(&self.executor),
            self.gated
        );
        quote! {
            ::stud_sdk::schema::Piece::Raw(#head),
            ::stud_sdk::schema::Piece::Nested(::stud_sdk::__private::schema::of_args::<#input>()),
            #output
            ::stud_sdk::schema::Piece::Raw(#tail),
        }
    }
}

fn is_tool_name(name: &str) -> bool {
    (1..=64).contains(&name.len())
        && name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))
}
