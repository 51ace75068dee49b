//! The story: from folders to a registry of running plugins.

mod opened;
mod store_election;
mod provider_entries;
mod started;
mod bring_up;

use std::sync::Arc;

use stud_contract_meta::Phase;
use stud_diagnostics::Diagnostic;

use crate::admission::judge;
use crate::dependency_order::{Candidate, Ordered, order};
use crate::discover::{Discovered, discover};
use crate::identity::Identity;
use crate::layer::layer;
use crate::load::PluginStores;
use crate::provenance::{Provenance, Refused};
use crate::register::PluginRuntime;
use crate::report::PluginReport;
use crate::unknown_ids;
use crate::validate::Validated;
use bring_up::BringUp;
use opened::Opened;
use stud_config::environment::Environment;
use stud_runtime::limits::Limits;

pub use bring_up::StartupObserver;
pub use started::Started;

/// The plugins that may run: opened once, and brought up for each session.
#[derive(Debug)]
pub struct Plugins {
    opened: Vec<Opened>,
    /// Plugins that are disabled, or shadowed by one that is.
    idle: Vec<PluginReport>,
    refused: Vec<Refused>,
    diagnostics: Vec<Diagnostic>,
    stores: PluginStores,
}

/// Brings up every plugin that passes the stages, and reports the rest. One refused plugin never stops the others.
pub fn start(environment: &Environment, runtime: &PluginRuntime) -> Started {
    prepare(environment, &runtime.limits).start(environment, runtime, &mut ())
}

/// Opens every plugin that passes the stages.
pub fn prepare(environment: &Environment, limits: &Limits) -> Plugins {
    prepare_selected(environment, limits, |_| true)
}

/// Opens the session stores alone. Other plugins are not opened and not reported.
pub fn prepare_stores(environment: &Environment, limits: &Limits) -> Plugins {
    prepare_selected(environment, limits, |plan| {
        let mut stores = plan.iter().filter(|candidate| candidate.is_store());
        // What a store depends on could depend on anything, so then everything is opened.
        stores.any(|store| !store.chosen().manifest().depends_on.is_empty())
    })
}

/// Opens every plugin that passes the stages, or the session stores alone if `everything` is false for the plan.
fn prepare_selected(
    environment: &Environment,
    limits: &Limits,
    everything: impl Fn(&[Candidate]) -> bool,
) -> Plugins {
    let discovered = discover(environment);
    let (mut plugins, validated) = Plugins::judged(discovered, environment);
    let unknown = unknown_ids::in_settings(environment, &validated, &plugins.refused);
    plugins.diagnostics.extend(unknown);
    let Ordered {
        plan,
        disabled,
        refused,
    } = order(layer(validated));
    plugins.refused.extend(refused);
    let everything = everything(&plan);
    for candidate in plan {
        if everything || candidate.is_store() {
            plugins.open(candidate, limits);
        }
    }
    plugins.leave_disabled(disabled);
    plugins.open_entries(&environment.settings);
    plugins
}

/// Whether a library was left out of this run by its id, or by its file name while that is all there is.
fn is_left_out(plugin: &Provenance, environment: &Environment) -> bool {
    plugin.path().is_some() && environment.leaves_out_library(plugin.name())
}

impl Plugins {
    /// No plugin is open yet; those that were found are judged.
    fn judged(discovered: Discovered, environment: &Environment) -> (Self, Vec<Validated>) {
        let Discovered {
            found,
            mut refused,
            warnings,
        } = discovered;
        let validated = found
            .into_iter()
            .filter_map(|found| {
                let judged = judge(found, &environment.settings);
                judged.map_err(|refusal| refused.push(refusal)).ok()
            })
            .filter(|plugin| !environment.leaves_out(&plugin.manifest().ext_id))
            .filter(|plugin| !is_left_out(plugin.provenance(), environment))
            .collect();
        refused.retain(|refusal| !is_left_out(refusal.provenance(), environment));
        let plugins = Self {
            opened: Vec::new(),
            idle: Vec::new(),
            refused,
            diagnostics: environment
                .diagnostics
                .iter()
                .cloned()
                .chain(warnings)
                .collect(),
            stores: PluginStores::below(&environment.places.global_root),
        };
        (plugins, validated)
    }

    /// The plugin of this id alone, if it may run.
    #[must_use]
    pub fn only(mut self, id: &str) -> Self {
        self.opened
            .retain(|opened| opened.plugin().manifest().ext_id.as_str() == id);
        self
    }

    /// The identity of a plugin whose instance runs in another process: active, as far as its host here is concerned.
    pub fn identity_elsewhere(&self, id: &str) -> Option<Arc<Identity>> {
        let is_meant = |opened: &&Opened| opened.plugin().manifest().ext_id.as_str() == id;
        let opened = self.opened.iter().find(is_meant)?;
        let identity = Identity::new(opened.plugin(), 0);
        identity.life.passed(Phase::Activate);
        Some(Arc::new(identity))
    }

    /// Brings the plugins up, one after another.
    ///
    /// Session stores come first, because the session that the other plugins belong to is kept in one of them.
    pub fn start(
        &self,
        environment: &Environment,
        runtime: &PluginRuntime,
        observer: &mut impl StartupObserver,
    ) -> Started {
        let mut bring_up = BringUp::new(self, &environment.settings, runtime);
        bring_up.stores(&self.opened, observer);
        bring_up.others(&self.opened, observer);
        bring_up.finish(self.diagnostics.clone(), &environment.ordering)
    }
}
