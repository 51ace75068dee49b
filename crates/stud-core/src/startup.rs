//! The story: from folders to a registry of running plugins.

mod entries;

use std::sync::Arc;

use stud_contract_meta::{ExtId, Kind};
use stud_diagnostics::Diagnostic;

use crate::activate::{Active, Means, Wanted, activate};
use crate::bind::{Bound, bind};
use crate::dependency_order::{self, Candidate, order};
use crate::discover::{Discovered, Found, discover};
use crate::environment::Environment;
use crate::inspect::inspect;
use crate::layer::layer;
use crate::limits::Limits;
use crate::load::{Stores, load};
use crate::plugin_scope::Scope;
use crate::provenance::{Provenance, Refused};
use crate::registry::Registry;
use crate::reload::{NotReloaded, not_found, reload, unknown_extension};
use crate::report::{PluginReport, Status};
use crate::retire::retire;
use crate::settings::{ActiveSettings, Settings};
use crate::validate::{Validated, validate};

/// The plugins that may run: opened once, and brought to life for each session.
#[derive(Debug)]
pub struct Plugins {
    contenders: Vec<Contender>,
    /// Those that are switched off or hidden by one that is.
    resting: Vec<PluginReport>,
    refused: Vec<Refused>,
    diagnostics: Vec<Diagnostic>,
    stores: Stores,
}

/// A plugin that is ready, and those of its id that it hides.
#[derive(Debug)]
struct Contender {
    bound: Bound,
    hidden: Vec<Validated>,
}

impl Contender {
    fn plugin(&self) -> &Validated {
        &self.bound.plugin
    }

    fn is_store(&self) -> bool {
        self.plugin().manifest.kind == Kind::SessionStore
    }

    fn is_screen(&self) -> bool {
        self.plugin().manifest.kind == Kind::Ui
    }

    /// Whether it is one that stud carries, or hides one.
    fn stands_for_bundled(&self) -> bool {
        let mut those_of_its_id = self.hidden.iter().chain([self.plugin()]);
        those_of_its_id.any(|plugin| plugin.track.scope == Scope::Bundled)
    }
}

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

/// Looks on while plugins come up.
pub trait Rising {
    /// The session stores that run; nobody else does yet.
    fn stores_up(&mut self, stores: &[Arc<Active>]) {
        let _ = stores;
    }

    /// Everybody runs that comes before the screens. Not said where there is no screen.
    fn before_screens(&mut self, there: &[Arc<Active>]) {
        let _ = there;
    }

    /// One more plugin runs.
    fn up(&mut self, plugin: &Arc<Active>) {
        let _ = plugin;
    }
}

impl Rising for () {}

/// Brings up every plugin that passes, and reports the rest. One refused plugin never stops the others.
pub fn start(ground: &Environment, means: &Means) -> Started {
    prepare(ground, &means.limits).start(ground, means, &mut ())
}

/// Opens every plugin that passes.
pub fn prepare(ground: &Environment, limits: &Limits) -> Plugins {
    prepare_those(ground, limits, |_| true)
}

/// Opens the session stores alone, for a look at what they keep. What else there is stays closed and unmentioned.
pub fn prepare_stores(ground: &Environment, limits: &Limits) -> Plugins {
    prepare_those(ground, limits, |plan| {
        let mut stores = plan.iter().filter(|candidate| candidate.is_store());
        // What one depends on could depend on anything, so then everything is opened.
        stores.any(|store| !store.chosen.manifest.depends_on.is_empty())
    })
}

/// Opens every plugin that passes, or the session stores alone where `everything` is not wanted.
fn prepare_those(
    ground: &Environment,
    limits: &Limits,
    everything: impl Fn(&[Candidate]) -> bool,
) -> Plugins {
    let Discovered {
        found,
        mut refused,
        warnings,
    } = discover(ground);
    let mut keep = |refusal| refused.push(refusal);

    let validated: Vec<Validated> = found
        .into_iter()
        .filter_map(|found| judge(found, &ground.settings).map_err(&mut keep).ok())
        .filter(|plugin| !ground.leaves_out(&plugin.manifest.ext_id))
        .collect();
    let mut strangers = strangers(ground, &validated, &refused);
    strangers.extend(strange_sinks(&ground.settings, &validated, &refused));
    let ordered = order(layer(validated));
    refused.extend(ordered.refused);

    let diagnostics = ground.diagnostics.iter().cloned();
    let diagnostics = diagnostics.chain(warnings).chain(strangers);
    let mut plugins = Plugins {
        contenders: Vec::new(),
        resting: Vec::new(),
        refused,
        diagnostics: diagnostics.collect(),
        stores: Stores::below(&ground.places.global_root),
    };
    let everything = everything(&ordered.plan);
    for candidate in ordered.plan {
        if everything || candidate.is_store() {
            plugins.open(candidate, limits);
        }
    }
    for candidate in ordered.disabled {
        plugins.rest(candidate.chosen, Status::Disabled);
        for hidden in candidate.hidden {
            plugins.rest(hidden, Status::Shadowed);
        }
    }
    plugins.open_entries(&ground.settings);
    plugins
}

