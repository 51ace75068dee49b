//! The authority stack: whether one proposed call may run.
//!
//! ```text
//! there? → fits its schema? → approval key → gate (mode, remembered, asked) → guards → transforms → permit
//! ```
//!
//! A transform that changes the arguments sends the call through the stack again: what was approved is what runs.

use std::borrow::Cow;
use std::sync::Arc;

use serde_json::{Value, json};
use stud_contract_hook::Slot;
use stud_contract_interaction::{Answer, ApprovalScope, Approve, Decision, Payload};
use stud_contract_meta::{Error, Result};
use stud_contract_tool::{Output, ToolDeclaration};
use stud_diagnostics::{Class, Code, codes};
use stud_host_api::events::ToolCancelReason;
use stud_host_api::session::SecurityMode;

use super::permit::{ArgsDigest, No, Permit, args_digest};
use super::stage_envelope::StageEnvelope;
use super::stream::Proposal;
use super::tool_failure::{FailureReason, ToolFailure};
use super::tools::{summary, tell_answered, tell_begun, tell_cancelled};
use super::{Work, misshapen};
use crate::approvals::{Asked, check_key, wanted};
use crate::did_you_mean::nearest;
use crate::executor;
use crate::ledger::closed;
use crate::subagents::{Preflight, preflight};
use crate::timeout::with_timeout;
use crate::tool_registry::{ToolRef, ToolSource};
use crate::validate::schema;

/// What became of a proposal.
pub(super) enum Judged {
    /// It may run.
    Permitted(Permit),
    /// It may not, and the model is told why.
    Refused(Proposal, Error),
    /// It hands over what the stage of a state machine was to bring about. No tool runs.
    Completing(Proposal, Result<Output>),
    /// It has its result already, and nothing runs.
    Answered(Proposal, Output),
}

/// Why a call does not get any further.
enum Stop {
    /// The call is refused, and the model is told why.
    Refused(Error),
    /// The call has its result without having run.
    Answered(Output),
    /// The turn ends.
    TurnEnds(Error),
}

type Judgement<T> = std::result::Result<T, Stop>;

impl From<Error> for Stop {
    fn from(error: Error) -> Self {
        Self::TurnEnds(error)
    }
}

/// Judges one proposal. Only what ends the turn is an error.
pub(super) async fn judge(work: &Work, proposal: Proposal) -> Result<Judged> {
    tell_begun(work, &proposal);
    if let Some(attempt) = &work.attempt
        && attempt.completes(&proposal.tool_name)
    {
        let taken = attempt.complete(&proposal.args);
        let result = taken.map(|()| Output::from(json!({"completed": attempt.stage().id})));
        return Ok(Judged::Completing(proposal, result));
    }
    match permit(work, &proposal).await {
        Ok(permit) => Ok(Judged::Permitted(permit)),
        Err(Stop::Refused(error)) => Ok(Judged::Refused(proposal, error)),
        Err(Stop::Answered(output)) => {
            tell_answered(&work.voice, &proposal, &output);
            Ok(Judged::Answered(proposal, output))
        }
        Err(Stop::TurnEnds(error)) => Err(error),
    }
}

async fn permit(work: &Work, proposal: &Proposal) -> Judgement<Permit> {
    let found = find(work, proposal).await?;
    let bench = Bench {
        work,
        giver: &found.giver,
        tool: found.tool(),
        envelope: work.attempt.as_deref().map(StageEnvelope::of),
    };
    let proposal = &*bench.prepare(proposal, false)?;
    let (mut key, mut digest) = bench.try_case(proposal).await?;
    let mut call = bench.transform(proposal).await?;
    if ArgsDigest::of(&call) != digest {
        call = bench.prepare(&call, true)?.into_owned();
        (key, digest) = bench.try_case(&call).await?;
        call.tool_call_id.clone_from(&proposal.tool_call_id);
    }
    if let Some(envelope) = &bench.envelope {
        let redeemed = envelope.redeem(work, &call);
        redeemed.map_err(|no| Stop::Refused(bench.deny(&call, key.as_deref(), no)))?;
    }
    let passage = work.passage(Slot::ToolCallPre);
    work.hooks().observe(passage, &payload(&call)).await?;
    Ok(Permit::of(found.giver.clone(), call, key, digest)?)
}

