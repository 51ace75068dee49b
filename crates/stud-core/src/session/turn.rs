//! Turns: from an input to its answer, one at a time.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use stud_abi::{CallContext, CancellationSource, CancellationToken};
use stud_contract_meta::{Error, Result};
use stud_contract_session_store::Durability;
use stud_diagnostics::codes;
use stud_host_api::CallIds;
use stud_host_api::events::{
    CoreEvent, ErrorSummary, SessionActive, SessionClosed, SessionPersisted, SessionTurnEnd,
    SessionTurnStart,
};
use stud_runtime::clock::Stopwatch;

use super::{Input, Session, StageTag, State, Trigger};
use crate::activate::Active;
use crate::cancellation::{CancelReason, Scope, called_off};
use crate::executor::{block_on, pause};
use crate::ids;
use crate::ledger::{Draft, closed};
use crate::platform;
use crate::registry::Registry;
use crate::retire::retire;
use crate::sync::{Mutex, lock, promise};

/// A turn that runs. There is one at a time.
#[derive(Debug)]
pub struct Turn {
    session: Arc<Session>,
    id: String,
    scope: CancellationSource,
    plugins: Mutex<Arc<Registry>>,
    began: Stopwatch,
    tally: Mutex<Tally>,
    /// The stage it runs, for a turn of a state machine.
    stage: Mutex<Option<StageTag>>,
}

/// What a turn has come to so far, for the record of its end.
#[derive(Debug, Default)]
struct Tally {
    finish_reason: Value,
    tool_calls: usize,
}

/// Speaks for a turn from another thread, for as long as the turn wants to be spoken for.
#[derive(Debug, Clone)]
pub struct TurnHandle {
    session: Arc<Session>,
    turn_id: String,
    cancelled: CancellationToken,
}

impl TurnHandle {
    /// The session the turn belongs to.
    pub fn session(&self) -> &Arc<Session> {
        &self.session
    }

    /// Which turn.
    pub fn turn_id(&self) -> &str {
        &self.turn_id
    }

    /// Publishes an event, unless the turn was cancelled.
    pub fn publish(&self, event: &impl CoreEvent) {
        if !self.cancelled.is_cancelled() {
            self.session.books.publish(&self.turn_id, event);
        }
    }

    /// Puts something on record that happened in the turn.
    pub fn audit(&self, class: &str, kind: Option<&str>, payload: Value) {
        self.session
            .books
            .audit(class, kind, &self.turn_id, payload);
    }

    /// Fires when the turn is cancelled.
    pub fn cancelled(&self) -> &CancellationToken {
        &self.cancelled
    }

    /// What is said of work that was not waited for.
    pub fn called_off(&self) -> Error {
        self.session.turn_called_off()
    }

    /// What a call made in this turn is told of it.
    pub fn call(&self, cancelled: CancellationToken, tool_call_id: Option<&str>) -> CallContext {
        let ids = CallIds {
            session_id: Some(self.session.id().to_owned()),
            correlation_id: Some(self.turn_id.clone()),
            tool_call_id: tool_call_id.map(str::to_owned),
        };
        // Maps with text keys cannot fail to become JSON.
        CallContext::new(cancelled, serde_json::to_string(&ids).unwrap_or_default())
    }
}

/// How a turn ended.
#[derive(Debug, Clone)]
pub enum Ending {
    /// The model is done.
    Completed,
    /// It was cancelled.
    Cancelled,
    /// A prompt had no interactor.
    Halted(Error),
    /// Something went wrong that the turn cannot continue from.
    Failed(Error),
}

impl Ending {
    /// The word on every wire.
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::Completed => "completed",
            Self::Cancelled => "cancelled",
            Self::Halted(_) => "halted",
            Self::Failed(_) => "failed",
        }
    }

    /// Tells apart why a turn cannot continue.
    pub fn of(error: Error) -> Self {
        match (error.class(), error.code()) {
            ("Cancellation", _) => Self::Cancelled,
            ("Validation", "HeadlessInteractionRequired") => Self::Halted(error),
            _ => Self::Failed(error),
        }
    }
}

impl Session {
    /// Begins the turn that answers `input`.
    pub fn begin_turn(&self, input: &Input) -> Result<Turn> {
        self.begin(Some(input), None)
    }

    /// Begins a turn of a state machine, which answers `input` if there is one.
    pub(crate) fn begin_stage_turn(&self, input: Option<&Input>, stage: StageTag) -> Result<Turn> {
        self.begin(input, Some(stage))
    }

