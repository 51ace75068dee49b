//! validate: [`Inspected`] → [`Validated`]. Everything a manifest claims is checked; no code of the plugin runs.
//!
//! Five stages in this order, and the first failure ends it: shape, contractVersion, requiredCoreVersion,
//! configSchema, category.

mod document;
mod shape;
mod contract_version;
mod core_version;
pub mod schema;
mod core_config;
mod config;
pub(crate) mod category;

use std::sync::Arc;

use serde_json::{Map, Value};
use stud_contract_meta::{ExtId, Manifest};
use stud_diagnostics::{Diagnostic, Stage};

use crate::discover::Placement;
use crate::inspect::{Inspected, ManifestSection};
use crate::provenance::{Integrity, Provenance, Refused, show};
use config::Effective;
use stud_config::settings::Settings;

pub use category::Members;

/// A plugin whose manifest and config are valid. Only [`validate`] makes one, and only one can be loaded.
#[derive(Debug, Clone)]
pub struct Validated {
    provenance: Provenance,
    manifest: Arc<Manifest>,
    members: Arc<Members>,
    config: Value,
    core_config: Map<String, Value>,
    enabled: bool,
    section: Vec<u8>,
}

/// Checks a manifest and the config that goes with it.
pub fn validate(inspected: Inspected, settings: &Settings) -> Result<Validated, Refused> {
    let (mut provenance, placement, manifest) = inspected.into_parts();
    let ManifestSection { document, bytes } = manifest;
    let refuse = |provenance: Provenance, why: Diagnostic, document: &Value| {
        let why = point_at(why, &provenance, document);
        Err(provenance.refuse(why))
    };
    let manifest = match shape::check(&mut provenance, document) {
        Ok(manifest) => manifest,
        Err((why, document)) => return refuse(provenance, why, &document),
    };
    match check(&mut provenance, &manifest, &placement, settings) {
        Ok((members, effective)) => Ok(Validated {
            provenance,
            manifest: Arc::new(manifest),
            members: Arc::new(members),
            config: effective.value,
            core_config: effective.core_config,
            enabled: effective.enabled,
            section: bytes,
        }),
        Err(why) => refuse(provenance, why, &manifest.document),
    }
}

/// The stages after `shape`, in order.
fn check(
    provenance: &mut Provenance,
    manifest: &Manifest,
    placement: &Placement,
    settings: &Settings,
) -> Result<(Members, Effective), Diagnostic> {
    provenance.pass(Stage::Shape);
    contract_version::check(provenance, manifest)?;
    provenance.pass(Stage::ContractVersion);
    core_version::check(provenance, manifest)?;
    provenance.pass(Stage::RequiredCoreVersion);
    let config_file = placement.config_file.as_deref();
    let mut effective = config::check(
        provenance,
        manifest,
        &manifest.ext_id,
        config_file,
        settings,
    )?;
    if let Some(dropped) = effective.dropped.take() {
        provenance.warn(dropped);
    }
    provenance.pass(Stage::ConfigSchema);
    let members = category::check(provenance, manifest, placement.folder)?;
    provenance.pass(Stage::Category);
    Ok((members, effective))
}

impl Validated {
    /// What is known of it.
    pub fn provenance(&self) -> &Provenance {
        &self.provenance
    }

    /// What it says about itself.
    pub fn manifest(&self) -> &Arc<Manifest> {
        &self.manifest
    }

    /// What it declares for its category.
    pub fn members(&self) -> &Arc<Members> {
        &self.members
    }

    /// The config it is given.
    pub fn config(&self) -> &Value {
        &self.config
    }

    /// The members of its config that core reads and its schema does not have.
    pub fn core_config(&self) -> &Map<String, Value> {
        &self.core_config
    }

    /// Whether its config switches it on.
    pub fn is_enabled(&self) -> bool {
        self.enabled
    }

    /// The bytes of the manifest section that was validated.
    pub(crate) fn section(&self) -> &[u8] {
        &self.section
    }

    /// Notes that a later stage is passed.
    pub(crate) fn pass(&mut self, stage: Stage) {
        self.provenance.pass(stage);
    }

    /// Notes whether its bytes are the pinned ones.
    pub(crate) fn set_integrity(&mut self, integrity: Option<Integrity>) {
        self.provenance.set_integrity(integrity);
    }

    /// A later stage refuses it.
    pub(crate) fn refuse(self, why: Diagnostic) -> Refused {
        self.provenance.refuse(why)
    }

    /// What is known of it, by value.
    pub(crate) fn into_provenance(self) -> Provenance {
        self.provenance
    }

    /// The same plugin, switched on whatever its config says.
    pub(crate) fn switched_on(self) -> Self {
        Self {
            enabled: true,
            ..self
        }
    }

    /// The same plugin under the id of another settings entry, with the config of that entry.
    pub(crate) fn for_entry(&self, id: &ExtId, settings: &Settings) -> Result<Self, Refused> {
        let provenance = self.provenance.for_entry(id);
        let effective = match config::check(&provenance, &self.manifest, id, None, settings) {
            Ok(effective) => effective,
            Err(why) => return Err(provenance.refuse(why)),
        };
        let manifest = Manifest {
            ext_id: id.clone(),
            ..(*self.manifest).clone()
        };
        Ok(Self {
            provenance,
            manifest: Arc::new(manifest),
            config: effective.value,
            core_config: effective.core_config,
            enabled: effective.enabled,
            ..self.clone()
        })
    }
}

/// Shows the place in the manifest, unless the diagnostic is about another file.
fn point_at(why: Diagnostic, provenance: &Provenance, document: &Value) -> Diagnostic {
    let field = why.field_path.as_deref().unwrap_or_default();
    let about_config =
        why.stage == Some(Stage::ConfigSchema) && !field.starts_with("/configSchema");
    let about_manifest =
        why.path.as_deref() == provenance.path() && why.source.is_none() && !about_config;
    if about_manifest {
        show(why, provenance, document)
    } else {
        why
    }
}
