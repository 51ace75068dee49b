//! Who a plugin is once it runs: its id, scope, manifest, config and phase.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use serde_json::{Map, Value};
use stud_contract_meta::{ExtId, Kind, Manifest, Phase};

use crate::validate::{Members, Validated};
use stud_config::plugin_scope::Scope;
use stud_runtime::executor::CodeOrigin;

/// Who a running plugin is. Its host identifies it by this.
#[derive(Debug)]
pub struct Identity {
    /// What it is called.
    pub ext_id: ExtId,
    /// Its category.
    pub kind: Kind,
    /// The scope it was found in.
    pub scope: Scope,
    /// Its library, unless it is embedded.
    pub path: Option<PathBuf>,
    /// How many times this id was loaded in this process, this one included.
    pub generation: u64,
    /// What it declared.
    pub manifest: Arc<Manifest>,
    /// What it declared for its category.
    pub members: Arc<Members>,
    /// Its validated config.
    pub config: Value,
    /// The members of its config that core reads and its schema does not have.
    pub core_config: Map<String, Value>,
    /// Where it is in its life.
    pub life: Life,
}

impl Identity {
    pub(crate) fn new(plugin: &Validated, generation: u64) -> Self {
        let provenance = plugin.provenance();
        Self {
            ext_id: plugin.manifest().ext_id.clone(),
            kind: plugin.manifest().kind,
            scope: provenance.scope(),
            path: provenance.path().map(PathBuf::from),
            generation,
            manifest: plugin.manifest().clone(),
            members: plugin.members().clone(),
            config: plugin.config().clone(),
            core_config: plugin.core_config().clone(),
            life: Life::default(),
        }
    }

    /// Whether the code is bundled or third-party.
    pub fn code_origin(&self) -> CodeOrigin {
        match self.path {
            Some(_) => CodeOrigin::ThirdParty,
            None => CodeOrigin::Bundled,
        }
    }

    /// A member of its config, whether it is for the plugin or for core.
    pub fn setting(&self, member: &str) -> Option<&Value> {
        self.config
            .get(member)
            .or_else(|| self.core_config.get(member))
    }

    /// A member of its config, or the default that its schema declares.
    pub fn setting_or_default(&self, member: &str) -> Option<&Value> {
        let declared = &self.manifest.config_schema["properties"][member];
        self.setting(member).or_else(|| declared.get("default"))
    }

    /// The id that its library declares.
    pub fn plugin_id(&self) -> &str {
        let declared = self.manifest.document["extId"].as_str();
        declared.unwrap_or(self.ext_id.as_str())
    }

    /// Whether it serves another settings entry of a provider, under an id of its own.
    pub(crate) fn is_entry(&self) -> bool {
        self.plugin_id() != self.ext_id.as_str()
    }
}

/// Where a plugin is in its life, as its host sees it.
#[derive(Debug, Default)]
pub struct Life(AtomicU8);

const LIVES: [&str; 5] = ["init", "loaded", "active", "inactive", "disposed"];

impl Life {
    /// One of `init`, `loaded`, `active`, `inactive`, `disposed`.
    pub fn word(&self) -> &'static str {
        LIVES[usize::from(self.0.load(Ordering::Acquire)) % LIVES.len()]
    }

    /// The word after `phase` has succeeded.
    pub fn passed(&self, phase: Phase) {
        let place = match phase {
            Phase::Init => 1,
            Phase::Activate => 2,
            Phase::Deactivate => 3,
            Phase::Dispose => 4,
        };
        self.0.store(place, Ordering::Release);
    }
}