    fn begin(&self, input: Option<&Input>, stage: Option<StageTag>) -> Result<Turn> {
        let session = self.this.upgrade().ok_or_else(closed)?;
        let id = ids::fresh();
        let from = {
            let mut progress = lock(&self.progress);
            if let Some(running) = &progress.turn {
                let code = &codes::CONCURRENT_TURN_FORBIDDEN;
                let message = "a turn runs already";
                return Err(Error::new(code.class, code.name, message)
                    .with("sessionId", self.id())
                    .with("activeTurnId", running.as_str()));
            }
            let from = progress.state;
            progress.state = Trigger::Turn.next_state(from)?;
            progress.turn = Some(id.clone());
            progress.is_answered = false;
            progress.last_turn = Some(id.clone());
            from
        };
        let scope = self.scopes.begin_turn();
        let turn = Turn {
            session,
            id,
            scope,
            plugins: Mutex::new(self.plugins()),
            began: Stopwatch::start(),
            tally: Mutex::default(),
            stage: Mutex::new(stage),
        };
        if let Err(error) = turn.announce(input, from) {
            self.scopes.end_turn();
            let waiting = {
                let mut progress = lock(&self.progress);
                progress.turn = None;
                // The session may have been closed meanwhile, which wins.
                if progress.state == State::Active {
                    progress.state = from;
                }
                progress.waiting.take_all()
            };
            for job in waiting {
                job();
            }
            return Err(error);
        }
        Ok(turn)
    }

    /// The error of work in a cancelled turn, cancelled by itself or with the session.
    pub(crate) fn turn_called_off(&self) -> Error {
        let reason = if self.scopes.session().token().is_cancelled() {
            CancelReason::Parent
        } else {
            CancelReason::User
        };
        called_off(Scope::Turn, reason, "the turn was cancelled")
    }

    /// Calls the running turn off. Gives whether there was one.
    pub fn cancel_turn(&self) -> bool {
        self.scopes.cancel_turn()
    }

    /// Whether the running turn was cancelled already.
    pub fn is_turn_called_off(&self) -> bool {
        self.scopes.is_turn_cancelled()
    }

    /// Ends the session: no prompts, no inputs, no turn, no plugins; and everything it knows in the store.
    pub fn close(&self) -> Result<()> {
        self.close_on(Trigger::Close)
    }

    /// The same where something else than the last input ends it.
    pub fn close_on(&self, trigger: Trigger) -> Result<()> {
        let from = {
            let mut progress = lock(&self.progress);
            let from = progress.state;
            progress.state = trigger.next_state(from)?;
            from
        };
        self.inputs.close();
        self.end_children();
        self.prompts.close();
        self.scopes.session().cancel();
        self.mcp.close();
        let unused = from == State::Idle
            && self.books.ledger.last_seq() == 0
            && !self.choice.is_changed()
            && !self.is_saved();
        let saved = if unused {
            Ok(())
        } else {
            let done = self.books.ledger.append(Vec::new(), Durability::Synced);
            block_on(done).and_then(|_| block_on(self.save(true)).map(drop))
        };
        self.end_of_life();
        let closed = SessionClosed {
            from,
            to: State::Closed,
            trigger: trigger.told(from),
        };
        self.publish_state(&closed);
        self.settle_subscribers();
        let plugins = self.plugins();
        // For every plugin the session ends at the same place of the stream, also for those that are retired last.
        for plugin in plugins.iter() {
            self.detach_plugin(plugin.identity().ext_id.as_str());
        }
        for plugin in plugins.iter().rev() {
            for problem in retire(plugin, &self.limits) {
                self.report(&problem);
            }
        }
        // Internal subscribers hear how the plugins ended.
        self.settle_subscribers();
        self.books.bus.close();
        self.metrics.dispose();
        // A command may have decided something in a session in which nothing was said.
        self.close_trail(|trail| unused && !trail.is_eventful());
        saved
    }

    /// Waits, for a bounded time, until subscribers have received the last events and interactors the last prompts, and
    /// until the interactors have returned from those prompts, so that a late answer is refused as late and not because
    /// the session is gone. An interactor that ignores the cancellation of its call delays the end by the shorter limit
    /// alone.
    fn settle_subscribers(&self) {
        const DELIVERY: Duration = Duration::from_secs(2);
        const RETURN: Duration = Duration::from_millis(250);
        let is_delivered = || self.books.bus.is_quiet() && self.prompts.are_shown();
        wait_until(is_delivered, DELIVERY);
        wait_until(|| self.prompts.are_idle(), RETURN);
    }
}

/// Waits until the condition holds, at most as long as the limit says.
pub(super) fn wait_until(holds: impl Fn() -> bool, limit: Duration) {
    let limit = u64::try_from(limit.as_nanos()).unwrap_or(u64::MAX);
    let began = platform::ticks();
    while !holds() && platform::ticks() - began < limit {
        pause(Duration::from_micros(100));
    }
}

impl Turn {
    /// Which turn; it is also the correlation id of everything in it.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The session it belongs to.
    pub fn session(&self) -> &Arc<Session> {
        &self.session
    }

