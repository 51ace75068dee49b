//! The story: from folders to a registry of running plugins.

use std::sync::Arc;

use stud_contract_meta::Kind;
use stud_diagnostics::Diagnostic;

use crate::activate::{Active, Means, Wanted, activate};
use crate::bind::bind;
use crate::discover::{Discovered, Found, discover};
use crate::ground::Ground;
use crate::inspect::inspect;
use crate::layer::layer;
use crate::load::{Stores, load};
use crate::order::{self, Candidate, order};
use crate::registry::Registry;
use crate::reload::reload;
use crate::report::{PluginReport, Status};
use crate::retire::retire;
use crate::settings::Settings;
use crate::track::Refused;
use crate::validate::{Validated, validate};
use crate::watch::Limits;

/// What came of it.
#[derive(Debug)]
pub struct Started {
    /// The plugins that run.
    pub registry: Registry,
    /// Every plugin that was found, by scope, category and id.
    pub reports: Vec<PluginReport>,
    /// What is not about one plugin.
    pub diagnostics: Vec<Diagnostic>,
}

/// Brings up every plugin that passes, and reports the rest. One refused plugin never stops the others.
pub fn start(ground: &Ground, means: &Means) -> Started {
    let Discovered {
        found,
        mut refused,
        warnings,
    } = discover(ground);
    let mut keep = |refusal| refused.push(refusal);

    let validated: Vec<Validated> = found
        .into_iter()
        .filter_map(|found| judge(found, &ground.settings).map_err(&mut keep).ok())
        .collect();
    let ordered = order(layer(validated));
    refused.extend(ordered.refused);

    let mut rise = Rise::new(ground, means);
    for candidate in ordered.plan {
        rise.bring_up(candidate);
    }
    for candidate in ordered.disabled {
        rise.rest(candidate.chosen, Status::Disabled);
        rise.shadow(candidate.hidden);
    }
    rise.finish(refused, warnings)
}

/// From a file to a proof that it may be loaded; nothing of it has run.
fn judge(found: Found, settings: &Settings) -> Result<Validated, Refused> {
    validate(inspect(found)?, settings)
}

/// The plugins coming up one after another.
struct Rise<'a> {
    ground: &'a Ground,
    means: &'a Means,
    stores: Stores,
    active: Vec<Arc<Active>>,
    reports: Vec<PluginReport>,
    refused: Vec<Refused>,
}

impl<'a> Rise<'a> {
    fn new(ground: &'a Ground, means: &'a Means) -> Self {
        Self {
            ground,
            means,
            stores: Stores::below(&ground.places.global_root),
            active: Vec::new(),
            reports: Vec::new(),
            refused: Vec::new(),
        }
    }

    /// Tries the chosen plugin, then those it hides.
    fn bring_up(&mut self, candidate: Candidate) {
        let Candidate { chosen, mut hidden } = candidate;
        let mut next = Some(chosen);
        while let Some(plugin) = next.take() {
            match self.run(plugin) {
                Ok(active) => {
                    self.reports.push(PluginReport::running(&active));
                    self.active.push(Arc::new(active));
                }
                Err(refusal) => {
                    self.refused.push(refusal);
                    // One that is switched off is not opened in anyone's place.
                    let fallback = hidden.iter().position(|plugin| plugin.enabled);
                    next = fallback.map(|place| hidden.remove(place));
                }
            }
        }
        self.shadow(hidden);
    }

    fn run(&self, plugin: Validated) -> Result<Active, Refused> {
        let gone = plugin
            .manifest
            .depends_on
            .iter()
            .enumerate()
            .find(|(_, reference)| {
                !self.active.iter().any(|active| {
                    let identity = active.identity();
                    reference.matches(&identity.ext_id, identity.kind, &identity.manifest.provides)
                })
            });
        if let Some((index, reference)) = gone {
            let why = order::missing(&plugin, index, reference);
            return Err(plugin.track.refuse(why));
        }
        let wanted = wanted(&plugin, &self.ground.settings);
        let bound = bind(load(plugin, &self.stores)?, &self.means.limits)?;
        activate(bound, 1, wanted, self.means)
    }

    fn rest(&mut self, plugin: Validated, status: Status) {
        self.reports.push(PluginReport::resting(plugin, status));
    }

    fn shadow(&mut self, hidden: Vec<Validated>) {
        for plugin in hidden {
            self.rest(plugin, Status::Shadowed);
        }
    }

    /// A refusal is a warning where a lower scope's plugin of the same id runs in its place.
    fn excused(&self, mut refusal: Refused) -> Refused {
        let track = &refusal.track;
        let fallback = self
            .active
            .iter()
            .map(|active| active.identity())
            .find(|running| {
                track.ext_id.as_ref() == Some(&running.ext_id)
                    && track.kind == Some(running.kind)
                    && running.scope < track.scope
            });
        if let Some(running) = fallback {
            refusal.why = order::falling_back(refusal.why, running.scope, &running.ext_id);
        }
        refusal
    }

    fn finish(mut self, refused: Vec<Refused>, warnings: Vec<Diagnostic>) -> Started {
        let refused = refused.into_iter().chain(std::mem::take(&mut self.refused));
        for refusal in refused {
            let refusal = self.excused(refusal);
            self.reports.push(PluginReport::refused(refusal));
        }
        self.reports.sort_by(|one, other| {
            let key = |report: &PluginReport| {
                (
                    report.scope,
                    report.kind,
                    report.ext_id.clone(),
                    report.path.clone(),
                )
            };
            key(one).cmp(&key(other))
        });
        Started {
            registry: Registry::of(self.active),
            reports: self.reports,
            diagnostics: self
                .ground
                .diagnostics
                .iter()
                .cloned()
                .chain(warnings)
                .collect(),
        }
    }
}

/// Of stores only the chosen one is active, and state machines wait to be attached.
fn wanted(plugin: &Validated, settings: &Settings) -> Wanted {
    match plugin.manifest.kind {
        Kind::StateMachine => Wanted::Loaded,
        Kind::SessionStore => {
            let chosen = settings
                .get("active", "sessionStore")
                .and_then(|sourced| sourced.value.as_str());
            let is_chosen = match chosen {
                Some(id) => id == plugin.manifest.ext_id.as_str(),
                None => {
                    plugin.config.get("active") == Some(&true.into())
                        || plugin.manifest.discovery_rules.default_activation == Some(true)
                }
            };
            if is_chosen {
                Wanted::Active
            } else {
                Wanted::Loaded
            }
        }
        _ => Wanted::Active,
    }
}

impl Started {
    /// Loads what is now in a plugin's place as a new generation; the next turn sees it.
    ///
    /// The old generation is retired and stays mapped: a turn that began with it ends with it.
    pub fn reload(
        &mut self,
        ground: &Ground,
        means: &Means,
        id: &str,
    ) -> Result<Arc<Active>, Diagnostic> {
        let (registry, active) = reload(&self.registry, id, ground, means)?;
        self.registry = registry;
        Ok(active)
    }

    /// Ends every plugin, dependents before what they depend on.
    pub fn stop(self, limits: &Limits) -> Vec<Diagnostic> {
        let plugins: Vec<_> = self.registry.iter().rev().cloned().collect();
        plugins
            .iter()
            .flat_map(|plugin| retire(plugin, limits))
            .collect()
    }
}
