//! Opening a session: a new one, or one that was left.

use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Weak};

use serde_json::json;
use stud_contract_meta::{Error, Result};
use stud_diagnostics::codes;
use stud_host_api::events::{BudgetSite, SessionResumed, SessionTrigger, SkippedExtension};
use stud_host_api::metrics::{DiagnosticItem, Level};

use super::active_model::ActiveModel;
use super::attachment::Attachment;
use super::audit_sync::AuditSync;
use super::config::SessionConfig;
use super::control::ControlLog;
use super::conversation::SNAPSHOT_BUDGET;
use super::deferred_jobs::Waiting;
use super::inputs::Inputs;
use super::journal_growth::JournalGrowth;
use super::resume::ResumedState;
use super::scopes::Scopes;
use super::slots::Slots;
use super::state::Progress;
use super::{Facts, Session, State};
use crate::audit::{TornTail, Trail};
use crate::commands::Commands;
use crate::events::{Bus, SubscriberFailure};
use crate::ids;
use crate::interactions::Prompts;
use crate::ledger::{Draft, Ledger};
use crate::mcp::{Mcp, McpPorts};
use crate::platform;
use crate::recorder::Recorder;
use crate::request_state::RequestState;
use crate::sync::Mutex;

/// Opens the session `resume`, or a new one.
pub fn open(config: SessionConfig, resume: Option<&str>) -> Result<Arc<Session>> {
    // A session is locked before it is read: what another process adds after that would be lost on this one.
    let id = resume.map_or_else(ids::fresh, str::to_owned);
    let trail = trail(&config, &id)?;
    let past = match resume {
        Some(id) => match ResumedState::of(id, &*config.store) {
            Ok(past) => past,
            Err(error) => {
                if let (Some(trail), _) = &trail {
                    trail.leave();
                }
                return Err(error);
            }
        },
        None => ResumedState::none(&config, id),
    };
    let unsaved_turn = past.unsaved_turn.clone();
    let named = [config.provider.clone(), config.model.clone()];
    let session = found(config, past, trail, resume.is_some());
    if resume.is_some() {
        session.resumed(unsaved_turn);
        session.begins("resume", named);
    } else {
        session.begins("start", named);
    }
    Ok(session)
}

/// The audit trail, if one is kept, and what a crash tore off its end.
fn trail(config: &SessionConfig, session_id: &str) -> Result<(Option<Trail>, Option<TornTail>)> {
    let Some(trails) = &config.trails else {
        return Ok((None, None));
    };
    let folder = trails.join(session_id).join("audit");
    let opened = Trail::open(&folder, session_id, config.redactor.clone())
        .map_err(|error| unless_in_use(session_id, error))?;
    Ok((Some(opened.trail), opened.dropped))
}

/// What a transcript begins with.
fn first_record(facts: &Facts, store_id: &str) -> Draft {
    Draft {
        kind: "session_start",
        payload: json!({
            "sessionId": facts.session_id,
            "projectRoot": facts.project_root,
            "mode": facts.mode,
            "createdAt": facts.created_at,
            "storeId": store_id,
        }),
        ..Draft::default()
    }
}

fn found(
    config: SessionConfig,
    past: ResumedState,
    (trail, torn): (Option<Trail>, Option<TornTail>),
    resumed: bool,
) -> Arc<Session> {
    let bus = Bus::new(config.timer.clone(), config.limits.clone());
    let facts = past.facts;
    let machine = facts.machine.clone();
    let ledger = Ledger::new(
        &facts.session_id,
        past.last_seq,
        first_record(&facts, config.store.store_id()),
        config.store.clone(),
        config.redactor.clone(),
        config.timer.clone(),
    );
    ledger.take_over(past.loose_ends);
    let books = Recorder::new(
        facts.session_id.clone(),
        ledger,
        bus,
        trail,
        config.redactor,
    );
    let books = Arc::new(books);
    if books.trail.is_some() {
        books.listen(AuditSync::of(&books, &config.timer, config.index.clone()));
    }
    let commands = Commands::new(books.clone(), &config.limits);
    let state = if resumed { State::Resumed } else { State::Idle };
    let growth = Arc::new(JournalGrowth::of(past.replayed_bytes));
    let scopes = Scopes::new();
    let prompts = Prompts::new(config.timer.clone(), config.absence);
    let prompt_registry = Arc::default();
    let resource_registry = Arc::default();
    let session = Arc::new_cyclic(|this: &Weak<Session>| Session {
        mcp: Arc::new(Mcp::new(
            config.mcp,
            McpPorts {
                books: books.clone(),
                metrics: config.metrics.clone(),
                prompts: prompts.clone(),
                prompt_registry: Arc::clone(&prompt_registry),
                resource_registry: Arc::clone(&resource_registry),
                timer: config.timer.clone(),
                over: scopes.session().token(),
                around: this.clone(),
                yolo: config.rules.yolo,
            },
        )),
        lineage: None,
        subagents: Arc::default(),
        crashed: Mutex::default(),
        facts,
        books,
        store: config.store,
        desk: RequestState::new(config.terms),
        prompts,
        timer: config.timer,
        rules: config.rules,
        metrics: config.metrics,
        progress: Mutex::new(Progress {
            state,
            turn: None,
            is_answered: false,
            turn_count: past.turn_count,
            last_turn: None,
            waiting: Waiting::default(),
        }),
        inputs: Inputs::holding(past.inputs),
        control: ControlLog::default(),
        slots: Slots::holding(past.slots),
        saved: Mutex::default(),
        growth: growth.clone(),
        index: config.index.clone(),
        conversation: Mutex::new(past.conversation),
        scopes,
        plugins: Mutex::default(),
        choice: ActiveModel::of(config.params),
        attachment: Attachment::holding(machine, past.workflow),
        rising: Mutex::new(Some(Vec::new())),
        revision: AtomicU64::new(0),
        refused: Mutex::default(),
        down: Mutex::default(),
        damage: past.damage,
        commands,
        prompt_registry,
        resource_registry,
        readers: Mutex::default(),
        tool_timeout: config.tool_timeout,
        most_reprompts: config.most_reprompts,
        limits: config.limits,
        this: this.clone(),
    });
    growth.watch(Arc::downgrade(&session));
    session.books.ledger.follow(growth);
    session.tell_what_was_found(torn.as_ref());
    session
}

