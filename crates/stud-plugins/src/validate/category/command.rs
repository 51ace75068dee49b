//! A Command plugin: one or more commands, each with a name and a description.

use std::collections::BTreeSet;

use stud_diagnostics::{Diagnostic, codes};

use super::{Members, entries, read};
use crate::validate::document::Document;
use crate::validate::schema;

pub(super) fn check(document: &Document<'_>) -> Result<Members, Diagnostic> {
    let mut names = BTreeSet::new();
    for command in entries(document, "commands", "a list with at least one command")? {
        let name = command.text("name", "the command's name")?;
        if !stud_contract_command::is_command_name(name) {
            return Err(document
                .provenance
                .error(
                    document.stage,
                    &codes::COMMAND_NAME_INVALID,
                    format!("`{name}` is not a command name"),
                )
                .field(command.path("name"))
                .with("name", name)
                .help("author: use letters, digits, `_` and `-`, without a leading slash"));
        }
        if !names.insert(name) {
            return Err(document
                .provenance
                .error(
                    document.stage,
                    &codes::COMMAND_AMBIGUOUS,
                    format!("the command `{name}` is declared twice"),
                )
                .field(command.path("name"))
                .with("name", name)
                .help("author: give each command a name of its own"));
        }
        if command
            .text("description", "what the command does")?
            .trim()
            .is_empty()
        {
            return Err(document
                .provenance
                .error(
                    document.stage,
                    &codes::COMMAND_DESCRIPTION_EMPTY,
                    format!("the command `{name}` has no description"),
                )
                .field(command.path("description"))
                .with("name", name)
                .help("author: say in one line what it does; the palette shows it"));
        }
        let arguments = command.required("argsSchema", "a JSON Schema object")?;
        schema::check(
            document.provenance,
            document.stage,
            &command.path("argsSchema"),
            arguments,
        )?;
    }
    read(document).map(Members::Command)
}
