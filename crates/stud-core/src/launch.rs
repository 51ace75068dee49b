//! From prepared plugins to a session in which they take part.

mod screens;

use std::path::Path;
use std::sync::{Arc, Weak};
use std::time::Duration;

use serde_json::Value;
use stud_contract_meta::{Error, Kind, Result};
use stud_diagnostics::{Diagnostic, codes};
use stud_host_api::metrics::{DEBOUNCE_MS, ProjectTrust, RuntimeSnapshot};
use stud_host_api::session::SecurityMode;

use crate::activate::Active;
use crate::approvals::{Allowlist, Approvals, ProjectApprovals, ToolApprovals};
use crate::audit::Index;
use crate::audit::bootstrap::{self, Deed};
use crate::environment::Environment;
use crate::executor::block_on;
use crate::host::Hosts;
use crate::interactions::Absence;
use crate::ledger::closed;
use crate::limits::Limits;
use crate::mcp::{Connector, Setup};
use crate::model::{self, Model, ProviderChoice};
use crate::model_switch;
use crate::params::{Params, Setting};
use crate::participants;
use crate::platform::Durability;
use crate::privileged_ops;
use crate::provenance::Integrity;
use crate::redact::{self, Redactor};
use crate::register::{HostSource, PluginRuntime};
use crate::registry::Registry;
use crate::report::PluginReport;
use crate::request_state::Terms;
use crate::runtime_snapshot::Collector;
use crate::session::archive;
use crate::session::{Session, SessionConfig, SessionLink, open};
use crate::settings::{HeadlessSettings, InteractionSettings, SecuritySettings};
use crate::startup::{Plugins, StartupObserver};
use crate::store::{self, MemoryStore, Store};
use crate::timer;
use crate::turn_policy::TurnPolicy;
use crate::workflow;

pub use screens::{Screens, StandIn};

/// How a session is begun.
#[derive(Debug, Clone, Default)]
pub struct Launch {
    /// Whether there is no terminal.
    pub headless: bool,
    /// Whether the person approved everything in advance.
    pub yolo: bool,
    /// How tool calls are gated; as the settings say when absent.
    pub mode: Option<SecurityMode>,
    /// Entries of an allowlist that hold for this run, in every mode.
    pub allow_tools: Vec<String>,
    /// The session to resume.
    pub resume: Option<Resume>,
    /// The state machine to attach; its workflow begins at once.
    pub machine: Option<String>,
    /// Parameters of the provider, each with its path.
    pub params: Vec<(String, Value)>,
    /// How long plugins may take.
    pub limits: Limits,
    /// The MCP client; without it no MCP servers are available.
    pub connector: Option<Arc<dyn Connector>>,
}

/// Which session to resume.
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
    means: PluginRuntime,
}

/// Opens a session in `ground`, and lets the plugins take part in it.
pub fn launch(ground: &Environment, plugins: &Plugins, how: &Launch) -> Result<Launched> {
    launch_with(ground, plugins, how, &LaunchObserver::default())
}

/// Who looks on while a session comes up.
pub struct LaunchObserver<'a> {
    /// The session is open, and no plugin but its store takes part.
    pub opened: &'a dyn Fn(&Arc<Session>),
    /// All plugins but the UIs are active, and this model will answer. Not reported without a UI.
    pub before_screens: &'a dyn Fn(&Arc<Session>, Option<&Model>),
}

impl Default for LaunchObserver<'_> {
    fn default() -> Self {
        Self {
            opened: &|_| {},
            before_screens: &|_, _| {},
        }
    }
}

impl std::fmt::Debug for LaunchObserver<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Onlooker")
    }
}

/// The same, with an observer.
pub fn launch_with(
    ground: &Environment,
    plugins: &Plugins,
    launch: &Launch,
    onlooker: &LaunchObserver<'_>,
) -> Result<Launched> {
    let redactor = Arc::new(Redactor::new());
    redact::cover(&redactor);
    let link = SessionLink::default();
    let means = PluginRuntime {
        hosts: Arc::new(Hosts::new(ground, &redactor, launch.headless, link.clone())),
        limits: launch.limits.clone(),
    };
    let connector = launch.connector.clone();
    let servers = connector.map(|connector| Setup::of(ground, connector));
    let problems = servers
        .as_ref()
        .map(|setup| setup.configured.problems.clone());
    let mut opening = Opening {
        ground,
        servers,
        launch,
        redactor,
        link,
        onlooker,
        session: None,
    };
    let started = plugins.start(ground, &means, &mut opening);
    let session = match opening.session {
        Some(Ok(session)) => session,
        Some(Err(error)) => {
            note_integrity(&ground.places.global_root, &started.reports);
            started.stop(&means.limits);
            return Err(error);
        }
        None => return Err(store::unavailable("no session could be opened")),
    };
    let model = Model::chosen(&started.registry, &ground.settings, &started.reports);
    // A person who switches at once does so after this.
    let alone = session.choosing();
    for (ext_id, verdict) in verdicts(&started.reports) {
        session.audit_integrity(ext_id, verdict);
    }
    session.set_plugins(started.registry.clone());
    let refused = started.reports.iter().filter(|report| report.is_refused());
    session.remember_refused(refused.cloned().collect());
    for problem in started.problems() {
        session.report(problem);
    }
    tell_declared_otherwise(&session);
    let chosen = workflow::choose(&session, &ground.settings, launch.machine.as_deref());
    if let Err(unfit) = block_on(chosen) {
        let _ = session.close();
        return Err(unfit);
    }
    if launch.resume.is_some() {
        session.announce_resume();
        model_switch::tell_forgotten(&session);
    }
    // The first turn reports why there is no model.
    if let Ok(model) = model
        && let Err(unfit) = model_switch::begin(&session, model)
    {
        let _ = session.close();
        return Err(unfit);
    }
    drop(alone);
    for rewrite in ground.ordering.rewrites() {
        let correlation_id = session.correlation_id();
        session.books().publish(&correlation_id, &rewrite.event());
    }
    let mut diagnostics = started.diagnostics;
    diagnostics.extend_from_slice(session.damage());
    diagnostics.extend(problems.unwrap_or_default());
    diagnostics.extend(session.mcp().start());
    Ok(Launched {
        session,
        reports: started.reports,
        diagnostics,
        means,
    })
}

