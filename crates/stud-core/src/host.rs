//! The way back in: the thirteen services of the Host API, for one plugin.
//!
//! A host knows whom it serves, and the session it serves in once there is one. It refuses everything to a plugin that
//! was disposed, then what the plugin's category may never do, then what means nothing at this moment; only then does
//! it ask the session.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use stud_contract_meta::{self as contract, Result};
use stud_host_api::events::{LifecyclePhaseEnd, LifecyclePhaseStart};
use stud_host_api::metrics::RuntimeSnapshot;
use stud_host_api::refusal::{self, Phase};
use stud_host_api::{BoxFuture, HostApi};

use crate::environment::Environment;
use crate::identity::Identity;
use crate::redact::Redactor;
use crate::register::{HostSource, PhaseMoment};
use crate::runtime_snapshot::Reader;
use crate::secrets::{Env, UserVault};
use crate::session::{Session, SessionLink};

mod acting;
mod asking;
mod reading;
mod speaking;

use speaking::Pace;

/// Makes the hosts of the plugins of one session, or of plugins that run outside any.
#[derive(Debug, Clone)]
pub struct Hosts {
    facts: Arc<HostFacts>,
    link: SessionLink,
}

/// What hosts know without a session.
#[derive(Debug)]
struct HostFacts {
    ground: Arc<Environment>,
    env: Env,
    headless: bool,
    /// What there is to see outside a session.
    nothing: Arc<RuntimeSnapshot>,
}

impl Hosts {
    /// Hosts for plugins that stand in `ground`. They belong to the session of `link`, once it is open.
    pub fn new(
        ground: &Environment,
        redactor: &Arc<Redactor>,
        headless: bool,
        link: SessionLink,
    ) -> Self {
        Self {
            facts: Arc::new(HostFacts {
                ground: Arc::new(ground.clone()),
                env: Env::new(
                    &ground.places.global_root,
                    ground.settings.clone(),
                    Arc::new(UserVault::new(&ground.places.global_root)),
                    redactor.clone(),
                ),
                headless,
                nothing: Arc::default(),
            }),
            link,
        }
    }

    /// Hosts for plugins that run outside any session, as `stud plugin list` runs them.
    pub fn detached(ground: &Environment) -> Self {
        Self::new(ground, &Arc::default(), true, SessionLink::default())
    }
}

impl HostSource for Hosts {
    fn host_for(&self, plugin: &Arc<Identity>) -> Arc<dyn HostApi> {
        Arc::new(Host {
            plugin: plugin.clone(),
            hosts: self.clone(),
            events: OnceLock::new(),
            reader: OnceLock::new(),
            pace: Pace::default(),
            log_pace: Pace::default(),
        })
    }

    fn phase(&self, plugin: &Identity, phase: contract::Phase, moment: PhaseMoment) {
        // Stores come up before there is a session to tell it in.
        let Some(session) = self.link.get() else {
            return;
        };
        let ext_id = plugin.ext_id.as_str();
        let (extension_id, phase) = (ext_id.to_owned(), phase.as_str().to_owned());
        let books = session.books();
        match moment {
            PhaseMoment::Start => {
                let started = LifecyclePhaseStart {
                    duration_ms: 0,
                    extension_id,
                    phase,
                };
                books.publish(ext_id, &started);
            }
            PhaseMoment::End(took) => {
                let ended = LifecyclePhaseEnd {
                    duration_ms: took,
                    extension_id,
                    phase,
                };
                books.publish(ext_id, &ended);
            }
        }
    }
}

/// The host of one plugin.
struct Host {
    plugin: Arc<Identity>,
    hosts: Hosts,
    /// The events it declared, with their schemas ready for use.
    events: OnceLock<BTreeMap<String, jsonschema::Validator>>,
    /// Its view of the session from inside.
    reader: OnceLock<Arc<Reader>>,
    pace: Pace,
    log_pace: Pace,
}

impl Host {
    fn id(&self) -> &str {
        self.plugin.ext_id.as_str()
    }

    fn facts(&self) -> &HostFacts {
        &self.hosts.facts
    }

    fn link(&self) -> &SessionLink {
        &self.hosts.link
    }

    fn category(&self) -> &'static str {
        self.plugin.kind.as_str()
    }

    fn phase(&self) -> Phase {
        match self.plugin.life.word() {
            "loaded" => Phase::Loaded,
            "active" => Phase::Active,
            "inactive" => Phase::Inactive,
            "disposed" => Phase::Disposed,
            _ => Phase::Init,
        }
    }

    /// A plugin that was disposed has no host any more.
    fn alive(&self, service: &str) -> Result<()> {
        match self.phase() {
            Phase::Disposed => self.not_ready(service),
            _ => Ok(()),
        }
    }

    fn not_ready<T>(&self, service: &str) -> Result<T> {
        Err(refusal::not_ready(service, self.phase()))
    }

    /// The session, for a plugin that takes part in one or is about to: the child session, if it works for one.
    fn session(&self, service: &str) -> Result<Arc<Session>> {
        self.takes_part(service, self.link().here(self.id()))
    }

    /// The orchestrator's session, also for a plugin that works for a child of it.
    fn orchestrator(&self, service: &str) -> Result<Arc<Session>> {
        self.takes_part(service, self.link().get())
    }

    fn takes_part(&self, service: &str, session: Option<Arc<Session>>) -> Result<Arc<Session>> {
        match (self.phase(), session) {
            (Phase::Loaded | Phase::Active, Some(session)) => Ok(session),
            _ => self.not_ready(service),
        }
    }
}

fn now<T: Send + 'static>(answer: Result<T>) -> BoxFuture<'static, Result<T>> {
    Box::pin(std::future::ready(answer))
}
