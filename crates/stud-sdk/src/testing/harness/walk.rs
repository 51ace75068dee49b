//! A state machine taken through all phases of its stages, with a test in the place of the model.

use serde_json::{Value, json};
use stud_contract_meta::Result;
use stud_contract_state_machine::{
    AssertOutcome, Attempt, Execution, GateResult, Grant, GrantOutcome, NextResult,
    ResolutionPolicy, Stage, StageContext, StateMachineMembers, render,
};
use stud_diagnostics::codes;

use super::Harness;
use crate::private::fault::coded;

/// A machine that runs more stages than this goes in circles.
const BOUND: usize = 100;

/// What becomes of one attempt at a stage.
#[derive(Debug, Clone, Default)]
pub struct Acted(Attempt);

impl Acted {
    /// The model calls the completion tool with this.
    pub fn completed(payload: Value) -> Self {
        Self(Attempt {
            completion: Some(payload),
            ..Attempt::default()
        })
    }

    /// The model answers with a text and calls nothing.
    pub fn said(text: &str) -> Self {
        Self(Attempt {
            transcript: vec![json!({"role": "assistant", "content": text})],
            ..Attempt::default()
        })
    }

    /// The model reaches the turn cap.
    pub fn capped() -> Self {
        Self(Attempt {
            cap_hit: true,
            ..Attempt::default()
        })
    }

    /// On the way the person was asked about a call of another tool, and answered with this.
    #[must_use]
    pub fn asked(mut self, tool: &str, outcome: GrantOutcome, note: Option<&str>) -> Self {
        self.0.grants.push(Grant {
            tool: tool.to_owned(),
            args_digest: "digest".to_owned(),
            outcome,
            note: note.map(str::to_owned),
        });
        self
    }
}

/// A stage in which the model acts.
#[derive(Debug)]
pub struct ActingStage<'a> {
    stage: &'a Stage,
    attempt: u32,
    body: String,
}

impl ActingStage<'_> {
    /// Which one.
    pub fn id(&self) -> &str {
        &self.stage.id
    }

    /// The attempt, from 0.
    pub fn attempt(&self) -> u32 {
        self.attempt
    }

    /// What the model is told, with the values of the context in it.
    pub fn body(&self) -> &str {
        &self.body
    }

    /// The tools that it may use.
    pub fn tools(&self) -> &[String] {
        &self.stage.allowed_tools
    }
}

/// What a machine came to.
#[derive(Debug, Clone)]
pub struct Walked {
    stages: Vec<(String, AssertOutcome)>,
    context: StageContext,
}

impl Walked {
    /// The stages that ran, in order.
    pub fn stages(&self) -> Vec<&str> {
        self.stages.iter().map(|(id, _)| &**id).collect()
    }

    /// How a stage ended when it ran last.
    pub fn outcome(&self, stage: &str) -> Option<AssertOutcome> {
        let last = self.stages.iter().rev().find(|(id, _)| id == stage);
        last.map(|(_, outcome)| *outcome)
    }

    /// The context of the last stage.
    pub fn context(&self) -> &StageContext {
        &self.context
    }

    /// What the last stage handed over.
    pub fn completion(&self) -> Option<&Value> {
        self.context.attempt()?.completion.as_ref()
    }
}

/// What comes next, the first of it last.
struct Plan {
    stages: Vec<String>,
    is_parallel: bool,
    join: Option<String>,
}

struct Walk<'a, F> {
    harness: &'a Harness,
    members: StateMachineMembers,
    act: F,
    walked: Walked,
}

impl Harness {
    /// Takes a state machine from its first stage to its end, through all phases, as a session does. `act` stands for the
    /// model: it says what becomes of each attempt.
    ///
    /// Parallel stages run one after the other, in the order of the plan. It is `ExtensionHost/LoopBoundExceeded` after
    /// 100 stages.
    ///
    /// ```
    /// # use stud_sdk::{prelude::*, testing::{Acted, FakeHost, Harness}};
    /// # use stud_sdk::state_machine::{NextResult, StageContext};
    /// # /// How far the machine is.
    /// # #[derive(Schema)]
    /// # struct Progress {
    /// #     /// The stage that runs.
    /// #     stage: String,
    /// # }
    /// # /// Plans, then builds.
    /// # #[state_machine(stages_file = "tests/all/stages.json", state_slot(version = "1.0.0", schema = Progress))]
    /// # struct WalkExample;
    /// # impl StateMachine for WalkExample {
    /// #     async fn next(&self, stage: &str, _context: &StageContext, _cx: &Cx) -> Result<NextResult> {
    /// #         Ok(if stage == "plan" { NextResult::to("build") } else { NextResult::end() })
    /// #     }
    /// # }
    /// let harness = Harness::new(stud_plugin(), FakeHost::new());
    /// let walked = harness.walk("add a flag", |_stage| Acted::completed(json!({})))?;
    /// assert_eq!(walked.stages(), ["plan", "build"]);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn walk(&self, input: &str, act: impl FnMut(&ActingStage<'_>) -> Acted) -> Result<Walked> {
        let members: StateMachineMembers = serde_json::from_value(self.manifest().clone())
            .map_err(|error| coded(&codes::STAGE_DEFINITION_INVALID, error.to_string()))?;
        let mut context = StageContext::default();
        context.set("input", input);
        let mut plans = vec![Plan {
            stages: vec![members.entry_stage.clone()],
            is_parallel: false,
            join: None,
        }];
        let mut walk = Walk {
            harness: self,
            members,
            act,
            walked: Walked {
                stages: Vec::new(),
                context: StageContext::default(),
            },
        };
        while let Some(plan) = plans.pop() {
            let (following, next) = walk.take(&plan, &context)?;
            context = following;
            plans.extend(next.into_iter().rev());
        }
        Ok(walk.walked)
    }
}

