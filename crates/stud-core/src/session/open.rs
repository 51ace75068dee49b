//! Opening a session: a new one, or one that was left.

use std::path::PathBuf;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Weak};
use std::time::Duration;

use serde_json::json;
use stud_contract_meta::{Error, Result};
use stud_diagnostics::codes;
use stud_host_api::metrics::{DiagnosticItem, Level};
use stud_host_api::session::SecurityMode;

use super::active_model::Choice;
use super::audit_sync::Safekeeping;
use super::conversation::SNAPSHOT_BUDGET;
use super::deferred_jobs::Waiting;
use super::inputs::Inputs;
use super::resume::Past;
use super::scopes::Scopes;
use super::slots::Slots;
use super::state::Progress;
use super::{Facts, Session, State, Trigger};
use crate::audit::{TornTail, Trail};
use crate::commands::Commands;
use crate::events::{Bus, Trouble};
use crate::interactions::{Absence, Prompts};
use crate::ledger::{Draft, Ledger};
use crate::limits::Limits;
use crate::mcp::{self, Mcp, Surroundings};
use crate::params::Params;
use crate::platform;
use crate::recorder::Recorder;
use crate::redact::Redactor;
use crate::request_state::{Desk, Terms};
use crate::runtime_snapshot::Collector;
use crate::store::Store;
use crate::sync::Mutex;
use crate::timer::Timer;
use crate::turn_policy::TurnPolicy;

/// What a session stands on.
pub struct Founding {
    /// Its project's `.stud` folder.
    pub project_root: PathBuf,
    /// How tool calls are gated; one that is resumed keeps its own.
    pub mode: SecurityMode,
    /// Where it is kept.
    pub store: Arc<dyn Store>,
    /// Where audit trails are kept, one folder for each session; none keeps none.
    pub trails: Option<PathBuf>,
    /// What must not be written down.
    pub redactor: Arc<Redactor>,
    /// What happens when nobody is there to ask.
    pub absence: Absence,
    /// How long a tool's prompt waits unless the tool says otherwise.
    pub tool_timeout: Duration,
    /// What holds in every turn.
    pub rules: TurnPolicy,
    /// The provider that the settings let answer, for the record.
    pub provider: Option<String>,
    /// The model, for the record.
    pub model: Option<String>,
    /// What the launch sets of the provider's parameters.
    pub params: Params,
    /// How often the call of a tool may ask again when it is not content with an answer.
    pub most_reprompts: u32,
    /// How long plugins may take.
    pub limits: Limits,
    /// What the operator set for putting requests together.
    pub terms: Terms,
    /// The MCP servers it may use; none without one.
    pub mcp: Option<mcp::Setup>,
    /// The clock.
    pub timer: Arc<dyn Timer>,
    /// What it looks like from inside.
    pub metrics: Arc<Collector>,
}

/// Opens the session `resume`, or a new one.
pub fn open(founding: Founding, resume: Option<&str>) -> Result<Arc<Session>> {
    let past = match resume {
        Some(id) => Past::of(id, &*founding.store)?,
        None => Past::none(&founding),
    };
    let unsaved_turn = past.unsaved_turn.clone();
    let named = [founding.provider.clone(), founding.model.clone()];
    let session = found(founding, past, resume.is_some())?;
    if resume.is_some() {
        session.resumed(unsaved_turn);
        session.begins("resume", named);
    } else {
        session.begins("start", named);
    }
    Ok(session)
}

/// The audit trail, if one is kept, and what a crash tore off its end.
fn trail(founding: &Founding, session_id: &str) -> Result<(Option<Trail>, Option<TornTail>)> {
    let Some(trails) = &founding.trails else {
        return Ok((None, None));
    };
    let folder = trails.join(session_id).join("audit");
    let opened = Trail::open(&folder, session_id, founding.redactor.clone())
        .map_err(|error| in_use(session_id, error))?;
    Ok((Some(opened.trail), opened.dropped))
}

/// What a transcript begins with.
fn first_record(facts: &Facts, store_id: &str) -> Draft {
    Draft {
        kind: "session_start",
        payload: json!({
            "projectRoot": facts.project_root,
            "mode": facts.mode,
            "createdAt": facts.created_at,
            "storeId": store_id,
        }),
        ..Draft::default()
    }
}