/// Plugins that the settings configure and that are not there, which mostly means that a name is misspelled.
///
/// Entries of providers are no plugins' own, and are held against their protocols.
fn strangers(ground: &Environment, there: &[Validated], refused: &[Refused]) -> Vec<Diagnostic> {
    let mut strangers = Vec::new();
    if !ground.reaches_everything() {
        return strangers;
    }
    for kind in Kind::ALL.into_iter().filter(|kind| *kind != Kind::Provider) {
        let there = there.iter().map(|plugin| &plugin.manifest);
        let there = there.filter(|manifest| manifest.kind == kind);
        let known = there.map(|manifest| manifest.ext_id.as_str());
        let known: Vec<&str> = known
            .chain(refused.iter().map(|refused| refused.track.name()))
            .collect();
        for (id, set) in ground.settings.entries(kind) {
            let is_taken_away = set.value.get("disable") == Some(&true.into());
            if known.contains(&id) || ground.leaves_out_name(id) || is_taken_away {
                continue;
            }
            let pointer = format!("/{}/{id}", kind.settings_key());
            let missing = unknown_extension(id, known.iter().copied());
            strangers.push(
                missing
                    .downgraded()
                    .file(set.path)
                    .field(pointer)
                    .note("the settings configure it"),
            );
        }
    }
    strangers
}

/// The sinks that are set and are no logger, not even one that was refused.
fn strange_sinks(
    settings: &Settings,
    validated: &[Validated],
    refused: &[Refused],
) -> Vec<Diagnostic> {
    let is_logger = |kind: Option<Kind>| kind == Some(Kind::Logger);
    let tracks = validated.iter().map(|plugin| &plugin.track);
    let tracks = tracks.chain(refused.iter().map(|refusal| &*refusal.track));
    let loggers = tracks.filter(|track| is_logger(track.kind));
    let loggers: Vec<&str> = loggers.map(Provenance::name).collect();
    settings.strange_sinks(&loggers)
}

/// From a file to a proof that it may be loaded; nothing of it has run.
fn judge(found: Found, settings: &Settings) -> Result<Validated, Refused> {
    validate(inspect(found)?, settings)
}

impl Plugins {
    /// Opens the chosen plugin, or the first of those it hides that can be.
    fn open(&mut self, candidate: Candidate, limits: &Limits) {
        let Candidate { chosen, mut hidden } = candidate;
        let mut next = Some(chosen);
        while let Some(plugin) = next.take() {
            let identities = self.contenders.iter().map(|contender| {
                let manifest = &contender.bound.plugin.manifest;
                (&manifest.ext_id, manifest.kind, &manifest.provides)
            });
            let opened = depends_only_on(plugin, identities)
                .and_then(|plugin| bind(load(plugin, &self.stores)?, limits));
            match opened {
                Ok(bound) => return self.contenders.push(Contender { bound, hidden }),
                Err(refusal) => {
                    self.refused.push(refusal);
                    next = fallback(&mut hidden);
                }
            }
        }
        for plugin in hidden {
            self.rest(plugin, Status::Shadowed);
        }
    }

    fn rest(&mut self, plugin: Validated, status: Status) {
        self.resting.push(PluginReport::resting(plugin, status));
    }

    /// Brings the plugins to life, one after another.
    ///
    /// Session stores come first, because the session that the others belong to is kept in one.
    pub fn start(&self, ground: &Environment, means: &Means, rising: &mut impl Rising) -> Started {
        let mut rise = Rise {
            means,
            stores: &self.stores,
            store: chosen_store(&self.contenders, &ground.settings),
            active: Vec::new(),
            reports: self.resting.clone(),
            refused: self.refused.clone(),
        };
        for store in self.contenders.iter().filter(|other| other.is_store()) {
            rise.bring_up(store);
        }
        rising.stores_up(&rise.active);
        let mut screens = false;
        for other in self.contenders.iter().filter(|other| !other.is_store()) {
            if other.is_screen() && !screens {
                screens = true;
                rising.before_screens(&rise.active);
            }
            if let Some(active) = rise.bring_up(other) {
                rising.up(&active);
            }
        }
        let mut started = rise.finish(self.diagnostics.clone());
        let is_there = |slot, id: &str| {
            let mut hooks = started.registry.hooks(slot).into_iter();
            hooks.any(|hook| hook.identity().ext_id.as_str() == id)
        };
        started
            .diagnostics
            .extend(ground.ordering.strangers(is_there));
        started
    }
}

/// The next of the hidden that is switched on. One that is not is opened in nobody's place.
fn fallback(hidden: &mut Vec<Validated>) -> Option<Validated> {
    let place = hidden.iter().position(|plugin| plugin.enabled)?;
    Some(hidden.remove(place))
}