/// The tool that is meant. It may be one of a server that is not connected yet.
async fn find(work: &Work, proposal: &Proposal) -> Judgement<ToolRef> {
    let (session, name) = (work.turn.session(), proposal.tool_name.as_str());
    let toolbox = session.toolbox(&work.turn.plugins());
    if let Some(found) = toolbox.find(name) {
        return Ok(found);
    }
    let remote = session.mcp().tool(name);
    let remote = executor::or_cancelled(work.voice.cancelled(), remote).await;
    let found = remote.ok_or_else(|| work.voice.called_off())?;
    let found = found.transpose().unwrap_or_else(|| {
        let known = toolbox.specs().map(|tool| &*tool.name);
        Err(unknown(name, nearest(name, known)))
    });
    found.map_err(|error| {
        tell_cancelled(work, proposal, ToolCancelReason::ToolNotAvailable);
        let failure = ToolFailure::before_start(FailureReason::ToolNotAvailable, &error);
        failure.record(&work.voice, proposal);
        Stop::Refused(error)
    })
}

/// A model that calls what is not there has made a mistake in its call, and learns what it may have meant.
fn unknown(name: &str, near: Option<&str>) -> Error {
    let code = &codes::INPUT_INVALID;
    let near = match near {
        Some(near) => format!("; did you mean `{near}`?"),
        None => String::new(),
    };
    let message = format!("there is no tool `{name}`{near}");
    Error::new(code.class, code.name, message)
        .with("toolName", name)
        .with("reason", ToolCancelReason::ToolNotAvailable.as_str())
        .with("cause", codes::TOOL_NOT_REGISTERED.name)
}

/// What hooks on `TOOL_CALL/pre` see.
fn payload(call: &Proposal) -> Value {
    json!({
        "toolCallId": call.tool_call_id,
        "toolName": call.tool_name,
        "toolId": call.tool_name,
        "args": call.args,
    })
}

/// Where the calls of one tool are judged.
struct Bench<'a> {
    work: &'a Work,
    giver: &'a Arc<dyn ToolSource>,
    tool: &'a ToolDeclaration,
    /// What a stage of a state machine says of the proposal.
    envelope: Option<StageEnvelope<'a>>,
}

/// A case that was won: what was approved, and for exactly which arguments.
type Won = (Option<String>, ArgsDigest);

