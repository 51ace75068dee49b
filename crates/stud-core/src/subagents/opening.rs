//! Opening a child: a person is asked about its tools, and then it does its task and ends.

use std::sync::{Arc, Weak};

use serde_json::Value;
use stud_abi::CancellationSource;
use stud_contract_interaction::{
    Answer, ApproveSubagentEnvelope, EnvelopeOutcome, InteractionKind, ModelRef, Payload, Response,
};
use stud_contract_meta::{Error, Result};
use stud_diagnostics::{Class, codes};
use stud_host_api::events::{SubagentEnvelopeApproved, SubagentSpawned};
use stud_host_api::refusal::{self, Phase};
use stud_host_api::session::{AbortReason, ChildOutcome, OpenChild};

use super::preflight::{CheckedRequest, check, names};
use crate::executor;
use crate::ids;
use crate::ledger::closed;
use crate::session::{
    Child, ChildBirth, ChildEnd, ChildRunner, ChildState, Ending, Envelope, Session, child_books,
    tell,
};
use crate::tool_registry::DELEGATE;

/// How much of a task is shown where a person decides.
const SUMMARY: usize = 120;

/// Why a prompt had no answer, in the words of the result.
const HEADLESS: &str = "headless without --yolo";

/// Opens a child of `parent` for the call of `delegate` that is running there, and waits for the child's end.
///
/// Dropping the returned future cancels the child.
pub(crate) async fn open(parent: Arc<Session>, asked: OpenChild) -> Result<ChildOutcome> {
    let not_ready = || refusal::not_ready("session", Phase::Active);
    let plugins = parent.plugins();
    let scope = parent.tool_scope(DELEGATE).ok_or_else(not_ready)?.child();
    let runner = parent.subagents().runner().ok_or_else(not_ready)?;
    let checked = match check(&parent, &plugins, &asked)? {
        Ok(checked) => checked,
        Err(refusal) => return Ok(refusal.outcome()),
    };
    let opening = ChildOpening {
        child: entry(&parent, &asked, &checked, &scope),
        call: parent.polled_call(),
        parent,
        asked,
        checked,
        runner,
    };
    // The call may be dropped at any moment; the child still gets its end, on a thread of its own.
    let cancel = CancelOnDrop(Some(scope));
    let outcome = executor::spawn_future(opening.run()).await;
    cancel.disarm();
    outcome.unwrap_or_else(|| Err(closed()))
}

/// Cancels a child that its caller no longer waits for.
struct CancelOnDrop(Option<CancellationSource>);

impl CancelOnDrop {
    fn disarm(mut self) {
        self.0 = None;
    }
}

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        if let Some(scope) = self.0.take() {
            scope.cancel();
        }
    }
}

fn entry(
    parent: &Session,
    asked: &OpenChild,
    checked: &CheckedRequest,
    scope: &CancellationSource,
) -> Child {
    let subagent_id = ids::fresh();
    Child {
        parent_session_id: parent.id().to_owned(),
        depth: checked.depth,
        label: asked.label.clone(),
        model: checked.model.clone(),
        requested_envelope: names(&checked.tools),
        state: ChildState::Requested,
        books: child_books(parent, &subagent_id, checked.depth),
        correlation_id: parent.correlation_id(),
        scope: scope.clone(),
        session: Weak::new(),
        subagent_id,
    }
}

/// A child on its way.
struct ChildOpening {
    parent: Arc<Session>,
    /// The call of `delegate`, if it is known.
    call: Option<String>,
    asked: OpenChild,
    checked: CheckedRequest,
    child: Child,
    runner: Arc<dyn ChildRunner>,
}

/// Gives a child its end if nothing else has: what opened it has panicked.
struct EndOnDrop<'a> {
    parent: &'a Session,
    subagent_id: &'a str,
}

impl Drop for EndOnDrop<'_> {
    fn drop(&mut self) {
        let end = ChildEnd::Aborted(AbortReason::Crash);
        self.parent.end_child(self.subagent_id, &end);
    }
}

/// What a person decided about the tools.
enum EnvelopeDecision {
    Approved(Option<String>),
    Ended(ChildOutcome, Option<ChildEnd>),
}

