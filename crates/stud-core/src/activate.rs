//! activate: [`Bound`] → [`Active`]. An instance is made, given its config, and switched on.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, OnceLock};

use jsonschema::Validator;
use serde_json::{Map, Value};
use stud_abi::{CallContext, Category, Fault, HostHandle, Instance, tables};
use stud_contract_meta::{ExtId, Kind, Manifest, Phase};
use stud_contract_provider::ToolSpec;
use stud_diagnostics::{Diagnostic, Stage, codes};
use stud_host_api::HostApi;

use crate::bind::{Bound, Table};
use crate::executor::{self, CodeOrigin};
use crate::limits::Limits;
use crate::platform;
use crate::plugin_scope::Scope;
use crate::provenance::{Provenance, Refused};
use crate::sync::{Mutex, lock};
use crate::validate::Members;

/// Who a running plugin is. Its host knows it by this.
#[derive(Debug)]
pub struct Identity {
    /// What it is called.
    pub ext_id: ExtId,
    /// Its category.
    pub kind: Kind,
    /// The scope it was found in.
    pub scope: Scope,
    /// Its library, unless it is embedded.
    pub path: Option<PathBuf>,
    /// How many times this id was loaded in this process, this one included.
    pub generation: u64,
    /// What it declared.
    pub manifest: Arc<Manifest>,
    /// What it declared for its category.
    pub members: Arc<Members>,
    /// Its validated config.
    pub config: Value,
    /// What core reads of its config and it has no place for.
    pub kept: Map<String, Value>,
    /// Where it is in its life.
    pub life: Life,
}

impl Identity {
    /// Whether the code is bundled or third-party.
    pub(crate) fn whose(&self) -> CodeOrigin {
        match self.path {
            Some(_) => CodeOrigin::Strangers,
            None => CodeOrigin::Ours,
        }
    }

    /// A member of its config, whether it is for the plugin or for core.
    pub fn setting(&self, member: &str) -> Option<&Value> {
        self.config.get(member).or_else(|| self.kept.get(member))
    }

    /// A member of its config; where that is left out, what its schema says holds then.
    pub(crate) fn setting_or_default(&self, member: &str) -> Option<&Value> {
        let declared = &self.manifest.config_schema["properties"][member];
        self.setting(member).or_else(|| declared.get("default"))
    }

    /// The id that its library declares.
    pub(crate) fn plugin_id(&self) -> &str {
        let declared = self.manifest.document["extId"].as_str();
        declared.unwrap_or(self.ext_id.as_str())
    }

    /// Whether it is one more entry of a provider, under an id of its own.
    pub(crate) fn is_entry(&self) -> bool {
        self.plugin_id() != self.ext_id.as_str()
    }
}

/// Where a plugin is in its life, as its host sees it.
#[derive(Debug, Default)]
pub struct Life(AtomicU8);

const LIVES: [&str; 5] = ["init", "loaded", "active", "inactive", "disposed"];

impl Life {
    /// One of `init`, `loaded`, `active`, `inactive`, `disposed`.
    pub fn word(&self) -> &'static str {
        LIVES[usize::from(self.0.load(Ordering::Acquire)) % LIVES.len()]
    }

    /// The word after `phase` has succeeded.
    pub(crate) fn passed(&self, phase: Phase) {
        let place = match phase {
            Phase::Init => 1,
            Phase::Activate => 2,
            Phase::Deactivate => 3,
            Phase::Dispose => 4,
        };
        self.0.store(place, Ordering::Release);
    }
}

/// Makes the host of one plugin.
pub trait HostSource: Send + Sync {
    /// A host that knows who it serves.
    fn host_for(&self, plugin: &Arc<Identity>) -> Arc<dyn HostApi>;

    /// A phase of a plugin begins, or has succeeded. Nothing is told of the end of one that failed.
    fn phase(&self, plugin: &Identity, phase: Phase, moment: Moment) {
        let _ = (plugin, phase, moment);
    }
}

/// A moment in a phase of a plugin's life.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Moment {
    /// It begins.
    Start,
    /// It has succeeded, and took so many milliseconds.
    End(u64),
}

/// Whoever hears of the phases of one plugin, from its first to its last.
#[derive(Clone)]
struct Witness {
    hosts: Arc<dyn HostSource>,
    plugin: Arc<Identity>,
}