    /// The plugins it began with, and ends with.
    pub fn plugins(&self) -> Arc<Registry> {
        lock(&self.plugins).clone()
    }

    /// A plugin that may be reloaded in the middle of a turn was, and the old one is gone.
    pub(crate) fn adopt(&self, plugin: Arc<Active>) {
        let mut plugins = lock(&self.plugins);
        let next = Registry::clone(&plugins).with(plugin);
        *plugins = Arc::new(next);
    }

    /// Fires when it is cancelled.
    pub fn cancelled(&self) -> CancellationToken {
        self.scope.token()
    }

    /// A scope inside this turn, which can be cancelled by itself.
    pub(crate) fn inner_scope(&self) -> CancellationSource {
        self.scope.child()
    }

    /// Speaks for this turn from another thread.
    pub fn voice(&self) -> TurnHandle {
        self.voice_within(self.cancelled())
    }

    /// The same for a part of the turn that can be cancelled by itself.
    pub(crate) fn voice_within(&self, cancelled: CancellationToken) -> TurnHandle {
        TurnHandle {
            session: self.session.clone(),
            turn_id: self.id.clone(),
            cancelled,
        }
    }

    /// What the end of the turn says of the stage that ran in it.
    pub(crate) fn set_stage(&self, stage: StageTag) {
        *lock(&self.stage) = Some(stage);
    }

    /// Notes that the model finished once more, for this reason and wanting so many tools.
    pub(crate) fn tally(&self, finish_reason: Value, tool_calls: usize) {
        let mut tally = lock(&self.tally);
        tally.finish_reason = finish_reason;
        tally.tool_calls += tool_calls;
    }

    /// Notes that the model has said its last words, so that only the end of the turn is left.
    pub(crate) fn answered(&self) {
        lock(&self.session.progress).is_answered = true;
    }

    /// Tells subscribers of this turn.
    pub fn publish(&self, event: &impl CoreEvent) {
        self.session.books.publish(&self.id, event);
    }

    /// Adds a record of this turn, and what it adds to the conversation.
    pub async fn record(
        &self,
        kind: &'static str,
        role: Option<&'static str>,
        payload: Value,
    ) -> Result<u64> {
        let draft = self.draft(kind, payload.clone());
        let id = self.id.clone();
        self.commit(draft, move |session, seq| {
            if let Some(role) = role {
                lock(&session.conversation).say(role, payload, seq, Some(&id));
            }
        })
        .await
    }

    /// Adds a message to the conversation that no screen shows as one.
    pub(crate) async fn say(&self, role: &'static str, content: Value) -> Result<u64> {
        let draft = self.draft(
            "workflow_message",
            json!({"role": role, "content": content}),
        );
        let id = self.id.clone();
        self.commit(draft, move |session, seq| {
            lock(&session.conversation).say(role, content, seq, Some(&id));
        })
        .await
    }

    /// Adds several records of this turn at once.
    pub async fn record_all(&self, kind: &'static str, payloads: Vec<Value>) -> Result<()> {
        if payloads.is_empty() {
            return Ok(());
        }
        let drafts = payloads
            .into_iter()
            .map(|payload| self.draft(kind, payload))
            .collect();
        let ledger = &self.session.books.ledger;
        ledger.append(drafts, Durability::Written).await.map(drop)
    }

    /// Puts other words into the input that this turn answers, or takes it out of the conversation.
    pub async fn revise_input(&self, seq: u64, text: Option<String>) -> Result<()> {
        let draft = self.draft("user_message", json!({"inputSeq": seq, "text": text}));
        self.commit(draft, move |session, _| {
            lock(&session.conversation).revise(seq, text.as_deref());
        })
        .await
        .map(drop)
    }

    /// Adds a record, with what follows from it. It follows before a snapshot can say that it has the record.
    async fn commit(
        &self,
        draft: Draft,
        then: impl FnOnce(&Session, u64) + Send + 'static,
    ) -> Result<u64> {
        let (done, result) = promise();
        let session = self.session.clone();
        let written = move |written: Result<u64>| {
            if let Ok(seq) = &written {
                then(&session, *seq);
            }
            done.keep(written);
        };
        let ledger = &self.session.books.ledger;
        ledger.commit(vec![draft], Durability::Written, written);
        result.await.unwrap_or_else(|| Err(closed()))
    }

    fn draft(&self, kind: &'static str, payload: Value) -> Draft {
        Draft {
            kind,
            correlation_id: Some(self.id.clone()),
            ext_id: None,
            payload,
        }
    }

