//! The plugins that run, and what is done with them afterwards: reports, reload, stop.

use std::sync::Arc;

use stud_diagnostics::Diagnostic;

use crate::activate::Active;
use crate::register::PluginRuntime;
use crate::registry::Registry;
use crate::reload::{NotReloaded, reload};
use crate::report::{PluginReport, Status};
use crate::retire::retire;
use crate::unknown_ids::not_in_registry;
use stud_config::environment::Environment;
use stud_runtime::limits::Limits;

/// The result of a start.
#[derive(Debug)]
pub struct Started {
    /// The plugins that run.
    pub registry: Registry,
    /// Every plugin that was found, by scope, category and id.
    pub reports: Vec<PluginReport>,
    /// What is not about one plugin.
    pub diagnostics: Vec<Diagnostic>,
}

impl Started {
    /// What the operator should know. Problems of shadowed plugins are left out.
    pub fn problems(&self) -> impl Iterator<Item = &Diagnostic> {
        let reports = self.reports.iter();
        let visible = reports.filter(|report| report.status != Status::Shadowed);
        let of_plugins = visible.flat_map(|report| &report.diagnostics);
        self.diagnostics.iter().chain(of_plugins)
    }

    /// Loads a plugin's library again, as a new generation that the next turn uses.
    ///
    /// The old generation is retired and stays mapped: a turn that began with it ends with it.
    pub fn reload(
        &mut self,
        environment: &Environment,
        runtime: &PluginRuntime,
        id: &str,
    ) -> Result<Arc<Active>, Diagnostic> {
        let Some(old) = self.registry.get(id) else {
            return Err(not_in_registry(&self.registry, id));
        };
        match reload(&self.registry, old, environment, runtime, |_| {}) {
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
