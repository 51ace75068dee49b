//! The assistant: answers inputs, one turn after another.
//!
//! ```text
//! RECEIVE_INPUT → COMPOSE_REQUEST → SEND_REQUEST → STREAM_RESPONSE → TOOL_CALL → RENDER
//!                       ↑______________________ results __________________|
//! ```
//!
//! Each stage is a module of its own, and takes what the one before it gives. Hooks sit before and after each.

use std::sync::Arc;

use serde_json::{Value, json};
use stud_contract_hook::{FiringMode, Slot};
use stud_contract_meta::{Capability, Error, Result};
use stud_contract_provider::Request;
use stud_diagnostics::codes;
use stud_host_api::BoxFuture;
use stud_host_api::events::{StagePostFired, StagePreFired};
use stud_runtime::clock::Stopwatch;
use tracing::{Instrument as _, debug_span};

use crate::context::Composed;
use crate::hooks::{Denial, Hooks, Passage};
pub use crate::model::Model;
use crate::session::{ChildRunner, Ending, Input, Kept, Session, Turn, TurnHandle};
use crate::sync::{Mutex, lock};
use crate::workflow::{self, StageAttempt};

mod receive;
mod request_tail;
mod compose;
mod send;
mod stream;
mod tool_failure;
mod permit;
mod stage_envelope;
mod authority;
mod tools;
mod render;
mod stage_act;

use stream::Said;

/// What a turn came to.
#[derive(Debug, Clone)]
pub struct Answered {
    /// The model's last words.
    pub text: String,
    /// How the turn ended.
    pub ending: Ending,
}

/// Answers inputs until there are no more, each with the model that is chosen when its turn begins.
///
/// A workflow that begins by itself, or was left in the middle, comes first.
pub async fn converse(session: &Arc<Session>) -> Result<Option<Answered>> {
    let mut last = None;
    if session.workflow_begins_by_itself() && !session.has_inputs() {
        let model = session.model().ok_or_else(no_model)?;
        last = Some(walk(session, &model, None).await?);
    }
    while let Some(input) = session.next_input().await {
        let model = session.model().ok_or_else(no_model)?;
        last = Some(answer(session, &model, &input).await?);
    }
    Ok(last)
}

/// Answers one input, in a turn of its own. If a state machine is attached, its workflow takes the input.
pub async fn answer(session: &Arc<Session>, model: &Model, input: &Input) -> Result<Answered> {
    session.subagents().run_by(|| Arc::new(ChildTurns));
    if session.workflow_takes_input() {
        return walk(session, model, Some(input)).await;
    }
    let turn = Arc::new(session.begin_turn(input)?);
    let work = Work::of(&turn, model);
    let span = debug_span!(
        "turn",
        session = session.id(),
        turn = turn.id(),
        provider = model.provider_id,
        model = model.model_id
    );
    let (text, ending) = match work.walk(input).instrument(span).await {
        Ok(text) => (text, Ending::Completed),
        Err(error) => (String::new(), Ending::of(error)),
    };
    session.children_over().await;
    let ending = match work.turn.end(&ending, false).await {
        Ok(()) => ending,
        // What was said is in memory and told; that it could not be kept fails the turn and not the session.
        Err(error) => Ending::Failed(error),
    };
    Ok(Answered { text, ending })
}

/// Lets the state machine of the session walk on.
async fn walk(session: &Arc<Session>, model: &Model, input: Option<&Input>) -> Result<Answered> {
    let actor = Arc::new(stage_act::ModelActor::new(model));
    let (text, ending) = workflow::answer(session, actor, input).await?;
    Ok(Answered { text, ending })
}

/// Lets child sessions do their tasks: each in one turn, like any other.
struct ChildTurns;

impl ChildRunner for ChildTurns {
    fn run(
        &self,
        child: Arc<Session>,
        model: Model,
        task: Input,
    ) -> BoxFuture<'static, (String, Ending)> {
        Box::pin(async move {
            match answer(&child, &model, &task).await {
                Ok(Answered { text, ending }) => (text, ending),
                Err(error) => (String::new(), Ending::of(error)),
            }
        })
    }
}

/// A turn at work: what every stage needs.
struct Work {
    turn: Arc<Turn>,
    voice: TurnHandle,
    hooks: Mutex<Arc<Hooks>>,
    model: Model,
    /// The attempt at a stage of a state machine that the model acts in.
    attempt: Option<Arc<StageAttempt>>,
}

