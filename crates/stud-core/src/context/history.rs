//! The conversation as a provider takes it.

use std::borrow::Cow;
use std::sync::Arc;

use serde_json::{Value, json};
use stud_contract_provider::{Content, Message, Part, Role};

use crate::redact::Redactor;
use crate::session::{Kept, Size};

/// What a summary is told as. It is the person's side of the conversation, because a model takes what its own side said
/// for settled, and because what a tool said must not speak with the authority of the session.
const SUMMARY: &str = "This is a summary of the conversation so far, made to save room. \
    What came after it follows word by word.\n\n";

/// The messages, oldest first, and the place of what the person said last.
///
/// No secret that stud resolved is in them, whatever a tool said, unless the person typed it.
pub(super) fn messages(
    history: &[Arc<Kept>],
    redactor: &Redactor,
) -> (Vec<Message>, Option<usize>) {
    let known = redactor.known();
    let mut messages = Vec::with_capacity(history.len() + 1);
    let mut said_last = None;
    let mut unanswered = Vec::new();
    for kept in history {
        if kept.role() != "tool" {
            messages.extend(unanswered.drain(..).map(not_run));
        }
        // A result is nothing to a model without the call, and the call may be further back than the conversation goes.
        if messages.is_empty() && kept.role() == "tool" {
            continue;
        }
        let content = if kept.is_clear_of(known) || kept.typed().is_some() {
            Cow::Borrowed(kept.content())
        } else {
            let mut content = kept.content().clone();
            redactor.redact(&mut content);
            Cow::Owned(content)
        };
        if kept.typed().is_some() {
            said_last = Some(messages.len());
        }
        match kept.role() {
            "assistant" => unanswered.extend(calls(&content).iter().map(Unanswered::of)),
            "tool" => unanswered.retain(|call| !call.is_answered_by(&content)),
            _ => {}
        }
        messages.extend(message(kept.role(), &content));
    }
    messages.extend(unanswered.into_iter().map(not_run));
    (messages, said_last)
}

/// A call that a turn proposed and did not come to, because it halted: nobody has decided about it, and the transcript
/// says nothing else. No model goes on from a call without a result.
fn not_run(call: Unanswered) -> Message {
    let content = json!({
        "ok": false,
        "undecided": true,
        "reason": "nobody was there to decide about this call, and it did not run",
    });
    let result = Part::ToolResult {
        tool_call_id: call.tool_call_id,
        tool_name: call.tool_name,
        content: content.to_string(),
    };
    Message {
        role: Role::Tool,
        content: Content::Parts(vec![result]),
    }
}

/// A call whose result has not come yet, without its arguments, which may be long.
struct Unanswered {
    tool_call_id: String,
    tool_name: String,
}

impl Unanswered {
    fn of(call: &Value) -> Self {
        Self {
            tool_call_id: text_of(call, "toolCallId").to_owned(),
            tool_name: text_of(call, "toolName").to_owned(),
        }
    }

    fn is_answered_by(&self, result: &Value) -> bool {
        text_of(result, "toolCallId") == self.tool_call_id
    }
}

fn text_of<'a>(value: &'a Value, member: &str) -> &'a str {
    value[member].as_str().unwrap_or_default()
}

fn message(role: &str, content: &Value) -> Option<Message> {
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
