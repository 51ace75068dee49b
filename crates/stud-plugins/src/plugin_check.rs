//! One library put through every stage, for its author: `stud plugin check`.

use std::path::Path;
use std::sync::Arc;

use serde::Serialize;
use serde_json::Value;
pub use stud_abi::entry::TARGET;
use stud_contract_meta::Kind;
use stud_diagnostics::{Diagnostic, Stage};

use crate::activate::Wanted;
use crate::admission::{self, bring_up, judge};
use crate::bind::bind;
use crate::dependency_order::{Candidate, order};
use crate::discover::{discover, discover_file, refuse_untrusted};
use crate::inspect::inspect;
use crate::layer::layer_over;
use crate::load::{PluginStores, load};
use crate::provenance::{Provenance, Refused};
use crate::register::PluginRuntime;
use crate::retire::retire;
use crate::validate::Validated;
use stud_config::environment::{EmbeddedPlugin, Environment};

/// How far the library came through the stages.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CheckReport {
    /// The file, as it was named.
    pub path: String,
    /// Its id, once it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ext_id: Option<String>,
    /// Its category, once it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<Kind>,
    /// Its version, once it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// `ok` or `refused`.
    pub status: &'static str,
    /// The stages it went through; none after the first failure.
    pub stages: Vec<StageReport>,
    /// What there is to say about it.
    pub diagnostics: Vec<Diagnostic>,
}

/// One stage of a [`CheckReport`].
#[derive(Debug, Serialize)]
pub struct StageReport {
    /// The stage.
    #[serde(serialize_with = "as_word")]
    pub stage: Stage,
    /// Whether it was passed.
    pub ok: bool,
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde calls it with a reference"
)]
fn as_word<S: serde::Serializer>(stage: &Stage, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(stage.as_str())
}

/// Puts the library at `path` through the stages.
///
/// It is opened only if `open` is set and everything before has passed.
pub fn check(
    path: &Path,
    open: bool,
    environment: &Environment,
    runtime: &PluginRuntime,
) -> CheckReport {
    match run(path, open, environment, runtime) {
        Ok(provenance) => report(path, &provenance, None),
        Err(refusal) => {
            let (provenance, why) = refusal.into_parts();
            report(path, &provenance, Some(why))
        }
    }
}

/// The manifest of the library at `path`. Nothing in it has been checked, and no code of the plugin runs.
pub fn read_manifest(path: &Path, environment: &Environment) -> Result<Value, Diagnostic> {
    if let Some(why) = environment.closed(path) {
        return Err(untrusted(why, environment));
    }
    let inspected = inspect(discover_file(path, environment)).map_err(Refused::into_why)?;
    Ok(inspected.into_parts().2.document)
}

/// Opens the library at `path` after every stage up to `bind` has passed, and gives what an embedded plugin would be.
///
/// The manifest is kept until the process ends, as the library is.
pub fn open_library(
    path: &Path,
    environment: &Environment,
    runtime: &PluginRuntime,
) -> Result<EmbeddedPlugin, Refused> {
    if let Some(why) = environment.closed(path) {
        return Err(refuse_untrusted(path, untrusted(why, environment)));
    }
    let validated = judge(discover_file(path, environment), &environment.settings)?.switched_on();
    let section = validated.section().to_vec();
    let stores = PluginStores::below(&environment.places.global_root);
    let loaded = load(validated, &stores)?;
    let entry = loaded.entry();
    // Binding holds the table against the manifest.
    bind(loaded, &runtime.limits)?;
    Ok(EmbeddedPlugin {
        section: Vec::leak(section),
        entry,
    })
}

fn run(
    path: &Path,
    open: bool,
    environment: &Environment,
    runtime: &PluginRuntime,
) -> Result<Provenance, Refused> {
    if let Some(why) = environment.closed(path) {
        return Err(refuse_untrusted(path, untrusted(why, environment)));
    }
    // A check runs all stages, also for a plugin that is disabled.
    let validated = judge(discover_file(path, environment), &environment.settings)?.switched_on();
    let ordered = order_among_installed(validated, environment)?;
    if !open {
        return Ok(ordered.into_provenance());
    }
    let stores = PluginStores::below(&environment.places.global_root);
    let bound = admission::open(ordered, &stores, &runtime.limits)?;
    let active = Arc::new(bring_up(&bound, 1, Wanted::Active, runtime)?);
    let mut provenance = active.provenance().clone();
    for problem in retire(&active, &runtime.limits) {
        provenance.warn(problem);
    }
    Ok(provenance)
}

fn untrusted(why: &Diagnostic, environment: &Environment) -> Diagnostic {
    let root = environment.places.project_root.display().to_string();
    Diagnostic::error(why.code, why.message.clone())
        .with("projectRoot", root)
        .help("`stud trust` trusts the project; until then stud does not read any file in it")
}

/// Decides the library's dependencies and conflicts among the installed plugins.
fn order_among_installed(
    validated: Validated,
    environment: &Environment,
) -> Result<Validated, Refused> {
    let id = validated.manifest().ext_id.clone();
    let installed = discover(environment)
        .found
        .into_iter()
        .filter_map(|found| judge(found, &environment.settings).ok())
        .filter(|other| other.manifest().ext_id != id)
        .collect();
    let mut ordered = order(layer_over(installed, validated));
    let is_it = |candidate: &Candidate| candidate.chosen().manifest().ext_id == id;
    if let Some(place) = ordered.plan.iter().position(is_it) {
        return Ok(ordered.plan.swap_remove(place).into_parts().0);
    }
    let mut refused = ordered.refused.into_iter();
    match refused.find(|refused| refused.provenance().ext_id() == Some(&id)) {
        Some(refused) => Err(refused),
        None => unreachable_plan(),
    }
}

/// `order` gives every plugin either a place or a refusal.
#[expect(
    clippy::unreachable,
    reason = "the two outcomes of `order` are exhaustive"
)]
fn unreachable_plan() -> ! {
    unreachable!("a plugin is neither in the plan nor refused")
}

fn report(path: &Path, provenance: &Provenance, why: Option<Diagnostic>) -> CheckReport {
    let failed = why.as_ref().and_then(|why| why.stage);
    let stage = |stage: Stage, ok: bool| StageReport { stage, ok };
    let passed = provenance
        .passed()
        .iter()
        .map(|passed| stage(*passed, true));
    let warnings = provenance.warnings().iter().cloned();
    CheckReport {
        path: path.display().to_string(),
        ext_id: provenance.ext_id().map(ToString::to_string),
        kind: provenance.kind(),
        version: provenance.version().map(ToString::to_string),
        status: if why.is_some() { "refused" } else { "ok" },
        stages: passed
            .chain(failed.map(|failed| stage(failed, false)))
            .collect(),
        diagnostics: why.into_iter().chain(warnings).collect(),
    }
}
