//! The plugins of one session coming up, one after another.

use std::sync::Arc;

use stud_contract_meta::{ExtId, Kind};
use stud_diagnostics::Diagnostic;

use super::Plugins;
use super::opened::{Opened, depends_only_on, fallback};
use super::started::Started;
use super::store_election::elect;
use crate::activate::{Active, Wanted};
use crate::admission;
use crate::bind::Bound;
use crate::load::PluginStores;
use crate::provenance::Refused;
use crate::register::PluginRuntime;
use crate::registry::Registry;
use crate::report::{PluginReport, Status};
use crate::validate::Validated;
use stud_config::hook_order::Ordering;
use stud_config::settings::Settings;

/// Is told while plugins come up.
pub trait StartupObserver {
    /// The session stores run, and no other plugin yet.
    fn stores_up(&mut self, stores: &[Arc<Active>]) {
        let _ = stores;
    }

    /// Every plugin runs that comes up before the UIs. Not called if there is no UI.
    fn before_screens(&mut self, active: &[Arc<Active>]) {
        let _ = active;
    }

    /// One more plugin runs.
    fn up(&mut self, plugin: &Arc<Active>) {
        let _ = plugin;
    }
}

impl StartupObserver for () {}

/// The plugins of one session, as far as they are up.
pub(super) struct BringUp<'a> {
    runtime: &'a PluginRuntime,
    stores: &'a PluginStores,
    /// The session store that is to be active.
    elected: Option<ExtId>,
    active: Vec<Arc<Active>>,
    reports: Vec<PluginReport>,
    refused: Vec<Refused>,
}

impl<'a> BringUp<'a> {
    pub(super) fn new(
        plugins: &'a Plugins,
        settings: &Settings,
        runtime: &'a PluginRuntime,
    ) -> Self {
        Self {
            runtime,
            stores: &plugins.stores,
            elected: elect(&plugins.opened, settings),
            active: Vec::new(),
            reports: plugins.idle.clone(),
            refused: plugins.refused.clone(),
        }
    }

    /// Brings up the session stores.
    pub(super) fn stores(&mut self, opened: &[Opened], observer: &mut impl StartupObserver) {
        for store in opened.iter().filter(|plugin| plugin.is_store()) {
            self.one(store);
        }
        observer.stores_up(&self.active);
    }

    /// Brings up everything but the session stores.
    pub(super) fn others(&mut self, opened: &[Opened], observer: &mut impl StartupObserver) {
        let mut is_before_uis = true;
        for plugin in opened.iter().filter(|plugin| !plugin.is_store()) {
            if plugin.is_ui() && is_before_uis {
                is_before_uis = false;
                observer.before_screens(&self.active);
            }
            if let Some(active) = self.one(plugin) {
                observer.up(&active);
            }
        }
    }

    /// Tries the plugin that was opened, then those it shadows.
    fn one(&mut self, opened: &Opened) -> Option<Arc<Active>> {
        let mut shadowed = opened.shadowed.clone();
        let mut attempt = self.bring_up(&opened.bound);
        let active = loop {
            match attempt {
                Ok(active) => break Some(Arc::new(active)),
                Err(refusal) => self.refused.push(refusal),
            }
            let Some(plugin) = fallback(&mut shadowed) else {
                break None;
            };
            attempt = admission::open(plugin, self.stores, &self.runtime.limits)
                .and_then(|bound| self.bring_up(&bound));
        };
        for plugin in shadowed {
            self.reports
                .push(PluginReport::idle(plugin, Status::Shadowed));
        }
        if let Some(active) = &active {
            self.reports.push(PluginReport::running(active));
            self.active.push(active.clone());
        }
        active
    }

    fn bring_up(&self, bound: &Bound) -> Result<Active, Refused> {
        let available = self.active.iter().map(|active| {
            let identity = active.identity();
            (&identity.ext_id, identity.kind, &identity.manifest.provides)
        });
        let plugin = bound.plugin();
        // What a store depends on comes up after it; that it could be opened is known.
        let manifest = plugin.manifest();
        if !manifest.depends_on.is_empty() && manifest.kind != Kind::SessionStore {
            depends_only_on(plugin.clone(), available)?;
        }
        admission::bring_up(bound, 1, self.wanted(plugin), self.runtime)
    }

    /// Of the stores only the elected one is active, and state machines wait to be attached.
    fn wanted(&self, plugin: &Validated) -> Wanted {
        match plugin.manifest().kind {
            Kind::StateMachine => Wanted::Loaded,
            Kind::SessionStore if self.elected.as_ref() != Some(&plugin.manifest().ext_id) => {
                Wanted::Loaded
            }
            _ => Wanted::Active,
        }
    }

    /// A refusal is a warning if a plugin of a lower scope with the same id runs instead.
    fn downgraded(&self, refusal: Refused) -> Refused {
        let provenance = refusal.provenance();
        let replacement = self.active.iter().map(|active| active.identity());
        let mut replacement = replacement.filter(|running| {
            provenance.ext_id() == Some(&running.ext_id)
                && provenance.kind() == Some(running.kind)
                && running.scope < provenance.scope()
        });
        match replacement.next() {
            Some(running) => refusal.replaced_by(running.scope, &running.ext_id),
            None => refusal,
        }
    }

    /// The plugins that run, and a report of each that was found.
    pub(super) fn finish(mut self, mut diagnostics: Vec<Diagnostic>, order: &Ordering) -> Started {
        for refusal in std::mem::take(&mut self.refused) {
            let refusal = self.downgraded(refusal);
            self.reports.push(PluginReport::refused(refusal));
        }
        self.reports
            .sort_by(|one, other| one.sort_key().cmp(&other.sort_key()));
        let registry = Registry::from_iter(self.active);
        diagnostics.extend(order.strangers(|slot, id: &str| {
            let mut hooks = registry.hooks(slot).into_iter();
            hooks.any(|hook| hook.identity().ext_id.as_str() == id)
        }));
        Started {
            registry,
            reports: self.reports,
            diagnostics,
        }
    }
}