impl Bench<'_> {
    /// The call as it is judged and run: held to the schema and, if it opens a child session, with everything settled
    /// that an approval of it is about. `again` if a transform has changed what was prepared.
    fn prepare<'c>(&self, call: &'c Proposal, again: bool) -> Judgement<Cow<'c, Proposal>> {
        let (session, plugins) = (self.work.turn.session(), self.work.turn.plugins());
        if !self.giver.opens_children(&session.desk().terms.carried) {
            return match self.fits(&call.args) {
                Ok(()) => Ok(Cow::Borrowed(call)),
                Err(error) => Err(self.fail(call, FailureReason::SchemaViolation, error)),
            };
        }
        let mut call = call.clone();
        // Only core says how deep a child is.
        if let Some(args) = call.args.as_object_mut().filter(|_| again) {
            args.remove("depth");
        }
        if let Err(error) = self.fits(&call.args) {
            return Err(self.fail(&call, FailureReason::SchemaViolation, error));
        }
        match preflight(session, &plugins, &call.args) {
            Ok(Preflight::Ready(args)) => Ok(Cow::Owned(Proposal { args, ..call })),
            Ok(Preflight::Answered(result)) => Err(Stop::Answered(Output::from(result))),
            Err(error) => Err(self.fail(&call, FailureReason::PreflightDenied, error)),
        }
    }

    /// The gate and the guards, for one set of arguments. A call that may not run has its result.
    async fn try_case(&self, call: &Proposal) -> Judgement<Won> {
        let digest = ArgsDigest::of(call);
        let key = match self.key(call).await {
            Ok(key) => key,
            Err(Stop::Refused(error)) => return Err(self.fail(call, keyless(&error), error)),
            Err(Stop::TurnEnds(end)) => return Err(self.end(call, None, end)),
            Err(answered @ Stop::Answered(_)) => return Err(answered),
        };
        let session = self.work.turn.session();
        let (mode, tool) = (session.facts().mode, &self.tool.name);
        let is_read = self.envelope.is_none()
            && session
                .rules()
                .is_unasked_read(mode, tool, self.giver.is_bundled());
        let of_child = session.envelope();
        let is_in_envelope = of_child.is_some_and(|envelope| envelope.holds(tool, self.giver));
        let verdict = match (&self.envelope, &key) {
            (Some(envelope), _) => envelope.judge(self.work, call).await,
            (None, None) => Ok(None),
            (None, Some(_)) if is_in_envelope || is_read => Ok(None),
            (None, Some(key)) => self.gate(call, key).await,
        };
        let mut no = verdict.map_err(|end| self.end(call, key.as_deref(), end))?;
        if no.is_none() {
            let passage = self.work.passage(Slot::ToolCallPre);
            let denial = self.work.hooks().guard(passage, &payload(call)).await;
            let denial = denial.map_err(|end| self.end(call, key.as_deref(), end))?;
            no = denial.map(|denial| No {
                source: "guard",
                code: denial.code,
                reason: match denial.reason {
                    reason if reason.is_empty() => format!("`{}` said no", denial.ext_id),
                    reason => reason,
                },
                context: denial.context,
            });
        }
        match no {
            None => {
                let source = match &self.envelope {
                    Some(envelope) => Some(envelope.source(&call.tool_name)),
                    None if key.is_none() => None,
                    None if is_in_envelope => Some("subagent-envelope"),
                    None if is_read => Some("read-only"),
                    None => Some("mode-gate"),
                };
                if let Some(source) = source {
                    let key = key.as_deref().unwrap_or_default();
                    self.audit(call, key, "approve", source, None);
                }
                Ok((key, digest))
            }
            Some(no) => Err(Stop::Refused(self.deny(call, key.as_deref(), no))),
        }
    }

    /// The call may not run, which is on record.
    fn deny(&self, call: &Proposal, key: Option<&str>, no: No) -> Error {
        let key = key.unwrap_or_default();
        self.audit(call, key, "deny", no.source, Some(&no.code));
        self.refuse(call, key, no)
    }

    /// The call failed before it started, and subscribers are told.
    fn fail(&self, call: &Proposal, reason: FailureReason, error: Error) -> Stop {
        let failure = ToolFailure::before_start(reason, &error);
        failure.publish(&self.work.voice, call);
        Stop::Refused(error)
    }

    /// The turn ends while the call is judged.
    fn end(&self, call: &Proposal, key: Option<&str>, end: Error) -> Stop {
        self.audit_end(call, key, &end);
        Stop::TurnEnds(end)
    }

    fn fits(&self, args: &Value) -> Result<()> {
        if schema::plainly_fits(&self.tool.input_schema, args) {
            return Ok(());
        }
        // A schema that does not compile was refused with the manifest.
        let Some(validator) = self.giver.validator(self.tool) else {
            return Ok(());
        };
        let Some(error) = validator.iter_errors(args).next() else {
            return Ok(());
        };
        let (place, problem) = (schema::place(&error), schema::problem(&error));
        let code = &codes::INPUT_INVALID;
        let message = format!("the arguments do not fit at `{place}`: {problem}");
        Err(Error::new(code.class, code.name, message).with("fieldPath", place))
    }

    /// What an approval of the call would cover; nothing for a tool that needs none.
    async fn key(&self, call: &Proposal) -> Judgement<Option<String>> {
        if !self.tool.gated {
            return Ok(None);
        }
        let key = self.derive(call).await?;
        match check_key(&key) {
            Ok(()) => Ok(Some(key)),
            Err(error) => Err(Stop::Refused(error.with("toolId", self.tool.name.as_str()))),
        }
    }

    /// Asks the tool; a stranger's on a thread of its own, because its code may block or never come back.
    async fn derive(&self, call: &Proposal) -> Judgement<String> {
        let voice = &self.work.voice;
        let (giver, call) = (self.giver.clone(), call.clone());
        let code_origin = giver.code_origin();
        let derived =
            code_origin.drive(async move { giver.approval_key(&call.tool_name, &call.args) });
        let derived = async { derived.await.unwrap_or_else(|| Err(closed())) };
        let session = voice.session();
        let limit = session.rules().hook;
        let timed = with_timeout(&**session.timer(), limit, derived);
        let derived = executor::or_cancelled(voice.cancelled(), timed).await;
        let derived = derived.ok_or_else(|| voice.called_off())?;
        let derived = derived.unwrap_or_else(|| {
            let code = &codes::EXECUTION_TIMEOUT;
            let message = format!("it did not come back within {} ms", limit.as_millis());
            Err(Error::new(code.class, code.name, message))
        });
        derived.map_err(|error| Stop::Refused(self.underivable(error)))
    }

    /// A tool may refuse a call by itself before anyone is asked. Anything else is a fault of the tool.
    fn underivable(&self, error: Error) -> Error {
        if error.class() == Class::ToolTerminal.as_str() {
            return error;
        }
        let code = &codes::APPROVAL_KEY_DERIVATION_FAILED;
        let message = format!(
            "`{}` could not say what an approval would cover: {}",
            self.tool.name,
            error.message()
        );
        Error::new(code.class, code.name, message)
            .with("toolId", self.tool.name.as_str())
            .with("extId", self.giver.ext_id())
    }

    /// The session's mode, what was approved before, or the person. Gives the no, if there is one.
    async fn gate(&self, call: &Proposal, key: &str) -> Result<Option<No>> {
        let session = self.work.turn.session();
        let rules = session.rules();
        let asked = Asked {
            tool: &self.tool.name,
            key,
            coverage: self.tool.approval_coverage,
            args: Some(&call.args),
            workspace: rules.approvals.workspace(),
        };
        let mode = session.facts().mode;
        let may_run = rules.is_preapproved(mode, asked).unwrap_or_else(|error| {
            // What cannot be read approves nothing. The person is asked and told.
            let reason = "approvals of the project do not count";
            session
                .books()
                .suppress(reason, self.work.turn.id(), &error);
            false
        });
        if may_run {
            return Ok(None);
        }
        match mode {
            SecurityMode::Allowlist => {
                let near = rules.approvals.allowlist().near(asked);
                Ok(Some(not_listed(asked, near)))
            }
            SecurityMode::Ask | SecurityMode::Yolo => self.ask(call, asked).await,
        }
    }

    async fn ask(&self, call: &Proposal, asked: Asked<'_>) -> Result<Option<No>> {
        let session = self.work.turn.session();
        let approvals = &session.rules().approvals;
        let mut description = format!("{} {}", call.tool_name, summary(&call.args));
        let reason = approvals.near_miss(asked);
        if let Some(near) = &reason {
            description = format!("{description}\n{near}");
        }
        let payload = Payload::from(Approve {
            tool_id: asked.tool.to_owned(),
            approval_key: asked.key.to_owned(),
            description,
            approval_scopes: Some(approvals.scopes()),
            tool_call_id: Some(call.tool_call_id.clone()),
            args: Some(call.args.clone()),
            reason,
            scopes: approvals.offers(asked),
            ..Approve::default()
        });
        let cancelled = self.work.voice.cancelled().clone();
        let about = Some(call.tool_call_id.as_str());
        let response = session.ask_about(about, None, cancelled, payload.clone());
        let response = response
            .await
            .map_err(|error| say_what_helps(error, asked))?;
        let answer = match response.answer(&payload)? {
            Some(Answer::Approve(answer)) if answer.decision == Decision::Approve => answer,
            _ => {
                let own = response.reason.filter(|reason| !reason.trim().is_empty());
                return Ok(Some(No {
                    source: "mode-gate",
                    code: "AskRefused".to_owned(),
                    reason: own
                        .unwrap_or_else(|| format!("the person did not allow `{}`", asked.tool)),
                    ..No::default()
                }));
            }
        };
        let scope = match (answer.allow_once, answer.scope) {
            (Some(true), _) => ApprovalScope::Once,
            (_, Some(scope)) => scope,
            (_, None) => ApprovalScope::Session,
        };
        if let Err(error) = approvals.remember(asked, scope) {
            // The yes stands, and holds for as long as it can be kept.
            let reason = "the approval applies to this session only";
            session
                .books()
                .suppress(reason, self.work.turn.id(), &error);
            approvals.remember(asked, ApprovalScope::Session)?;
        }
        if scope != ApprovalScope::Once {
            session.metrics().tool_allowed(asked.tool, asked.key);
        }
        session.escalated(asked.tool, asked.key);
        Ok(None)
    }

    /// Lets transforms change the arguments. Everything else about the call is settled.
    async fn transform(&self, proposal: &Proposal) -> Result<Proposal> {
        let slot = Slot::ToolCallPre;
        let passage = self.work.passage(slot);
        let mut passed = self
            .work
            .hooks()
            .transform(passage, payload(proposal))
            .await?;
        let Some(args) = passed.get_mut("args").map(Value::take) else {
            let missing = serde::de::Error::missing_field("args");
            return Err(misshapen(slot, &missing));
        };
        Ok(Proposal {
            args,
            ..proposal.clone()
        })
    }

    fn refuse(&self, call: &Proposal, key: &str, no: No) -> Error {
        let code = &codes::APPROVAL_DENIED;
        let error = Error::new(code.class, code.name, no.reason);
        let said = no.context.into_iter();
        let error = said
            .fold(error, |error, (key, value)| error.with(&key, value))
            .with("toolId", self.tool.name.as_str())
            .with("approvalKey", key)
            .with("source", no.source)
            .with("code", no.code);
        tell_cancelled(self.work, call, ToolCancelReason::ApprovalDenied);
        let failure = ToolFailure::before_start(FailureReason::ApprovalDenied, &error);
        failure.record(&self.work.voice, call);
        error
    }

    /// A turn that ends while a call is judged. The missing interactor is recorded already.
    fn audit_end(&self, call: &Proposal, key: Option<&str>, end: &Error) {
        let key = key.unwrap_or_default();
        if end.class() == Class::Cancellation.as_str() {
            let mut record = self.record(call, key, "cancelled");
            record["source"] = Value::Null;
            self.work
                .voice
                .audit("Approval", Some("ToolApproval"), record);
        } else if end.code() == codes::HOOK_GUARD_FAILED.name {
            // A guard that fails has not said yes.
            let code = codes::HOOK_GUARD_FAILED.name;
            self.audit(call, key, "deny", "guard", Some(code));
        }
    }

    fn audit(&self, call: &Proposal, key: &str, decision: &str, source: &str, code: Option<&str>) {
        let mut record = self.record(call, key, decision);
        record["source"] = source.into();
        if let Some(code) = code {
            record["code"] = code.into();
        }
        self.work
            .voice
            .audit("Approval", Some("ToolApproval"), record);
    }

    fn record(&self, call: &Proposal, key: &str, decision: &str) -> Value {
        let binding = self
            .envelope
            .as_ref()
            .map(|envelope| envelope.binding(call));
        let binding = binding.as_ref();
        json!({
            "decision": decision,
            "toolId": self.tool.name,
            "approvalKey": key,
            "toolCallId": call.tool_call_id,
            "stageExecutionId": binding.map(|binding| &binding.stage_execution_id),
            "attempt": binding.map(|binding| binding.attempt),
            "proposalId": binding.map(|binding| &binding.proposal_id),
            "argsDigest": args_digest(&call.args),
        })
    }
}