impl Witness {
    /// Tells that `phase` begins, and when `run` has succeeded that it is over.
    fn of<T, E>(&self, phase: Phase, run: impl FnOnce() -> Result<T, E>) -> Result<T, E> {
        self.hosts.phase(&self.plugin, phase, Moment::Start);
        let began = platform::ticks();
        let done = run()?;
        let took = (platform::ticks() - began) / 1_000_000;
        self.hosts.phase(&self.plugin, phase, Moment::End(took));
        Ok(done)
    }
}

impl std::fmt::Debug for Witness {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Witness").finish_non_exhaustive()
    }
}

/// What it takes to run plugins.
pub struct Means {
    /// Who makes their hosts.
    pub hosts: Arc<dyn HostSource>,
    /// How long they may take.
    pub limits: Limits,
}

/// Whether a plugin takes part once it is loaded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wanted {
    /// `init` and `activate`.
    Active,
    /// `init` only: another one of its category was chosen, or it waits to be attached.
    Loaded,
}

/// A plugin that runs.
#[derive(Debug)]
pub struct Active {
    identity: Arc<Identity>,
    witness: Witness,
    running: Running,
    track: Provenance,
    bound: Bound,
    /// The compiled input schemas of its tools, by name. Each is compiled when it is first needed.
    validators: Mutex<BTreeMap<String, Option<Arc<Validator>>>>,
    /// What a model is told of its tools, made when it is first told.
    specs: OnceLock<Vec<ToolSpec>>,
}

impl Active {
    /// Who it is.
    pub fn identity(&self) -> &Arc<Identity> {
        &self.identity
    }

    /// What a model is told of its tools, made by `make` when it is not yet.
    pub(crate) fn specs(&self, make: impl FnOnce() -> Vec<ToolSpec>) -> &[ToolSpec] {
        self.specs.get_or_init(make)
    }

    /// What holds the arguments of one of its tools, compiled by `build` when it is not yet.
    pub(crate) fn validator(
        &self,
        tool: &str,
        build: impl FnOnce() -> Result<Validator, String>,
    ) -> Option<Arc<Validator>> {
        let mut validators = lock(&self.validators);
        if let Some(known) = validators.get(tool) {
            return known.clone();
        }
        let compiled = build().ok().map(Arc::new);
        validators.insert(tool.to_owned(), compiled.clone());
        compiled
    }

    /// Runs one phase of its life, and lets whoever listens hear of it.
    pub(crate) fn witnessed<T, E>(
        &self,
        phase: Phase,
        run: impl FnOnce() -> Result<T, E>,
    ) -> Result<T, E> {
        self.witness.of(phase, run)
    }

    /// Its instance.
    pub fn running(&self) -> &Running {
        &self.running
    }

    /// Adds what was noticed while it took another's place.
    pub(crate) fn note(&mut self, warnings: Vec<Diagnostic>) {
        for warning in warnings {
            self.track.warn(warning);
        }
    }

    /// What it was brought to life from, and can be again.
    pub(crate) fn bound(&self) -> &Bound {
        &self.bound
    }

    /// How it came here.
    pub fn track(&self) -> &Provenance {
        &self.track
    }
}

macro_rules! running {
    ($($variant:ident: $category:ty;)+) => {
        /// An instance of one of the nine categories.
        #[derive(Debug, Clone)]
        #[expect(missing_docs, reason = "each variant is its category")]
        pub enum Running {
            $($variant(Instance<$category>),)+
        }

        impl Running {
            fn create(table: Table, host: HostHandle) -> Result<Self, Fault> {
                match table {
                    $(Table::$variant(table) => Instance::create(table, host).map(Self::$variant),)+
                }
            }

            /// Runs one phase and waits for it.
            pub(crate) fn lifecycle(&self, phase: Phase, config: String) -> Result<(), Fault> {
                fn run<C: Category>(instance: &Instance<C>, phase: Phase, config: String) -> Result<(), Fault> {
                    let call = instance.lifecycle(phase.as_str(), config, CallContext::detached());
                    executor::block_on(call).map(drop)
                }
                match self {
                    $(Self::$variant(instance) => run(instance, phase, config),)+
                }
            }
        }
    };
}

