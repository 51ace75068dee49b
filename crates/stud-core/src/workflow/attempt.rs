//! One attempt at a stage: what the model may use in it, what it is told, and what it hands over.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use jsonschema::Validator;
use serde_json::{Map, Value, json};
use stud_abi::CancellationToken;
use stud_contract_meta::{Error, Result};
use stud_contract_provider::ToolSpec;
use stud_contract_state_machine::{Grant, Stage};
use stud_diagnostics::codes;

use super::grants::{GrantBinding, Grants};
use super::transcript::StageTranscript;
use crate::session::Session;
use crate::sync::{AtomicU64, Mutex, lock};
use crate::tool_registry::ToolRegistry;
use crate::validate::schema;

/// The run of a stage, over all its attempts.
#[derive(Debug)]
pub(crate) struct StageExecution {
    /// Of this run alone.
    pub(crate) id: String,
    pub(crate) stage: Stage,
    pub(crate) session_id: String,
    /// The compound turn, for a stage that runs beside others and for their join.
    pub(crate) compound_turn_id: Option<String>,
    /// Fires when the stage is not wanted any more.
    pub(crate) cancelled: CancellationToken,
    pub(crate) grants: Arc<Grants>,
}

/// One attempt at a stage.
#[derive(Debug)]
pub(crate) struct StageAttempt {
    execution: Arc<StageExecution>,
    number: u32,
    body: String,
    transcript: StageTranscript,
    turns: AtomicU64,
    said: Mutex<AttemptRecord>,
}

#[derive(Debug, Default)]
struct AttemptRecord {
    grants: Vec<Grant>,
    completion: Option<Value>,
}

impl StageAttempt {
    pub(super) fn new(execution: Arc<StageExecution>, number: u32, body: String) -> Self {
        Self {
            execution,
            number,
            body,
            transcript: StageTranscript::default(),
            turns: AtomicU64::new(0),
            said: Mutex::default(),
        }
    }

    /// The run it belongs to.
    pub(crate) fn execution(&self) -> &StageExecution {
        &self.execution
    }

    pub(crate) fn stage(&self) -> &Stage {
        &self.execution.stage
    }

    /// Its number, from 0.
    pub(crate) fn number(&self) -> u32 {
        self.number
    }

    /// What the model is told first.
    pub(crate) fn body(&self) -> &str {
        &self.body
    }

    pub(crate) fn transcript(&self) -> &StageTranscript {
        &self.transcript
    }

    /// What the records of the attempt say of it.
    pub(crate) fn marker(&self) -> Value {
        json!({
            "stageExecutionId": self.execution.id,
            "stageId": self.stage().id,
            "attempt": self.number,
        })
    }

    /// How many requests the model may be sent.
    pub(crate) fn turn_cap(&self) -> u64 {
        self.stage().turn_cap.unsigned_abs()
    }

    /// The model is asked once more.
    pub(crate) fn take_turn(&self, session: &Session) {
        let turns = self.turns.fetch_add(1, Ordering::AcqRel) + 1;
        session.metrics().update(|picture| {
            if let Some(machine) = &mut picture.state_machine {
                machine.turn_count = turns;
            }
        });
    }

    /// The tools that the model is told of: those of the session that the stage lists, in its order, and the one that
    /// ends the attempt.
    pub(crate) fn tools(&self, session_tools: &ToolRegistry) -> Vec<ToolSpec> {
        let stage = self.stage();
        let mut specs: Vec<ToolSpec> = Vec::new();
        for name in &stage.allowed_tools {
            let is_new = !self.completes(name) && specs.iter().all(|spec| spec.name != *name);
            let known = session_tools.specs().find(|spec| spec.name == *name);
            specs.extend(known.filter(|_| is_new).cloned());
        }
        specs.push(ToolSpec {
            name: stage.completion_tool.clone(),
            description: format!(
                "Call this when `{}` is done, with its result. It ends this stage.",
                stage.name
            ),
            parameters: (&stage.completion_schema).into(),
        });
        specs
    }

    /// Whether the stage lists this tool.
    pub(crate) fn covers(&self, tool: &str) -> bool {
        self.stage().allowed_tools.iter().any(|name| name == tool)
    }

    /// Whether this is the tool that ends the attempt.
    pub(crate) fn completes(&self, tool: &str) -> bool {
        self.stage().completion_tool == tool
    }

    /// Takes what the model hands over. Its form is checked, and nothing else.
    ///
    /// Fails with `ToolTerminal/InputInvalid`, for the model to correct.
    pub(crate) fn complete(&self, payload: &Value) -> Result<()> {
        if let Some(validator) = validator(&self.stage().completion_schema)
            && let Some(problem) = validator.iter_errors(payload).next()
        {
            let (place, problem) = (schema::place(&problem), schema::problem(&problem));
            let code = &codes::INPUT_INVALID;
            let message = format!("what is handed over does not fit at `{place}`: {problem}");
            return Err(Error::new(code.class, code.name, message).with("fieldPath", place));
        }
        let mut said = lock(&self.said);
        if said.completion.is_some() {
            let code = &codes::INPUT_INVALID;
            let message = "the stage was completed by an earlier call of the same answer";
            return Err(Error::new(code.class, code.name, message));
        }
        said.completion = Some(payload.clone());
        Ok(())
    }

    /// What the model handed over.
    pub(crate) fn completion(&self) -> Option<Value> {
        lock(&self.said).completion.clone()
    }

    /// What the person said about calls of other tools.
    pub(crate) fn grants(&self) -> Vec<Grant> {
        lock(&self.said).grants.clone()
    }

    /// Notes what the person said about a call.
    pub(crate) fn note_grant(&self, grant: Grant) {
        lock(&self.said).grants.push(grant);
    }

    /// What a grant of this proposal is bound to.
    pub(crate) fn binding(
        &self,
        proposal_id: &str,
        tool: &str,
        args_digest: String,
    ) -> GrantBinding {
        GrantBinding {
            stage_execution_id: self.execution.id.clone(),
            attempt: self.number,
            proposal_id: proposal_id.to_owned(),
            tool: tool.to_owned(),
            args_digest,
        }
    }

    /// Adds the grant of a proposal, for the call that follows.
    pub(crate) fn issue(&self, binding: GrantBinding) -> Result<()> {
        self.execution.grants.issue(binding)
    }

    /// Uses the grant of a proposal up.
    pub(crate) fn consume(&self, binding: &GrantBinding) -> Result<()> {
        self.execution.grants.consume(binding)
    }

    /// Nothing that was granted in it is good any more.
    pub(super) fn close(&self) {
        self.execution.grants.close(&self.execution.id, self.number);
    }
}

/// A schema that does not compile was refused with the manifest.
fn validator(schema: &Value) -> Option<Validator> {
    match schema {
        Value::Object(members) if Map::is_empty(members) => None,
        schema => schema::build(schema).ok(),
    }
}