/// Refuses a plugin that depends on one that is not there.
fn depends_only_on<'a>(
    plugin: Validated,
    there: impl Iterator<Item = (&'a ExtId, Kind, &'a Vec<String>)> + Clone,
) -> Result<Validated, Refused> {
    let gone = plugin
        .manifest
        .depends_on
        .iter()
        .enumerate()
        .find(|(_, reference)| {
            !there
                .clone()
                .any(|(id, kind, provides)| reference.matches(id, kind, provides))
        });
    match gone {
        Some((index, reference)) => {
            let why = dependency_order::missing(&plugin, index, reference);
            Err(plugin.track.refuse(why))
        }
        None => Ok(plugin),
    }
}

/// The plugins of one session coming up one after another.
struct Rise<'a> {
    means: &'a Means,
    stores: &'a Stores,
    /// The session store that is to be active.
    store: Option<ExtId>,
    active: Vec<Arc<Active>>,
    reports: Vec<PluginReport>,
    refused: Vec<Refused>,
}

impl Rise<'_> {
    /// Tries the plugin that was opened, then those it hides.
    fn bring_up(&mut self, contender: &Contender) -> Option<Arc<Active>> {
        let mut hidden = contender.hidden.clone();
        let mut risen = self.run(&contender.bound);
        let active = loop {
            match risen {
                Ok(active) => break Some(Arc::new(active)),
                Err(refusal) => self.refused.push(refusal),
            }
            let Some(plugin) = fallback(&mut hidden) else {
                break None;
            };
            risen = load(plugin, self.stores)
                .and_then(|loaded| bind(loaded, &self.means.limits))
                .and_then(|bound| self.run(&bound));
        };
        for plugin in hidden {
            self.reports
                .push(PluginReport::resting(plugin, Status::Shadowed));
        }
        if let Some(active) = &active {
            self.reports.push(PluginReport::running(active));
            self.active.push(active.clone());
        }
        active
    }

    fn run(&self, bound: &Bound) -> Result<Active, Refused> {
        let there = self.active.iter().map(|active| {
            let identity = active.identity();
            (&identity.ext_id, identity.kind, &identity.manifest.provides)
        });
        let plugin = &bound.plugin;
        // What a store depends on comes up after it; that it could be opened is known.
        if !plugin.manifest.depends_on.is_empty() && plugin.manifest.kind != Kind::SessionStore {
            depends_only_on(plugin.clone(), there)?;
        }
        let wanted = wanted(plugin, self.store.as_ref());
        activate(bound, 1, wanted, self.means)
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
            refusal.why =
                dependency_order::falling_back(refusal.why, running.scope, &running.ext_id);
        }
        refusal
    }

    fn finish(mut self, diagnostics: Vec<Diagnostic>) -> Started {
        for refusal in std::mem::take(&mut self.refused) {
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
            diagnostics,
        }
    }
}

/// Of stores only the chosen one is active, and state machines wait to be attached.
fn wanted(plugin: &Validated, store: Option<&ExtId>) -> Wanted {
    match plugin.manifest.kind {
        Kind::StateMachine => Wanted::Loaded,
        Kind::SessionStore if store != Some(&plugin.manifest.ext_id) => Wanted::Loaded,
        _ => Wanted::Active,
    }
}

/// The store that the settings name, or that says so itself, or that stud carries, or that stands in that one's place.
fn chosen_store(contenders: &[Contender], settings: &Settings) -> Option<ExtId> {
    let stores = || contenders.iter().filter(|contender| contender.is_store());
    let named = ActiveSettings::of(settings).session_store;
    let chosen = match named.value {
        Some(id) => stores().find(|store| store.plugin().manifest.ext_id.as_str() == id),
        None => stores()
            .find(|store| store.plugin().config.get("active") == Some(&true.into()))
            .or_else(|| {
                stores().find(|store| {
                    store.plugin().manifest.discovery_rules.default_activation == Some(true)
                })
            })
            .or_else(|| stores().find(|store| store.stands_for_bundled())),
    };
    chosen.map(|store| store.plugin().manifest.ext_id.clone())
}

impl Started {
    /// What the operator should know.
    ///
    /// What is wrong with a plugin that another one hides is nobody's concern, or is said of that one too.
    pub fn problems(&self) -> impl Iterator<Item = &Diagnostic> {
        let reports = self.reports.iter();
        let seen = reports.filter(|report| report.status != Status::Shadowed);
        let of_plugins = seen.flat_map(|report| &report.diagnostics);
        self.diagnostics.iter().chain(of_plugins)
    }

    /// Loads what is now in a plugin's place as a new generation; the next turn sees it.
    ///
    /// The old generation is retired and stays mapped: a turn that began with it ends with it.
    pub fn reload(
        &mut self,
        ground: &Environment,
        means: &Means,
        id: &str,
    ) -> Result<Arc<Active>, Diagnostic> {
        let Some(old) = self.registry.get(id) else {
            return Err(not_found(&self.registry, id));
        };
        match reload(&self.registry, old, ground, means, |_| {}) {
            Ok(reloaded) => {
                self.registry = reloaded.registry;
                Ok(reloaded.active)
            }
            Err(failed) => {
                if matches!(failed, NotReloaded::Disabled(_)) {
                    let gone = old.identity().ext_id.clone();
                    self.registry = self.registry.clone().without(&gone);
                }
                Err(failed.into_why())
            }
        }
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
