//! `/commands`: where each command comes from.
#![forbid(unsafe_code)]

use std::collections::BTreeMap;

use stud_sdk::command::{RawArgs, Rendered, command};
use stud_sdk::host::commands::CommandRef;
use stud_sdk::host::metrics::Source;
use stud_sdk::{Class, Cx, Error, Result, Value, json};

/// Lists the commands with the layer that each comes from: bundled, global or project.
#[command(
    id = "commands",
    name = "commands",
    category = "system",
    argument_hint = "[list]",
    turn_safe
)]
fn commands(input: RawArgs, cx: &Cx) -> Result<Rendered> {
    match input.positional.first().map(String::as_str) {
        None | Some("list") => list(cx),
        Some(other) => {
            let message = format!("`/commands {other}` is not known; there is `/commands list`");
            let error = Error::new(Class::Validation, "ConfigSchemaViolation", message);
            Err(error.with("subcommand", other))
        }
    }
}

fn list(cx: &Cx) -> Result<Rendered> {
    let snapshot = cx.host().metrics().snapshot()?;
    let plugins = snapshot.extensions.loaded.iter();
    let layers: BTreeMap<&str, Source> = plugins
        .map(|plugin| (plugin.id.as_str(), plugin.source))
        .collect();
    let commands = cx.host().commands().list()?;
    let layer = |command: &CommandRef| layers.get(command.source.as_str()).copied();
    let rows: Vec<Vec<String>> = commands
        .iter()
        .map(|command| {
            vec![
                typed(command),
                word(layer(command)).to_owned(),
                command.source.clone(),
                notes(command),
            ]
        })
        .collect();
    let payload: Vec<Value> = commands
        .iter()
        .map(|command| {
            let mut shown = json!(command);
            shown["layer"] = word(layer(command)).into();
            shown
        })
        .collect();
    let shown = columns::lined_up(&rows);
    Ok(Rendered::from(shown).with_payload(json!({"commands": payload})))
}

/// What is typed.
fn typed(command: &CommandRef) -> String {
    match &command.argument_hint {
        Some(hint) => format!("/{} {hint}", command.name),
        None => format!("/{}", command.name),
    }
}

fn word(layer: Option<Source>) -> &'static str {
    match layer {
        Some(Source::Bundled) => "bundled",
        Some(Source::Global) => "global",
        Some(Source::Project) => "project",
        Some(Source::Mcp) => "mcp",
        Some(Source::Unknown) | None => "unknown",
    }
}

fn notes(command: &CommandRef) -> String {
    let mut notes: Vec<String> = Vec::new();
    if !command.aliases.is_empty() {
        notes.push(format!("also /{}", command.aliases.join(", /")));
    }
    if !command.turn_safe {
        notes.push("not while a turn runs".to_owned());
    }
    notes.join("; ")
}

#[cfg(test)]
mod tests {
    use stud_sdk::host::commands::CommandResult;
    use stud_sdk::host::metrics::{ExtensionInfo, RuntimeSnapshot};
    use stud_sdk::testing::{FakeHost, Harness};

    use super::*;

    fn host() -> FakeHost {
        let mut snapshot = RuntimeSnapshot::default();
        snapshot.extensions.loaded = vec![ExtensionInfo {
            id: "greeter".to_owned(),
            source: Source::Project,
            ..ExtensionInfo::default()
        }];
        let done = CommandResult::Done {
            rendered: String::new(),
            payload: None,
        };
        let greet = CommandRef {
            name: "greet".to_owned(),
            aliases: vec!["hi".to_owned()],
            argument_hint: Some("[name]".to_owned()),
            source: "greeter".to_owned(),
            ..CommandRef::default()
        };
        let host = FakeHost::new().command(greet, done);
        host.push_snapshot(snapshot);
        host
    }

    #[test]
    fn each_command_has_its_layer() {
        let harness = Harness::new(stud_plugin(), host());
        for typed in ["", "list"] {
            let shown = harness.command("commands", typed).unwrap();
            assert_eq!(
                shown.rendered,
                "/greet [name]  project  greeter  also /hi; not while a turn runs"
            );
            assert_eq!(shown.payload.unwrap()["commands"][0]["layer"], "project");
        }
    }

    #[test]
    fn another_word_is_refused() {
        let harness = Harness::new(stud_plugin(), host());
        let error = harness.command("commands", "lst").unwrap_err();
        assert_eq!(
            (error.class(), error.code()),
            ("Validation", "ConfigSchemaViolation")
        );
    }
}
