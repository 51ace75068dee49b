//! The conversation as a provider takes it.

use std::borrow::Cow;
use std::sync::Arc;

use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Value, json};
use stud_contract_provider::{Content, Message, Part, Role};

use crate::redact::Redactor;
use crate::session::{Kept, Size};

/// What a summary is told as. It is the person's side of the conversation, because a model takes what its own side said
/// for settled, and because what a tool said must not speak with the authority of the session.
const SUMMARY: &str = "This is a summary of the conversation so far, made to save room. \
    What came after it follows word by word.\n\n";

/// One message of a request.
#[derive(Debug, Clone)]
pub(super) enum RequestMessage {
    /// As it is in the conversation; its JSON is written once.
    Kept(Arc<Kept>),
    /// Made for this request.
    New(Message),
}

impl RequestMessage {
    pub(super) fn message(&self) -> Option<Message> {
        match self {
            Self::Kept(kept) => message(kept.role(), kept.content()),
            Self::New(message) => Some(message.clone()),
        }
    }

    pub(super) fn text(&self) -> Cow<'_, RawValue> {
        match self {
            Self::Kept(kept) => Cow::Borrowed(kept.told(|| written(self.message().as_ref()))),
            Self::New(message) => Cow::Owned(written(Some(message))),
        }
    }
}

fn written(message: Option<&Message>) -> Box<RawValue> {
    // A message is made of what JSON has, so it can be written.
    to_raw_value(&message).unwrap_or_else(|_| RawValue::NULL.to_owned())
}

/// The messages, oldest first, and the place of what the person said last.
///
/// No secret that stud resolved is in them, whatever a tool said, unless the person typed it.
pub(super) fn told(
    history: &[Arc<Kept>],
    redactor: &Redactor,
) -> (Vec<RequestMessage>, Option<usize>) {
    let known = redactor.known();
    let mut messages = Vec::with_capacity(history.len() + 1);
    let mut said_last = None;
    let mut unanswered: Vec<&Value> = Vec::new();
    for kept in history {
        let (role, content) = (kept.role(), kept.content());
        if role != "tool" {
            messages.extend(unanswered.drain(..).map(|call| not_run(call, redactor)));
        }
        // A result is nothing to a model without the call, and the call may be further back than the conversation goes.
        if messages.is_empty() && role == "tool" {
            continue;
        }
        let is_typed = kept.typed().is_some();
        if is_typed {
            said_last = Some(messages.len());
        }
        match role {
            "assistant" => unanswered.extend(calls(content)),
            "tool" => {
                let answered = text_of(content, "toolCallId");
                unanswered.retain(|call| text_of(call, "toolCallId") != answered);
            }
            _ => {}
        }
        if is_typed || kept.is_clear_of(known) {
            if is_told(role, content) {
                messages.push(RequestMessage::Kept(kept.clone()));
            }
        } else {
            let mut content = content.clone();
            redactor.redact(&mut content);
            messages.extend(message(role, &content).map(RequestMessage::New));
        }
    }
    messages.extend(unanswered.into_iter().map(|call| not_run(call, redactor)));
    (messages, said_last)
}

/// A proposed call that was not reached, because the turn halted: it has no decision, and the transcript
/// records nothing more. No model continues from a call without a result.
fn not_run(call: &Value, redactor: &Redactor) -> RequestMessage {
    let content = json!({
        "ok": false,
        "undecided": true,
        "reason": "no interactive UI was attached to approve this call, and it did not run",
    });
    let member = |name: &str| redactor.text(text_of(call, name)).into_owned();
    let result = Part::ToolResult {
        tool_call_id: member("toolCallId"),
        tool_name: member("toolName"),
        content: content.to_string(),
    };
    RequestMessage::New(Message {
        role: Role::Tool,
        content: Content::Parts(vec![result]),
    })
}

fn text_of<'a>(value: &'a Value, member: &str) -> &'a str {
    value[member].as_str().unwrap_or_default()
}

/// Whether a model is told of a message at all.
fn is_told(role: &str, content: &Value) -> bool {
    match role {
        "user" => content.is_string() || content["summary"].is_string(),
        "assistant" | "tool" => true,
        _ => false,
    }
}

/// A message as a provider takes it; none if a model is not told of it.
pub(super) fn message(role: &str, content: &Value) -> Option<Message> {
    let text = |member: &str| text_of(content, member).to_owned();
    let (role, content) = match role {
        "user" => (Role::User, heard(content)?),
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

fn heard(content: &Value) -> Option<Content> {
    if let Some(summary) = content["summary"].as_str() {
        return Some(format!("{SUMMARY}{summary}").into());
    }
    content.as_str().map(Content::from)
}

fn spoken(content: &Value) -> Content {
    let text = content["text"].as_str().unwrap_or_default();
    let calls = calls(content);
    if calls.is_empty() {
        return text.into();
    }
    let said = (!text.is_empty()).then(|| Part::Text {
        text: text.to_owned(),
    });
    let calls = calls.iter().map(|call| Part::ToolCall {
        tool_call_id: text_of(call, "toolCallId").to_owned(),
        tool_name: text_of(call, "toolName").to_owned(),
        args: call["args"].clone(),
    });
    said.into_iter().chain(calls).collect::<Vec<_>>().into()
}

fn calls(content: &Value) -> &[Value] {
    content["toolCalls"]
        .as_array()
        .map_or(&[][..], Vec::as_slice)
}

/// Everything of a message that a model reads, who said it first.
pub(super) fn text(kept: &Kept) -> String {
    let content = kept.content();
    let mut text = format!("{}:", kept.role());
    let mut add = |piece: &str| {
        text.push_str(piece);
        text.push('\n');
    };
    if let Some(said) = content.as_str() {
        add(said);
    }
    if let Some(summary) = content["summary"].as_str() {
        add(SUMMARY);
        add(summary);
    }
    for member in ["text", "toolName", "content"] {
        if let Some(said) = content[member].as_str() {
            add(said);
        }
    }
    for call in calls(content) {
        add(call["toolName"].as_str().unwrap_or_default());
        add(&call["args"].to_string());
    }
    text.pop();
    text
}

/// How long that is.
pub(super) fn size(kept: &Kept) -> Size {
    kept.size(|| {
        let text = text(kept);
        Size {
            bytes: text.len() as u64,
            chars: text.chars().count() as u64,
        }
    })
}
