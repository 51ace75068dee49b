//! `catalog`: lists the plugins of the session.
//!
//! It says who is there and of which kind, and nothing of what they are configured with or keep.
#![forbid(unsafe_code)]

use stud_sdk::host::metrics::{ExtensionInfo, Source};
use stud_sdk::prelude::*;

/// What is listed.
#[derive(Config)]
struct Options {
    /// Whether plugins that are switched off are listed too.
    #[stud(default = false)]
    include_disabled: bool,
}

/// What the model sends.
#[derive(Args)]
struct Filter {
    /// Only plugins of this category, such as `Tool` or `Provider`.
    filter_kind: Option<String>,
    /// Only the plugin with this id.
    filter_ext_id: Option<String>,
}

/// Plugins, by their ids.
#[derive(Schema)]
struct Catalog {
    /// Those that fit the filter.
    entries: Vec<Entry>,
}

/// One plugin.
#[derive(Schema)]
struct Entry {
    /// Which plugin.
    ext_id: String,
    /// Its category.
    kind: String,
    /// The version of the contract it was built for.
    contract_version: String,
    /// How many of its category may be loaded.
    loaded_cardinality: String,
    /// How many of its category may take part at once.
    active_cardinality: String,
    /// Where it comes from.
    scope: Scope,
    /// Whether it can be used.
    status: Status,
}

/// Where a plugin comes from.
#[derive(Schema)]
enum Scope {
    Bundled,
    Global,
    Project,
    Mcp,
    Unknown,
}

/// Whether a plugin can be used.
#[derive(Schema, PartialEq)]
enum Status {
    Loaded,
    Disabled,
}

/// Lists the plugins of this session, all of them or those of one kind.
#[tool(
    id = "catalog",
    name = "catalog",
    config = Options,
    output = Catalog,
    approval_key = key
)]
fn catalog(filter: Filter, cx: &Cx) -> Result<Output> {
    if cx.is_cancelled() {
        let why = "the turn was called off before the list was made";
        return Err(Error::new(Class::Cancellation, "TurnCancelled", why));
    }
    let options: Options = cx.config()?;
    let snapshot = cx.host().metrics().snapshot()?;
    let known = snapshot.extensions.loaded.iter();
    let mut entries: Vec<Entry> = known
        .filter(|plugin| filter.admits(plugin))
        .map(Entry::of)
        .filter(|entry| options.include_disabled || entry.status == Status::Loaded)
        .collect();
    entries.sort_unstable_by(|a, b| a.ext_id.cmp(&b.ext_id));
    Output::json(Catalog { entries })
}

fn key(_filter: &Filter) -> String {
    "catalog".to_owned()
}

impl Filter {
    fn admits(&self, plugin: &ExtensionInfo) -> bool {
        let fits = |wanted: &Option<String>, has: &str| {
            wanted.as_deref().is_none_or(|wanted| wanted == has)
        };
        fits(&self.filter_kind, &plugin.kind) && fits(&self.filter_ext_id, &plugin.id)
    }
}

impl Entry {
    fn of(plugin: &ExtensionInfo) -> Self {
        Self {
            ext_id: plugin.id.clone(),
            kind: plugin.kind.clone(),
            contract_version: plugin.contract_version.clone(),
            loaded_cardinality: "unlimited".to_owned(),
            active_cardinality: active_cardinality(&plugin.kind).to_owned(),
            scope: Scope::from(plugin.source),
            // The host lists what it has loaded. A plugin that is switched off is never opened.
            status: Status::Loaded,
        }
    }
}

/// The rule of a category, which a plugin cannot change.
fn active_cardinality(kind: &str) -> &'static str {
    match kind {
        "StateMachine" => "one-attached",
        "SessionStore" => "one",
        _ => "unlimited",
    }
}

impl From<Source> for Scope {
    fn from(source: Source) -> Self {
        match source {
            Source::Bundled => Self::Bundled,
            Source::Global => Self::Global,
            Source::Project => Self::Project,
            Source::Mcp => Self::Mcp,
            Source::Unknown => Self::Unknown,
        }
    }
}

#[cfg(test)]
mod tests;
