//! One stage, through its seven phases.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use stud_abi::CancellationToken;
use stud_contract_meta::{Error, Result};
use stud_contract_state_machine::{
    AssertOutcome, Attempt, Execution, GateResult, NextResult, ResolutionPolicy, Stage,
    StageContext, StagePhase, render,
};
use stud_diagnostics::{Class, codes};
use stud_host_api::events::{StageExecutionSpanStart, StagePostFired, StagePreFired};

use super::Actor;
use super::attempt::{StageAttempt, StageExecution};
use super::grants::Grants;
use super::machine_calls::{call, failure, read};
use crate::executor::or_cancelled;
use crate::ids;
use crate::session::{Machine, Turn, TurnHandle};
use crate::timeout::sleep;

/// A stage that is about to run.
pub(super) struct StageRun {
    pub(super) machine: Arc<Machine>,
    pub(super) actor: Arc<dyn Actor>,
    pub(super) turn: Arc<Turn>,
    pub(super) grants: Arc<Grants>,
    pub(super) stage: Stage,
    /// Of this run alone. It is on record before anything of the stage runs.
    pub(super) execution_id: String,
    /// What the stage begins with.
    pub(super) context: StageContext,
    /// Fires when the stage is not wanted any more.
    pub(super) cancelled: CancellationToken,
    pub(super) compound_turn_id: Option<String>,
    /// The stages that led here, outermost first.
    pub(super) stack: Vec<String>,
}

/// A stage that has run.
#[derive(Debug, Clone)]
pub(super) struct StageDone {
    pub(super) stage_id: String,
    pub(super) outcome: AssertOutcome,
    pub(super) cap_hit: bool,
    pub(super) next: NextResult,
    /// The machine's values as the stage left them, with its attempts.
    pub(super) context: StageContext,
    /// What the stage hands to the one after it.
    pub(super) result: Value,
    /// What the model said last, if its answer ended the attempt.
    pub(super) last_words: Option<String>,
    /// What it handed over.
    pub(super) completion: Option<Value>,
}

/// A stage that did not end well, and in which attempt.
#[derive(Debug)]
pub(super) struct StageFailed {
    pub(super) error: Error,
    pub(super) attempt: u32,
    pub(super) cap_hit: bool,
    /// Whether the machine's own judgment ended it.
    pub(super) is_judged: bool,
}

/// The phases as subscribers know them.
#[derive(Debug, Clone, Copy)]
enum Phase {
    Setup,
    Init,
    CheckGate,
    Act,
    Assert,
    Exit,
    Next,
}

impl Phase {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Setup => "Setup",
            Self::Init => "Init",
            Self::CheckGate => "CheckGate",
            Self::Act => "Act",
            Self::Assert => "Assert",
            Self::Exit => "Exit",
            Self::Next => "Next",
        }
    }
}

/// Where a run is: what changes from attempt to attempt.
struct AttemptProgress {
    context: StageContext,
    attempt: u32,
    cap_hit: bool,
    last_words: Option<String>,
    is_judged: bool,
}

impl StageRun {
    /// Runs the stage. It is on record how it ended.
    pub(super) async fn run(self) -> std::result::Result<StageDone, StageFailed> {
        let mut progress = AttemptProgress {
            context: self.context.clone(),
            attempt: 0,
            cap_hit: false,
            last_words: None,
            is_judged: false,
        };
        let voice = self.turn.voice_within(self.cancelled.clone());
        let done = self.through_phases(&voice, &mut progress).await;
        let outcome = match &done {
            Ok(_) => "ok",
            Err(error) if error.class() == Class::Cancellation.as_str() => "cancelled",
            Err(_) => "failed",
        };
        let assert_outcome = progress
            .context
            .attempt()
            .and_then(|attempt| attempt.outcome);
        voice.audit(
            "StageExecution",
            None,
            json!({
                "stageId": self.stage.id,
                "stageExecutionId": self.execution_id,
                "attempt": progress.attempt,
                "outcome": outcome,
                "assertOutcome": assert_outcome,
                "capHit": progress.cap_hit,
            }),
        );
        done.map_err(|error| StageFailed {
            error,
            attempt: progress.attempt,
            cap_hit: progress.cap_hit,
            is_judged: progress.is_judged,
        })
    }

