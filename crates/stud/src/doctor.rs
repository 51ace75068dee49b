//! `stud doctor`: every setting with its file, every plugin with its state, and everything that is wrong.
//!
//! Nothing is connected to, and nothing of a project that is not trusted is looked at. What cannot be found out because
//! something before it is broken is left out; what is broken is among the problems.

mod checks;
mod servers;
mod show;
mod values;

use serde_json::{Map, Value, json};
use stud_contract_meta::Kind;
use stud_core::environment::Environment;
use stud_core::mcp::{self, Surveyed};
use stud_core::model::{Model, ProviderChoice};
use stud_core::platform::Places;
use stud_core::report::PluginReport;
use stud_core::startup::{self, Started};
use stud_core::store;
use stud_core::trust::{self, Entered};
use stud_diagnostics::Diagnostic;

use crate::bundled;
use crate::output::{Outcome, Output, Verdict, told};
use crate::plugin::list;
use crate::setup;
use checks::Sessions;
use values::Setting;

pub(crate) fn run(output: &Output) -> Verdict {
    let findings = Findings::of(setup::places()?);
    if output.is_json() {
        output.document(&findings.document()?)?;
    } else {
        findings.show(output);
    }
    Ok(if findings.is_well() {
        Outcome::Done
    } else {
        Outcome::Refused
    })
}

/// What was found.
struct Findings {
    places: Places,
    trust: ProjectTrust,
    model: Option<Model>,
    /// How many providers are set up of which none was chosen; 0 if that was not needed.
    unchosen: usize,
    store: Option<String>,
    sessions: Sessions,
    servers: Vec<Surveyed>,
    settings: Vec<Setting>,
    plugins: Vec<PluginReport>,
    problems: Vec<Diagnostic>,
}

/// What became of the project's folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ProjectTrust {
    Absent,
    Trusted,
    Untrusted,
    /// The decisions cannot be read, so nothing is trusted.
    Unknown,
}

impl ProjectTrust {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Absent => "absent",
            Self::Trusted => "trusted",
            Self::Untrusted => "untrusted",
            Self::Unknown => "unknown",
        }
    }
}

impl Findings {
    fn of(places: Places) -> Self {
        let mut findings = Self {
            trust: match trust::enter(&places) {
                Ok(Entered::Absent) => ProjectTrust::Absent,
                Ok(Entered::Trusted(_)) => ProjectTrust::Trusted,
                Ok(Entered::Untrusted(_)) => ProjectTrust::Untrusted,
                Err(_) => ProjectTrust::Unknown,
            },
            model: None,
            unchosen: 0,
            store: None,
            sessions: Sessions::default(),
            servers: Vec::new(),
            settings: Vec::new(),
            plugins: Vec::new(),
            problems: Vec::new(),
            places,
        };
        let root = &findings.places.global_root;
        findings.problems.extend(checks::home(root));
        findings.problems.extend(checks::secrets(root));
        match Environment::survey(findings.places.clone(), bundled::plugins()) {
            Ok(ground) => findings.look_around(&ground),
            Err(why) => findings.problems.push(why),
        }
        findings
    }

    fn look_around(&mut self, ground: &Environment) {
        let means = setup::means(ground);
        let started = startup::start(ground, &means);
        match Model::chosen(&started.registry, &ground.settings, &started.reports) {
            Ok(model) => self.model = Some(model),
            Err(error) => {
                self.problems
                    .push(told(error).help("`stud setup` sets up a provider"));
            }
        }
        if let ProviderChoice::Configured(_, several @ 2..) = ProviderChoice::of(&ground.settings) {
            self.unchosen = several;
        }
        self.problems.extend(checks::keys(ground));
        self.look_at_sessions(&started, ground);
        let (servers, problems) = mcp::survey(ground);
        self.problems.extend(problems);
        self.problems.extend(servers::problems(&servers));
        self.servers = servers;
        self.settings = values::of(ground, &started.reports);
        self.problems.extend(started.problems().cloned());
        self.plugins.clone_from(&started.reports);
        self.problems.extend(started.stop(&means.limits));
    }

    fn look_at_sessions(&mut self, started: &Started, ground: &Environment) {
        let stores = started.registry.of_kind(Kind::SessionStore);
        let stores: Vec<_> = stores.into_iter().cloned().collect();
        let Some(store) = store::active(&stores) else {
            return;
        };
        self.store = Some(store.store_id().to_owned());
        match Sessions::of(&*store, &ground.places.global_root) {
            Ok(sessions) => self.sessions = sessions,
            Err(error) => self.problems.push(told(error)),
        }
        match Sessions::damage(&*store) {
            Ok(damage) => self.problems.extend(damage),
            Err(error) => self.problems.push(told(error)),
        }
    }

    fn is_well(&self) -> bool {
        !self.problems.iter().any(Diagnostic::is_error)
    }

    fn document(&self) -> Result<Value, Diagnostic> {
        let plugins = self.plugins.iter().map(list::document);
        let plugins: Vec<Value> = plugins.collect::<Result<_, _>>()?;
        let settings: Vec<Value> = self.settings.iter().map(Setting::document).collect();
        Ok(json!({
            "ok": self.is_well(),
            "core": self.core(),
            "settings": settings,
            "trust": {
                "state": self.trust.as_str(),
                "projectRoot": self.places.project_root.to_string_lossy(),
                "trustPath": self.places.global_root.join("trust.json").to_string_lossy(),
                "lookedInto": self.trust == ProjectTrust::Trusted,
            },
            "plugins": plugins,
            "sessions": self.sessions.document(),
            "mcp": self.servers.iter().map(servers::document).collect::<Vec<_>>(),
            "problems": self.problems,
        }))
    }

    fn core(&self) -> Map<String, Value> {
        let model = self.model.as_ref();
        let core = json!({
            "version": env!("CARGO_PKG_VERSION"),
            "globalRoot": self.places.global_root.to_string_lossy(),
            "projectRoot": self.places.project_root.to_string_lossy(),
            "provider": model.map(|model| model.provider_id.as_str()),
            "model": model.map(|model| model.model_id.as_str()),
            "sessionStore": self.store,
        });
        match core {
            Value::Object(core) => core,
            _ => Map::new(),
        }
    }
}
