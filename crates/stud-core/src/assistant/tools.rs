//! Running a tool that the model proposes: is it there, do the arguments fit, may it run, what did it give.

use std::sync::Arc;
use std::time::Instant;

use serde_json::{Value, json};
use stud_contract_interaction::{Answer, ApprovalScope, Approve, Decision, Payload};
use stud_contract_meta::{Error, Result};
use stud_contract_tool::{Envelope, Output, ToolDeclaration};
use stud_diagnostics::codes;
use stud_host_api::session::SecurityMode;

use super::exchange::{Proposal, told};
use super::{millis_since, unless_cancelled};
use crate::activate::{Active, Running};
use crate::ledger::closed;
use crate::metrics::Outcome;
use crate::session::Turn;
use crate::validate::{Members, schema};
use crate::work;

/// Serves one proposal. Only what ends the turn is an error; everything else goes back to the model.
pub(super) async fn serve(turn: &Turn, proposal: Proposal) -> Result<()> {
    let served = match find(turn, &proposal) {
        Ok((plugin, tool)) => run(turn, &plugin, &tool, &proposal).await,
        Err(error) => {
            cancelled(turn, &proposal, "tool-not-available");
            Ok(Err(error))
        }
    };
    let concluded = match &served {
        Ok(result) => conclude(turn, &proposal, result.as_ref()).await,
        Err(error) => conclude(turn, &proposal, Err(error)).await,
    };
    served.map(drop).and(concluded)
}

/// Leaves out a proposal that the turn did not come to.
pub(super) async fn leave_out(turn: &Turn, proposal: Proposal, why: &Error) -> Result<()> {
    cancelled(turn, &proposal, "session-cancelled");
    conclude(turn, &proposal, Err(why)).await
}

/// Writes down what came of a proposal. Each has its result, because no model goes on from one that has none.
async fn conclude(
    turn: &Turn,
    proposal: &Proposal,
    result: std::result::Result<&Value, &Error>,
) -> Result<()> {
    let content = match result {
        Ok(value) => json!({"ok": true, "result": value}),
        Err(error) => json!({"ok": false, "error": told(error)}),
    };
    let payload = json!({
        "toolCallId": proposal.tool_call_id,
        "toolName": proposal.tool_name,
        "content": content.to_string(),
    });
    turn.record("tool_result", Some("tool"), payload).await?;
    Ok(())
}

fn find(turn: &Turn, proposal: &Proposal) -> Result<(Arc<Active>, ToolDeclaration)> {
    let plugin = turn.plugins().tool(&proposal.tool_name).cloned();
    let declared = plugin
        .as_ref()
        .and_then(|plugin| match &*plugin.identity().members {
            Members::Tool(members) => members
                .tools
                .iter()
                .find(|tool| tool.name == proposal.tool_name)
                .cloned(),
            _ => None,
        });
    plugin.zip(declared).ok_or_else(|| {
        let code = &codes::TOOL_NOT_REGISTERED;
        let message = format!("there is no tool `{}`", proposal.tool_name);
        Error::new(code.class, code.name, message).with("toolName", proposal.tool_name.as_str())
    })
}

async fn run(
    turn: &Turn,
    plugin: &Arc<Active>,
    tool: &ToolDeclaration,
    proposal: &Proposal,
) -> Result<Result<Value>> {
    if let Err(error) = fits(tool, &proposal.args) {
        failed(turn, proposal, 0, &error);
        return Ok(Err(error));
    }
    if let Err(error) = allowed(turn, plugin, tool, proposal).await? {
        cancelled(turn, proposal, "approval-denied");
        return Ok(Err(error));
    }
    execute(turn, plugin, proposal).await
}

