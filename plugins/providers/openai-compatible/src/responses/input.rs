//! The conversation as a list of items.

use model_http::Recollection;
use serde_json::{Value, json};
use stud_sdk::Result;
use stud_sdk::provider::{Content, Message, Part, Role};

use crate::system_role::SystemRole;
use crate::unknown_part;

pub(super) fn read(
    messages: Vec<Message>,
    system_role: SystemRole,
    reasoning: &Recollection<Vec<Value>>,
    input: &mut Vec<Value>,
) -> Result<()> {
    for message in messages {
        let parts = match message.content {
            Content::Text(text) => vec![Part::Text { text }],
            Content::Parts(parts) => parts,
        };
        match message.role {
            Role::System => {
                let text = Content::Parts(parts).text();
                if let (Some(role), false) = (system_role.word(), text.is_empty()) {
                    input.push(json!({"role": role, "content": text}));
                }
            }
            Role::Assistant => answered(parts, reasoning, input)?,
            Role::User | Role::Tool => told(parts, input)?,
        }
    }
    Ok(())
}

fn answered(
    parts: Vec<Part>,
    reasoning: &Recollection<Vec<Value>>,
    input: &mut Vec<Value>,
) -> Result<()> {
    let first = parts.iter().find_map(|part| match part {
        Part::ToolCall { tool_call_id, .. } => Some(tool_call_id.as_str()),
        _ => None,
    });
    input.extend(first.and_then(|id| reasoning.find(id)).unwrap_or_default());
    for part in parts {
        match part {
            Part::Text { text } if text.is_empty() => {}
            Part::Text { text } => {
                let content = [json!({"type": "output_text", "text": text})];
                input.push(json!({"role": "assistant", "content": content}));
            }
            Part::ToolCall {
                tool_call_id,
                tool_name,
                args,
            } => input.push(json!({
                "type": "function_call",
                "call_id": tool_call_id,
                "name": tool_name,
                "arguments": args.to_string(),
            })),
            _ => return Err(unknown_part()),
        }
    }
    Ok(())
}

/// What a user or tools say: each result is an item of its own.
fn told(parts: Vec<Part>, input: &mut Vec<Value>) -> Result<()> {
    let mut content = Vec::new();
    for part in parts {
        match part {
            Part::Text { text } => content.push(json!({"type": "input_text", "text": text})),
            Part::Image { url, .. } => {
                content.push(json!({"type": "input_image", "image_url": url}));
            }
            Part::ToolResult {
                tool_call_id,
                content,
                ..
            } => input.push(json!({
                "type": "function_call_output", "call_id": tool_call_id, "output": content,
            })),
            _ => return Err(unknown_part()),
        }
    }
    if !content.is_empty() {
        input.push(json!({"role": "user", "content": content}));
    }
    Ok(())
}