/// What the record says of a call that has no approval key: its arguments lead where the tool does not go, the tool
/// refuses it for another reason, or the tool is at fault.
fn keyless(error: &Error) -> FailureReason {
    let is = |code: &Code| error.is(code.class, code.name);
    if is(&codes::APPROVAL_KEY_INVALID) || is(&codes::APPROVAL_KEY_DERIVATION_FAILED) {
        FailureReason::ApprovalKeyFailed
    } else if is(&codes::TOOL_FORBIDDEN) || is(&codes::INPUT_INVALID) {
        FailureReason::NormalizeFailed
    } else {
        FailureReason::PreflightDenied
    }
}

/// Without an interactor, the error says what would have let the call run.
fn say_what_helps(error: Error, asked: Asked<'_>) -> Error {
    let code = &codes::HEADLESS_INTERACTION_REQUIRED;
    if !error.is(code.class, code.name) {
        return error;
    }
    let entries = wanted(asked);
    let (tool, key) = (asked.tool, asked.key);
    let flags = entries.iter().map(|entry| {
        let entry = entry.replace('\'', r"'\''");
        format!("--allow-tool '{entry}'")
    });
    let flags = flags.collect::<Vec<_>>().join(" ");
    let run = if entries.is_empty() {
        "no `--allow-tool` can let this line run, because it is more than plain commands; `--yolo` can".to_owned()
    } else {
        format!("`{flags}` would let this call run")
    };
    let message = format!(
        "{}; {run}, and so would a grant of `{tool}` for `{key}` that is given in a terminal for good",
        error.message()
    );
    let told = Error::new(code.class, code.name, message);
    let context = error.context().iter();
    context
        .fold(told, |told, (key, value)| told.with(key, value.clone()))
        .with("allowTool", entries)
        .with("approvalKey", key)
        .with("toolId", tool)
}

fn not_listed(asked: Asked<'_>, near: Option<&str>) -> No {
    let near = match near {
        Some(near) => format!("; the nearest entry is `{near}`"),
        None => String::new(),
    };
    let entries = wanted(asked);
    let help = match &entries[..] {
        [] => "; no entry allows a line that is more than plain commands".to_owned(),
        [one] => format!("; the entry `{one}` would allow it"),
        several => format!("; the entries `{}` would allow it", several.join("`, `")),
    };
    No {
        source: "mode-gate",
        code: "NotOnAllowlist".to_owned(),
        reason: format!("`{}` is not on the allowlist{near}{help}", asked.key),
        ..No::default()
    }
}
