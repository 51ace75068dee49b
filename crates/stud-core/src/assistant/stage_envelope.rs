//! What a stage of a state machine says of a proposal: its own tools run without a prompt, any other needs a grant.

use std::sync::atomic::Ordering;

use serde_json::{Value, json};
use stud_contract_interaction::{Answer, GrantAnswer, GrantOutcome, GrantStageTool, Payload};
use stud_contract_meta::Result;
use stud_contract_state_machine::Grant;
use stud_diagnostics::codes;

use super::Work;
use super::permit::{No, args_digest};
use super::stream::Proposal;
use crate::canonical;
use crate::ids;
use crate::sync::AtomicBool;
use crate::workflow::{GrantBinding, StageAttempt};

/// Who decided about a call of a tool that the stage lists.
const ENVELOPE: &str = "sm-envelope";

/// What an approval's record says of a grant that the person did not give.
const REFUSED: &str = "AskRefused";

/// What it says of a grant that was used before.
const CONSUMED: &str = "GrantTokenAlreadyConsumed";

/// Who decided about a call of another tool.
const GRANT: &str = "sm-grant-token";

/// The stage's word on one proposal.
pub(super) struct StageEnvelope<'a> {
    attempt: &'a StageAttempt,
    /// Core's own name for the proposal, which no model can choose.
    proposal_id: String,
    /// Whether the person was asked about it. They are asked once.
    was_asked: AtomicBool,
}

impl<'a> StageEnvelope<'a> {
    pub(super) fn of(attempt: &'a StageAttempt) -> Self {
        Self {
            attempt,
            proposal_id: ids::fresh(),
            was_asked: AtomicBool::new(false),
        }
    }

    /// Who decides.
    pub(super) fn source(&self, tool: &str) -> &'static str {
        if self.attempt.covers(tool) {
            ENVELOPE
        } else {
            GRANT
        }
    }

    /// What a grant of this call is bound to.
    pub(super) fn binding(&self, call: &Proposal) -> GrantBinding {
        let digest = args_digest(&call.args);
        self.attempt
            .binding(&self.proposal_id, &call.tool_name, digest)
    }

    /// Gives the no, if there is one. The person is asked about a tool that the stage does not list.
    pub(super) async fn judge(&self, work: &Work, call: &Proposal) -> Result<Option<No>> {
        if self.attempt.covers(&call.tool_name) {
            return Ok(None);
        }
        if self.was_asked.swap(true, Ordering::AcqRel) {
            // A transform changed the arguments after the person had seen them.
            let reason = "the arguments are not those that were granted".to_owned();
            return Ok(Some(denied(codes::GRANT_NOT_FOUND.name, reason)));
        }
        self.ask(work, call).await
    }

    async fn ask(&self, work: &Work, call: &Proposal) -> Result<Option<No>> {
        let session = work.turn.session();
        let binding = self.binding(call);
        let arguments = canonical::text(&call.args).unwrap_or_default();
        let payload = Payload::from(GrantStageTool {
            stage_execution_id: binding.stage_execution_id.clone(),
            attempt: binding.attempt,
            proposal_id: binding.proposal_id.clone(),
            tool: binding.tool.clone(),
            args_digest: binding.args_digest.clone(),
            args_summary: session.redacted(&arguments).into_owned(),
            reason: None,
        });
        let about = Some(call.tool_call_id.as_str());
        let cancelled = work.voice.cancelled().clone();
        let response = session.ask_about(about, None, cancelled, payload.clone());
        let response = response.await?;
        let answer = match response.answer(&payload)? {
            Some(Answer::GrantStageTool(answer)) => answer,
            _ => GrantAnswer {
                outcome: GrantOutcome::Deny,
                note: response.reason.clone(),
            },
        };
        self.attempt.note_grant(Grant {
            tool: binding.tool.clone(),
            args_digest: binding.args_digest.clone(),
            outcome: answer.outcome,
            note: answer.note.clone(),
        });
        if answer.outcome == GrantOutcome::Approve {
            let record = record(&binding);
            return match self.attempt.issue(binding) {
                Ok(()) => {
                    let name = "GrantIssued";
                    work.voice.audit(name, Some(name), record);
                    Ok(None)
                }
                Err(error) => Ok(Some(denied(error.code(), error.message().to_owned()))),
            };
        }
        let said = if answer.outcome == GrantOutcome::Defer {
            "was put off"
        } else {
            "was not granted"
        };
        let stage = &self.attempt.stage().name;
        let mut reason = format!(
            "`{}` is not a tool of the stage `{stage}`, and {said}",
            call.tool_name
        );
        if let Some(note) = answer.note.filter(|note| !note.trim().is_empty()) {
            reason = format!("{reason}: {note}");
        }
        Ok(Some(denied(REFUSED, reason)))
    }

    /// Uses the grant up, if the call needs one. Nothing runs on a grant that is not good for exactly this call.
    pub(super) fn redeem(&self, work: &Work, call: &Proposal) -> std::result::Result<(), No> {
        if self.attempt.covers(&call.tool_name) {
            return Ok(());
        }
        let binding = self.binding(call);
        match self.attempt.consume(&binding) {
            Ok(()) => {
                let name = "GrantConsumed";
                work.voice.audit(name, Some(name), record(&binding));
                Ok(())
            }
            Err(error) => {
                let is_used = error.code() == codes::GRANT_ALREADY_CONSUMED.name;
                let code = if is_used { CONSUMED } else { error.code() };
                Err(denied(code, error.message().to_owned()))
            }
        }
    }
}

fn denied(code: &str, reason: String) -> No {
    No {
        source: GRANT,
        code: code.to_owned(),
        reason,
        ..No::default()
    }
}

fn record(binding: &GrantBinding) -> Value {
    json!({
        "stageExecutionId": binding.stage_execution_id,
        "attempt": binding.attempt,
        "proposalId": binding.proposal_id,
        "tool": binding.tool,
        "argsDigest": binding.args_digest,
    })
}
