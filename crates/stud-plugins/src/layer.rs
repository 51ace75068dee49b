//! layer: every [`Validated`] → [`Layered`]. Which plugin gets an id or a name that several claim.
//!
//! It is decided from manifests alone, before anything is opened. A plugin that loses is refused at the stage `register`,
//! in which the others take their names.

use std::collections::{BTreeMap, BTreeSet};

use stud_contract_meta::{ExtId, Kind};
use stud_diagnostics::{Code, Diagnostic, Stage, codes};

use crate::provenance::Refused;
use crate::validate::{Members, Validated};
use stud_config::plugin_scope::Scope;

/// For each id the plugin to use and those it shadows, best first.
#[derive(Debug, Default)]
pub struct Layered {
    chains: BTreeMap<ExtId, Vec<Validated>>,
    refused: Vec<Refused>,
}

impl Layered {
    /// The chain of each id, and the plugins that lost a name.
    pub(crate) fn into_parts(self) -> (BTreeMap<ExtId, Vec<Validated>>, Vec<Refused>) {
        (self.chains, self.refused)
    }
}

/// Lays the scopes over one another: project over global over bundled.
pub fn layer(validated: Vec<Validated>) -> Layered {
    layer_scopes(by_scope(validated, |scope| scope).into_values())
}

/// Lays one more plugin over those that are installed.
///
/// Names are contested only within a scope, and this plugin is in none of theirs.
pub(crate) fn layer_over(installed: Vec<Validated>, plugin: Validated) -> Layered {
    let scopes = by_scope(installed, |scope| scope.min(Scope::Global));
    layer_scopes(scopes.into_values().chain([vec![plugin]]))
}

fn by_scope(
    plugins: Vec<Validated>,
    place: impl Fn(Scope) -> Scope,
) -> BTreeMap<Scope, Vec<Validated>> {
    let mut scopes: BTreeMap<Scope, Vec<Validated>> = BTreeMap::new();
    for plugin in plugins {
        let scope = place(plugin.provenance().scope());
        scopes.entry(scope).or_default().push(plugin);
    }
    scopes
}

/// Lower scopes come first, so that what they hold is known when a higher one claims its id.
fn layer_scopes(scopes: impl Iterator<Item = Vec<Validated>>) -> Layered {
    let mut layered = Layered::default();
    for plugins in scopes {
        let plugins = settle_ids(plugins, &mut layered);
        let plugins = settle_tools(plugins, &mut layered.refused);
        for plugin in settle_commands(plugins, &mut layered.refused) {
            let id = plugin.manifest().ext_id.clone();
            layered.chains.entry(id).or_default().insert(0, plugin);
        }
    }
    layered
}

/// Within a scope the first in byte order of its path keeps an id; across scopes only the same category may take it over.
fn settle_ids(mut plugins: Vec<Validated>, layered: &mut Layered) -> Vec<Validated> {
    plugins.sort_by(|one, other| path_of(one).cmp(&path_of(other)));
    let mut kept: Vec<Validated> = Vec::new();
    for plugin in plugins {
        let id = &plugin.manifest().ext_id;
        if let Some(first) = kept.iter().find(|first| first.manifest().ext_id == *id) {
            let holder = place_of(first);
            let why = conflict(
                &plugin,
                format!("the id `{id}` is already taken by {holder}"),
            )
            .with("holder", holder)
            .help("operator: remove one of the two");
            layered.refused.push(plugin.refuse(why));
            continue;
        }
        let other_kind = layered
            .chains
            .get(id)
            .and_then(|chain| chain.first())
            .map(|lower| (lower.manifest().kind, lower.provenance().scope()))
            .filter(|(kind, _)| *kind != plugin.manifest().kind);
        if let Some((kind, scope)) = other_kind {
            let why = conflict(
                &plugin,
                format!(
                    "the id `{id}` is that of a {scope} {kind}, and this is a {}",
                    plugin.manifest().kind
                ),
            )
            .with("holder", kind.as_str())
            .help("author: choose another id; only the same category may be shadowed");
            layered.refused.push(plugin.refuse(why));
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
        let names: Vec<String> = match &**plugin.members() {
            Members::Tool(members) if plugin.is_enabled() => {
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
            refused.push(plugin.refuse(why));
            continue;
        }
        for name in names {
            taken.insert(name, plugin.manifest().ext_id.to_string());
        }
        kept.push(plugin);
    }
    kept
}

/// Two commands of one layer with one name are ambiguous, so both are refused.
fn settle_commands(plugins: Vec<Validated>, refused: &mut Vec<Refused>) -> Vec<Validated> {
    let mut owners: BTreeMap<String, BTreeSet<ExtId>> = BTreeMap::new();
    for plugin in plugins.iter().filter(|plugin| plugin.is_enabled()) {
        if let Members::Command(members) = &**plugin.members() {
            for command in &members.commands {
                owners
                    .entry(command.name.clone())
                    .or_default()
                    .insert(plugin.manifest().ext_id.clone());
            }
        }
    }
    let mut kept = Vec::new();
    for plugin in plugins {
        let clash = match &**plugin.members() {
            Members::Command(members) if plugin.is_enabled() => members
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
        refused.push(plugin.refuse(why));
    }
    kept
}

fn conflict(plugin: &Validated, message: String) -> Diagnostic {
    named(plugin, &codes::REGISTRATION_CONFLICT, message).field("/extId")
}

fn named(plugin: &Validated, code: &'static Code, message: String) -> Diagnostic {
    plugin.provenance().error(Stage::Register, code, message)
}

fn path_of(plugin: &Validated) -> Option<&[u8]> {
    plugin
        .provenance()
        .path()
        .map(|path| path.as_os_str().as_encoded_bytes())
}

fn place_of(plugin: &Validated) -> String {
    match plugin.provenance().path() {
        Some(path) => format!("`{}`", path.display()),
        None => format!("the bundled {}", Kind::as_str(plugin.manifest().kind)),
    }
}
