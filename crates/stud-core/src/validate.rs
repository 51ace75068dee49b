//! validate: [`Inspected`] → [`Validated`]. Everything a manifest claims is checked; no code of the plugin runs.
//!
//! Five stages in this order, and the first failure ends it: shape, contractVersion, requiredCoreVersion,
//! configSchema, category.

mod document;
mod shape;
mod versions;
pub(crate) mod schema;
mod entry;
mod config;
pub(crate) mod category;

use std::sync::Arc;

use serde_json::{Map, Value};
use stud_contract_meta::{ExtId, Manifest};
use stud_diagnostics::{Diagnostic, Stage};

use crate::inspect::Inspected;
use crate::provenance::{Provenance, Refused, show};
use crate::settings::Settings;

pub use category::Members;

/// A plugin whose manifest and config hold. Only [`validate`] makes one, and only one can be loaded.
#[derive(Debug, Clone)]
pub struct Validated {
    pub(crate) track: Provenance,
    pub(crate) manifest: Arc<Manifest>,
    pub(crate) members: Arc<Members>,
    pub(crate) config: Value,
    /// What core reads of the config and the plugin has no place for.
    pub(crate) kept: Map<String, Value>,
    pub(crate) enabled: bool,
    pub(crate) section: Vec<u8>,
}

/// Checks a manifest and the config that goes with it.
pub fn validate(inspected: Inspected, settings: &Settings) -> Result<Validated, Refused> {
    let Inspected {
        mut track,
        folder,
        config_file,
        document,
        section,
    } = inspected;
    let refuse = |track: Provenance, why: Diagnostic, document: &Value| {
        let why = point_at(why, &track, document);
        Err(track.refuse(why))
    };
    let manifest = match shape::check(&mut track, document) {
        Ok(manifest) => manifest,
        Err((why, document)) => return refuse(track, why, &document),
    };
    let checked = (|| {
        track.pass(Stage::Shape);
        versions::check_contract(&track, &manifest)?;
        track.pass(Stage::ContractVersion);
        versions::check_core(&track, &manifest)?;
        track.pass(Stage::RequiredCoreVersion);
        let effective = config::check(
            &track,
            &manifest,
            &manifest.ext_id,
            config_file.as_deref(),
            settings,
        )?;
        track.warnings.extend(effective.dropped.clone());
        track.pass(Stage::ConfigSchema);
        let members = category::check(&mut track, &manifest, folder)?;
        track.pass(Stage::Category);
        Ok((members, effective))
    })();
    match checked {
        Ok((members, effective)) => Ok(Validated {
            track,
            manifest: Arc::new(manifest),
            members: Arc::new(members),
            config: effective.value,
            kept: effective.kept,
            enabled: effective.enabled,
            section,
        }),
        Err(why) => refuse(track, why, &manifest.document),
    }
}

impl Validated {
    /// The same plugin under the id of another entry of the settings, with that entry's config.
    pub(crate) fn as_entry(&self, id: &ExtId, settings: &Settings) -> Result<Self, Refused> {
        let mut track = self.track.clone();
        track.ext_id = Some(id.clone());
        // Its library was looked at for the plugin itself.
        track.integrity = None;
        let checked = config::check(&track, &self.manifest, id, None, settings);
        let effective = match checked {
            Ok(effective) => effective,
            Err(why) => return Err(track.refuse(why)),
        };
        let manifest = Manifest {
            ext_id: id.clone(),
            ..(*self.manifest).clone()
        };
        Ok(Self {
            track,
            manifest: Arc::new(manifest),
            config: effective.value,
            kept: effective.kept,
            enabled: effective.enabled,
            ..self.clone()
        })
    }
}

/// Shows the place in the manifest, unless the diagnostic is about another file.
fn point_at(why: Diagnostic, track: &Provenance, document: &Value) -> Diagnostic {
    let field = why.field_path.as_deref().unwrap_or_default();
    let about_config =
        why.stage == Some(Stage::ConfigSchema) && !field.starts_with("/configSchema");
    let about_manifest =
        why.path.as_deref() == track.path() && why.source.is_none() && !about_config;
    if about_manifest {
        show(why, track, document)
    } else {
        why
    }
}
