//! `Tool("grep")` or `Provider(capability = "vision")`.

use serde_json::{Value, json};
use syn::parse::{Parse, ParseStream};
use syn::{Error, Ident, LitStr, Result, Token};

/// Another plugin, by name or by what it offers.
pub(crate) struct Reference(Value);

const KINDS: [&str; 9] = [
    "Provider",
    "Tool",
    "Hook",
    "UI",
    "Logger",
    "StateMachine",
    "Command",
    "SessionStore",
    "ContextProvider",
];

impl Parse for Reference {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let word: Ident = input.parse()?;
        let kind = KINDS.into_iter().find(|kind| word == kind);
        let Some(kind) = kind else {
            let unknown = format!(
                "`{word}` is not a category; the categories are {}",
                KINDS.join(", ")
            );
            return Err(Error::new(word.span(), unknown));
        };
        let inside;
        syn::parenthesized!(inside in input);
        if inside.peek(LitStr) {
            let name: LitStr = inside.parse()?;
            return Ok(Self(json!({"kind": kind, "name": name.value()})));
        }
        let capability: Ident = inside.parse()?;
        if capability != "capability" {
            let wrong = format!("write `{kind}(\"name\")` or `{kind}(capability = \"…\")`");
            return Err(Error::new(capability.span(), wrong));
        }
        inside.parse::<Token![=]>()?;
        let capability: LitStr = inside.parse()?;
        Ok(Self(
            json!({"kind": kind, "capability": capability.value()}),
        ))
    }
}

/// References as a JSON list.
pub(crate) fn list(references: &[Reference]) -> String {
    let list: Value = references
        .iter()
        .map(|Reference(value)| value.clone())
        .collect();
    list.to_string()
}
