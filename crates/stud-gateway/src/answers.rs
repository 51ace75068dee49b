//! Answers to prompts: what a client may answer, checked before core sees it.

use std::sync::Arc;

use serde_json::json;
use stud_contract_interaction::{
    Action, ApprovalScope, Payload, Request, Response, Status, UserResponse,
};
use stud_core::executor::block_on;
use stud_diagnostics::codes;

use crate::frame::{CoreAnswer, ToolAnswer};
use crate::live_session::LiveSession;
use crate::refusal::Refusal;
use crate::web_interactor::{EXT_ID, passed_over};

/// A client that only looks on.
pub(crate) fn disabled() -> Refusal {
    let message = "this client has interactive mode disabled; enable it to respond";
    Refusal::new("interaction_disabled", message).coded(&codes::INTERACTOR_NOT_AUTHORIZED)
}

/// Answers the prompt of a tool.
pub(crate) async fn answer_tool(
    live: &Arc<LiveSession>,
    client_id: &str,
    answer: ToolAnswer,
) -> Result<(), Refusal> {
    let Some(request) = live.prompt(&answer.interaction_id) else {
        return settled_or_unknown(live, &answer.interaction_id);
    };
    let response = tool_response(&request, answer)?;
    respond(live, client_id, response).await
}

/// Answers a prompt of any kind, in the words of the Interaction Protocol.
pub(crate) async fn answer_core(
    live: &Arc<LiveSession>,
    client_id: &str,
    answer: CoreAnswer,
) -> Result<(), Refusal> {
    let Some(request) = live.prompt(&answer.interaction_id) else {
        return settled_or_unknown(live, &answer.interaction_id);
    };
    let response = Response {
        status: answer.status,
        value: answer.value,
        reason: answer.reason,
        ..Response::dismissed(&request)
    };
    response.check(&request)?;
    respond(live, client_id, response).await
}

/// A person who types something leaves the prompts of tools that wait for them.
pub(crate) async fn pass_over(live: &Arc<LiveSession>, client_id: &str) {
    let open = live.session.prompts().open();
    let of_tools = open.iter().filter(|request| request.kind().is_of_tools());
    let of_tools: Vec<&Request> = of_tools.collect();
    let ids = of_tools
        .iter()
        .map(|request| request.interaction_id.clone());
    live.interactor.pass_over(ids.collect());
    // Those that wait for their turn are answered when it comes.
    if let Some(current) = of_tools.first() {
        let _ = respond(live, client_id, passed_over(current)).await;
    }
}

fn tool_response(request: &Request, answer: ToolAnswer) -> Result<Response, Refusal> {
    if request.payload.tool_call_id() != Some(answer.call_id.as_str()) {
        return Err(unknown(&answer.interaction_id).with("callId", answer.call_id));
    }
    let (fits, expected): (bool, &[&str]) = match &request.payload {
        Payload::ToolInput(_) => (
            matches!(answer.action, Action::Submit | Action::Cancel),
            &["submit", "cancel"],
        ),
        _ => (
            matches!(
                answer.action,
                Action::Approve | Action::Deny | Action::Cancel
            ),
            &["approve", "deny", "cancel"],
        ),
    };
    if !fits {
        let message = format!("this prompt takes `{}`", expected.join("`, `"));
        return Err(Refusal::new("invalid_interaction_action", message)
            .typed("Validation/InteractionPayloadMismatch")
            .with("expected", json!(expected)));
    }
    let mut value = UserResponse::new(answer.action);
    value.reason = answer.reason;
    match &request.payload {
        Payload::ToolApproval(approval) if answer.action == Action::Approve => {
            let scope = answer.approval_scope.unwrap_or(ApprovalScope::Once);
            if answer.approval_scope.is_some() && !approval.offered().contains(&scope) {
                let message = format!("the scope `{}` was not offered", scope.as_str());
                return Err(Refusal::new("approval_scope_not_offered", message)
                    .typed("Validation/InteractionPayloadMismatch")
                    .with("offered", json!(approval.offered())));
            }
            value.approval_scope = Some(scope);
        }
        Payload::ToolInput(form) if answer.action == Action::Submit => {
            let mut input = answer.input.unwrap_or_default();
            // What belongs to no field was not asked for.
            input.retain(|id, _| form.input_schema.all_fields().any(|field| field.id == *id));
            value.input = Some(input);
        }
        _ => {}
    }
    let response = Response {
        status: Status::Accepted,
        value: Some(json!(value)),
        ..Response::dismissed(request)
    };
    response.check(request)?;
    Ok(response)
}

/// Gives core the answer. When this returns, it has won and is on the disk, or why not.
async fn respond(
    live: &Arc<LiveSession>,
    client_id: &str,
    response: Response,
) -> Result<(), Refusal> {
    let (live, client_id) = (live.clone(), client_id.to_owned());
    let answered = tokio::task::spawn_blocking(move || {
        let prompts = live.session.prompts();
        block_on(prompts.respond_for(EXT_ID, Some(client_id), response))
    });
    match answered.await {
        Ok(answered) => answered.map_err(Refusal::from),
        Err(error) => Err(Refusal::new("internal_error", error.to_string())),
    }
}

/// Why a prompt that is not open cannot be answered.
fn settled_or_unknown(live: &LiveSession, interaction_id: &str) -> Result<(), Refusal> {
    if live.log.is_settled(interaction_id) {
        let message = format!("the prompt `{interaction_id}` was answered already");
        return Err(Refusal::new("interaction_already_answered", message)
            .typed("Session/InteractionAlreadyAnswered")
            .with("interactionId", interaction_id));
    }
    let nothing = Response {
        interaction_id: interaction_id.to_owned(),
        correlation_id: String::new(),
        status: Status::Dismissed,
        value: None,
        reason: None,
    };
    // Core remembers more of them than the transcript tells, such as those that ran out of time.
    let answered = block_on(live.session.prompts().respond(EXT_ID, nothing));
    answered.map_err(Refusal::from)
}

fn unknown(interaction_id: &str) -> Refusal {
    let message = format!("there is no prompt `{interaction_id}`");
    Refusal::new("interaction_not_found", message)
        .typed("Session/InteractionNotFound")
        .with("interactionId", interaction_id)
}
