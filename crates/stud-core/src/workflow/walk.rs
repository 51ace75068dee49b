//! The way through the stages: one plan after another, depth first, each in a turn of its own.

use std::sync::Arc;

use serde_json::{Map, Value, json};
use stud_contract_interaction::{Answer, Confirm, Payload};
use stud_contract_meta::{Error, Result};
use stud_contract_state_machine::{Execution, NextResult, Stage, StageContext};
use stud_diagnostics::{Class, codes};

use super::Actor;
use super::attaching::current;
use super::grants::Grants;
use super::siblings;
use super::stage_run::{StageDone, StageRun, execution_id};
use crate::ids;
use crate::session::{
    Ending, Entered, Input, Machine, Session, StagePlan, StageTag, Turn, Walk, WorkflowProgress,
};

/// The name under which a context has the input that began the workflow.
const INPUT: &str = "input";

/// Lets the machine of a session walk on, from its beginning or from where it was left, until it ends or stops.
///
/// Gives the text of the answer, and how the last turn ended.
pub(crate) async fn answer(
    session: &Arc<Session>,
    actor: Arc<dyn Actor>,
    input: Option<&Input>,
) -> Result<(String, Ending)> {
    let machine = current(session)?;
    let (walk, is_fresh) = match session.workflow_progress() {
        WorkflowProgress::Running(walk) => (*walk, false),
        WorkflowProgress::Ready | WorkflowProgress::Ended { .. } => {
            (walk_from(&machine.entry, input.is_some()), true)
        }
    };
    let mut walker = Walker {
        session: session.clone(),
        machine,
        actor,
        grants: Arc::default(),
        walk,
        is_fresh,
    };
    let mut input = input;
    loop {
        let Some(plan) = walker.walk.plans.last().cloned() else {
            return Ok((String::new(), Ending::Completed));
        };
        let first_input = input.take();
        let turn = session.begin_stage_turn(first_input, tag(&plan))?;
        let turn = Arc::new(turn);
        let mut told = TurnReport::default();
        let taken = walker.take(&turn, &plan, first_input, &mut told).await;
        let (text, ending) = match taken {
            Ok(text) => (text, Ending::Completed),
            Err(error) => {
                walker.stop(&error, told.is_judged).await;
                (None, Ending::of(error))
            }
        };
        turn.set_stage(told.tag);
        let ending = match turn.end(&ending, told.cap_hit).await {
            Ok(()) => ending,
            Err(error) => Ending::Failed(error),
        };
        match (text, ending) {
            (None, Ending::Completed) => {}
            (text, ending) => return Ok((text.unwrap_or_default(), ending)),
        }
    }
}

fn walk_from(entry: &str, has_input: bool) -> Walk {
    Walk {
        id: ids::fresh(),
        plans: vec![StagePlan {
            stages: vec![entry.to_owned()],
            ..StagePlan::default()
        }],
        has_input,
        ..Walk::default()
    }
}

fn tag(plan: &StagePlan) -> StageTag {
    match &plan.stages[..] {
        [only] if !plan.is_parallel => StageTag {
            stage_id: Some(only.clone()),
            attempt: Some(0),
            ..StageTag::default()
        },
        _ => StageTag::default(),
    }
}

/// What the end of a turn says of its stage.
#[derive(Default)]
struct TurnReport {
    tag: StageTag,
    cap_hit: bool,
    is_judged: bool,
}

struct Walker {
    session: Arc<Session>,
    machine: Arc<Machine>,
    actor: Arc<dyn Actor>,
    grants: Arc<Grants>,
    walk: Walk,
    /// Whether nothing of it is on record yet.
    is_fresh: bool,
}

/// What a plan came to.
struct PlanDone {
    /// The stages that ran, the last of them in front where there is a join.
    last: Vec<StageDone>,
    next: Vec<(String, NextResult)>,
    context: StageContext,
}

impl Walker {
    /// Runs one plan in its turn. Gives the answer if that was the end.
    async fn take(
        &mut self,
        turn: &Arc<Turn>,
        plan: &StagePlan,
        input: Option<&Input>,
        told: &mut TurnReport,
    ) -> Result<Option<String>> {
        told.tag = tag(plan);
        if !self.walk.entered.is_empty() && !self.may_enter_again(turn).await? {
            self.end("dropped").await?;
            let answered = match input {
                Some(input) => self.actor.converse(turn, input).await?,
                None => String::new(),
            };
            return Ok(Some(answered));
        }
        if let Some(input) = input {
            let text = self.actor.receive(turn, input).await?;
            if self.is_fresh {
                self.walk.context.set(INPUT, text);
            }
        }
        self.check_bound()?;
        let done = if plan.is_parallel {
            self.run_siblings(turn, plan, told).await?
        } else {
            self.run_one(turn, plan, told).await?
        };
        self.go_on(turn, plan, done, told).await
    }

