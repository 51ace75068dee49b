//! reload: a changed library takes the place of the running one, as a new generation.

use std::sync::Arc;

use stud_contract_meta::{ExtId, Kind, ReloadBehavior};
use stud_diagnostics::{Diagnostic, codes};

use crate::activate::{Active, Means, Wanted, activate};
use crate::bind::bind;
use crate::discover::Found;
use crate::environment::Environment;
use crate::inspect::inspect;
use crate::load::{Stores, load};
use crate::provenance::{Origin, Provenance, Refused, Verdict};
use crate::registry::Registry;
use crate::retire::retire;
use crate::validate::validate;

/// What runs in a plugin's place after a reload.
pub(crate) struct Reloaded {
    /// The plugins for the next turn.
    pub(crate) registry: Registry,
    /// The new generation.
    pub(crate) active: Arc<Active>,
}

/// Why a plugin was not reloaded.
pub(crate) enum NotReloaded {
    /// What is in its place now was refused, and the old one runs on.
    Refused(Diagnostic),
    /// The new one did not come up. The old one is retired by then, so the plugin is switched off.
    Disabled(Refused),
}

impl NotReloaded {
    /// What whoever wanted the reload is told.
    pub(crate) fn into_why(self) -> Diagnostic {
        match self {
            Self::Refused(why) => why,
            Self::Disabled(refusal) => refusal.why,
        }
    }
}

impl From<Diagnostic> for NotReloaded {
    fn from(why: Diagnostic) -> Self {
        Self::Refused(why)
    }
}

/// Brings up what is now in the plugin's place and gives the registry for the next turn.
///
/// The new generation goes through every stage before the old one is touched: if it is refused, nothing has changed.
/// Old and new do not run side by side: the old one is retired between `bind` and `activate` of the new. If the new one
/// then fails to come up, the plugin takes no part any more; the next reload may bring it back. `judged` hears whether a
/// pinned library is the pinned one, before anything comes of it.
pub(crate) fn reload(
    registry: &Registry,
    old: &Arc<Active>,
    ground: &Environment,
    means: &Means,
    judged: impl FnOnce(Verdict),
) -> Result<Reloaded, NotReloaded> {
    let identity = old.identity();
    let id = identity.ext_id.as_str();
    if identity.manifest.reload_behavior == ReloadBehavior::Never {
        return Err(Diagnostic::error(
            &codes::LIFECYCLE_PHASE_INVALID,
            "this plugin is never reloaded while stud runs",
        )
        .of(id)
        .with("reloadBehavior", "never")
        .help("operator: restart stud to use the new build")
        .into());
    }
    let origin = match &identity.path {
        Some(path) => Origin::Library(path.clone()),
        None => old.track().origin.clone(),
    };
    let track = Provenance::new(identity.scope, origin, id.to_owned(), Some(identity.kind));
    let found = Found {
        track,
        folder: identity.path.is_some().then_some(identity.kind),
        config_file: config_beside(old),
    };
    let refused = |refusal: Refused| refusal.why;
    let validated = inspect(found)
        .and_then(|inspected| validate(inspected, &ground.settings))
        .and_then(|validated| {
            if identity.is_entry() {
                validated.as_entry(&identity.ext_id, &ground.settings)
            } else {
                Ok(validated)
            }
        })
        .map_err(refused)?;
    if validated.manifest.ext_id != identity.ext_id || validated.manifest.kind != identity.kind {
        let now = format!(
            "{} `{}`",
            validated.manifest.kind, validated.manifest.ext_id
        );
        return Err(Diagnostic::error(
            &codes::REGISTRATION_CONFLICT,
            format!("the library is now that of the {now}"),
        )
        .of(id)
        .help("operator: put it into a place of its own")
        .into());
    }
    let wanted = match identity.life.word() {
        "active" => Wanted::Active,
        // It did not come up the last time. Of what may be reloaded, only a state machine waits to be attached.
        "disposed" if identity.kind != Kind::StateMachine => Wanted::Active,
        _ => Wanted::Loaded,
    };
    let loaded = load(validated, &Stores::below(&ground.places.global_root));
    let integrity = match &loaded {
        Ok(loaded) => loaded.plugin.track.integrity,
        Err(refusal) => refusal.track.integrity,
    };
    if let Some(verdict) = integrity {
        judged(verdict);
    }
    let bound = loaded
        .and_then(|loaded| bind(loaded, &means.limits))
        .map_err(refused)?;
    let parting = retire(old, &means.limits);
    let next = activate(&bound, identity.generation + 1, wanted, means);
    let mut active = next.map_err(NotReloaded::Disabled)?;
    active.note(parting);
    let active = Arc::new(active);
    Ok(Reloaded {
        registry: registry.clone().with(active.clone()),
        active,
    })
}

fn config_beside(old: &Active) -> Option<std::path::PathBuf> {
    let config = old.identity().path.as_ref()?.with_file_name("config.json");
    config.is_file().then_some(config)
}

/// No plugin of that name, and perhaps the one that was meant.
pub fn not_found(registry: &Registry, id: &str) -> Diagnostic {
    let known: Vec<&ExtId> = registry
        .iter()
        .map(|plugin| &plugin.identity().ext_id)
        .collect();
    unknown_extension(id, known.iter().map(|id| id.as_str()))
}

/// No plugin of that name among those `known`.
pub fn unknown_extension<'a>(id: &str, known: impl IntoIterator<Item = &'a str>) -> Diagnostic {
    let diagnostic = Diagnostic::error(
        &codes::EXTENSION_NOT_FOUND,
        format!("there is no plugin `{id}`"),
    )
    .with("extId", id);
    match crate::did_you_mean::nearest(id, known) {
        Some(near) => diagnostic.help(format!("did you mean `{near}`?")),
        None => diagnostic.help("`stud plugin list` shows what is there"),
    }
}