impl Session {
    /// Reports what of the session was not what was written, and from now on every subscriber that fails.
    fn tell_what_was_found(self: &Arc<Self>, torn: Option<&TornTail>) {
        let troubled = Arc::downgrade(self);
        self.books.bus.on_trouble(move |trouble| {
            if let Some(session) = troubled.upgrade() {
                session.troubled(trouble);
            }
        });
        if let Some(torn) = torn {
            self.report(&torn.warning());
        }
        for damage in &self.damage {
            self.report(damage);
        }
    }

    /// A subscriber fails or falls behind, which is known to everyone who looks.
    fn troubled(&self, trouble: &SubscriberFailure) {
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

    /// Records where and how the session starts or resumes.
    fn begins(&self, event: &str, [provider, model]: [Option<String>; 2]) {
        let mut facts = self.lifecycle_facts(event);
        facts["projectRoot"] = json!(self.facts.project_root);
        facts["mode"] = json!(self.facts.mode);
        if !self.damage.is_empty() {
            let damage = self.damage.iter().map(|damage| json!(damage.context));
            facts["damage"] = damage.collect();
        }
        for (member, named) in [("provider", provider), ("model", model)] {
            if let Some(named) = named {
                facts[member] = named.into();
            }
        }
        self.audit_lifecycle(event, facts);
    }

    /// Tells subscribers that the session is back; they join after it is opened.
    pub fn announce_resume(&self) {
        let mut resumed = SessionResumed {
            from: State::Persisted,
            to: State::Resumed,
            trigger: SessionTrigger::Resume,
            ..SessionResumed::default()
        };
        if self.machine().is_some() {
            resumed.sm_restored = Some(true);
        } else if let Some((id, reason)) = self.skipped_machine() {
            resumed.sm_restored = Some(false);
            resumed.skipped_extensions = Some(vec![SkippedExtension {
                ext_id: id.to_owned(),
                reason: reason.to_owned(),
            }]);
            self.diagnose(DiagnosticItem {
                at: platform::rfc3339(platform::now()),
                level: Level::Warn,
                source: id.to_owned(),
                code: None,
                message: format!(
                    "the session continues without its state machine `{id}`: {reason}"
                ),
            });
        }
        self.publish_state(&resumed);
        self.tell_crashed();
        let bytes = self.snapshot_bytes();
        if bytes > SNAPSHOT_BUDGET {
            self.over_budget(BudgetSite::PreHydration, bytes);
        }
    }

    /// The state machine the session had, and why it continues without it.
    fn skipped_machine(&self) -> Option<(&str, &'static str)> {
        let id = self.facts.machine.as_ref()?.sm_ext_id.as_str();
        let reason = match self.plugins().get(id) {
            Some(_) => "it was not attached",
            None => "it is not loaded",
        };
        Some((id, reason))
    }
}

/// One process at a time writes a session. The trail is the first thing that a second one cannot have.
fn unless_in_use(session_id: &str, error: Error) -> Error {
    if error.context().get("inUse") != Some(&true.into()) {
        return error;
    }
    let pid = error
        .context()
        .get("pid")
        .and_then(serde_json::Value::as_u64);
    let pid = pid.and_then(|pid| u32::try_from(pid).ok());
    in_use(session_id, pid.unwrap_or_default())
}

/// `Session/StoreUnavailable`: the process of this number has the session open; 0 if it is not known.
pub fn in_use(session_id: &str, pid: u32) -> Error {
    let code = &codes::STORE_UNAVAILABLE;
    let holder = match pid {
        0 => "another process".to_owned(),
        pid => format!("another process, {pid}"),
    };
    let message = format!("the session `{session_id}` is open in {holder}; end that one first");
    let error = Error::new(code.class, code.name, message)
        .with("sessionId", session_id)
        .with("reason", "locked");
    match pid {
        0 => error,
        pid => error.with("pid", pid),
    }
}