    /// Asks the person whether a stage that was cut off may be entered again.
    async fn may_enter_again(&self, turn: &Arc<Turn>) -> Result<bool> {
        let entered = self.walk.entered.iter();
        let stages: Vec<String> = entered
            .map(|entered| format!("`{}`", entered.stage_id))
            .collect();
        let (what, verb, again) = match stages.len() {
            1 => ("stage", "was", "it"),
            _ => ("stages", "were", "them"),
        };
        let prompt = format!(
            "The {what} {} of `{}` {verb} cut off before the end. Enter {again} again?",
            stages.join(", "),
            self.machine.id()
        );
        let payload = Payload::from(Confirm {
            prompt,
            default: Some(false),
        });
        let response = self.session.ask(None, turn.cancelled(), payload.clone());
        let answer = response.await?.answer(&payload)?;
        Ok(matches!(answer, Some(Answer::Confirm(answer)) if answer.confirmed))
    }

    /// A machine that leads in circles is stopped.
    fn check_bound(&self) -> Result<()> {
        let bound = self.session.rules().max_stages;
        if self.walk.stages_run < bound {
            return Ok(());
        }
        let code = &codes::LOOP_BOUND_EXCEEDED;
        let message = format!(
            "the workflow of `{}` still has stages to run after {bound} of them; raise `loop.maxStages` if it should",
            self.machine.id()
        );
        Err(Error::new(code.class, code.name, message).with("maxStages", bound))
    }

    async fn run_one(
        &mut self,
        turn: &Arc<Turn>,
        plan: &StagePlan,
        told: &mut TurnReport,
    ) -> Result<PlanDone> {
        let stage = self.stage(&plan.stages[0])?;
        let entered = self.enter(turn, std::slice::from_ref(&stage)).await?;
        let run = StageRun {
            execution_id: entered[0].clone(),
            context: self.walk.context.clone(),
            cancelled: turn.cancelled(),
            compound_turn_id: None,
            ..self.run(turn, plan, stage)
        };
        let done = run.run().await.map_err(|failed| told.failed(failed))?;
        told.done(&done);
        Ok(PlanDone {
            next: vec![(done.stage_id.clone(), done.next.clone())],
            context: following(&done.context, vec![done.result.clone()]),
            last: vec![done],
        })
    }

    /// Runs the siblings, and then their join in the same turn.
    async fn run_siblings(
        &mut self,
        turn: &Arc<Turn>,
        plan: &StagePlan,
        told: &mut TurnReport,
    ) -> Result<PlanDone> {
        siblings::check_plan(&plan.stages)?;
        let compound = format!(
            "{}:{}:compound:{}",
            self.session.id(),
            plan.stack.last().map_or("", String::as_str),
            self.walk.compounds
        );
        self.walk.compounds += 1;
        told.tag.compound_turn_id = Some(compound.clone());
        let stages: Vec<Stage> = plan
            .stages
            .iter()
            .map(|id| self.stage(id))
            .collect::<Result<_>>()?;
        let entered = self.enter(turn, &stages).await?;
        let scope = turn.inner_scope();
        let runs = stages.into_iter().zip(entered).map(|(stage, id)| StageRun {
            execution_id: id,
            context: self.walk.context.clone(),
            cancelled: scope.token(),
            compound_turn_id: Some(compound.clone()),
            ..self.run(turn, plan, stage)
        });
        let done = siblings::run(runs.collect(), &scope, &compound).await?;
        let Some(join) = &plan.join else {
            told.cap_hit = done.iter().any(|done| done.cap_hit);
            let results = done.iter().map(|done| done.result.clone()).collect();
            let next = done
                .iter()
                .map(|done| (done.stage_id.clone(), done.next.clone()));
            return Ok(PlanDone {
                next: next.collect(),
                context: following(&self.walk.context, results),
                last: done,
            });
        };
        siblings::check_join(join, &done)?;
        self.transition(turn, json!(plan.stages), json!(join), "join");
        let stage = self.stage(join)?;
        let entered = self.enter(turn, std::slice::from_ref(&stage)).await?;
        told.tag.stage_id = Some(join.clone());
        told.tag.attempt = Some(0);
        let results = done
            .iter()
            .map(|done| (done.stage_id.clone(), done.result.clone()));
        let mut context = self.walk.context.clone();
        context.siblings = results.collect::<Map<String, Value>>();
        let run = StageRun {
            execution_id: entered[0].clone(),
            context,
            cancelled: turn.cancelled(),
            compound_turn_id: Some(compound),
            ..self.run(turn, plan, stage)
        };
        let done = run.run().await.map_err(|failed| told.failed(failed))?;
        told.done(&done);
        Ok(PlanDone {
            next: vec![(done.stage_id.clone(), done.next.clone())],
            context: following(&done.context, vec![done.result.clone()]),
            last: vec![done],
        })
    }

