//! register: [`Bound`] → [`Registered`]. The plugin gets its identity and its host.
//!
//! That no other plugin has its id or its names was decided by `layer`, before it was opened.

use std::sync::Arc;

use stud_abi::HostHandle;
use stud_contract_meta::Phase;
use stud_diagnostics::Stage;
use stud_host_api::HostApi;

use crate::bind::Bound;
use crate::identity::Identity;
use crate::provenance::Provenance;
use stud_config::platform;
use stud_runtime::limits::Limits;

/// What plugins run with.
#[derive(Clone)]
pub struct PluginRuntime {
    /// Makes their hosts.
    pub hosts: Arc<dyn HostSource>,
    /// How long their calls may take.
    pub limits: Limits,
}

impl std::fmt::Debug for PluginRuntime {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PluginRuntime")
            .field("limits", &self.limits)
            .finish_non_exhaustive()
    }
}

/// Makes the host of one plugin.
pub trait HostSource: Send + Sync {
    /// A host that knows who it serves.
    fn host_for(&self, plugin: &Arc<Identity>) -> Arc<dyn HostApi>;

    /// A phase of a plugin begins, or has succeeded. The end of a phase that failed is not reported.
    fn phase(&self, plugin: &Identity, phase: Phase, moment: PhaseMoment) {
        let _ = (plugin, phase, moment);
    }
}

/// A moment in a phase of a plugin's life.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PhaseMoment {
    /// It begins.
    Start,
    /// It has succeeded, and took so many milliseconds.
    End(u64),
}

/// Reports the phases of one plugin to the source of its host.
#[derive(Clone)]
pub(crate) struct PhaseObserver {
    hosts: Arc<dyn HostSource>,
    plugin: Arc<Identity>,
}

impl PhaseObserver {
    pub(crate) fn plugin(&self) -> &Arc<Identity> {
        &self.plugin
    }

    /// Runs a phase; reports its start, and its end if it succeeded.
    pub(crate) fn run<T, E>(
        &self,
        phase: Phase,
        run: impl FnOnce() -> Result<T, E>,
    ) -> Result<T, E> {
        self.hosts.phase(&self.plugin, phase, PhaseMoment::Start);
        let began = platform::ticks();
        let done = run()?;
        let took = (platform::ticks() - began) / 1_000_000;
        self.hosts
            .phase(&self.plugin, phase, PhaseMoment::End(took));
        Ok(done)
    }
}

impl std::fmt::Debug for PhaseObserver {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PhaseObserver").finish_non_exhaustive()
    }
}

/// A plugin with an identity and a host. Only [`register`] makes one.
#[derive(Debug)]
pub struct Registered {
    provenance: Provenance,
    bound: Bound,
    observer: PhaseObserver,
    host: HostHandle,
}

impl Registered {
    /// What the next stage brings to life.
    pub(crate) fn into_parts(self) -> (Provenance, Bound, PhaseObserver, HostHandle) {
        (self.provenance, self.bound, self.observer, self.host)
    }
}

/// Gives a bound plugin its identity and its host. `generation` counts the loads of its id in this process.
pub fn register(bound: &Bound, generation: u64, hosts: &Arc<dyn HostSource>) -> Registered {
    let plugin = Arc::new(Identity::new(bound.plugin(), generation));
    let host = stud_host_api::wire::serve(hosts.host_for(&plugin));
    let mut provenance = bound.plugin().provenance().clone();
    provenance.pass(Stage::Register);
    Registered {
        provenance,
        bound: bound.clone(),
        observer: PhaseObserver {
            hosts: hosts.clone(),
            plugin,
        },
        host,
    }
}
