//! The page of the events, and their schemas as data.

use serde_json::Value;
use stud_host_api::events::{CORE_EVENTS, core_events};

use super::line;
use crate::payload::table;

const OPENING: &str = "\
# Events

Every event that core publishes, with its severity and its payload.
This page is generated from the declarations in `crates/stud-host-api/src/events/`; change those, and run `cargo xtask codegen`.

[docs/author/events.md](../author/events.md) says when they come and in which order.
A plugin declares its own events in its manifest; `events.list` of the host gives both kinds with their schemas.
";

pub(super) fn page() -> String {
    let mut page = OPENING.to_owned();
    let mut section = "";
    for event in core_events() {
        if event.section != section {
            section = event.section;
            line(&mut page, format_args!("\n## {section}"));
        }
        let schema = Value::from((event.schema)());
        let about = schema["description"].as_str().unwrap_or_default();
        let (name, severity, members) = (event.name, event.severity, table(&schema));
        line(
            &mut page,
            format_args!("\n### `{name}`\n\n{about}\nSeverity `{severity}`.\n"),
        );
        page.push_str(&members);
    }
    page
}

/// The schemas of all events by name, one in a line.
pub(super) fn schemas() -> String {
    let lines: Vec<String> = CORE_EVENTS
        .into_iter()
        .filter_map(|name| {
            let event = core_events().find(|event| event.name == name)?;
            Some(format!("\"{name}\":{}", Value::from((event.schema)())))
        })
        .collect();
    format!("{{\n{}\n}}\n", lines.join(",\n"))
}
