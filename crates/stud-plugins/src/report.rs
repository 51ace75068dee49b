//! The status of every plugin that was found, for people and programs.

use std::path::PathBuf;
use std::sync::Arc;

use serde::Serialize;
use serde_json::Value;
use stud_contract_meta::{Kind, Manifest};
use stud_diagnostics::Diagnostic;

use crate::activate::Active;
use crate::provenance::{Integrity, Provenance, Refused};
use crate::validate::Validated;
use stud_config::plugin_scope::Scope;

/// One plugin as `stud plugin list` shows it.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PluginReport {
    /// Its id, or the name of its file while that is all there is.
    pub ext_id: String,
    /// Its category, as far as it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<Kind>,
    /// The scope it was found in.
    pub scope: Scope,
    /// Whether it is part of the program.
    pub form: Form,
    /// What became of it.
    pub status: Status,
    /// Its own version.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// The contract version it was built against.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub contract_version: Option<String>,
    /// Its library.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "as_text")]
    pub path: Option<PathBuf>,
    /// How many times its id was loaded in this process; 0 if it never was.
    pub generation: u64,
    /// What there is to say about it.
    pub diagnostics: Vec<Diagnostic>,
    /// Whether it is the one that was pinned; nothing unless its library was looked at and is pinned.
    #[serde(skip)]
    pub integrity: Option<Integrity>,
    /// What it declares and is given; shown one plugin at a time.
    #[serde(skip)]
    pub details: Option<Details>,
}

/// A path need not be UTF-8, and JSON must be.
#[expect(
    clippy::ref_option,
    reason = "serde calls it with a reference to the field"
)]
fn as_text<S: serde::Serializer>(path: &Option<PathBuf>, serializer: S) -> Result<S::Ok, S::Error> {
    match path {
        Some(path) => serializer.serialize_str(&path.to_string_lossy()),
        None => serializer.serialize_none(),
    }
}

/// What `stud plugin info` shows besides.
#[derive(Debug, Clone)]
pub struct Details {
    /// What the library says about itself, shared with every session that the plugin runs in.
    pub manifest: Arc<Manifest>,
    /// The config in force.
    pub config: Value,
}

/// Where a plugin's code is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Form {
    /// In the program itself.
    Embedded,
    /// In a library.
    Library,
}

/// What became of a plugin.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// It takes part.
    Active,
    /// It is ready and not chosen.
    Loaded,
    /// It was disabled or refused.
    Disabled,
    /// A higher scope has one of the same id.
    Shadowed,
}

impl Status {
    /// The word on every wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Loaded => "loaded",
            Self::Disabled => "disabled",
            Self::Shadowed => "shadowed",
        }
    }
}

impl PluginReport {
    fn new(
        provenance: &Provenance,
        status: Status,
        generation: u64,
        details: Option<Details>,
    ) -> Self {
        let (form, path) = match provenance.path() {
            None => (Form::Embedded, None),
            Some(path) => (Form::Library, Some(path.to_owned())),
        };
        Self {
            ext_id: provenance.name().to_owned(),
            kind: provenance.kind(),
            scope: provenance.scope(),
            form,
            status,
            version: provenance.version().map(ToString::to_string),
            contract_version: provenance.contract_version().map(str::to_owned),
            path,
            generation,
            diagnostics: provenance.warnings().to_vec(),
            integrity: provenance.integrity(),
            details,
        }
    }

    /// Whether it takes no part, and no other plugin takes its place.
    pub fn is_refused(&self) -> bool {
        self.status == Status::Disabled
    }

    /// Reports are listed by scope, category, id and path.
    pub(crate) fn sort_key(&self) -> impl Ord {
        (
            self.scope,
            self.kind,
            self.ext_id.clone(),
            self.path.clone(),
        )
    }

    /// The report of a plugin that a stage refused.
    pub fn refused(refused: Refused) -> Self {
        let (provenance, why) = refused.into_parts();
        let mut report = Self::new(&provenance, Status::Disabled, 0, None);
        report.diagnostics.insert(0, why);
        report
    }

    /// The report of a plugin that is disabled or shadowed.
    pub(crate) fn idle(plugin: Validated, status: Status) -> Self {
        let details = Details {
            manifest: plugin.manifest().clone(),
            config: plugin.config().clone(),
        };
        Self::new(plugin.provenance(), status, 0, Some(details))
    }

    pub(crate) fn running(plugin: &Active) -> Self {
        let identity = plugin.identity();
        let status = match identity.life.word() {
            "active" => Status::Active,
            "loaded" => Status::Loaded,
            _ => Status::Disabled,
        };
        let details = Details {
            manifest: identity.manifest.clone(),
            config: identity.config.clone(),
        };
        Self::new(
            plugin.provenance(),
            status,
            identity.generation,
            Some(details),
        )
    }
}
