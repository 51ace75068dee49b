//! `#[provider]`: a struct that talks to a model.

use proc_macro2::TokenStream;
use quote::quote;
use syn::parse::{Parse, ParseStream};
use syn::{Error, Expr, Result};

use crate::arguments::Arguments;
use crate::declaration::Rules;
use crate::json;
use crate::param_rules;
use crate::structure::{Addition, Structure};

const RULES: Rules = Rules {
    reload: &["between-turns"],
};

/// Attribute argument, manifest member, and what is assumed when nothing is said.
const CLAIMS: [(&str, &str, &str); 6] = [
    ("streaming", "streaming", "hard"),
    ("tool_calling", "toolCalling", "probed"),
    ("structured_output", "structuredOutput", "probed"),
    ("multimodal", "multimodal", "probed"),
    ("reasoning", "reasoning", "probed"),
    ("prompt_caching", "promptCaching", "probed"),
];

pub(crate) fn expand(attribute: TokenStream, item: TokenStream) -> Result<TokenStream> {
    let mut given = Arguments::parse(attribute)?;
    let structure = Structure::read("provider", &mut given, item, RULES)?;
    let Some(protocol) = given.string("protocol")? else {
        return Err(
            given.missing("`#[provider]` needs `protocol = \"…\"`: the API it speaks, for people")
        );
    };
    let capabilities = capabilities(&mut given)?;
    let models: Vec<Model> = given.list("models")?;
    let params = param_rules::member(&mut given)?;
    given.finish()?;

    let models = models
        .into_iter()
        .map(|Model(json)| json)
        .collect::<Vec<_>>()
        .join(",");
    let models = if models.is_empty() {
        models
    } else {
        format!(",\n\"models\":[{models}]")
    };
    let members = format!(
        ",\n\"protocol\":{},\n\"capabilities\":{capabilities}{models}{params}",
        json::text(&protocol)
    );
    Ok(structure.finish(Addition {
        category: "Provider",
        table: "provider",
        plugin: quote! {
            const MEMBERS: ::stud_sdk::schema::Json = &[::stud_sdk::schema::Piece::Raw(#members)];
        },
        items: TokenStream::new(),
    }))
}

/// The seven claims as a JSON object.
fn capabilities(given: &mut Arguments) -> Result<String> {
    let mut claims = Vec::new();
    for (argument, member, default) in CLAIMS {
        let level = given.text(argument)?;
        let word = level
            .as_ref()
            .map_or_else(|| default.to_owned(), syn::LitStr::value);
        if !["hard", "preferred", "probed", "absent"].contains(&word.as_str()) {
            return Err(Error::new_spanned(
                level,
                "one of `hard`, `preferred`, `probed`, `absent`",
            ));
        }
        claims.push(format!("\"{member}\":{}", json::text(&word)));
    }
    let window: Option<Expr> = given.value("context_window")?;
    let window = match &window {
        None => "\"probed\"".to_owned(),
        Some(window) => json::literal(window)
            .filter(|text| text == "\"probed\"" || text.bytes().all(|byte| byte.is_ascii_digit()))
            .ok_or_else(|| Error::new_spanned(window, "a number of tokens, or `\"probed\"`"))?,
    };
    claims.push(format!("\"contextWindow\":{window}"));
    Ok(format!("{{{}}}", claims.join(",")))
}

/// `model("small", tool_calling = "hard", context_window = 128000)` as JSON.
struct Model(String);

impl Parse for Model {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let word: syn::Ident = input.parse()?;
        if word != "model" {
            return Err(Error::new(
                word.span(),
                "write `model(\"id\", tool_calling = \"hard\", …)`",
            ));
        }
        let inside;
        syn::parenthesized!(inside in input);
        let id: syn::LitStr = inside.parse()?;
        if !inside.is_empty() {
            inside.parse::<syn::Token![,]>()?;
        }
        let mut given = Arguments::parse(inside.parse()?)?;
        let capabilities = capabilities(&mut given)?;
        given.finish()?;
        Ok(Self(format!(
            "{{\"modelId\":{},\"capabilities\":{capabilities}}}",
            json::text(&id.value())
        )))
    }
}
