//! The assistant: answers inputs, one turn after another.
//!
//! A turn asks the model, runs the tools it proposes, and asks again with their results, until the model has nothing
//! more to propose.

use std::sync::Arc;
use std::time::Instant;

use serde_json::{Value, json};
use stud_abi::CancellationToken;
use stud_contract_meta::{Error, Kind, Result};
use stud_contract_provider::{Content, Message, Part, Request, Role, ToolSpec};
use stud_diagnostics::codes;

use crate::activate::Active;
use crate::session::{Ending, Input, Session, Turn};
use crate::validate::Members;

mod exchange;
mod tools;

use exchange::{Exchange, Proposal, exchange};

/// How often a turn may go back to the model.
const CONTINUATIONS: u32 = 50;

/// The model that answers.
#[derive(Debug, Clone)]
pub struct Model {
    /// The provider plugin.
    pub provider_id: String,
    /// What the provider calls the model.
    pub model_id: String,
}

/// What a turn came to.
#[derive(Debug, Clone)]
pub struct Answered {
    /// The model's last words.
    pub text: String,
    /// How the turn ended.
    pub ending: Ending,
}

/// Answers inputs until there are no more.
pub async fn converse(session: &Arc<Session>, model: &Model) -> Result<Option<Answered>> {
    let mut last = None;
    while let Some(input) = session.next_input().await {
        last = Some(answer(session, model, &input).await?);
    }
    Ok(last)
}

/// Answers one input, in a turn of its own.
pub async fn answer(session: &Arc<Session>, model: &Model, input: &Input) -> Result<Answered> {
    let turn = session.begin_turn(input)?;
    let worked = work(&turn, model).await;
    let (text, ending, cap_hit) = match worked {
        Ok(Some(text)) => (text, Ending::Completed, false),
        Ok(None) => (String::new(), Ending::Completed, true),
        Err(error) => (String::new(), Ending::of(error), false),
    };
    turn.end(&ending, cap_hit).await?;
    Ok(Answered { text, ending })
}

/// Goes back and forth between model and tools. Nothing if that does not come to an end by itself.
async fn work(turn: &Turn, model: &Model) -> Result<Option<String>> {
    let provider = provider(turn, &model.provider_id)?;
    for iteration in 0..=CONTINUATIONS {
        let request = compose(turn, model);
        let said = exchange(turn, &provider, model, request, iteration).await?;
        remember(turn, &said).await?;
        if said.proposals.is_empty() {
            return Ok(Some(said.text));
        }
        let mut proposals = said.proposals.into_iter();
        while let Some(proposal) = proposals.next() {
            if let Err(end) = tools::serve(turn, proposal).await {
                for left in proposals {
                    tools::leave_out(turn, left, &end).await?;
                }
                return Err(end);
            }
        }
    }
    Ok(None)
}

fn provider(turn: &Turn, id: &str) -> Result<Arc<Active>> {
    let found = turn.plugins().get(id);
    let provider = found.filter(|plugin| plugin.identity().kind == Kind::Provider);
    provider.cloned().ok_or_else(|| {
        let code = &codes::EXTENSION_NOT_FOUND;
        Error::new(
            code.class,
            code.name,
            format!("there is no provider `{id}`"),
        )
        .with("extId", id)
    })
}

/// The request of this moment: the conversation, and the tools there are.
fn compose(turn: &Turn, model: &Model) -> Request {
    Request {
        messages: turn
            .session()
            .conversation()
            .into_iter()
            .filter_map(|kept| message(turn, kept))
            .collect(),
        tools: tool_specs(turn),
        model_id: model.model_id.clone(),
        ..Request::default()
    }
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
fn message(turn: &Turn, mut kept: serde_json::Map<String, Value>) -> Option<Message> {
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

/// Writes down what the model said.
async fn remember(turn: &Turn, said: &Exchange) -> Result<()> {
    let mut payload = json!({"text": said.text});
    if !said.proposals.is_empty() {
        let calls = said.proposals.iter().map(Proposal::to_value);
        payload["toolCalls"] = calls.collect();
    }
    turn.record("assistant_message", Some("assistant"), payload)
        .await?;
    Ok(())
}

/// Waits for `work`, but not longer than the turn wants it.
async fn unless_cancelled<T>(
    cancelled: &CancellationToken,
    work: impl Future<Output = Result<T>>,
) -> Result<T> {
    let done = crate::work::unless(cancelled, work).await;
    done.unwrap_or_else(|| {
        let code = &codes::TURN_CANCELLED;
        let message = "the turn was called off";
        Err(Error::new(code.class, code.name, message).with("reason", "user"))
    })
}

fn millis_since(began: Instant) -> u64 {
    u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX)
}