impl<F> Walk<'_, F>
where
    F: FnMut(&ActingStage<'_>) -> Acted,
{
    fn take(&mut self, plan: &Plan, context: &StageContext) -> Result<(StageContext, Vec<Plan>)> {
        if !plan.is_parallel {
            let (done, next) = self.run(&plan.stages[0], context.clone())?;
            return Ok((following(&done, vec![result(&done)]), plans(&next)));
        }
        if plan.stages.len() < 2 {
            let message = "at least two stages run in parallel, and the plan has fewer";
            return Err(coded(&codes::INVALID_PARALLEL_PLAN, message));
        }
        let mut results = Vec::new();
        let mut after = Vec::new();
        for id in &plan.stages {
            let (done, next) = self.run(id, context.clone())?;
            if plan.join.is_some() && outcome_of(&done) != AssertOutcome::Ok {
                let message = format!("the join cannot run: the stage `{id}` was left out");
                return Err(coded(&codes::JOIN_PRECONDITION_VIOLATED, message));
            }
            results.push((id.clone(), result(&done)));
            after.extend(plans(&next));
        }
        let Some(join) = &plan.join else {
            let results = results.into_iter().map(|(_, result)| result).collect();
            return Ok((following(context, results), after));
        };
        let mut joining = context.clone();
        joining.siblings = results.into_iter().collect();
        let (done, next) = self.run(join, joining)?;
        Ok((following(&done, vec![result(&done)]), plans(&next)))
    }

    /// One stage, from setup to next.
    fn run(&mut self, id: &str, context: StageContext) -> Result<(StageContext, NextResult)> {
        if self.walked.stages.len() >= BOUND {
            let message = format!("the machine still has stages to run after {BOUND} of them");
            return Err(coded(&codes::LOOP_BOUND_EXCEEDED, message));
        }
        let stage = self.members.stages.iter().find(|stage| stage.id == id);
        let Some(stage) = stage.cloned() else {
            let message = format!("there is no stage `{id}`");
            return Err(coded(&codes::STAGE_DEFINITION_INVALID, message));
        };
        let before = StageContext {
            attempts: vec![Attempt::default()],
            ..context
        };
        let after = self.harness.setup(id, before.clone())?;
        let mut context = StageContext {
            values: after.values,
            ..before
        };
        let mut attempt = 0;
        let outcome = loop {
            let outcome = self.attempt(&stage, attempt, &mut context)?;
            if outcome != AssertOutcome::Retry {
                break outcome;
            }
            attempt += 1;
            if attempt >= stage.retry_policy.max_attempts.max(1) {
                let message = format!("the stage `{id}` has failed: its attempts are used up");
                return Err(coded(&codes::LIFECYCLE_FAILURE, message));
            }
            context.attempts.push(Attempt::default());
        };
        self.walked.stages.push((id.to_owned(), outcome));
        self.walked.context = context.clone();
        if outcome == AssertOutcome::Fail {
            let message = format!("the stage `{id}` has failed: the machine says so");
            return Err(coded(&codes::LIFECYCLE_FAILURE, message));
        }
        self.harness.exit(id, context.clone())?;
        let next = self.harness.next(id, context.clone())?;
        Ok((context, next))
    }

    fn attempt(
        &mut self,
        stage: &Stage,
        attempt: u32,
        context: &mut StageContext,
    ) -> Result<AssertOutcome> {
        let acting = ActingStage {
            stage,
            attempt,
            body: render(&stage.body, context),
        };
        let gate = self.harness.check_gate(&stage.id, context.clone())?;
        let outcome = match (gate, stage.resolution_policy) {
            (GateResult::Proceed, _) => {
                let acted = (self.act)(&acting).0;
                if let Some(last) = context.attempts.last_mut() {
                    *last = acted;
                }
                self.harness.assess(&stage.id, context.clone())?
            }
            (GateResult::Skip, _) | (_, ResolutionPolicy::Skip) => AssertOutcome::Skip,
            (_, ResolutionPolicy::RetryLater) => AssertOutcome::Retry,
            (_, ResolutionPolicy::Fail) => AssertOutcome::Fail,
        };
        if let Some(last) = context.attempts.last_mut() {
            last.outcome = Some(outcome);
        }
        Ok(outcome)
    }
}

fn outcome_of(context: &StageContext) -> AssertOutcome {
    let outcome = context.attempt().and_then(|attempt| attempt.outcome);
    outcome.unwrap_or(AssertOutcome::Ok)
}

fn following(context: &StageContext, upstream: Vec<Value>) -> StageContext {
    StageContext {
        upstream,
        values: context.values.clone(),
        ..StageContext::default()
    }
}

/// What a stage hands to the one after it.
fn result(context: &StageContext) -> Value {
    let last = context.attempt().cloned().unwrap_or_default();
    let mut result = json!({
        "capHit": last.cap_hit,
        "assertOutcome": last.outcome,
        "transcript": last.transcript,
    });
    if let Some(completion) = last.completion {
        result["completion"] = completion;
    }
    result
}

fn plans(next: &NextResult) -> Vec<Plan> {
    if next.next_stages.is_empty() {
        return Vec::new();
    }
    if next.execution == Execution::Parallel {
        return vec![Plan {
            stages: next.next_stages.clone(),
            is_parallel: true,
            join: next.join.clone(),
        }];
    }
    let stages = next.next_stages.iter();
    let plans = stages.map(|id| Plan {
        stages: vec![id.clone()],
        is_parallel: false,
        join: None,
    });
    plans.collect()
}
