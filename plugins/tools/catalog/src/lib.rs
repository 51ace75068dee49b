//! `catalog`: lists the plugins of the session.
//!
//! It says who is there and of which kind, and nothing of what they are configured with or keep.
#![forbid(unsafe_code)]

use stud_sdk::host::metrics::{ExtensionInfo, Source};
use stud_sdk::prelude::*;

/// What is listed.
#[derive(Config)]
struct Options {
    /// Whether plugins that are disabled or were refused are listed too.
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
#[derive(Schema)]
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
        let why = "the turn was cancelled before the list was made";
        return Err(Error::new(Class::Cancellation, "TurnCancelled", why));
    }
    let options: Options = cx.config()?;
    let snapshot = cx.host().metrics().snapshot()?;
    let loaded = snapshot.extensions.loaded.iter();
    let loaded = loaded.map(|plugin| (plugin, Status::Loaded));
    let disabled = snapshot.extensions.disabled.iter();
    let disabled = disabled
        .filter(|_| options.include_disabled)
        .map(|plugin| (plugin, Status::Disabled));
    let mut entries: Vec<Entry> = loaded
        .chain(disabled)
        .filter(|(plugin, _)| filter.admits(plugin))
        .map(|(plugin, status)| Entry::of(plugin, status))
        .collect();
    // Stable, so that a plugin that is there comes before one of its id that was refused.
    entries.sort_by(|a, b| a.ext_id.cmp(&b.ext_id));
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
    fn of(plugin: &ExtensionInfo, status: Status) -> Self {
        Self {
            ext_id: plugin.id.clone(),
            kind: plugin.kind.clone(),
            contract_version: plugin.contract_version.clone(),
            loaded_cardinality: "unlimited".to_owned(),
            active_cardinality: active_cardinality(&plugin.kind).to_owned(),
            scope: Scope::from(plugin.source),
            status,
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
