//! From prepared plugins to a session in which they take part.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value};
use stud_contract_meta::{Error, Result};
use stud_diagnostics::{Diagnostic, codes};
use stud_host_api::metrics::{DEBOUNCE_MS, ProjectTrust, RuntimeSnapshot};
use stud_host_api::session::SecurityMode;

use crate::activate::{Active, Means};
use crate::approvals::{Allowlist, Approvals, ProjectApprovals};
use crate::desk::Terms;
use crate::ground::Ground;
use crate::host::Hosts;
use crate::limits::Limits;
use crate::metrics::{Collector, Roster};
use crate::model::Model;
use crate::prompts::{Absence, HeadlessGrant};
use crate::redact::Redactor;
use crate::reload::reload;
use crate::report::PluginReport;
use crate::rules::Rules;
use crate::session::{Founding, Session, SessionLink, last_written, open};
use crate::startup::{Plugins, Rising};
use crate::store::{MemoryStore, PluginStore, Snapshots, Store};
use crate::timer;
use crate::work::block_on;

/// How a session is begun.
#[derive(Debug, Clone, Default)]
pub struct Launch {
    /// Whether there is no terminal.
    pub headless: bool,
    /// Whether the person approved everything in advance.
    pub yolo: bool,
    /// How tool calls are gated; as the settings say when absent.
    pub mode: Option<SecurityMode>,
    /// The session to go on with.
    pub resume: Option<Resume>,
    /// Parameters of the provider, each with its path.
    pub params: Vec<(String, Value)>,
    /// How long plugins may take.
    pub limits: Limits,
}

/// Which session to go on with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Resume {
    /// This one.
    Session(String),
    /// The one that was written last.
    Latest,
}

/// A session, and what came of the plugins.
#[derive(Debug)]
pub struct Launched {
    /// The session.
    pub session: Arc<Session>,
    /// Every plugin that was found, by scope, category and id.
    pub reports: Vec<PluginReport>,
    /// What is not about one plugin.
    pub diagnostics: Vec<Diagnostic>,
    means: Means,
}

/// Opens a session on `ground`, and lets the plugins take part in it.
pub fn launch(ground: &Ground, plugins: &Plugins, how: &Launch) -> Result<Launched> {
    launch_with(ground, plugins, how, |_| {})
}

/// The same, with a look at the session after it is opened and before any plugin takes part.
pub fn launch_with(
    ground: &Ground,
    plugins: &Plugins,
    launch: &Launch,
    opened: impl Fn(&Arc<Session>),
) -> Result<Launched> {
    let redactor = Arc::new(Redactor::new());
    let link = SessionLink::default();
    let means = Means {
        hosts: Arc::new(Hosts::new(ground, &redactor, launch.headless, link.clone())),
        limits: launch.limits.clone(),
    };
    let mut opening = Opening {
        ground,
        launch,
        redactor,
        link,
        opened: &opened,
        session: None,
    };
    let started = plugins.start(ground, &means, &mut opening);
    let session = match opening.session {
        Some(Ok(session)) => session,
        Some(Err(error)) => {
            started.stop(&means.limits);
            return Err(error);
        }
        None => return Err(crate::store::unavailable("no session could be opened")),
    };
    session
        .metrics()
        .extensions_changed(Roster::of_registry(&started.registry, |_| {
            launch.yolo || session.facts().mode == SecurityMode::Yolo
        }));
    if let Ok(model) = Model::chosen(&started.registry, &ground.settings) {
        session.set_model(model);
    }
    session.set_plugins(started.registry);
    let of_plugins = started.reports.iter().flat_map(|found| &found.diagnostics);
    for problem in started.diagnostics.iter().chain(of_plugins) {
        session.report(problem);
    }
    if launch.resume.is_some() {
        session.announce_resume();
    }
    for rewrite in ground.ordering.rewrites() {
        let correlation_id = session.correlation_id();
        session
            .books()
            .publish("OrderingRewrite", &correlation_id, &rewrite.payload());
    }
    Ok(Launched {
        session,
        reports: started.reports,
        diagnostics: started.diagnostics,
        means,
    })
}

