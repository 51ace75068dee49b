//! The files of a new plugin.

use std::env::consts::{DLL_PREFIX, DLL_SUFFIX};

use stud_contract_meta::{ExtId, Kind};

use super::names::Names;
use crate::cli::UiRole;

/// Everything that is to be written, and what to do with it.
pub(super) struct Plugin {
    pub(super) files: Vec<File>,
    /// The commands from here to an installed plugin.
    pub(super) next: [String; 4],
}

pub(super) struct File {
    /// From the plugin's folder.
    pub(super) path: &'static str,
    pub(super) text: String,
}

/// The plugin `id`; `sdk` is its dependency on `stud-sdk`.
pub(super) fn plugin(id: &ExtId, kind: Kind, role: Option<UiRole>, sdk: &str) -> Plugin {
    let source = source(kind, role);
    let names = Names::of(id, source);
    let library = format!(
        "{DLL_PREFIX}{}{DLL_SUFFIX}",
        names.package.replace('-', "_")
    );
    let fill = |template: &str| {
        filled(template, |placeholder| match placeholder {
            "id" => Some(id.as_str()),
            "crate" => Some(&names.package),
            "function" => Some(&names.function),
            "Type" => Some(&names.ty),
            "sdk" => Some(sdk),
            "kind" => Some(kind.as_str()),
            "library" => Some(&library),
            _ => None,
        })
    };
    let mut templates = vec![
        ("Cargo.toml", include_str!("templates/Cargo.toml.in")),
        ("src/lib.rs", source),
        ("README.md", include_str!("templates/README.md.in")),
        (".gitignore", include_str!("templates/gitignore.in")),
        (
            "conformance/valid.json",
            include_str!("templates/valid.json.in"),
        ),
        (
            "conformance/invalid.json",
            include_str!("templates/invalid.json.in"),
        ),
        (
            "conformance/worst-plausible.json",
            include_str!("templates/worst-plausible.json.in"),
        ),
    ];
    if kind == Kind::StateMachine {
        templates.push(("stages/build.md", include_str!("templates/build.md.in")));
        templates.push(("stages/plan.md", include_str!("templates/plan.md.in")));
    }
    Plugin {
        files: templates
            .into_iter()
            .map(|(path, template)| File {
                path,
                text: fill(template),
            })
            .collect(),
        next: [
            "cargo test",
            "cargo build --release",
            "stud plugin check --conformance target/release/{{library}}",
            "stud plugin install target/release/{{library}}",
        ]
        .map(fill),
    }
}

fn source(kind: Kind, role: Option<UiRole>) -> &'static str {
    match kind {
        Kind::Ui if role == Some(UiRole::Subscriber) => {
            include_str!("templates/ui-subscriber.rs.in")
        }
        Kind::Ui if role == Some(UiRole::Region) => include_str!("templates/ui-region.rs.in"),
        Kind::Provider => include_str!("templates/provider.rs.in"),
        Kind::Tool => include_str!("templates/tool.rs.in"),
        Kind::Hook => include_str!("templates/hook.rs.in"),
        Kind::Ui => include_str!("templates/ui.rs.in"),
        Kind::Logger => include_str!("templates/logger.rs.in"),
        Kind::StateMachine => include_str!("templates/state-machine.rs.in"),
        Kind::Command => include_str!("templates/command.rs.in"),
        Kind::SessionStore => include_str!("templates/session-store.rs.in"),
        Kind::ContextProvider => include_str!("templates/context-provider.rs.in"),
    }
}

/// A template with its placeholders filled in. What is put in is not looked at again.
fn filled<'a>(template: &str, value_of: impl Fn(&str) -> Option<&'a str>) -> String {
    let mut text = String::with_capacity(template.len());
    let mut rest = template;
    while let Some((before, from)) = rest.split_once("{{") {
        text.push_str(before);
        let value = from
            .split_once("}}")
            .and_then(|(placeholder, after)| Some((value_of(placeholder)?, after)));
        if let Some((value, after)) = value {
            text.push_str(value);
            rest = after;
        } else {
            text.push_str("{{");
            rest = from;
        }
    }
    text + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placeholders_are_filled_once() {
        let value_of = |placeholder: &str| (placeholder == "id").then_some("{{id}}");
        assert_eq!(
            filled("a {{id}} {{other}} {{", value_of),
            "a {{id}} {{other}} {{"
        );
    }

    #[test]
    fn nothing_is_left_to_fill_in() {
        let id = ExtId::parse("line-count").unwrap();
        let roles = [UiRole::Subscriber, UiRole::Interactor, UiRole::Region].map(Some);
        let uis = roles.map(|role| (Kind::Ui, role));
        let all = Kind::ALL.map(|kind| (kind, None));
        for (kind, role) in all.into_iter().chain(uis) {
            let plugin = plugin(&id, kind, role, "version = \"0.1\"");
            let texts = plugin
                .files
                .iter()
                .map(|file| &file.text)
                .chain(&plugin.next);
            for text in texts {
                // What a stage is told of its context is filled in when it runs.
                let text = text.replace("{{ctx.", "");
                assert!(!text.contains("{{"), "{kind}: {text}");
            }
        }
    }
}
