//! The conversation as the backend wants it: users and models in turn.

use model_http::{DataUrl, REQUEST_REJECTED, Recollection};
use serde_json::{Map, Value, json};
use stud_sdk::Result;
use stud_sdk::provider::{Content, Message, Part, Role};

/// Stands for the signature of a call that this backend did not propose, or not in this process.
const NO_SIGNATURE: &str = "skip_thought_signature_validator";

/// Messages in turn, and the system texts that were among them.
#[derive(Debug, Default)]
pub(crate) struct Contents {
    pub(crate) system: Vec<String>,
    pub(crate) turns: Vec<Turn>,
}

/// What one side says before the other does.
#[derive(Debug)]
pub(crate) struct Turn {
    pub(crate) role: &'static str,
    pub(crate) parts: Vec<Value>,
}

/// What is known of the calls in a conversation.
pub(crate) struct Signatures<'a> {
    pub(crate) kept: &'a Recollection<String>,
    /// Whether the backend refuses a call without a signature.
    pub(crate) are_needed: bool,
}

impl Contents {
    pub(crate) fn read(messages: Vec<Message>, signatures: &Signatures<'_>) -> Result<Self> {
        let mut contents = Self::default();
        for message in messages {
            let parts = match (message.role, message.content) {
                (Role::System, content) => {
                    contents.system.push(content.text());
                    continue;
                }
                (_, Content::Text(text)) => text_part(&text).into_iter().collect(),
                (_, Content::Parts(parts)) => parts_of(parts, signatures)?,
            };
            contents.say(
                if message.role == Role::Assistant {
                    "model"
                } else {
                    "user"
                },
                parts,
            );
        }
        Ok(contents)
    }

    /// Whether the first message is not the user's, or there is none.
    pub(crate) fn begins_without_user(&self) -> bool {
        self.turns.first().is_none_or(|turn| turn.role != "user")
    }

    /// Adds to what a side says.
    fn say(&mut self, role: &'static str, mut parts: Vec<Value>) {
        match self.turns.last_mut() {
            _ if parts.is_empty() => {}
            Some(turn) if turn.role == role => turn.parts.append(&mut parts),
            _ => self.turns.push(Turn { role, parts }),
        }
    }
}

/// A part that is text; nothing for a text that is empty, which the backend refuses.
pub(crate) fn text_part(text: &str) -> Option<Value> {
    (!text.is_empty()).then(|| json!({"text": text}))
}

fn parts_of(parts: Vec<Part>, signatures: &Signatures<'_>) -> Result<Vec<Value>> {
    let mut all = Vec::with_capacity(parts.len());
    let mut is_first_call = true;
    for part in parts {
        match part {
            Part::Text { text } => all.extend(text_part(&text)),
            Part::Image { url, media_type } => all.push(picture(&url, media_type)?),
            Part::ToolCall {
                tool_call_id,
                tool_name,
                args,
            } => {
                let mut call =
                    json!({"functionCall": {"name": tool_name, "args": object(args, "arguments")}});
                let kept = signatures.kept.find(&tool_call_id);
                // Of calls that were proposed together only the first is signed.
                let missing =
                    (signatures.are_needed && is_first_call).then(|| NO_SIGNATURE.to_owned());
                if let Some(signature) = kept.or(missing) {
                    call["thoughtSignature"] = signature.into();
                }
                is_first_call = false;
                all.push(call);
            }
            Part::ToolResult {
                tool_name, content, ..
            } => all.push(
                json!({"functionResponse": {"name": tool_name, "response": result(content)}}),
            ),
            _ => {
                return Err(REQUEST_REJECTED
                    .error("the request has a part of a kind this provider does not know"));
            }
        }
    }
    Ok(all)
}

fn picture(url: &str, media_type: Option<String>) -> Result<Value> {
    if let Some(DataUrl { media_type, base64 }) = DataUrl::read(url)? {
        return Ok(json!({"inlineData": {"mimeType": media_type, "data": base64}}));
    }
    let mut file = Map::new();
    file.insert("fileUri".to_owned(), url.into());
    if let Some(media_type) = media_type {
        file.insert("mimeType".to_owned(), media_type.into());
    }
    Ok(json!({"fileData": file}))
}

/// The backend takes objects alone.
fn result(content: String) -> Value {
    match serde_json::from_str(&content) {
        Ok(object @ Value::Object(_)) => object,
        _ => json!({"result": content}),
    }
}

fn object(value: Value, name: &str) -> Value {
    match value {
        Value::Object(_) => value,
        Value::Null => json!({}),
        other => json!({name: other}),
    }
}
