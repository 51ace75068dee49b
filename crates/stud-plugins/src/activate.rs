//! activate: [`Registered`] → [`Active`]. An instance is made, given its config, and activated.

mod call;

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use jsonschema::Validator;
use stud_abi::{CallContext, Category, Fault, HostHandle, Instance, tables};
use stud_contract_meta::Phase;
use stud_contract_provider::ToolSpec;
use stud_diagnostics::{Diagnostic, Stage, codes};

use crate::bind::{Bound, Table};
use crate::identity::Identity;
use crate::provenance::{Provenance, Refused};
use crate::register::{PhaseObserver, Registered};
use stud_runtime::executor;
use stud_runtime::limits::Limits;
use stud_runtime::sync::{Mutex, lock};

/// Whether a plugin takes part once it is loaded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wanted {
    /// `init` and `activate`.
    Active,
    /// `init` only: another one of its category was chosen, or it waits to be attached.
    Loaded,
}

/// A plugin that runs. Only [`activate`] makes one.
#[derive(Debug)]
pub struct Active {
    identity: Arc<Identity>,
    observer: PhaseObserver,
    running: Running,
    provenance: Provenance,
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

    /// What a model is told of its tools; `make` is called once.
    pub fn cached_specs(&self, make: impl FnOnce() -> Vec<ToolSpec>) -> &[ToolSpec] {
        self.specs.get_or_init(make)
    }

    /// The validator of the arguments of one of its tools; `build` is called once for each tool.
    pub fn cached_validator(
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

    /// Runs one phase of its life and reports it.
    pub(crate) fn observed<T, E>(
        &self,
        phase: Phase,
        run: impl FnOnce() -> Result<T, E>,
    ) -> Result<T, E> {
        self.observer.run(phase, run)
    }

    /// Activates a plugin that is loaded, or deactivates one that is active, as a state machine is when it is attached
    /// and detached. One that is there already stays as it is.
    pub fn step(&self, phase: Phase, limits: &Limits) -> Result<(), Diagnostic> {
        let is_there = match phase {
            Phase::Activate => self.identity.life.word() == "active",
            _ => self.identity.life.word() != "active",
        };
        if is_there {
            return Ok(());
        }
        let running = self.running.clone();
        let work = move || running.lifecycle(phase, String::new());
        let failure = self.observed(phase, || {
            let outcome = self
                .identity
                .code_origin()
                .run_with_timeout(limits.lifecycle, work);
            match outcome {
                Some(Ok(())) => {
                    self.identity.life.passed(phase);
                    Ok(())
                }
                Some(Err(fault)) => Err(Failure::Said(fault)),
                None => Err(Failure::Silent {
                    timeout_ms: limits.lifecycle_ms(),
                }),
            }
        });
        failure.map_err(|failure| explain(&self.provenance, phase, &failure))
    }

    /// Its instance.
    pub fn running(&self) -> &Running {
        &self.running
    }

    /// Adds what was noticed while it took another's place.
    pub(crate) fn note(&mut self, warnings: Vec<Diagnostic>) {
        for warning in warnings {
            self.provenance.warn(warning);
        }
    }

    /// What it is an instance of.
    pub fn bound(&self) -> &Bound {
        &self.bound
    }

    /// What was noted on its way.
    pub fn provenance(&self) -> &Provenance {
        &self.provenance
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

/// Brings a registered plugin to life.
pub fn activate(
    registered: Registered,
    wanted: Wanted,
    limits: &Limits,
) -> Result<Active, Refused> {
    let (mut provenance, bound, observer, host) = registered.into_parts();
    match start(&observer, bound.table(), host, wanted, limits) {
        Ok(running) => {
            provenance.pass(Stage::Activate);
            Ok(Active {
                identity: observer.plugin().clone(),
                observer,
                running,
                provenance,
                bound,
                validators: Mutex::default(),
                specs: OnceLock::new(),
            })
        }
        Err((phase, failure)) => {
            let why = explain(&provenance, phase, &failure);
            Err(provenance.refuse(why))
        }
    }
}

enum Failure {
    Said(Fault),
    Silent { timeout_ms: u64 },
}

fn start(
    observer: &PhaseObserver,
    table: Table,
    host: HostHandle,
    wanted: Wanted,
    limits: &Limits,
) -> Result<Running, (Phase, Failure)> {
    let identity = observer.plugin();
    let watched = |phase: Phase, work: Box<dyn FnOnce() -> Result<Running, Fault> + Send>| {
        observer.run(phase, || {
            let outcome = identity
                .code_origin()
                .run_with_timeout(limits.lifecycle, work)
                .ok_or((
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
                let _ = identity
                    .code_origin()
                    .run_with_timeout(limits.lifecycle, parting);
            }
            active
        }
    }
}

fn explain(provenance: &Provenance, phase: Phase, failure: &Failure) -> Diagnostic {
    let failed = |message: String| {
        provenance
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