    async fn through_phases(
        &self,
        voice: &TurnHandle,
        progress: &mut AttemptProgress,
    ) -> Result<StageDone> {
        self.show(voice);
        progress.context.attempts = vec![Attempt::default()];
        let context = progress.context.clone();
        progress.context = self
            .phase(voice, Phase::Setup, 0, self.set_up(voice, context))
            .await?;
        let outcome = loop {
            let outcome = self.attempt(voice, progress).await?;
            if outcome != AssertOutcome::Retry {
                break outcome;
            }
            self.retry(voice, progress).await?;
        };
        if outcome == AssertOutcome::Fail {
            progress.is_judged = true;
            let message = format!(
                "the stage `{}` has failed: its machine says so",
                self.stage.id
            );
            return Err(failure(
                &self.machine,
                StagePhase::Assert,
                &self.stage.id,
                message,
            ));
        }
        let (number, context) = (progress.attempt, &progress.context);
        let exit = async {
            let reply = self.call(voice, StagePhase::Exit, context).await?;
            match reply {
                Value::Null => Ok(()),
                _ => Err(self.mutation("the phase `exit` returned something")),
            }
        };
        self.phase(voice, Phase::Exit, number, exit).await?;
        let next = async {
            let reply = self.call(voice, StagePhase::Next, context).await?;
            let next: NextResult = read(&self.machine, StagePhase::Next, &self.stage.id, reply)?;
            self.check_next(next)
        };
        let next = self.phase(voice, Phase::Next, number, next).await?;
        Ok(self.done(progress, outcome, next))
    }

    /// Shows which stage runs to everyone who looks.
    fn show(&self, voice: &TurnHandle) {
        voice.session().metrics().update(|picture| {
            let Some(machine) = &mut picture.state_machine else {
                return;
            };
            machine.current_stage = Some(self.stage.id.clone());
            machine.stack.clone_from(&self.stack);
            machine.turn_cap = u64::try_from(self.stage.turn_cap).ok();
            machine.turn_count = 0;
        });
    }

    /// One attempt, from putting the body together to the judgment.
    async fn attempt(
        &self,
        voice: &TurnHandle,
        progress: &mut AttemptProgress,
    ) -> Result<AssertOutcome> {
        let number = progress.attempt;
        voice.publish(&StageExecutionSpanStart {
            attempt: number,
            session_id: voice.session().id().to_owned(),
            stage_id: self.stage.id.clone(),
        });
        let rendered = async { Ok(render(&self.stage.body, &progress.context)) };
        let body = self.phase(voice, Phase::Init, number, rendered).await?;
        let gate = async {
            let reply = self
                .call(voice, StagePhase::CheckGate, &progress.context)
                .await?;
            read(&self.machine, StagePhase::CheckGate, &self.stage.id, reply)
        };
        let gate: GateResult = self.phase(voice, Phase::CheckGate, number, gate).await?;
        progress.cap_hit = false;
        progress.last_words = None;
        let outcome = if let Some(outcome) = self.resolve(gate) {
            outcome
        } else {
            self.act(voice, progress, body).await?;
            let judged = async {
                let reply = self
                    .call(voice, StagePhase::Assert, &progress.context)
                    .await?;
                read(&self.machine, StagePhase::Assert, &self.stage.id, reply)
            };
            self.phase(voice, Phase::Assert, number, judged).await?
        };
        if let Some(attempt) = progress.context.attempts.last_mut() {
            attempt.outcome = Some(outcome);
        }
        Ok(outcome)
    }

