//! layer: every [`Validated`] → [`Layered`]. Who gets a name that several want, decided from manifests alone.

use std::collections::{BTreeMap, BTreeSet};

use stud_contract_meta::{ExtId, Kind};
use stud_diagnostics::{Code, Diagnostic, Stage, codes};

use crate::plugin_scope::Scope;
use crate::provenance::Refused;
use crate::validate::{Members, Validated};

/// For each id the plugin to use and those it hides, best first.
#[derive(Debug, Default)]
pub struct Layered {
    pub(crate) chains: BTreeMap<ExtId, Vec<Validated>>,
    pub(crate) refused: Vec<Refused>,
}

/// Lays the scopes over one another: project over global over bundled.
pub fn layer(validated: Vec<Validated>) -> Layered {
    let mut layered = Layered::default();
    let mut scopes: BTreeMap<Scope, Vec<Validated>> = BTreeMap::new();
    for plugin in validated {
        scopes.entry(plugin.track.scope).or_default().push(plugin);
    }
    // Lower scopes come first, so that what they hold is known when a higher one claims its id.
    for plugins in scopes.into_values() {
        let plugins = settle_ids(plugins, &mut layered);
        let plugins = settle_tools(plugins, &mut layered.refused);
        for plugin in settle_commands(plugins, &mut layered.refused) {
            let chain = layered
                .chains
                .entry(plugin.manifest.ext_id.clone())
                .or_default();
            chain.insert(0, plugin);
        }
    }
    layered
}

/// Within a scope the first in byte order of its path keeps an id; across scopes only the same category may take it over.
fn settle_ids(mut plugins: Vec<Validated>, layered: &mut Layered) -> Vec<Validated> {
    plugins.sort_by(|one, other| path_of(one).cmp(&path_of(other)));
    let mut kept: Vec<Validated> = Vec::new();
    for plugin in plugins {
        let id = &plugin.manifest.ext_id;
        if let Some(first) = kept.iter().find(|first| first.manifest.ext_id == *id) {
            let holder = place_of(first);
            let why = conflict(
                &plugin,
                format!("the id `{id}` is already taken by {holder}"),
            )
            .with("holder", holder)
            .help("operator: remove one of the two");
            layered.refused.push(plugin.track.refuse(why));
            continue;
        }
        let other_kind = layered
            .chains
            .get(id)
            .and_then(|chain| chain.first())
            .map(|lower| (lower.manifest.kind, lower.track.scope))
            .filter(|(kind, _)| *kind != plugin.manifest.kind);
        if let Some((kind, scope)) = other_kind {
            let why = conflict(
                &plugin,
                format!(
                    "the id `{id}` is that of a {scope} {kind}, and this is a {}",
                    plugin.manifest.kind
                ),
            )
            .with("holder", kind.as_str())
            .help("author: choose another id; only the same category may be shadowed");
            layered.refused.push(plugin.track.refuse(why));
            continue;
        }
        kept.push(plugin);
    }
    kept
}

fn settle_tools(plugins: Vec<Validated>, refused: &mut Vec<Refused>) -> Vec<Validated> {
    let mut taken: BTreeMap<String, String> = BTreeMap::new();
    let mut kept = Vec::new();
    for plugin in plugins {
        let names: Vec<String> = match &*plugin.members {
            Members::Tool(members) if plugin.enabled => {
                members.tools.iter().map(|tool| tool.name.clone()).collect()
            }
            _ => Vec::new(),
        };
        let clash = names
            .iter()
            .enumerate()
            .find_map(|(index, name)| taken.get(name).map(|holder| (index, name, holder)));
        if let Some((index, name, holder)) = clash {
            let why = named(
                &plugin,
                &codes::TOOL_NAME_CONFLICT,
                format!("the tool `{name}` is already given by `{holder}`"),
            )
            .field(format!("/tools/{index}/name"))
            .with("name", name.as_str())
            .with("holder", holder.as_str())
            .help("operator: disable one of the two plugins");
            refused.push(plugin.track.refuse(why));
            continue;
        }
        for name in names {
            taken.insert(name, plugin.manifest.ext_id.to_string());
        }
        kept.push(plugin);
    }
    kept
}

/// Two commands of one layer with one name: nobody can tell which was meant, so both go.
fn settle_commands(plugins: Vec<Validated>, refused: &mut Vec<Refused>) -> Vec<Validated> {
    let mut owners: BTreeMap<String, BTreeSet<ExtId>> = BTreeMap::new();
    for plugin in plugins.iter().filter(|plugin| plugin.enabled) {
        if let Members::Command(members) = &*plugin.members {
            for command in &members.commands {
                owners
                    .entry(command.name.clone())
                    .or_default()
                    .insert(plugin.manifest.ext_id.clone());
            }
        }
    }
    let mut kept = Vec::new();
    for plugin in plugins {
        let clash = match &*plugin.members {
            Members::Command(members) if plugin.enabled => members
                .commands
                .iter()
                .enumerate()
                .find(|(_, command)| {
                    owners
                        .get(&command.name)
                        .is_some_and(|owners| owners.len() > 1)
                })
                .map(|(index, command)| (index, command.name.clone())),
            _ => None,
        };
        let Some((index, name)) = clash else {
            kept.push(plugin);
            continue;
        };
        let candidates: Vec<String> = owners[&name].iter().map(ToString::to_string).collect();
        let why = named(
            &plugin,
            &codes::COMMAND_AMBIGUOUS,
            format!(
                "the command `{name}` is given by {}",
                candidates.join(" and ")
            ),
        )
        .field(format!("/commands/{index}/name"))
        .with("name", name)
        .with("candidates", candidates)
        .help("operator: disable all but one of them");
        refused.push(plugin.track.refuse(why));
    }
    kept
}

fn conflict(plugin: &Validated, message: String) -> Diagnostic {
    named(plugin, &codes::REGISTRATION_CONFLICT, message).field("/extId")
}

fn named(plugin: &Validated, code: &'static Code, message: String) -> Diagnostic {
    plugin.track.error(Stage::Register, code, message)
}

fn path_of(plugin: &Validated) -> Option<&[u8]> {
    plugin
        .track
        .path()
        .map(|path| path.as_os_str().as_encoded_bytes())
}

fn place_of(plugin: &Validated) -> String {
    match plugin.track.path() {
        Some(path) => format!("`{}`", path.display()),
        None => format!("the bundled {}", Kind::as_str(plugin.manifest.kind)),
    }
}