impl ChildOpening {
    async fn run(self) -> Result<ChildOutcome> {
        let Self {
            parent,
            call,
            asked,
            checked,
            child,
            runner,
        } = self;
        let subagents = parent.subagents();
        subagents.enter(child.clone());
        let id = child.subagent_id.as_str();
        let _end = EndOnDrop {
            parent: &parent,
            subagent_id: id,
        };
        subagents.is_now(id, ChildState::EnvelopeApproval);
        let note = match decide(&parent, call.as_deref(), &asked, &child).await {
            EnvelopeDecision::Approved(note) => note,
            EnvelopeDecision::Ended(outcome, end) => {
                match end {
                    Some(end) => parent.end_child(id, &end),
                    None => subagents.forget(id),
                };
                return Ok(outcome);
            }
        };
        if child.scope.token().is_cancelled() {
            return Ok(aborted(&parent, &child, AbortReason::ParentCancel, None));
        }
        spawned(&child, note);
        subagents.is_now(id, ChildState::Spawned);
        let session = parent.open_child(ChildBirth {
            books: child.books.clone(),
            depth: checked.depth,
            envelope: Envelope::of(checked.tools),
            model: checked.model.clone(),
            params: checked.params,
            scope: child.scope.clone(),
            plugins: parent.plugins(),
        });
        subagents.opened(id, &session);
        let input = match session.take_task(&asked.prompt).await {
            Ok(input) => input,
            Err(error) => {
                let why = Some(told(&parent, &error));
                return Ok(aborted(&parent, &child, AbortReason::ProviderFailure, why));
            }
        };
        subagents.is_now(id, ChildState::Running);
        let (text, ending) = runner.run(session.clone(), checked.model, input).await;
        let outcome = over(&parent, &child, text, ending);
        // Until its end is on record it is asked for what it has used.
        drop(session);
        Ok(outcome)
    }
}

/// Asks about the tools of a child.
async fn decide(
    parent: &Arc<Session>,
    call: Option<&str>,
    asked: &OpenChild,
    child: &Child,
) -> EnvelopeDecision {
    let payload = Payload::from(ApproveSubagentEnvelope {
        subagent_id: child.subagent_id.clone(),
        parent_session_id: child.parent_session_id.clone(),
        depth: child.depth,
        requested_envelope: child.requested_envelope.clone(),
        prompt_summary: summary(&parent.redacted(&asked.prompt)),
        model: ModelRef {
            provider_id: child.model.provider_id.clone(),
            model_id: child.model.model_id.clone(),
        },
        label: child.label.clone(),
    });
    let raised = parent.ask_about(call, None, child.scope.token(), payload.clone());
    let denied = |note: Option<String>, reason| {
        let outcome = ChildOutcome::Rejected {
            subagent_id: child.subagent_id.clone(),
            note: note.clone(),
        };
        EnvelopeDecision::Ended(outcome, Some(ChildEnd::Denied { note, reason }))
    };
    match raised.await.and_then(|response| read(&response, &payload)) {
        Ok((true, note)) => EnvelopeDecision::Approved(note),
        Ok((false, note)) => denied(note, "user-denied"),
        Err(error) if error.class() == Class::Cancellation.as_str() => {
            let reason = AbortReason::ParentCancel;
            let outcome = ChildOutcome::Aborted {
                subagent_id: Some(child.subagent_id.clone()),
                reason,
                detail: None,
            };
            EnvelopeDecision::Ended(outcome, Some(ChildEnd::Aborted(reason)))
        }
        Err(error) if is_halt(&error) => EnvelopeDecision::Ended(halted(child, &error).0, None),
        Err(error) => {
            let note = told(parent, &error);
            denied(Some(note), "interactor-error")
        }
    }
}

/// Whether a person said yes, and what they had to say.
fn read(response: &Response, payload: &Payload) -> Result<(bool, Option<String>)> {
    let said = |note: Option<String>| note.filter(|note| !note.trim().is_empty());
    Ok(match response.answer(payload)? {
        Some(Answer::ApproveSubagentEnvelope(answer)) => {
            let is_yes = answer.outcome == EnvelopeOutcome::Approve;
            (is_yes, said(answer.note))
        }
        _ => (false, said(response.reason.clone())),
    })
}

