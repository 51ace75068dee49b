//! The page of the operations of the host.

use serde_json::Value;
use stud_host_api::events::is_core_event;
use stud_host_api::schema::schemas;
use stud_host_api::wire::{arguments, operations};

use super::line;
use crate::payload::{cell, table};

const OPENING: &str = "\
# Host operations

Every operation that a plugin may ask of its host, as it crosses the boundary: a name, arguments as a JSON object, a result as JSON.
This page is generated from `crates/stud-host-api/src/wire/operation.rs` and the types it names; change those, and run `cargo xtask codegen`.

[docs/author/host.md](../author/host.md) shows them as an author calls them, and says what is refused.
`cancellation.token` is not in the list: a token has a function of its own in the table of the host.
An operation `at once` is answered before the call returns, one `in time` with a future, and one `again and again` sends until its subscription is dropped.
";

pub(super) fn page() -> String {
    let mut page = OPENING.to_owned();
    let mut all: Vec<_> = operations().iter().collect();
    // By service, and within a service as declared.
    all.sort_by_key(|operation| service(operation.name));
    let mut current = "";
    for operation in all {
        if service(operation.name) != current {
            current = service(operation.name);
            line(&mut page, format_args!("\n## `{current}`\n"));
            line(
                &mut page,
                format_args!(
                    "| Operation | Answered | Arguments | Result | Description |\n|---|---|---|---|---|"
                ),
            );
        }
        let (name, timing, doc) = (operation.name, operation.timing, cell(operation.doc));
        let (request, reply) = (named(operation.request), named(operation.reply));
        line(
            &mut page,
            format_args!("| `{name}` | {timing} | {request} | {reply} | {doc} |"),
        );
    }
    page.push_str("\n# Types\n\n`Payload` and `Response` are those of the Interaction Protocol; `Revised` is a `RuntimeSnapshot` with its number.\n");
    let mut types = arguments();
    types.extend(
        schemas()
            .into_iter()
            .filter(|(name, _)| !is_core_event(name)),
    );
    types.sort_by_key(|(name, _)| *name);
    for (name, schema) in types {
        let schema = Value::from(schema);
        let about = cell(schema["description"].as_str().unwrap_or_default());
        line(&mut page, format_args!("\n## `{name}`\n\n{about}\n"));
        page.push_str(&table(&schema));
    }
    page
}

fn service(name: &str) -> &str {
    name.split('.').next().unwrap_or(name)
}

fn named(text: &str) -> String {
    match text {
        "Nothing" => "none".to_owned(),
        "()" => "`null`".to_owned(),
        text => format!("`{text}`"),
    }
}