running! {
    Provider: tables::provider::Provider;
    Tool: tables::tool::Tool;
    Hook: tables::hook::Hook;
    Ui: tables::ui::Ui;
    Logger: tables::logger::Logger;
    StateMachine: tables::state_machine::StateMachine;
    Command: tables::command::Command;
    SessionStore: tables::session_store::SessionStore;
    ContextProvider: tables::context_provider::ContextProvider;
}

/// Brings a bound plugin to life. One that is bound can be brought to life any number of times.
pub fn activate(
    bound: &Bound,
    generation: u64,
    wanted: Wanted,
    means: &Means,
) -> Result<Active, Refused> {
    let Bound { plugin, table } = bound;
    let mut track = plugin.track.clone();
    track.pass(Stage::Register);
    let identity = Arc::new(Identity {
        ext_id: plugin.manifest.ext_id.clone(),
        kind: plugin.manifest.kind,
        scope: track.scope,
        path: track.path().map(PathBuf::from),
        generation,
        manifest: plugin.manifest.clone(),
        members: plugin.members.clone(),
        config: plugin.config.clone(),
        kept: plugin.kept.clone(),
        life: Life::default(),
    });
    let host = stud_host_api::wire::serve(means.hosts.host_for(&identity));
    let witness = Witness {
        hosts: means.hosts.clone(),
        plugin: identity.clone(),
    };
    let started = start(&witness, *table, host, wanted, &means.limits);
    match started {
        Ok(running) => {
            track.pass(Stage::Activate);
            Ok(Active {
                identity,
                witness,
                running,
                track,
                bound: bound.clone(),
                validators: Mutex::default(),
                specs: OnceLock::new(),
            })
        }
        Err((phase, failure)) => {
            let why = explain(&track, phase, &failure);
            Err(track.refuse(why))
        }
    }
}

enum Failure {
    Said(Fault),
    Silent { timeout_ms: u64 },
}

fn start(
    witness: &Witness,
    table: Table,
    host: HostHandle,
    wanted: Wanted,
    limits: &Limits,
) -> Result<Running, (Phase, Failure)> {
    let identity = &witness.plugin;
    let watched = |phase: Phase, work: Box<dyn FnOnce() -> Result<Running, Fault> + Send>| {
        witness.of(phase, || {
            let outcome = identity.whose().within(limits.lifecycle, work).ok_or((
                phase,
                Failure::Silent {
                    timeout_ms: limits.lifecycle_ms(),
                },
            ))?;
            let running = outcome.map_err(|fault| (phase, Failure::Said(fault)))?;
            identity.life.passed(phase);
            Ok(running)
        })
    };
    let config = identity.config.to_string();
    let running = watched(
        Phase::Init,
        Box::new(move || {
            let running = Running::create(table, host)?;
            running.lifecycle(Phase::Init, config)?;
            Ok(running)
        }),
    )?;
    match wanted {
        Wanted::Loaded => Ok(running),
        Wanted::Active => {
            let half_up = running.clone();
            let active = watched(
                Phase::Activate,
                Box::new(move || {
                    running.lifecycle(Phase::Activate, String::new())?;
                    Ok(running)
                }),
            );
            // What took another's place and then failed may hold what the next attempt needs.
            if let Err((_, Failure::Said(_))) = &active
                && identity.generation > 1
            {
                let parting = move || half_up.lifecycle(Phase::Deactivate, String::new());
                let _ = identity.whose().within(limits.lifecycle, parting);
            }
            active
        }
    }
}

fn explain(track: &Provenance, phase: Phase, failure: &Failure) -> Diagnostic {
    let failed = |message: String| {
        track
            .error(Stage::Activate, &codes::LIFECYCLE_FAILURE, message)
            .with("phase", phase.as_str())
    };
    match failure {
        Failure::Silent { timeout_ms } => {
            failed(format!("`{phase}` did not return within {timeout_ms} ms"))
                .with("timeoutMs", *timeout_ms)
                .note("the plugin cannot be stopped, so its thread was left behind")
                .help("author: do not wait in a lifecycle phase without a limit")
        }
        Failure::Said(fault) => failed(format!("`{phase}` failed: {}", fault.message))
            .with("cause", format!("{}/{}", fault.class, fault.code))
            .note(format!("the cause is `{}/{}`", fault.class, fault.code))
            .help("author: the plugin's own words are above"),
    }
}

impl std::fmt::Debug for Means {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Means")
            .field("limits", &self.limits)
            .finish_non_exhaustive()
    }
}
