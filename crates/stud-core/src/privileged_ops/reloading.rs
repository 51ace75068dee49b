//! Reloads a plugin when no call of it is running.

use std::sync::Arc;

use serde_json::{Value, json};
use stud_contract_meta::{Kind, ReloadBehavior, Result};
use stud_diagnostics::Diagnostic;

use super::Site;
use crate::activate::Active;
use crate::environment::Environment;
use crate::executor::{block_on, spawn_future};
use crate::ledger::closed;
use crate::participants;
use crate::platform;
use crate::provenance::{Integrity, told};
use crate::register::PluginRuntime;
use crate::reload::{NotReloaded, reload};
use crate::report::PluginReport;
use crate::session::{Job, Moment, Session};
use crate::sync::{Promised, promise};
use crate::unknown_ids::not_in_registry;

/// Loads what is now in a plugin's place. A UI is first let finish the prompt it shows.
///
/// If the new one is refused, the old one stays; if it fails to come up, the plugin does not take part any more, until it
/// is reloaded with success.
pub(crate) fn replace(
    session: &Session,
    ground: &Environment,
    means: &PluginRuntime,
    id: &str,
) -> std::result::Result<Arc<Active>, Diagnostic> {
    block_on(session.prompts().drain_interactor(id));
    let registry = session.plugins();
    let Some(old) = known(session, id) else {
        return Err(not_in_registry(&registry, id));
    };
    session.detach_plugin(id);
    let judged = |verdict: Integrity| session.audit_integrity(id, verdict);
    match reload(&registry, &old, ground, means, judged) {
        Ok(reloaded) => {
            session.set_plugins(reloaded.registry);
            session.is_back(id);
            participants::join(session, &reloaded.active);
            Ok(reloaded.active)
        }
        Err(NotReloaded::Refused(why)) => {
            if old.identity().life.word() != "disposed" {
                participants::join(session, &old);
            }
            Err(why)
        }
        Err(NotReloaded::Disabled(refusal)) => {
            let why = refusal.why().clone();
            session.set_plugins((*registry).clone().without(&old.identity().ext_id));
            session.is_down(old, PluginReport::refused(refusal));
            Err(why)
        }
    }
}

/// A plugin that takes part, or did until a reload failed.
fn known(session: &Session, id: &str) -> Option<Arc<Active>> {
    let plugins = session.plugins();
    plugins.get(id).cloned().or_else(|| {
        let down = session.down().into_iter();
        let mut down = down.filter(|plugin| plugin.identity().ext_id.as_str() == id);
        down.next()
    })
}

/// Loads one plugin anew, as it wants to be.
pub(super) async fn one(site: Arc<Site>, id: String) -> Result<Value> {
    let Some(plugin) = known(&site.session, &id) else {
        return Err(told(&not_in_registry(&site.session.plugins(), &id)));
    };
    match plugin.identity().manifest.reload_behavior {
        ReloadBehavior::Never => {
            let at = now();
            let payload = json!({"extId": id, "reason": "command", "at": at});
            site.audit("ExtensionReloadRefused", None, payload);
            Ok(json!({"extId": id, "phase": "refused", "at": at}))
        }
        // A plugin that is running a command cannot be replaced.
        _ if site.is_busy(&id) => {
            site.session.after_a_turn(job(&site, &id).0);
            Ok(json!({"extId": id, "phase": "deferred-between-turns", "at": now()}))
        }
        ReloadBehavior::InTurn => {
            let (job, result) = job(&site, &id);
            if let Err(job) = site.session.defer(Moment::Boundary, job) {
                spawn_future(async move { drop(job()) }).await;
            }
            result.await.unwrap_or_else(|| Err(closed()))?;
            Ok(json!({"extId": id, "phase": "reloaded-in-turn", "at": now()}))
        }
        ReloadBehavior::BetweenTurns => {
            let (job, result) = job(&site, &id);
            let phase = match site.session.defer(Moment::End, job) {
                Ok(()) => "deferred-between-turns",
                Err(job) => {
                    spawn_future(async move { drop(job()) }).await;
                    result.await.unwrap_or_else(|| Err(closed()))?;
                    "reloaded-between-turns"
                }
            };
            Ok(json!({"extId": id, "phase": phase, "at": now()}))
        }
    }
}

/// The reload of one plugin, and what comes of it.
fn job(site: &Arc<Site>, id: &str) -> (Job, Promised<Result<()>>) {
    let (done, result) = promise();
    let (site, id) = (site.clone(), id.to_owned());
    let job = Box::new(move || {
        let replaced = anew(&site, &id);
        let active = replaced.as_ref().ok().cloned();
        done.keep(replaced.map(drop));
        active
    });
    (job, result)
}

/// Loads every plugin anew that may be between turns, with the settings as they are now.
///
/// The screens stay: reloading the one that shows this would cut off the answer. Each can be reloaded by its id.
pub(super) async fn all(site: Arc<Site>) -> Result<Value> {
    let registry = site.session.plugins();
    let (mut ids, mut refused) = (Vec::new(), Vec::new());
    let down = site.session.down();
    for plugin in registry.iter().chain(&down) {
        let identity = plugin.identity();
        let id = identity.ext_id.to_string();
        let stays = identity.manifest.reload_behavior == ReloadBehavior::Never;
        if stays || identity.kind == Kind::Ui || site.is_busy(&id) {
            refused.push(id);
        } else {
            ids.push(id);
        }
    }
    let (done, result) = promise();
    let (doer, wanted) = (site.clone(), ids.clone());
    let job = Box::new(move || {
        done.keep(set(&doer, wanted));
        None
    });
    match site.session.defer(Moment::End, job) {
        Ok(()) => Ok(json!({
            "loaded": [],
            "disabled": [],
            "deferred": ids,
            "refused": refused,
            "revisionId": site.session.revision_id(),
        })),
        Err(job) => {
            spawn_future(async move { drop(job()) }).await;
            let mut reloaded = result.await.ok_or_else(closed)?;
            reloaded["deferred"] = json!([]);
            reloaded["refused"] = refused.into();
            Ok(reloaded)
        }
    }
}

fn set(site: &Site, ids: Vec<String>) -> Value {
    let (mut loaded, mut disabled) = (Vec::new(), Vec::new());
    for id in ids {
        match anew(site, &id) {
            Ok(_) => loaded.push(id),
            Err(_) => disabled.push(id),
        }
    }
    let reloaded = json!({
        "loaded": loaded,
        "disabled": disabled,
        "revisionId": site.session.revision_id(),
    });
    site.audit("ExtensionsReloaded", None, reloaded.clone());
    reloaded
}

/// Reloads a plugin now. Failures are published, since no caller may be waiting.
fn anew(site: &Site, id: &str) -> Result<Arc<Active>> {
    let ground = site.ground.with_settings_of_now();
    let replaced = ground.and_then(|ground| replace(&site.session, &ground, &site.means, id));
    match replaced {
        Ok(active) => {
            let payload = json!({"extId": id, "reason": "command", "at": now()});
            site.audit("ExtensionReloaded", None, payload);
            Ok(active)
        }
        Err(problem) => {
            site.session.report(&problem);
            Err(told(&problem))
        }
    }
}

fn now() -> String {
    platform::rfc3339(platform::now())
}