    /// The outcome of a stage whose gate does not let it begin; nothing if it does.
    fn resolve(&self, gate: GateResult) -> Option<AssertOutcome> {
        match (gate, self.stage.resolution_policy) {
            (GateResult::Proceed, _) => None,
            (GateResult::Skip, _) | (GateResult::Retry, ResolutionPolicy::Skip) => {
                Some(AssertOutcome::Skip)
            }
            (GateResult::Retry, ResolutionPolicy::RetryLater) => Some(AssertOutcome::Retry),
            (GateResult::Retry, ResolutionPolicy::Fail) => Some(AssertOutcome::Fail),
        }
    }

    /// Lets the model act. What it did stands in the context, also if it was cut off.
    async fn act(
        &self,
        voice: &TurnHandle,
        progress: &mut AttemptProgress,
        body: String,
    ) -> Result<()> {
        let execution = StageExecution {
            id: self.execution_id.clone(),
            stage: self.stage.clone(),
            session_id: voice.session().id().to_owned(),
            compound_turn_id: self.compound_turn_id.clone(),
            cancelled: self.cancelled.clone(),
            grants: self.grants.clone(),
        };
        let attempt = Arc::new(StageAttempt::new(
            Arc::new(execution),
            progress.attempt,
            body,
        ));
        let acting = self.actor.act(&self.turn, &attempt);
        let acted = self
            .phase(voice, Phase::Act, progress.attempt, acting)
            .await;
        // Whatever was granted is good for this attempt alone.
        attempt.close();
        let kept = Attempt {
            transcript: attempt.transcript().freeze(),
            cap_hit: matches!(acted, Ok(true)),
            completion: attempt.completion(),
            grants: attempt.grants(),
            outcome: None,
        };
        if let Some(last) = progress.context.attempts.last_mut() {
            *last = kept;
        }
        progress.cap_hit = acted?;
        progress.last_words = attempt.transcript().last_words();
        Ok(())
    }

    /// Waits as long as the stage says, and begins another attempt.
    async fn retry(&self, voice: &TurnHandle, progress: &mut AttemptProgress) -> Result<()> {
        let policy = self.stage.retry_policy;
        let made = progress.attempt + 1;
        if made >= policy.max_attempts.max(1) {
            progress.is_judged = true;
            let id = &self.stage.id;
            let message = format!("the stage `{id}` has failed: its {made} attempts are used up");
            return Err(
                failure(&self.machine, StagePhase::Assert, id, message).with("attempts", made)
            );
        }
        let delay = policy.backoff.delay_ms(made);
        if delay > 0 {
            let timer = voice.session().timer().clone();
            let pause = sleep(&*timer, Duration::from_millis(delay));
            if or_cancelled(voice.cancelled(), pause).await.is_none() {
                return Err(voice.called_off());
            }
        }
        progress.attempt = made;
        progress.context.attempts.push(Attempt::default());
        Ok(())
    }

    /// Lets the machine fill the context. What core keeps in it is not the machine's to change.
    async fn set_up(&self, voice: &TurnHandle, before: StageContext) -> Result<StageContext> {
        let reply = self.call(voice, StagePhase::Setup, &before).await?;
        let after: StageContext = read(&self.machine, StagePhase::Setup, &self.stage.id, reply)?;
        let is_kept = (after.attempts.is_empty() || after.attempts == before.attempts)
            && (after.upstream.is_empty() || after.upstream == before.upstream)
            && (after.siblings.is_empty() || after.siblings == before.siblings);
        if !is_kept {
            return Err(self.mutation(
                "the phase `setup` changed `attempts`, `upstream` or `siblings`, which core keeps",
            ));
        }
        Ok(StageContext {
            values: after.values,
            ..before
        })
    }

    async fn call(
        &self,
        voice: &TurnHandle,
        phase: StagePhase,
        context: &StageContext,
    ) -> Result<Value> {
        call(&self.machine, voice, phase, &self.stage.id, context).await
    }