/// The beginning of a task, for the prompt.
fn summary(prompt: &str) -> String {
    match prompt.char_indices().nth(SUMMARY) {
        Some((cut, _)) => format!("{}…", &prompt[..cut]),
        None => prompt.to_owned(),
    }
}

/// Puts on record that the child may begin, and with what.
fn spawned(child: &Child, note: Option<String>) {
    let envelope = &child.requested_envelope;
    let approved = SubagentEnvelopeApproved {
        approved_envelope: envelope.clone(),
        depth: child.depth,
        label: child.label.clone(),
        model_id: child.model.model_id.clone(),
        note: note.clone(),
        parent_session_id: child.parent_session_id.clone(),
        provider_id: child.model.provider_id.clone(),
        requested_envelope: envelope.clone(),
        subagent_id: child.subagent_id.clone(),
    };
    let spawned = SubagentSpawned {
        approved_envelope: approved.approved_envelope.clone(),
        depth: approved.depth,
        label: approved.label.clone(),
        model_id: approved.model_id.clone(),
        note,
        parent_session_id: approved.parent_session_id.clone(),
        provider_id: approved.provider_id.clone(),
        requested_envelope: approved.requested_envelope.clone(),
        subagent_id: approved.subagent_id.clone(),
    };
    tell(child, &approved);
    tell(child, &spawned);
}

/// How the turn of a child ended, as its parent is told of it. It is on record before.
fn over(parent: &Session, child: &Child, text: String, ending: Ending) -> ChildOutcome {
    let subagent_id = child.subagent_id.clone();
    let (outcome, end) = match ending {
        Ending::Completed => {
            let outcome = ChildOutcome::Completed {
                transcript_ref: format!("subagent:{subagent_id}"),
                subagent_id,
                result: text.clone(),
            };
            (outcome, ChildEnd::Completed(text))
        }
        Ending::Cancelled => return aborted(parent, child, AbortReason::ParentCancel, None),
        Ending::Halted(error) => {
            let (outcome, end) = halted(child, &error);
            (outcome, end)
        }
        Ending::Failed(error) => {
            let why = Some(told(parent, &error));
            return aborted(parent, child, AbortReason::ProviderFailure, why);
        }
    };
    if parent.end_child(&child.subagent_id, &end) {
        outcome
    } else {
        // The session ended first, and that is on record.
        cancelled(child)
    }
}

fn aborted(
    parent: &Session,
    child: &Child,
    reason: AbortReason,
    detail: Option<String>,
) -> ChildOutcome {
    if !parent.end_child(&child.subagent_id, &ChildEnd::Aborted(reason)) {
        return cancelled(child);
    }
    ChildOutcome::Aborted {
        subagent_id: Some(child.subagent_id.clone()),
        reason,
        detail,
    }
}

fn cancelled(child: &Child) -> ChildOutcome {
    ChildOutcome::Aborted {
        subagent_id: Some(child.subagent_id.clone()),
        reason: AbortReason::ParentCancel,
        detail: None,
    }
}

fn is_halt(error: &Error) -> bool {
    let code = &codes::HEADLESS_INTERACTION_REQUIRED;
    error.is(code.class, code.name)
}

/// A child that needed an answer which no interactor could give.
fn halted(child: &Child, error: &Error) -> (ChildOutcome, ChildEnd) {
    let fact = |name: &str| error.context().get(name).and_then(Value::as_str);
    let request_kind = fact("requestKind").and_then(|word| word.parse().ok());
    let request_kind = request_kind.unwrap_or(InteractionKind::Approve);
    let correlation_id = fact("correlationId")
        .unwrap_or(&child.correlation_id)
        .to_owned();
    let outcome = ChildOutcome::Halted {
        subagent_id: child.subagent_id.clone(),
        request_kind,
        correlation_id: correlation_id.clone(),
        reason: HEADLESS.to_owned(),
    };
    let end = ChildEnd::Halted {
        request_kind,
        correlation_id,
    };
    (outcome, end)
}

/// What went wrong, for the model of the parent.
fn told(parent: &Session, error: &Error) -> String {
    let text = format!("{}/{}: {}", error.class(), error.code(), error.message());
    parent.redacted(&text).into_owned()
}
