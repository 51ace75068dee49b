//! The conversation as the backend wants it: users and assistants in turn, everything in blocks.

use model_http::{DataUrl, REQUEST_REJECTED};
use serde_json::{Value, json};
use stud_sdk::Result;
use stud_sdk::provider::{Content, Message, Part, Role};

/// Messages in turn, and the system texts that were among them.
#[derive(Debug, Default)]
pub(crate) struct Turns {
    pub(crate) system: Vec<String>,
    pub(crate) turns: Vec<Turn>,
}

/// What one side says before the other does.
#[derive(Debug)]
pub(crate) struct Turn {
    pub(crate) role: &'static str,
    pub(crate) blocks: Vec<Value>,
}

impl Turns {
    /// Reads a conversation. `answered` may change what an assistant's message says.
    pub(crate) fn read(
        messages: Vec<Message>,
        answered: impl Fn(Vec<Value>) -> Vec<Value>,
    ) -> Result<Self> {
        let mut turns = Self::default();
        for message in messages {
            if message.role == Role::System {
                turns.system.push(message.content.text());
                continue;
            }
            let blocks = blocks(message.content)?;
            match message.role {
                Role::Assistant => turns.say("assistant", answered(blocks)),
                _ => turns.say("user", blocks),
            }
        }
        Ok(turns)
    }

    /// Whether the first message is not the user's, or there is none.
    pub(crate) fn begins_without_user(&self) -> bool {
        self.turns.first().is_none_or(|turn| turn.role != "user")
    }

    /// Adds to what a side says.
    fn say(&mut self, role: &'static str, mut blocks: Vec<Value>) {
        match self.turns.last_mut() {
            _ if blocks.is_empty() => {}
            Some(turn) if turn.role == role => turn.blocks.append(&mut blocks),
            _ => self.turns.push(Turn { role, blocks }),
        }
    }
}

/// A text block; nothing for a text that is empty, which the backend refuses.
pub(crate) fn text_block(text: &str) -> Option<Value> {
    (!text.trim().is_empty()).then(|| json!({"type": "text", "text": text}))
}

fn blocks(content: Content) -> Result<Vec<Value>> {
    match content {
        Content::Text(text) => Ok(text_block(&text).into_iter().collect()),
        Content::Parts(parts) => parts
            .into_iter()
            .filter_map(|part| block(part).transpose())
            .collect(),
    }
}

fn block(part: Part) -> Result<Option<Value>> {
    Ok(match part {
        Part::Text { text } => text_block(&text),
        Part::Image { url, .. } => Some(json!({"type": "image", "source": source(&url)?})),
        Part::ToolCall {
            tool_call_id,
            tool_name,
            args,
        } => Some(json!({
            "type": "tool_use", "id": tool_id(&tool_call_id), "name": tool_name, "input": input(args),
        })),
        Part::ToolResult {
            tool_call_id,
            content,
            ..
        } => Some(json!({
            "type": "tool_result", "tool_use_id": tool_id(&tool_call_id), "content": content,
        })),
        _ => {
            return Err(REQUEST_REJECTED
                .error("the request has a part of a kind this provider does not know"));
        }
    })
}

fn source(url: &str) -> Result<Value> {
    Ok(match DataUrl::read(url)? {
        Some(DataUrl { media_type, base64 }) => {
            json!({"type": "base64", "media_type": media_type, "data": base64})
        }
        None => json!({"type": "url", "url": url}),
    })
}

/// The name of a call in the letters that the backend allows; another model may have named it.
pub(crate) fn tool_id(id: &str) -> String {
    let allowed = |letter: char| letter.is_ascii_alphanumeric() || letter == '_' || letter == '-';
    id.chars()
        .map(|letter| if allowed(letter) { letter } else { '_' })
        .collect()
}

/// The backend takes objects alone; a model may have proposed anything.
fn input(args: Value) -> Value {
    match args {
        Value::Object(_) => args,
        Value::Null => json!({}),
        other => json!({"arguments": other}),
    }
}
