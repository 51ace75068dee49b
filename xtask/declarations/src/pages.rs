//! The files that are generated from declarations. `cargo xtask codegen` writes them.
//!
//! The page of the command line is not here: it is made from the help that the program itself prints.

mod errors;
mod events;
mod host_operations;

use std::fmt::Write as _;

use serde_json::{Map, Value, json};

/// Each file with its text.
pub(crate) fn pages() -> Value {
    let pages: Map<String, Value> = [
        (
            "docs/operator/settings.md",
            stud_config::settings::reference(),
        ),
        (
            "crates/stud-host-api/src/events/schemas.json",
            events::schemas(),
        ),
        ("docs/reference/settings.md", stud_config::settings::index()),
        ("docs/reference/events.md", events::page()),
        ("docs/reference/errors.md", errors::page()),
        ("docs/reference/host-operations.md", host_operations::page()),
    ]
    .into_iter()
    .map(|(path, text)| (path.to_owned(), json!(text)))
    .collect();
    Value::Object(pages)
}

/// Adds a line.
fn line(page: &mut String, text: std::fmt::Arguments<'_>) {
    // Writing to a string does not fail.
    let _ = writeln!(page, "{text}");
}
