//! `#[state_machine]`: a struct that drives a session through stages.

mod fault;
mod flow;
mod front_matter;
mod markdown;
mod stages;

use proc_macro2::TokenStream;
use quote::quote;
use syn::{LitStr, Result};

use crate::arguments::Arguments;
use crate::declaration::Rules;
use crate::json;
use crate::needs;
use crate::structure::{Addition, Structure};

const RULES: Rules = Rules {
    reload: &["between-turns"],
};

pub(crate) fn expand(attribute: TokenStream, item: TokenStream) -> Result<TokenStream> {
    let mut given = Arguments::parse(attribute)?;
    let structure = Structure::read("state_machine", &mut given, item, RULES)?;
    if !structure.declaration.has_state_slot {
        let missing = "a state machine keeps its progress: add `state_slot(version = \"1.0.0\", schema = Progress)`";
        return Err(given.missing(missing));
    }
    let entry = given.text("entry")?;
    let source = stages::Source::take(&mut given)?;
    let needs = needs::member(&mut given)?;
    given.finish()?;
    let stages = source.read(entry.as_ref())?;

    // Without `entry` the machine begins where its list does.
    let entry = entry.map_or_else(
        || stages.first_id().to_owned(),
        |entry: LitStr| entry.value(),
    );
    let members = format!(
        ",\n\"stages\":{},\n\"entryStage\":{}{needs}",
        stages.json(),
        json::text(&entry)
    );
    let watched = source.watched();
    Ok(structure.finish(Addition {
        category: "StateMachine",
        table: "state_machine",
        plugin: quote! {
            const MEMBERS: ::stud_sdk::schema::Json = &[::stud_sdk::schema::Piece::Raw(#members)];
        },
        items: watched,
    }))
}
