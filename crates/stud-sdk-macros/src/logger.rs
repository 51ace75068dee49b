//! `#[logger]`: a struct that keeps records.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Error, Ident, Result};

use crate::arguments::Arguments;
use crate::declaration::Rules;
use crate::json;
use crate::structure::{Addition, Structure};

const RULES: Rules = Rules {
    reload: &["in-turn", "between-turns"],
};

const STREAMS: [&str; 3] = ["events", "audit", "diagnostics"];

pub(crate) fn expand(attribute: TokenStream, item: TokenStream) -> Result<TokenStream> {
    let mut given = Arguments::parse(attribute)?;
    let structure = Structure::read("logger", &mut given, item, RULES)?;
    let accepted: Vec<Ident> = given.list("accepts")?;
    let unknown = accepted
        .iter()
        .find(|word| !STREAMS.iter().any(|stream| word == stream));
    if let Some(unknown) = unknown {
        return Err(Error::new_spanned(
            unknown,
            "one of `events`, `audit`, `diagnostics`",
        ));
    }
    if accepted.is_empty() {
        return Err(given.missing(
            "`#[logger]` needs `accepts(events, audit, diagnostics)`, one of them at least",
        ));
    }
    let severity = given.one_of("min_severity", &["info", "trace", "debug", "warn", "error"])?;
    given.finish()?;

    let accepts = STREAMS.map(|stream| {
        format!(
            "\"{stream}\":{}",
            accepted.iter().any(|word| word == stream)
        )
    });
    let members = format!(
        ",\n\"accepts\":{{{},\"minSeverity\":{}}}",
        accepts.join(","),
        json::text(&severity)
    );
    Ok(structure.finish(Addition {
        category: "Logger",
        table: "logger",
        plugin: quote! {
            const MEMBERS: ::stud_sdk::schema::Json = &[::stud_sdk::schema::Piece::Raw(#members)];
        },
        items: TokenStream::new(),
    }))
}