fn found(founding: Founding, past: Past, resumed: bool) -> Result<Arc<Session>> {
    let bus = Bus::new(founding.timer.clone(), founding.limits.clone());
    let facts = past.facts;
    let ledger = Ledger::new(
        &facts.session_id,
        past.last_seq,
        first_record(&facts, founding.store.store_id()),
        founding.store.clone(),
        founding.redactor.clone(),
        founding.timer.clone(),
    );
    ledger.take_over(past.loose_ends);
    let (trail, torn) = trail(&founding, &facts.session_id)?;
    let books = Recorder::new(
        facts.session_id.clone(),
        ledger,
        bus,
        trail,
        founding.redactor,
    );
    let books = Arc::new(books);
    if books.trail.is_some() {
        books.listen(Safekeeping::of(&books, &founding.timer));
    }
    let commands = Commands::new(books.clone(), &founding.limits);
    let state = if resumed { State::Resumed } else { State::Idle };
    let scopes = Scopes::new();
    let prompts = Prompts::new(founding.timer.clone(), founding.absence);
    let prompt_registry = Arc::default();
    let resource_registry = Arc::default();
    let session = Arc::new_cyclic(|this: &Weak<Session>| Session {
        mcp: Mcp::new(
            founding.mcp,
            Surroundings {
                books: books.clone(),
                metrics: founding.metrics.clone(),
                prompts: prompts.clone(),
                prompt_registry: Arc::clone(&prompt_registry),
                resource_registry: Arc::clone(&resource_registry),
                timer: founding.timer.clone(),
                over: scopes.session().token(),
                around: this.clone(),
                yolo: founding.rules.yolo,
            },
        ),
        facts,
        books,
        store: founding.store,
        desk: Desk::new(founding.terms),
        prompts,
        timer: founding.timer,
        rules: founding.rules,
        metrics: founding.metrics,
        progress: Mutex::new(Progress {
            state,
            turn: None,
            is_answered: false,
            turn_count: past.turn_count,
            last_turn: None,
            waiting: Waiting::default(),
        }),
        inputs: Inputs::holding(past.inputs),
        slots: Slots::holding(past.slots),
        saved: Mutex::default(),
        conversation: Mutex::new(past.conversation),
        scopes,
        plugins: Mutex::default(),
        choice: Choice::of(founding.params),
        rising: Mutex::new(Some(Vec::new())),
        revision: AtomicU64::new(0),
        refused: Mutex::default(),
        down: Mutex::default(),
        commands,
        prompt_registry,
        resource_registry,
        readers: Mutex::default(),
        tool_timeout: founding.tool_timeout,
        most_reprompts: founding.most_reprompts,
        limits: founding.limits,
        this: this.clone(),
    });
    let troubled = Arc::downgrade(&session);
    session.books.bus.on_trouble(move |trouble| {
        if let Some(session) = troubled.upgrade() {
            session.troubled(trouble);
        }
    });
    if let Some(torn) = torn {
        session.report(&torn.warning());
    }
    Ok(session)
}

impl Session {
    /// A subscriber fails or falls behind, which is known to everyone who looks.
    fn troubled(&self, trouble: &Trouble) {
        let payload = json!({
            "reason": trouble.reason,
            "cause": trouble.cause,
            "extId": trouble.ext_id,
        });
        let correlation_id = &trouble.correlation_id;
        self.books
            .audit("SuppressedError", None, correlation_id, payload);
        self.diagnose(DiagnosticItem {
            at: platform::rfc3339(platform::now()),
            level: Level::Warn,
            source: trouble.ext_id.clone(),
            code: None,
            message: trouble.message.clone(),
        });
    }

    /// Ties up what the last process left, and tells that the session is back.
    fn resumed(&self, unsaved_turn: Option<String>) {
        self.tie_up(unsaved_turn);
    }

    /// Puts on record where and how the session begins or goes on.
    fn begins(&self, event: &str, [provider, model]: [Option<String>; 2]) {
        let mut facts = self.lifecycle_facts(event);
        facts["projectRoot"] = json!(self.facts.project_root);
        facts["mode"] = json!(self.facts.mode);
        for (member, named) in [("provider", provider), ("model", model)] {
            if let Some(named) = named {
                facts[member] = named.into();
            }
        }
        self.audit_lifecycle(event, facts);
    }

    /// Tells subscribers that the session is back; they join after it is opened.
    pub fn announce_resume(&self) {
        let mut payload = json!({
            "from": State::Persisted.as_str(),
            "to": State::Resumed.as_str(),
            "trigger": Trigger::Resume.as_str(),
        });
        if let Some((id, reason)) = self.skipped_machine() {
            payload["smRestored"] = false.into();
            payload["skippedExtensions"] = json!([{"extId": id, "reason": reason}]);
            self.diagnose(DiagnosticItem {
                at: platform::rfc3339(platform::now()),
                level: Level::Warn,
                source: id.to_owned(),
                code: None,
                message: format!("the session goes on without its state machine `{id}`: {reason}"),
            });
        }
        self.publish_state("SessionResumed", &payload);
        let bytes = self.snapshot_bytes();
        if bytes > SNAPSHOT_BUDGET {
            self.over_budget("pre-hydration", bytes);
        }
    }

    /// The state machine that the session was left with, and why it goes on without it.
    fn skipped_machine(&self) -> Option<(&str, &'static str)> {
        let id = self.facts.machine.as_ref()?.sm_ext_id.as_str();
        let reason = match self.plugins().get(id) {
            Some(_) => "state machines are not attached yet",
            None => "it is not there",
        };
        Some((id, reason))
    }
}

/// One process at a time writes a session. The trail is the first thing that a second one cannot have.
fn in_use(session_id: &str, error: Error) -> Error {
    if error.context().get("inUse") != Some(&true.into()) {
        return error;
    }
    let code = &codes::STORE_UNAVAILABLE;
    let message =
        format!("the session `{session_id}` is open in another process; end that one first");
    Error::new(code.class, code.name, message).with("sessionId", session_id)
}

impl std::fmt::Debug for Founding {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Founding")
            .field("project_root", &self.project_root)
            .finish_non_exhaustive()
    }
}