/// The plugins that are pinned, and whether they are the pinned ones.
fn verdicts(reports: &[PluginReport]) -> impl Iterator<Item = (&str, Integrity)> {
    let reports = reports.iter();
    reports.filter_map(|report| Some((report.ext_id.as_str(), report.integrity?)))
}

/// Puts on record which plugins are the pinned ones, where there is no session to do so.
fn note_integrity(global_root: &Path, reports: &[PluginReport]) {
    let deed = |(ext_id, verdict): (&str, Integrity)| Deed {
        class: Some("Integrity"),
        ..Deed::new("Integrity", verdict.facts(ext_id))
    };
    let deeds: Vec<Deed> = verdicts(reports).map(deed).collect();
    if !deeds.is_empty() {
        // Why there is no session is told either way, and matters more.
        let _ = bootstrap::note(global_root, &deeds, Durability::Written);
    }
}

/// Records models with conflicting declarations; the session uses the first one.
fn tell_declared_otherwise(session: &Session) {
    for provider in session.plugins().of_kind(Kind::Provider) {
        for error in model::declared_otherwise(provider.identity()) {
            let reason = format!("{}/{}", error.class(), error.code());
            let correlation_id = session.correlation_id();
            session.books().suppress(&reason, &correlation_id, &error);
        }
    }
}

/// A session on its way: it opens once its store is there, and before anyone else is.
struct Opening<'a> {
    ground: &'a Environment,
    launch: &'a Launch,
    servers: Option<Setup>,
    redactor: Arc<Redactor>,
    link: SessionLink,
    onlooker: &'a LaunchObserver<'a>,
    session: Option<Result<Arc<Session>>>,
}

impl StartupObserver for Opening<'_> {
    fn stores_up(&mut self, stores: &[Arc<Active>]) {
        let store = store::active(stores);
        let session = self.open(store.unwrap_or_else(|| Arc::new(MemoryStore::default())));
        if let Ok(session) = &session {
            self.link.set(session);
            (self.onlooker.opened)(session);
            for store in stores {
                participants::join(session, store);
            }
        }
        self.session = Some(session);
    }

    fn before_screens(&mut self, there: &[Arc<Active>]) {
        if let Some(Ok(session)) = &self.session {
            let there = there.iter().cloned().collect::<Registry>();
            // Why no model is available is reported later; the greeting only names the active one.
            let model = Model::chosen(&there, &self.ground.settings, &[]);
            (self.onlooker.before_screens)(session, model.as_ref().ok());
        }
    }

    fn up(&mut self, plugin: &Arc<Active>) {
        if let Some(Ok(session)) = &self.session {
            participants::join(session, plugin);
        }
    }
}