    fn run(&self, turn: &Arc<Turn>, plan: &StagePlan, stage: Stage) -> StageRun {
        StageRun {
            machine: self.machine.clone(),
            actor: self.actor.clone(),
            turn: turn.clone(),
            grants: self.grants.clone(),
            stage,
            execution_id: String::new(),
            context: StageContext::default(),
            cancelled: turn.cancelled(),
            compound_turn_id: None,
            stack: plan.stack.clone(),
        }
    }

    fn stage(&self, id: &str) -> Result<Stage> {
        self.machine.stage(id).cloned().ok_or_else(|| {
            let code = &codes::STAGE_DEFINITION_INVALID;
            let message = format!("`{}` has no stage `{id}`", self.machine.id());
            Error::new(code.class, code.name, message).with("stageId", id)
        })
    }

    /// Puts on record that stages are entered, before anything of them runs, and says why one is entered again.
    async fn enter(&mut self, turn: &Turn, stages: &[Stage]) -> Result<Vec<String>> {
        let entered: Vec<Entered> = stages
            .iter()
            .map(|stage| Entered {
                stage_id: stage.id.clone(),
                stage_execution_id: execution_id(),
            })
            .collect();
        for new in &entered {
            let before = self.walk.entered.iter();
            if let Some(old) = before.rev().find(|old| old.stage_id == new.stage_id) {
                let payload = json!({
                    "stageId": new.stage_id,
                    "stageExecutionId": new.stage_execution_id,
                    "previousStageExecutionId": old.stage_execution_id,
                    "reason": "it was cut off, and the person agreed to enter it again",
                });
                let books = self.session.books();
                books.audit("StageExecution", Some("StageReentered"), turn.id(), payload);
            }
        }
        let ids = entered
            .iter()
            .map(|new| new.stage_execution_id.clone())
            .collect();
        self.walk.entered.clone_from(&entered);
        self.walk.stages_run = self
            .walk
            .stages_run
            .saturating_add(u32::try_from(entered.len()).unwrap_or(u32::MAX));
        if self.is_fresh {
            self.is_fresh = false;
            self.keep().await?;
        } else {
            self.session.enter_stages(entered).await?;
        }
        Ok(ids)
    }

    async fn keep(&self) -> Result<()> {
        let progress = WorkflowProgress::Running(Box::new(self.walk.clone()));
        self.session.keep_progress(progress).await
    }

    /// Puts the boundary on record, and settles what follows. Gives the answer if nothing does.
    async fn go_on(
        &mut self,
        turn: &Arc<Turn>,
        plan: &StagePlan,
        done: PlanDone,
        told: &mut TurnReport,
    ) -> Result<Option<String>> {
        self.walk.plans.pop();
        self.walk.context = done.context;
        self.walk.entered.clear();
        for (from, next) in done.next.iter().rev() {
            self.walk.plans.extend(plans(plan, from, next));
        }
        let (from, next) = match &done.next[..] {
            [(from, next)] => (json!(from), Some(next)),
            several => (
                json!(several.iter().map(|(from, _)| from).collect::<Vec<_>>()),
                None,
            ),
        };
        let following = self.walk.plans.last();
        let execution = match following {
            Some(plan) if plan.is_parallel => Some("parallel"),
            Some(_) => Some("sequential"),
            None => None,
        };
        let to = match following.map(|plan| &plan.stages[..]) {
            None => Value::Null,
            Some([only]) => json!(only),
            Some(several) => json!(several),
        };
        told.tag.execution = Some(
            next.map_or(execution.unwrap_or("sequential"), |next| {
                match next.execution {
                    Execution::Sequential => "sequential",
                    Execution::Parallel => "parallel",
                }
            })
            .to_owned(),
        );
        self.transition(turn, from, to, execution.unwrap_or("terminate"));
        self.session.metrics().update(|picture| {
            if let Some(machine) = &mut picture.state_machine {
                machine.last_next_result = next.map(shown);
            }
        });
        if following.is_some() {
            self.keep().await?;
            return Ok(None);
        }
        let text = self.conclude(turn, &done.last).await?;
        self.end("completed").await?;
        Ok(Some(text))
    }