/// A session on its way: it opens once its store is there, and before anyone else is.
struct Opening<'a> {
    ground: &'a Ground,
    launch: &'a Launch,
    redactor: Arc<Redactor>,
    link: SessionLink,
    opened: &'a dyn Fn(&Arc<Session>),
    session: Option<Result<Arc<Session>>>,
}

impl Rising for Opening<'_> {
    fn stores_up(&mut self, stores: &[Arc<Active>]) {
        let active = stores
            .iter()
            .find(|store| store.identity().life.word() == "active");
        let store = active.and_then(PluginStore::of);
        let store: Arc<dyn Store> = match store {
            Some(store) if store.journals() => Arc::new(store),
            Some(store) => Arc::new(Snapshots::new(store)),
            None => Arc::new(MemoryStore::default()),
        };
        let session = self.open(store);
        if let Ok(session) = &session {
            self.link.set(session);
            (self.opened)(session);
            for store in stores {
                session.attend(store);
            }
        }
        self.session = Some(session);
    }

    fn up(&mut self, plugin: &Arc<Active>) {
        if let Some(Ok(session)) = &self.session {
            session.attend(plugin);
        }
    }
}

impl Opening<'_> {
    fn open(&self, store: Arc<dyn Store>) -> Result<Arc<Session>> {
        let resume = match &self.launch.resume {
            None => None,
            Some(Resume::Session(id)) => Some(id.clone()),
            Some(Resume::Latest) => Some(latest(&*store)?),
        };
        let places = &self.ground.places;
        let timer = timer::system();
        let mut picture = RuntimeSnapshot::default();
        let cwd = places.project_root.parent().unwrap_or(&places.project_root);
        picture.session.cwd = cwd.display().to_string();
        if self.ground.trusted() {
            picture.session.project_trust = ProjectTrust::Granted;
        }
        let metrics = Collector::new(picture, timer.clone(), Duration::from_millis(DEBOUNCE_MS));
        let session = open(
            Founding {
                project_root: places.project_root.clone(),
                mode: self.mode(),
                store,
                trails: Some(places.global_root.join("sessions")),
                redactor: self.redactor.clone(),
                absence: self.absence(),
                tool_timeout: self.millis("interaction", "defaultTimeoutMs", 300_000),
                rules: self.rules()?,
                most_reprompts: self.most_reprompts(),
                limits: self.launch.limits.clone(),
                terms: Terms::of(self.ground)?,
                timer,
                metrics,
            },
            resume.as_deref(),
        )?;
        let facts = session.facts().clone();
        let turn_count = session.turn_count();
        session.metrics().update(|picture| {
            picture.session.id = facts.session_id;
            picture.session.mode = facts.mode;
            picture.session.started_at = facts.created_at;
            picture.session.turn_count = turn_count;
        });
        Ok(session)
    }

    fn setting(&self, section: &str, member: &str) -> Option<&Value> {
        let found = self.ground.settings.get(section, member)?;
        Some(found.value)
    }

    fn millis(&self, section: &str, member: &str, otherwise: u64) -> Duration {
        let set = self.setting(section, member).and_then(Value::as_u64);
        Duration::from_millis(set.unwrap_or(otherwise))
    }

    fn most_reprompts(&self) -> u32 {
        let set = self.setting("interaction", "maxReprompts");
        let set = set.and_then(Value::as_u64).map(u32::try_from);
        set.map_or(10, |set| set.unwrap_or(u32::MAX))
    }

    fn mode(&self) -> SecurityMode {
        let set = self.setting("securityMode", "mode");
        let set = set.and_then(|mode| serde_json::from_value(mode.clone()).ok());
        self.launch.mode.or(set).unwrap_or_default()
    }

    fn rules(&self) -> Result<Rules> {
        let project = self.ground.project().map(ProjectApprovals::of);
        Ok(Rules {
            yolo: self.launch.yolo,
            params: params(&self.launch.params),
            approvals: Approvals::new(project, self.allowlist()?),
            ordering: self.ground.ordering.clone(),
            ..Rules::read(&self.ground.settings)
        })
    }

    /// The patterns of all scopes. Patterns that no scope could ever want are a mistake.
    fn allowlist(&self) -> Result<Allowlist> {
        let settings = &self.ground.settings;
        let listed = settings.each("securityMode", "allowlist");
        let patterns = listed.flat_map(|set| set.value.as_array().cloned().unwrap_or_default());
        let patterns = patterns.filter_map(|pattern| pattern.as_str().map(str::to_owned));
        let allowlist = Allowlist::of(patterns);
        let wanted = self.launch.mode == Some(SecurityMode::Allowlist)
            || settings
                .each("securityMode", "mode")
                .any(|set| set.value == "allowlist");
        if !wanted && !allowlist.is_empty() {
            let code = &codes::ALLOWLIST_WITHOUT_MODE;
            let message = "`securityMode.allowlist` has patterns, and nothing chooses the mode `allowlist`: set \
                           `securityMode.mode` to `allowlist`, or remove the patterns";
            return Err(Error::new(code.class, code.name, message)
                .with("patterns", allowlist.patterns().to_vec()));
        }
        Ok(allowlist)
    }

    fn absence(&self) -> Absence {
        let halts = self.setting("headless", "grantStageTool") == Some(&"halt".into());
        Absence {
            yolo: self.launch.yolo,
            grant_stage_tool: if halts {
                HeadlessGrant::Halt
            } else {
                HeadlessGrant::Deny
            },
            grace: self.millis("interaction", "interactorGraceMs", 30_000),
            letting_go: self.launch.limits.event,
        }
    }
}