    /// The stages that follow are declared ones.
    fn check_next(&self, next: NextResult) -> Result<NextResult> {
        let unknown = next
            .next_stages
            .iter()
            .find(|id| self.machine.stage(id).is_none());
        if let Some(unknown) = unknown {
            let message = format!(
                "`{}` leads from the stage `{}` to `{unknown}`, which is not one of its stages",
                self.machine.id(),
                self.stage.id
            );
            let failed = failure(&self.machine, StagePhase::Next, &self.stage.id, message);
            return Err(failed.with("nextStage", unknown.as_str()));
        }
        let is_parallel = next.execution == Execution::Parallel && !next.next_stages.is_empty();
        if is_parallel && let Some(join) = &next.join {
            let is_sibling = next.next_stages.contains(join);
            if is_sibling || self.machine.stage(join).is_none() {
                let why = if is_sibling {
                    "is one of the stages that it joins"
                } else {
                    "is not one of its stages"
                };
                let code = &codes::STAGE_JOIN_DANGLING;
                let message = format!(
                    "`{}` leads from the stage `{}` to the join `{join}`, which {why}",
                    self.machine.id(),
                    self.stage.id
                );
                return Err(Error::new(code.class, code.name, message)
                    .with("stageId", self.stage.id.as_str())
                    .with("join", join.as_str()));
            }
        }
        Ok(next)
    }

    fn mutation(&self, what: &str) -> Error {
        let code = &codes::CONTEXT_MUTATION_FORBIDDEN;
        let message = format!(
            "{what}: `{}` may change its own values, in the phase `setup` alone",
            self.machine.id()
        );
        Error::new(code.class, code.name, message)
            .with("extId", self.machine.id())
            .with("stageId", self.stage.id.as_str())
    }

    fn done(
        &self,
        progress: &AttemptProgress,
        outcome: AssertOutcome,
        next: NextResult,
    ) -> StageDone {
        let last = progress.context.attempt();
        let completion = last.and_then(|attempt| attempt.completion.clone());
        let mut id = json!({
            "sessionId": self.turn.session().id(),
            "stageId": self.stage.id,
            "attempt": progress.attempt,
        });
        if let Some(compound) = &self.compound_turn_id {
            id["parentCompoundTurnId"] = compound.as_str().into();
        }
        let mut result = json!({
            "id": id,
            "capHit": progress.cap_hit,
            "assertOutcome": outcome,
            "nextResult": next,
            "transcript": last.map(|attempt| attempt.transcript.clone()).unwrap_or_default(),
        });
        if let Some(completion) = &completion {
            result["completion"] = completion.clone();
        }
        StageDone {
            stage_id: self.stage.id.clone(),
            outcome,
            cap_hit: progress.cap_hit,
            next,
            context: progress.context.clone(),
            result,
            last_words: progress.last_words.clone(),
            completion,
        }
    }

    /// Tells when a phase begins and ends, however it ends.
    async fn phase<T>(
        &self,
        voice: &TurnHandle,
        phase: Phase,
        attempt: u32,
        body: impl Future<Output = Result<T>>,
    ) -> Result<T> {
        let session_id = voice.session().id().to_owned();
        self.turn.publish(&StagePreFired {
            attempt: Some(attempt),
            parent_compound_turn_id: self.compound_turn_id.clone(),
            phase: Some(phase.as_str().to_owned()),
            session_id: Some(session_id.clone()),
            stage: None,
            stage_id: Some(self.stage.id.clone()),
        });
        let done = if voice.cancelled().is_cancelled() {
            Err(voice.called_off())
        } else {
            body.await
        };
        self.turn.publish(&StagePostFired {
            attempt: Some(attempt),
            error: done.is_err().then_some(true),
            parent_compound_turn_id: self.compound_turn_id.clone(),
            phase: Some(phase.as_str().to_owned()),
            session_id: Some(session_id),
            stage: None,
            stage_id: Some(self.stage.id.clone()),
        });
        done
    }
}

/// An id for a run of a stage.
pub(super) fn execution_id() -> String {
    ids::fresh()
}
