//! One library put through every stage, for its author: `stud plugin check`.

use std::path::Path;
use std::sync::Arc;

use serde::Serialize;
use stud_contract_meta::Kind;
use stud_diagnostics::{Diagnostic, Stage};

use crate::activate::{Means, Wanted, activate};
use crate::bind::bind;
use crate::dependency_order::order;
use crate::discover::{Found, discover, discover_file};
use crate::environment::Environment;
use crate::inspect::inspect;
use crate::layer::layer;
use crate::load::{Stores, load};
use crate::plugin_scope::Scope;
use crate::provenance::{Provenance, Refused};
use crate::retire::retire;
use crate::validate::{Validated, validate};

/// What became of the library at each stage.
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
/// It is opened only if `open` says so and everything before has passed.
pub fn check(path: &Path, open: bool, ground: &Environment, means: &Means) -> CheckReport {
    match run(path, open, ground, means) {
        Ok(track) => report(path, track, None),
        Err(Refused { track, why }) => report(path, *track, Some(why)),
    }
}

fn run(
    path: &Path,
    open: bool,
    ground: &Environment,
    means: &Means,
) -> Result<Provenance, Refused> {
    if let Some(why) = ground.closed(path) {
        let Found { track, .. } = discover_file(path);
        let why = Diagnostic::error(why.code, why.message.clone())
            .at(Stage::Discover)
            .with(
                "projectRoot",
                ground.places.project_root.display().to_string(),
            )
            .help(
                "`stud trust` trusts the project; until then not even a check reads what is in it",
            );
        return Err(track.refuse(why));
    }
    let mut validated = validate(inspect(placed(path, ground))?, &ground.settings)?;
    // Whoever asks for a check wants one, even of a plugin that is switched off.
    validated.enabled = true;
    let ordered = among_others(validated, ground)?;
    if !open {
        return Ok(ordered.track);
    }
    let stores = Stores::below(&ground.places.global_root);
    let bound = bind(load(ordered, &stores)?, &means.limits)?;
    let active = Arc::new(activate(&bound, 1, Wanted::Active, means)?);
    let mut track = active.track().clone();
    for problem in retire(&active, &means.limits) {
        track.warn(problem);
    }
    Ok(track)
}

/// A library below a scope's root must lie in the right folder there; elsewhere it lies where it likes.
fn placed(path: &Path, ground: &Environment) -> Found {
    let mut found = discover_file(path);
    let config_file = path.with_file_name("config.json");
    found.config_file = config_file.is_file().then_some(config_file);
    let relative = ground
        .roots()
        .find_map(|(_, root)| path.strip_prefix(root).ok());
    let folder = relative.and_then(|relative| relative.iter().next());
    found.folder =
        folder.and_then(|folder| Kind::ALL.into_iter().find(|kind| folder == kind.folder()));
    found.track.scope = Scope::Project;
    found
}

/// Decides the library's dependencies and conflicts among what is installed.
fn among_others(validated: Validated, ground: &Environment) -> Result<Validated, Refused> {
    let id = validated.manifest.ext_id.clone();
    let mut all: Vec<Validated> = discover(ground)
        .found
        .into_iter()
        .filter_map(|found| inspect(found).ok())
        .filter_map(|inspected| validate(inspected, &ground.settings).ok())
        .filter(|other| other.manifest.ext_id != id)
        .collect();
    for other in &mut all {
        // Names are contested only within a scope, and the library under test is in none yet.
        other.track.scope = other.track.scope.min(Scope::Global);
    }
    all.push(validated);
    let mut ordered = order(layer(all));
    let place = ordered
        .plan
        .iter()
        .position(|candidate| candidate.chosen.manifest.ext_id == id);
    if let Some(place) = place {
        return Ok(ordered.plan.swap_remove(place).chosen);
    }
    let refused = ordered
        .refused
        .into_iter()
        .find(|refused| refused.track.ext_id.as_ref() == Some(&id));
    match refused {
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

fn report(path: &Path, track: Provenance, why: Option<Diagnostic>) -> CheckReport {
    let failed = why.as_ref().and_then(|why| why.stage);
    let mut stages: Vec<StageReport> = track
        .passed
        .iter()
        .map(|stage| StageReport {
            stage: *stage,
            ok: true,
        })
        .collect();
    stages.extend(failed.map(|stage| StageReport { stage, ok: false }));
    CheckReport {
        path: path.display().to_string(),
        ext_id: track.ext_id.as_ref().map(ToString::to_string),
        kind: track.kind,
        version: track.version.map(|version| version.to_string()),
        status: if why.is_some() { "refused" } else { "ok" },
        stages,
        diagnostics: why.into_iter().chain(track.warnings).collect(),
    }
}