/// Parameters as one object. A later one replaces what an earlier one has put there.
fn params(set: &[(String, Value)]) -> Map<String, Value> {
    let mut all = Map::new();
    for (path, value) in set {
        let mut place = &mut all;
        let mut steps = path.split('.').peekable();
        while let Some(step) = steps.next() {
            if steps.peek().is_none() {
                place.insert(step.to_owned(), value.clone());
                break;
            }
            let inner = place.entry(step).or_insert_with(|| Map::new().into());
            if !inner.is_object() {
                *inner = Map::new().into();
            }
            let Value::Object(inner) = inner else { break };
            place = inner;
        }
    }
    all
}

/// The session that was written last. Those that cannot be read are passed over.
fn latest(store: &dyn Store) -> Result<String> {
    let sessions = store.list()?.into_iter();
    let readable = sessions.filter_map(|id| Some((last_written(&id, store)?, id)));
    readable.max().map(|(_, id)| id).ok_or_else(|| {
        let code = &codes::RESUME_MISMATCH;
        Error::new(code.class, code.name, "there is no session to go on with")
    })
}

impl Launched {
    /// Loads what is now in a plugin's place. A UI is first let finish the prompt it shows.
    ///
    /// If the new one is refused, the old one stays; if it fails to come up, the old build is brought back.
    pub fn reload(
        &self,
        ground: &Ground,
        id: &str,
    ) -> std::result::Result<Arc<Active>, Diagnostic> {
        let session = &self.session;
        block_on(session.prompts().see_out(id));
        let registry = session.plugins();
        let old = registry.get(id).cloned();
        session.part_with(id);
        match reload(&registry, id, ground, &self.means) {
            Ok(reloaded) => {
                session.set_plugins(reloaded.registry);
                session.attend(&reloaded.active);
                match reloaded.problem {
                    None => Ok(reloaded.active),
                    Some(problem) => Err(problem),
                }
            }
            Err(problem) => {
                if let Some(old) = &old {
                    session.attend(old);
                }
                Err(problem)
            }
        }
    }
}
