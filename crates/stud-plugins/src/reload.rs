//! reload: a changed library takes the place of the running one, as a new generation.

use std::sync::Arc;

use stud_contract_meta::{Kind, ReloadBehavior};
use stud_diagnostics::{Diagnostic, codes};

use crate::activate::{Active, Wanted};
use crate::admission::{bring_up, judge, open_pinned};
use crate::discover::rediscover;
use crate::identity::Identity;
use crate::load::PluginStores;
use crate::provenance::{Integrity, Refused};
use crate::register::PluginRuntime;
use crate::registry::Registry;
use crate::retire::retire;
use crate::validate::Validated;
use stud_config::environment::Environment;

/// What runs in a plugin's place after a reload.
#[derive(Debug)]
pub struct Reloaded {
    /// The plugins for the next turn.
    pub registry: Registry,
    /// The new generation.
    pub active: Arc<Active>,
}

/// Why a plugin was not reloaded.
#[derive(Debug)]
pub enum NotReloaded {
    /// The library was refused, and the old generation runs on.
    Refused(Diagnostic),
    /// The new generation did not come up. The old one is retired by then, so the plugin is disabled.
    Disabled(Refused),
}

impl NotReloaded {
    /// The reason, for the caller that asked for the reload.
    pub(crate) fn into_why(self) -> Diagnostic {
        match self {
            Self::Refused(why) => why,
            Self::Disabled(refusal) => refusal.into_why(),
        }
    }
}

impl From<Diagnostic> for NotReloaded {
    fn from(why: Diagnostic) -> Self {
        Self::Refused(why)
    }
}

/// Brings up a plugin's library as it is now, and gives the registry for the next turn.
///
/// The new generation passes every stage before the old one is touched: if it is refused, nothing has changed. Old and
/// new do not run side by side: the old one is retired between `bind` and `register` of the new. If the new one then fails
/// to come up, the plugin takes no part any more; the next reload may bring it back. `on_integrity` is told whether a
/// pinned library is the pinned one, before its entry is called.
pub fn reload(
    registry: &Registry,
    old: &Arc<Active>,
    environment: &Environment,
    runtime: &PluginRuntime,
    on_integrity: impl FnOnce(Integrity),
) -> Result<Reloaded, NotReloaded> {
    let identity = old.identity();
    if identity.manifest.reload_behavior == ReloadBehavior::Never {
        return Err(never_reloaded(identity).into());
    }
    let mut validated =
        judge(rediscover(old.provenance()), &environment.settings).map_err(Refused::into_why)?;
    if identity.is_entry() {
        validated = validated
            .for_entry(&identity.ext_id, &environment.settings)
            .map_err(Refused::into_why)?;
    }
    check_same_plugin(identity, &validated)?;
    let wanted = match identity.life.word() {
        "active" => Wanted::Active,
        // It did not come up the last time. Of what may be reloaded, only a state machine waits to be attached.
        "disposed" if identity.kind != Kind::StateMachine => Wanted::Active,
        _ => Wanted::Loaded,
    };
    let stores = PluginStores::below(&environment.places.global_root);
    let bound = open_pinned(validated, &stores, &runtime.limits, on_integrity)
        .map_err(Refused::into_why)?;
    let problems = retire(old, &runtime.limits);
    let next = bring_up(&bound, identity.generation + 1, wanted, runtime);
    let mut active = next.map_err(NotReloaded::Disabled)?;
    active.note(problems);
    let active = Arc::new(active);
    Ok(Reloaded {
        registry: registry.clone().with(active.clone()),
        active,
    })
}

fn never_reloaded(identity: &Identity) -> Diagnostic {
    Diagnostic::error(
        &codes::LIFECYCLE_PHASE_INVALID,
        "this plugin is never reloaded while stud runs",
    )
    .of(identity.ext_id.as_str())
    .with("reloadBehavior", "never")
    .help("operator: restart stud to use the new build")
}

/// Refuses a library that now holds another plugin.
fn check_same_plugin(identity: &Identity, now: &Validated) -> Result<(), Diagnostic> {
    let manifest = now.manifest();
    if manifest.ext_id == identity.ext_id && manifest.kind == identity.kind {
        return Ok(());
    }
    let message = format!(
        "the library is now that of the {} `{}`",
        manifest.kind, manifest.ext_id
    );
    Err(Diagnostic::error(&codes::REGISTRATION_CONFLICT, message)
        .of(identity.ext_id.as_str())
        .help("operator: put it into a place of its own"))
}