    /// Puts the result of the workflow into the conversation, which continues without the machine.
    async fn conclude(&self, turn: &Arc<Turn>, last: &[StageDone]) -> Result<String> {
        if !self.walk.has_input {
            let begun = format!("Run the workflow `{}`.", self.machine.id());
            turn.say("user", begun.into()).await?;
        }
        if let [only] = last
            && only.completion.is_none()
        {
            // It was shown when the model said it.
            let text = only.last_words.clone().unwrap_or_default();
            turn.say("assistant", json!({"text": text})).await?;
            return Ok(text);
        }
        let texts: Vec<String> = last.iter().map(handed_over).collect();
        self.actor.render(turn, texts.join("\n\n")).await
    }

    async fn end(&self, status: &str) -> Result<()> {
        let status = status.to_owned();
        self.session
            .keep_progress(WorkflowProgress::Ended { status })
            .await?;
        self.session.metrics().update(|picture| {
            if let Some(machine) = &mut picture.state_machine {
                machine.current_stage = None;
                machine.stack.clear();
            }
        });
        Ok(())
    }

    /// A workflow that its machine ended, or that cannot continue, is over. Any other waits where it was cut off.
    async fn stop(&self, error: &Error, is_judged: bool) {
        let is_of_machine = [Class::ExtensionHost, Class::Validation]
            .iter()
            .any(|class| class.as_str() == error.class());
        let is_over = is_judged || is_of_machine;
        if is_over && matches!(Ending::of(error.clone()), Ending::Failed(_)) {
            // What cannot be written down is told with the end of the turn.
            let _ = self.end("failed").await;
        }
    }

    fn transition(&self, turn: &Turn, from: Value, to: Value, kind: &str) {
        let payload = json!({"from": from, "to": to, "nextKind": kind});
        let books = self.session.books();
        books.audit("SMTransition", None, turn.id(), payload);
    }
}

impl TurnReport {
    fn done(&mut self, done: &StageDone) {
        self.cap_hit = done.cap_hit;
        self.tag.attempt = u32::try_from(done.context.attempts.len().saturating_sub(1)).ok();
    }

    fn failed(&mut self, failed: super::stage_run::StageFailed) -> Error {
        self.cap_hit = failed.cap_hit;
        self.is_judged = failed.is_judged;
        self.tag.attempt = Some(failed.attempt);
        failed.error
    }
}

/// What follows from a stage, the first of it last.
fn plans(plan: &StagePlan, from: &str, next: &NextResult) -> Vec<StagePlan> {
    let mut stack = plan.stack.clone();
    // A machine that comes back to a stage is there again, and not deeper.
    if let Some(place) = stack.iter().position(|id| id == from) {
        stack.truncate(place);
    }
    stack.push(from.to_owned());
    if next.next_stages.is_empty() {
        return Vec::new();
    }
    if next.execution == Execution::Parallel {
        return vec![StagePlan {
            stages: next.next_stages.clone(),
            is_parallel: true,
            join: next.join.clone(),
            stack,
        }];
    }
    let stages = next.next_stages.iter().rev();
    let plans = stages.map(|id| StagePlan {
        stages: vec![id.clone()],
        stack: stack.clone(),
        ..StagePlan::default()
    });
    plans.collect()
}

/// What the next stage begins with: the values as they are, and the results of the stage before it.
fn following(context: &StageContext, upstream: Vec<Value>) -> StageContext {
    StageContext {
        upstream,
        values: context.values.clone(),
        ..StageContext::default()
    }
}

fn shown(next: &NextResult) -> stud_host_api::metrics::NextResult {
    stud_host_api::metrics::NextResult {
        execution: match next.execution {
            Execution::Sequential => "sequential".to_owned(),
            Execution::Parallel => "parallel".to_owned(),
        },
        stages: next.next_stages.clone(),
    }
}

/// What a stage handed over, as a text: the only text in it, or all of it as JSON.
fn handed_over(done: &StageDone) -> String {
    let Some(completion) = &done.completion else {
        return done.last_words.clone().unwrap_or_default();
    };
    if let Value::Object(members) = completion
        && let [Value::String(text)] = &members.values().collect::<Vec<_>>()[..]
    {
        return text.clone();
    }
    serde_json::to_string_pretty(completion).unwrap_or_default()
}
