//! `COMPOSE_REQUEST`: the conversation and the tools there are, as one request.

use serde_json::{Map, Value, json};
use stud_contract_hook::Slot;
use stud_contract_meta::{Kind, Result};
use stud_contract_provider::{Content, Message, Part, Request, Role, ToolSpec};

use super::prior::{Prior, settle};
use super::{Work, misshapen};
use crate::session::Turn;
use crate::validate::Members;

/// The request of this moment.
pub(super) async fn compose(work: &Work, iteration: u32) -> Result<Request> {
    let mut messages = history(&work.turn);
    let prior = || json!({"prior": Prior::of(&messages), "iteration": iteration});
    let slot = Slot::ComposeRequestPre;
    if let Some(mut passed) = work.pass(slot, prior).await? {
        let prior = passed.get_mut("prior").map(Value::take);
        let prior: Prior = serde_json::from_value(prior.unwrap_or_default())
            .map_err(|error| misshapen(slot, &error))?;
        prior.put(&mut messages);
    }
    let request = assemble(work, messages);
    let slot = Slot::ComposeRequestPost;
    match work.pass(slot, || json!(request)).await? {
        None => Ok(request),
        Some(passed) => serde_json::from_value(passed).map_err(|error| misshapen(slot, &error)),
    }
}

fn assemble(work: &Work, messages: Vec<Message>) -> Request {
    Request {
        messages,
        tools: tool_specs(&work.turn),
        model_id: work.model.model_id.clone(),
        ..Request::default()
    }
}

/// The conversation as a provider takes it.
fn history(turn: &Turn) -> Vec<Message> {
    let kept = turn.session().conversation().into_iter();
    let mut messages = kept.filter_map(|kept| message(turn, kept)).collect();
    settle(&mut messages);
    messages
}

fn tool_specs(turn: &Turn) -> Vec<ToolSpec> {
    let mut specs = Vec::new();
    for plugin in turn.plugins().of_kind(Kind::Tool) {
        let Members::Tool(members) = &*plugin.identity().members else {
            continue;
        };
        specs.extend(members.tools.iter().map(|tool| ToolSpec {
            name: tool.name.clone(),
            description: tool.description.clone(),
            parameters: tool.input_schema.clone(),
        }));
    }
    specs
}

/// A message of the conversation as a provider takes it.
///
/// No secret reaches a model, whatever a tool said, unless the person typed it.
fn message(turn: &Turn, mut kept: Map<String, Value>) -> Option<Message> {
    let role = kept.get("role")?.as_str()?.to_owned();
    let content = kept.get_mut("content")?;
    if role != "user" {
        turn.session().books().redactor.redact(content);
    }
    let text = |member: &str| content[member].as_str().unwrap_or_default().to_owned();
    let (role, content) = match role.as_str() {
        "user" => (Role::User, Content::Text(content.as_str()?.to_owned())),
        "assistant" => (Role::Assistant, spoken(content)),
        "tool" => {
            let result = Part::ToolResult {
                tool_call_id: text("toolCallId"),
                tool_name: text("toolName"),
                content: text("content"),
            };
            (Role::Tool, Content::Parts(vec![result]))
        }
        _ => return None,
    };
    Some(Message { role, content })
}

fn spoken(content: &Value) -> Content {
    let text = content["text"].as_str().unwrap_or_default();
    let calls = content["toolCalls"]
        .as_array()
        .map_or(&[][..], Vec::as_slice);
    if calls.is_empty() {
        return text.into();
    }
    let said = (!text.is_empty()).then(|| Part::Text {
        text: text.to_owned(),
    });
    let calls = calls.iter().map(|call| Part::ToolCall {
        tool_call_id: call["toolCallId"].as_str().unwrap_or_default().to_owned(),
        tool_name: call["toolName"].as_str().unwrap_or_default().to_owned(),
        args: call["args"].clone(),
    });
    said.into_iter().chain(calls).collect::<Vec<_>>().into()
}