fn fits(tool: &ToolDeclaration, args: &Value) -> Result<()> {
    // A schema that does not compile was refused with the manifest.
    let Ok(validator) = schema::build(&tool.input_schema) else {
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

/// Whether the call may run: a gated tool is asked about, unless the session's mode says otherwise.
async fn allowed(
    turn: &Turn,
    plugin: &Arc<Active>,
    tool: &ToolDeclaration,
    proposal: &Proposal,
) -> Result<Result<()>> {
    let session = turn.session();
    if !tool.gated || session.facts().mode == SecurityMode::Yolo {
        return Ok(Ok(()));
    }
    let approval_key = approval_key(plugin, proposal)?;
    let payload = Payload::from(Approve {
        tool_id: tool.name.clone(),
        approval_key: approval_key.clone(),
        description: format!("{} {}", tool.name, summary(&proposal.args)),
        // Nothing remembers an approval, so none is offered that would have to be.
        approval_scopes: Some(vec![ApprovalScope::Once]),
    });
    let response = session.ask(None, turn.cancelled(), payload.clone()).await?;
    let approved = matches!(
        response.answer(&payload)?,
        Some(Answer::Approve(answer)) if answer.decision == Decision::Approve
    );
    let decision = if approved { "approve" } else { "deny" };
    let record = json!({
        "decision": decision,
        "source": "mode-gate",
        "toolId": tool.name,
        "approvalKey": approval_key,
        "proposalId": proposal.tool_call_id,
    });
    session
        .books()
        .audit("Approval", Some("ToolApproval"), turn.id(), record);
    if approved {
        return Ok(Ok(()));
    }
    let code = &codes::APPROVAL_DENIED;
    let message = format!("the person did not allow `{}`", tool.name);
    Ok(Err(
        Error::new(code.class, code.name, message).with("toolId", tool.name.as_str())
    ))
}

fn approval_key(plugin: &Arc<Active>, proposal: &Proposal) -> Result<String> {
    let Running::Tool(instance) = plugin.running() else {
        return Err(plugin.lacks("deriveApprovalKey"));
    };
    let reply = instance.approval_key(&proposal.tool_name, &proposal.args.to_string());
    plugin.read("deriveApprovalKey", reply)
}

async fn execute(turn: &Turn, plugin: &Arc<Active>, proposal: &Proposal) -> Result<Result<Value>> {
    let session = turn.session();
    let ext_id = plugin.identity().ext_id.as_str();
    // The intent comes first: whatever happens now, it is known that the tool may have run.
    turn.record("tool_call", None, proposal.to_value()).await?;
    let started = json!({
        "toolCallId": proposal.tool_call_id,
        "toolName": proposal.tool_name,
        "argsSummary": summary(&proposal.args),
    });
    let books = session.books();
    books.audit(
        "ToolInvocation",
        Some("ToolCallStarted"),
        turn.id(),
        started.clone(),
    );
    turn.publish("ToolInvocationStarted", &started);
    let began = Instant::now();
    let scope = session.scopes().begin_tool(ext_id, &proposal.tool_call_id);
    let cx = turn.call(scope.token(), Some(&proposal.tool_call_id));
    let (called, proposed) = (plugin.clone(), proposal.clone());
    // On a thread of its own, because a tool's code may block or never come back.
    let call = work::elsewhere(async move {
        called
            .execute(&proposed.tool_name, &proposed.args, cx)
            .await
    });
    let call = async { call.await.unwrap_or_else(|| Err(closed())) };
    let done = unless_cancelled(&turn.cancelled(), call).await;
    session.scopes().end_tool(ext_id, &proposal.tool_call_id);
    let duration = millis_since(began);
    let done = done.and_then(Envelope::into_result);
    let returned = done.as_ref().ok().map(Output::value);
    session.tool_is_done(ext_id, &proposal.tool_call_id, returned);
    match done {
        Ok(output) => {
            let payload = json!({
                "toolCallId": proposal.tool_call_id,
                "toolName": proposal.tool_name,
                "durationMs": duration,
            });
            books.audit(
                "ToolInvocation",
                Some("ToolCallSucceeded"),
                turn.id(),
                payload.clone(),
            );
            session
                .metrics()
                .tool_invoked(&proposal.tool_name, Outcome::Succeeded);
            turn.publish("ToolInvocationSucceeded", &payload);
            Ok(Ok(output.into_parts().0))
        }
        Err(error) if turn.cancelled().is_cancelled() => {
            cancelled(turn, proposal, "session-cancelled");
            Err(error)
        }
        // Nobody is there who could be asked, so the turn cannot go on.
        Err(error) if error.code() == codes::HEADLESS_INTERACTION_REQUIRED.name => Err(error),
        Err(error) => {
            failed(turn, proposal, duration, &error);
            Ok(Err(error))
        }
    }
}

fn failed(turn: &Turn, proposal: &Proposal, duration: u64, error: &Error) {
    let payload = json!({
        "toolCallId": proposal.tool_call_id,
        "toolName": proposal.tool_name,
        "durationMs": duration,
        "errorClass": error.class(),
        "errorCode": error.code(),
        "message": error.message(),
    });
    let session = turn.session();
    session.books().audit(
        "ToolInvocation",
        Some("ToolCallFailed"),
        turn.id(),
        payload.clone(),
    );
    session
        .metrics()
        .tool_invoked(&proposal.tool_name, Outcome::Failed);
    turn.publish("ToolInvocationFailed", &payload);
}

fn cancelled(turn: &Turn, proposal: &Proposal, reason: &str) {
    let payload = json!({
        "toolCallId": proposal.tool_call_id,
        "toolName": proposal.tool_name,
        "reason": reason,
    });
    turn.publish("ToolInvocationCancelled", &payload);
}

/// The arguments in one line, for people.
fn summary(args: &Value) -> String {
    const LONGEST: usize = 120;
    let text = args.to_string();
    match text.char_indices().nth(LONGEST) {
        Some((cut, _)) => format!("{}…", &text[..cut]),
        None => text,
    }
}