/// One of the six stages.
#[derive(Debug, Clone, Copy)]
enum Stage {
    ReceiveInput,
    ComposeRequest,
    SendRequest,
    StreamResponse,
    ToolCall,
    Render,
}

impl Stage {
    const fn as_str(self) -> &'static str {
        match self {
            Self::ReceiveInput => "RECEIVE_INPUT",
            Self::ComposeRequest => "COMPOSE_REQUEST",
            Self::SendRequest => "SEND_REQUEST",
            Self::StreamResponse => "STREAM_RESPONSE",
            Self::ToolCall => "TOOL_CALL",
            Self::Render => "RENDER",
        }
    }
}

impl Work {
    /// A turn that answers an input.
    fn of(turn: &Arc<Turn>, model: &Model) -> Self {
        let ordering = &turn.session().rules().ordering;
        Self {
            hooks: Mutex::new(Arc::new(Hooks::of(&turn.plugins(), ordering))),
            voice: turn.voice(),
            model: model.clone(),
            turn: turn.clone(),
            attempt: None,
        }
    }

    /// A turn in which the model acts in a stage of a state machine.
    fn in_stage(turn: &Arc<Turn>, model: &Model, attempt: &Arc<StageAttempt>) -> Self {
        let cancelled = attempt.execution().cancelled.clone();
        Self {
            voice: turn.voice_within(cancelled),
            attempt: Some(attempt.clone()),
            ..Self::of(turn, model)
        }
    }

    /// Adds a record of this turn, and what it adds to the conversation, or to the transcript of the stage.
    async fn record(
        &self,
        kind: &'static str,
        role: &'static str,
        mut payload: Value,
    ) -> Result<u64> {
        let Some(attempt) = &self.attempt else {
            return self.turn.record(kind, Some(role), payload).await;
        };
        let content = payload.clone();
        payload["stage"] = attempt.marker();
        let seq = self.turn.record(kind, None, payload).await?;
        attempt.transcript().say(role, content, seq, self.turn.id());
        Ok(seq)
    }

    /// The messages of the stage's transcript; nothing where the conversation is what the model is told.
    fn messages(&self) -> Option<Vec<Arc<Kept>>> {
        let attempt = self.attempt.as_ref()?;
        Some(attempt.transcript().messages())
    }

    /// From the input to the model's last words.
    async fn walk(&self, input: &Input) -> Result<String> {
        self.stage(Stage::ReceiveInput, receive::receive(self, input))
            .await?;
        let bound = self.turn.session().rules().max_continuations;
        for iteration in 0..=bound {
            let said = self.ask_model(iteration).await?;
            if said.proposals.is_empty() {
                return self
                    .stage(Stage::Render, render::render(self, said.text))
                    .await;
            }
            let served = tools::serve(self, said.proposals);
            if let Err(end) = self.stage(Stage::ToolCall, served).await {
                if is_halt(&end) {
                    // There is nothing to show, but the turn ends the way every turn does.
                    self.stage(Stage::Render, async { Ok(()) }).await?;
                }
                return Err(end);
            }
        }
        Err(too_often(bound))
    }

    async fn ask_model(&self, iteration: u32) -> Result<Said> {
        let request = self
            .stage(Stage::ComposeRequest, compose::compose(self, iteration))
            .await?;
        let answering = self
            .stage(Stage::SendRequest, send::send(self, request, iteration))
            .await?;
        self.stage(Stage::StreamResponse, stream::stream(self, answering))
            .await
    }

    /// Tells when a stage begins and ends, however it ends.
    async fn stage<T>(&self, stage: Stage, body: impl Future<Output = Result<T>>) -> Result<T> {
        self.pause_before(stage);
        let name = Some(stage.as_str().to_owned());
        let execution = self.attempt.as_ref().map(|attempt| attempt.execution());
        let compound = execution.and_then(|execution| execution.compound_turn_id.clone());
        let number = self.attempt.as_ref().map(|attempt| attempt.number());
        let stage_id = execution.map(|execution| execution.stage.id.clone());
        let session_id = execution.map(|execution| execution.session_id.clone());
        let begins = StagePreFired {
            attempt: number,
            parent_compound_turn_id: compound.clone(),
            session_id: session_id.clone(),
            stage: name.clone(),
            stage_id: stage_id.clone(),
            ..StagePreFired::default()
        };
        self.turn.publish(&begins);
        let span = debug_span!("stage", name = stage.as_str());
        let mut done = body.instrument(span).await;
        // A plugin that got the error may have continued. The turn does not.
        if let Some(halt) = self.turn.session().scopes().halted()
            && !self.voice.cancelled().is_cancelled()
        {
            done = Err(halt);
        }
        // A turn that halts has not failed: it waits for a person.
        let has_failed = done.as_ref().is_err_and(|end| !is_halt(end));
        let ended = StagePostFired {
            attempt: number,
            error: has_failed.then_some(true),
            parent_compound_turn_id: compound,
            session_id,
            stage: name,
            stage_id,
            ..StagePostFired::default()
        };
        self.turn.publish(&ended);
        done
    }