impl Opening<'_> {
    fn open(&self, store: Arc<dyn Store>) -> Result<Arc<Session>> {
        let resume = match &self.launch.resume {
            None => None,
            Some(Resume::Session(id)) => Some(id.clone()),
            Some(Resume::Latest) => {
                let trails = self.ground.places.global_root.join("sessions");
                Some(archive::latest(&*store, &trails)?)
            }
        };
        let places = &self.ground.places;
        let timer = timer::system();
        let mut picture = RuntimeSnapshot::default();
        let cwd = places.project_root.parent().unwrap_or(&places.project_root);
        picture.session.cwd = cwd.display().to_string();
        if self.ground.trusted() {
            picture.session.project_trust = ProjectTrust::Granted;
        }
        let answering = ProviderChoice::of(&self.ground.settings);
        let interaction = InteractionSettings::of(&self.ground.settings);
        // A resumed session keeps the mode it started with.
        let recorded = || {
            let id = resume.as_deref()?;
            archive::mode(id, &*store).ok()
        };
        let metrics = Collector::new(picture, timer.clone(), Duration::from_millis(DEBOUNCE_MS));
        let session = open(
            SessionConfig {
                project_root: places.project_root.clone(),
                mode: self.mode(),
                store: store.clone(),
                trails: Some(places.global_root.join("sessions")),
                index: Some(Index::of(
                    &places.global_root,
                    &self.ground.settings,
                    &self.redactor,
                )?),
                redactor: self.redactor.clone(),
                absence: self.absence(),
                tool_timeout: interaction.default_timeout.value,
                rules: self.rules(recorded)?,
                provider: Some(answering.id().to_owned()),
                model: answering.model(&self.ground.settings).map(str::to_owned),
                params: self.params()?,
                most_reprompts: interaction.max_reprompts.value,
                limits: self.launch.limits.clone(),
                terms: Terms::of(self.ground),
                mcp: self.servers.clone(),
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

    fn mode(&self) -> SecurityMode {
        let set = SecuritySettings::of(&self.ground.settings).mode;
        self.launch.mode.unwrap_or(set.value)
    }

    fn rules(&self, recorded: impl FnOnce() -> Option<SecurityMode>) -> Result<TurnPolicy> {
        let project = self.ground.project().map(ProjectApprovals::of);
        let of_run = Allowlist::of(self.launch.allow_tools.iter().cloned());
        Ok(TurnPolicy {
            yolo: self.launch.yolo,
            approvals: Approvals::new(project, self.allowlist(recorded)?)
                .of_run(self.ground.places.project_root.parent(), of_run),
            tool_approvals: ToolApprovals::of(self.ground),
            ordering: self.ground.ordering.clone(),
            ..TurnPolicy::read(&self.ground.settings)
        })
    }

    fn params(&self) -> Result<Params> {
        let set = self.launch.params.iter();
        let settings = set.map(|(path, value)| Setting::new(path, value.clone()));
        Ok(Params::launched(settings.collect::<Result<_>>()?))
    }

    /// The patterns of all scopes. Patterns that no scope could ever want are a mistake.
    fn allowlist(&self, recorded: impl FnOnce() -> Option<SecurityMode>) -> Result<Allowlist> {
        let settings = &self.ground.settings;
        let listed = settings.each("securityMode", "allowlist");
        let patterns = listed.flat_map(|set| set.value.as_array().cloned().unwrap_or_default());
        let patterns = patterns.filter_map(|pattern| pattern.as_str().map(str::to_owned));
        let allowlist = Allowlist::of(patterns);
        let wanted = self.launch.mode == Some(SecurityMode::Allowlist)
            || settings
                .each("securityMode", "mode")
                .any(|set| set.value == "allowlist");
        let is_wanted = || wanted || recorded() == Some(SecurityMode::Allowlist);
        if !allowlist.is_empty() && !is_wanted() {
            let code = &codes::ALLOWLIST_WITHOUT_MODE;
            let message = "`securityMode.allowlist` has entries, and nothing chooses the mode `allowlist`: set \
                           `securityMode.mode` to `allowlist`, or remove the entries";
            return Err(Error::new(code.class, code.name, message)
                .with("patterns", allowlist.patterns().to_vec()));
        }
        Ok(allowlist)
    }

    fn absence(&self) -> Absence {
        let settings = &self.ground.settings;
        Absence {
            yolo: self.launch.yolo,
            headless: self.launch.headless,
            grant_stage_tool: HeadlessSettings::of(settings).grant_stage_tool.value,
            grace: InteractionSettings::of(settings).interactor_grace.value,
            letting_go: self.launch.limits.event,
        }
    }
}

/// Reloads plugins of a session on request from outside it, as the command `/reload` does from inside.
pub struct Reloader {
    session: Weak<Session>,
    ground: Arc<Environment>,
    hosts: Arc<dyn HostSource>,
    limits: Limits,
}

impl Reloader {
    /// Loads what is now in a plugin's place, between turns and never while the plugin has a prompt in flight. Gives the
    /// plugin's id, how far it has come and when.
    pub fn reload(&self, id: &str) -> Result<Value> {
        let session = self.session.upgrade().ok_or_else(closed)?;
        let (ground, means) = (self.ground.clone(), self.means());
        privileged_ops::reload_plugin(session, ground, means, id)
    }

    fn means(&self) -> PluginRuntime {
        PluginRuntime {
            hosts: self.hosts.clone(),
            limits: self.limits.clone(),
        }
    }
}

impl std::fmt::Debug for Reloader {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Reloader")
    }
}

impl Launched {
    /// Reloads plugins of this session for as long as it lives.
    pub fn reloader(&self, ground: &Environment) -> Reloader {
        Reloader {
            session: Arc::downgrade(&self.session),
            ground: Arc::new(ground.clone()),
            hosts: self.means.hosts.clone(),
            limits: self.means.limits.clone(),
        }
    }

    /// Loads what is now in a plugin's place. A UI is first let finish the prompt it shows.
    ///
    /// If the new one is refused, the old one stays; if it fails to come up, the plugin takes no part any more.
    pub fn reload(
        &self,
        ground: &Environment,
        id: &str,
    ) -> std::result::Result<Arc<Active>, Diagnostic> {
        privileged_ops::replace(&self.session, ground, &self.means, id)
    }
}
