//! The conversation as the backend wants it.

use serde_json::{Map, Value, json};
use stud_sdk::Result;
use stud_sdk::provider::{Content, Message, Part, Role};

use crate::system_role::SystemRole;
use crate::unknown_part;

pub(super) fn read(
    system: Option<String>,
    messages: Vec<Message>,
    system_role: SystemRole,
) -> Result<Vec<Value>> {
    let mut all = Vec::with_capacity(messages.len() + 1);
    let system_message = |text: String| {
        let role = system_role.word()?;
        (!text.is_empty()).then(|| json!({"role": role, "content": text}))
    };
    all.extend(system.and_then(system_message));
    for message in messages {
        match (message.role, message.content) {
            (Role::System, content) => all.extend(system_message(content.text())),
            (Role::Assistant, Content::Text(text)) => {
                all.push(json!({"role": "assistant", "content": text}));
            }
            (Role::Assistant, Content::Parts(parts)) => all.push(answer(parts)?),
            // Without the call it belongs to, a result is only a text.
            (Role::User | Role::Tool, Content::Text(text)) => {
                all.push(json!({"role": "user", "content": text}));
            }
            (Role::User | Role::Tool, Content::Parts(parts)) => told(parts, &mut all)?,
        }
    }
    Ok(all)
}

fn answer(parts: Vec<Part>) -> Result<Value> {
    let mut text = String::new();
    let mut calls = Vec::new();
    for part in parts {
        match part {
            Part::Text { text: more } => text.push_str(&more),
            Part::ToolCall {
                tool_call_id,
                tool_name,
                args,
            } => calls.push(json!({
                "id": tool_call_id,
                "type": "function",
                "function": {"name": tool_name, "arguments": args.to_string()},
            })),
            _ => return Err(unknown_part()),
        }
    }
    let mut message = Map::new();
    message.insert("role".to_owned(), "assistant".into());
    let content = if text.is_empty() && !calls.is_empty() {
        Value::Null
    } else {
        text.into()
    };
    message.insert("content".to_owned(), content);
    if !calls.is_empty() {
        message.insert("tool_calls".to_owned(), calls.into());
    }
    Ok(message.into())
}

/// What a user or tools say: each result is a message of its own.
fn told(parts: Vec<Part>, all: &mut Vec<Value>) -> Result<()> {
    let mut content = Vec::new();
    for part in parts {
        match part {
            Part::Text { text } => content.push(json!({"type": "text", "text": text})),
            Part::Image { url, .. } => {
                content.push(json!({"type": "image_url", "image_url": {"url": url}}));
            }
            Part::ToolResult {
                tool_call_id,
                content,
                ..
            } => {
                all.push(json!({"role": "tool", "tool_call_id": tool_call_id, "content": content}));
            }
            _ => return Err(unknown_part()),
        }
    }
    if !content.is_empty() {
        all.push(json!({"role": "user", "content": content}));
    }
    Ok(())
}
