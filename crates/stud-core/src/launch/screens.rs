//! UIs of a session that runs: giving the terminal back at once, and one UI in place of another.

use std::sync::mpsc::channel;
use std::sync::{Arc, Weak};
use std::time::Duration;

use stud_contract_meta::Kind;

use super::Launched;
use crate::environment::Environment;
use crate::executor;
use crate::limits::Limits;
use crate::participants;
use crate::register::{HostSource, PluginRuntime};
use crate::retire::retire;
use crate::session::Session;
use crate::startup;

/// The UIs of a session, for code that has to end the process at once.
#[derive(Debug, Clone)]
pub struct Screens {
    session: Weak<Session>,
    limits: Limits,
}

impl Screens {
    /// Retires every UI, so that each gives back what it has taken. One that takes longer is left behind.
    pub fn release(&self, patience: Duration) {
        let Some(session) = self.session.upgrade() else {
            return;
        };
        let (done, released) = channel::<()>();
        let limits = self.limits.clone();
        executor::spawn(move || {
            for screen in session.plugins().of_kind(Kind::Ui) {
                let _ = retire(screen, &limits);
            }
            drop(done);
        });
        // The end of the channel is the end of the work.
        let _ = released.recv_timeout(patience);
    }
}

/// Brings a plugin into a session that runs, in place of one that failed.
pub struct StandIn {
    session: Arc<Session>,
    environment: Environment,
    runtime: PluginRuntime,
    id: String,
}

impl StandIn {
    /// Starts the plugin and lets it take part. False if it did not start.
    pub fn start(&self) -> bool {
        let plugins = startup::prepare(&self.environment, &self.runtime.limits).only(&self.id);
        let started = plugins.start(&self.environment, &self.runtime, &mut ());
        let mut registry = self.session.plugins().as_ref().clone();
        let mut is_there = false;
        for active in started.registry.iter() {
            registry = registry.with(active.clone());
            is_there = true;
        }
        if is_there {
            self.session.set_plugins(registry);
        }
        for active in started.registry.iter() {
            participants::join(&self.session, active);
        }
        is_there
    }
}

impl std::fmt::Debug for StandIn {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("StandIn")
            .field("id", &self.id)
            .finish_non_exhaustive()
    }
}

impl Launched {
    /// What starts the plugin `id` of `environment` in this session when it is needed.
    pub fn stand_in(&self, environment: Environment, id: &str) -> StandIn {
        StandIn {
            session: self.session.clone(),
            environment,
            runtime: self.means.clone(),
            id: id.to_owned(),
        }
    }

    /// What makes hosts for this session, also for a plugin whose instance runs in another process.
    pub fn hosts(&self) -> Arc<dyn HostSource> {
        self.means.hosts.clone()
    }

    /// What gives the terminal back before the process ends at once.
    pub fn screens(&self) -> Screens {
        Screens {
            session: Arc::downgrade(&self.session),
            limits: self.means.limits.clone(),
        }
    }
}