    /// Does what was to be done between two stages. A request and its stream are one thing, and not interrupted.
    fn pause_before(&self, stage: Stage) {
        if matches!(stage, Stage::StreamResponse) {
            return;
        }
        let session = self.turn.session();
        for job in session.due_at_boundary() {
            if let Some(plugin) = job() {
                self.turn.adopt(plugin);
                let hooks = Hooks::of(&self.turn.plugins(), &session.rules().ordering);
                *lock(&self.hooks) = Arc::new(hooks);
            }
        }
    }

    fn hooks(&self) -> Arc<Hooks> {
        lock(&self.hooks).clone()
    }

    /// Lets the hooks of a slot see what passes. Returns what they made of it; `None` if the slot is empty.
    async fn pass(&self, slot: Slot, payload: impl FnOnce() -> Value) -> Result<Option<Value>> {
        let hooks = self.hooks();
        if !hooks.any(slot, FiringMode::PerStage) {
            return Ok(None);
        }
        match hooks.pass(self.passage(slot), payload()).await? {
            Ok(payload) => Ok(Some(payload)),
            Err(denial) => Err(forbidden(slot, &denial)),
        }
    }

    /// Lets the hooks of a slot see a request, and change it.
    async fn pass_request(&self, slot: Slot, request: Composed) -> Result<Composed> {
        match self.pass(slot, || json!(request.to_request())).await? {
            None => Ok(request),
            Some(passed) => {
                let request: Request =
                    serde_json::from_value(passed).map_err(|error| misshapen(slot, &error))?;
                Ok(request.into())
            }
        }
    }

    /// Remembers what use has shown about the model.
    fn found(&self, name: Capability, is_there: bool) {
        let Model {
            provider_id,
            model_id,
        } = &self.model;
        let probes = self.turn.session().probes();
        probes.found(provider_id, model_id, name, is_there);
    }

    fn passage(&self, slot: Slot) -> Passage<'_> {
        Passage {
            voice: &self.voice,
            slot,
            mode: FiringMode::PerStage,
        }
    }
}

fn no_model() -> Error {
    let code = &codes::EXTENSION_NOT_FOUND;
    Error::new(
        code.class,
        code.name,
        "no model was chosen for this session",
    )
}

fn is_halt(end: &Error) -> bool {
    matches!(Ending::of(end.clone()), Ending::Halted(_))
}

/// A guard's no to something that is not a tool call ends the turn.
fn forbidden(slot: Slot, denial: &Denial) -> Error {
    let code = &codes::FORBIDDEN;
    let reason = match denial.reason.as_str() {
        "" => "it gives no reason",
        reason => reason,
    };
    let message = format!("the guard `{}` on {slot} said no: {reason}", denial.ext_id);
    Error::new(code.class, code.name, message)
        .with("extId", denial.ext_id.as_str())
        .with("slot", slot.as_str())
        .with("guardCode", denial.code.as_str())
}

fn too_often(bound: u32) -> Error {
    let code = &codes::LOOP_BOUND_EXCEEDED;
    let message = format!(
        "the model still wants tools after {bound} continuations; say more, or raise `loop.maxContinuations`"
    );
    Error::new(code.class, code.name, message)
        .with("maxIterations", bound)
        .with("iteration", bound.saturating_add(1))
}

/// What a hook gave back in place of what passed cannot be used.
fn misshapen(slot: Slot, error: &serde_json::Error) -> Error {
    let code = &codes::HOOK_TRANSFORM_FAILED;
    let message = format!("what the transforms on {slot} made cannot be used: {error}");
    Error::new(code.class, code.name, message).with("slot", slot.as_str())
}

fn millis_since(began: Stopwatch) -> u64 {
    began.millis()
}