    /// Puts the turn on record, and then tells of it.
    fn announce(&self, input: Option<&Input>, from: State) -> Result<()> {
        let session = &self.session;
        let mut told = SessionTurnStart {
            caused_by: input.and_then(|input| input.caused_by.clone()),
            input_seq: input.map(|input| input.seq),
            turn_id: self.id.clone(),
            ..SessionTurnStart::default()
        };
        if let Some(stage) = &*lock(&self.stage) {
            told.session_id = Some(session.id().to_owned());
            told.stage_id.clone_from(&stage.stage_id);
            told.attempt = stage.attempt;
        }
        let start = self.draft("turn_start", json!(told));
        let said = input.map(|input| (input.text.clone(), input.seq));
        let id = self.id.clone();
        let history = lock(&session.conversation).len();
        let begun = self.commit(start, move |session, _| {
            lock(&session.progress).turn_count += 1;
            if let Some((text, seq)) = said {
                session.inputs.begun();
                lock(&session.conversation).say("user", text.into(), seq, Some(&id));
            }
        });
        block_on(begun)?;
        let text = input.map(|input| input.text.as_str());
        let payload = json!({"turnId": self.id, "userInput": text, "historyLength": history});
        session
            .books
            .audit("Turn", Some("TurnStarted"), &self.id, payload);
        session.metrics.turn_began(platform::now());
        self.publish(&told);
        // The states that are told are those of the session that a person works in.
        if !session.is_child() {
            let active = SessionActive {
                from,
                to: State::Active,
                trigger: Trigger::Turn.told(from),
            };
            self.publish(&active);
        }
        Ok(())
    }

    /// Ends the turn. It is on the disk before anyone is told.
    pub async fn end(&self, ending: &Ending, cap_hit: bool) -> Result<()> {
        let session = &self.session;
        self.answered();
        let mut payload = json!({"turnId": self.id, "status": ending.as_str()});
        if let Ending::Failed(error) | Ending::Halted(error) = ending {
            payload["error"] = json!(ErrorSummary::from(error));
        }
        let end = self.draft("turn_end", payload);
        let ended = session
            .books
            .ledger
            .append(vec![end], Durability::Synced)
            .await;
        self.audit_end(ending);
        session.metrics.turn_ended(platform::now());
        self.publish(&self.told_end(ending, cap_hit));
        let waiting = {
            let mut progress = lock(&session.progress);
            progress.turn = None;
            progress.waiting.take_all()
        };
        session.scopes.end_turn();
        let saved = match ended {
            // A child is never resumed, so its transcript is all that is kept.
            Ok(_) if session.is_child() => return Ok(()),
            Ok(_) => session.save(false).await,
            Err(error) => Err(error),
        };
        if let Err(error) = &saved {
            let reason = "the session could not be saved";
            session.books.suppress(reason, &self.id, error);
        } else if matches!(saved, Ok(true)) {
            let mut progress = lock(&session.progress);
            // The session may have been closed meanwhile, which wins.
            if let Ok(next) = Trigger::Snapshot.next_state(progress.state) {
                progress.state = next;
                drop(progress);
                let persisted = SessionPersisted {
                    session_id: session.id().to_owned(),
                    store_id: session.store.store_id().to_owned(),
                };
                self.publish(&persisted);
            }
        }
        for job in waiting {
            job();
        }
        saved.map(drop)
    }

    /// What subscribers hear of the end. Why a turn failed is told here, because nothing else tells it of every failure.
    fn told_end(&self, ending: &Ending, cap_hit: bool) -> SessionTurnEnd {
        let error = match ending {
            Ending::Failed(error) => Some(ErrorSummary::from(error)),
            Ending::Completed | Ending::Cancelled | Ending::Halted(_) => None,
        };
        let stage = lock(&self.stage).clone();
        let is_of_machine = stage.is_some();
        let stage = stage.unwrap_or_default();
        SessionTurnEnd {
            attempt: stage.attempt,
            cap_hit,
            error,
            execution: stage.execution,
            parent_compound_turn_id: stage.compound_turn_id,
            session_id: is_of_machine.then(|| self.session.id().to_owned()),
            stage_id: stage.stage_id,
            turn_id: self.id.clone(),
        }
    }

    fn audit_end(&self, ending: &Ending) {
        let session = &self.session;
        let duration = self.began.millis();
        let mut payload = json!({"turnId": self.id, "durationMs": duration});
        let kind = match ending {
            Ending::Failed(error) => {
                payload["errorClass"] = error.class().into();
                payload["errorCode"] = error.code().into();
                payload["message"] = error.message().into();
                "TurnError"
            }
            Ending::Completed | Ending::Cancelled | Ending::Halted(_) => {
                let tally = lock(&self.tally);
                payload["status"] = ending.as_str().into();
                payload["historyLength"] = lock(&session.conversation).len().into();
                payload["toolCallCount"] = tally.tool_calls.into();
                if !tally.finish_reason.is_null() {
                    payload["finishReason"] = tally.finish_reason.clone();
                }
                "TurnEnded"
            }
        };
        session.books.audit("Turn", Some(kind), &self.id, payload);
    }
}
