//! Which children run, what each waits for, and cancelling one.

use serde_json::{Value, json};
use stud_contract_interaction::Payload;
use stud_contract_meta::{Error, Result};
use stud_diagnostics::codes;

use crate::session::{Child, Session};

/// The children of the tree that have not ended, oldest first.
pub(crate) fn list(session: &Session) -> Value {
    let open = session.prompts().open();
    let agents = session.subagents().all().into_iter().map(|child| {
        let awaits = open.iter().find(|request| {
            let asks = match &request.payload {
                Payload::ApproveSubagentEnvelope(envelope) => Some(&envelope.subagent_id),
                _ => request.subagent_id.as_ref(),
            };
            asks == Some(&child.subagent_id)
        });
        told(&child, awaits.map(|request| request.kind().as_str()))
    });
    json!({"agents": agents.collect::<Vec<_>>()})
}

fn told(child: &Child, awaits: Option<&str>) -> Value {
    json!({
        "subagentId": child.subagent_id,
        "parentSessionId": child.parent_session_id,
        "depth": child.depth,
        "label": child.label,
        "state": child.state.as_str(),
        "awaits": awaits,
        "providerId": child.model.provider_id,
        "modelId": child.model.model_id,
        "envelope": child.requested_envelope,
    })
}

/// Cancels one child and everything below it.
pub(crate) fn cancel(session: &Session, word: &str) -> Result<Value> {
    let children = session.subagents().all();
    let exact = |child: &&Child| child.subagent_id == word;
    let begins = |child: &&Child| !word.is_empty() && child.subagent_id.starts_with(word);
    let mut fitting = children.iter().filter(begins);
    let found = match (children.iter().find(exact), fitting.next(), fitting.next()) {
        (Some(child), _, _) | (None, Some(child), None) => child,
        (None, Some(_), Some(_)) => {
            let message = format!("several subagents have an id that begins with `{word}`");
            return Err(unknown(message, word));
        }
        (None, None, _) => {
            let message = format!("no subagent that runs has an id that begins with `{word}`");
            return Err(unknown(message, word));
        }
    };
    found.scope.cancel();
    Ok(json!({"cancelled": true, "subagentId": found.subagent_id}))
}

fn unknown(message: String, word: &str) -> Error {
    let code = &codes::NOT_FOUND;
    Error::new(code.class, code.name, message).with("subagentId", word)
}
