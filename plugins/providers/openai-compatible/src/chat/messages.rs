//! The conversation as the backend wants it.
//!
//! It is written out as it is read: a long one goes out with every request, and to build a tree of it first takes more
//! time than all the rest of a request.

use serde::Serialize;
use stud_sdk::Result;
use stud_sdk::provider::{Content, Message, Part, Role};

use crate::system_role::SystemRole;
use crate::unknown_part;

/// The list of messages, as JSON.
pub(super) fn write(
    system: Option<&str>,
    messages: &[Message],
    system_role: SystemRole,
) -> Result<String> {
    let mut all = Vec::with_capacity(messages.len() + 1);
    all.extend(system.and_then(|text| of_session(text.into(), system_role)));
    for message in messages {
        match (message.role, &message.content) {
            (Role::System, content) => {
                all.extend(of_session(content.text().into(), system_role));
            }
            (Role::Assistant, Content::Text(text)) => {
                all.push(Entry::new("assistant", Said::Text(text.into())));
            }
            (Role::Assistant, Content::Parts(parts)) => all.push(answer(parts)?),
            // Without the call it belongs to, a result is only a text.
            (Role::User | Role::Tool, Content::Text(text)) => {
                all.push(Entry::new("user", Said::Text(text.into())));
            }
            (Role::User | Role::Tool, Content::Parts(parts)) => told(parts, &mut all)?,
        }
    }
    // Texts, and JSON values: nothing in them can fail to be written.
    Ok(serde_json::to_string(&all).unwrap_or_default())
}

type Text<'a> = std::borrow::Cow<'a, str>;

/// One message.
#[derive(Serialize)]
struct Entry<'a> {
    role: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_call_id: Option<&'a str>,
    content: Said<'a>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tool_calls: Vec<Call<'a>>,
}

/// What a message says.
#[derive(Serialize)]
#[serde(untagged)]
enum Said<'a> {
    Nothing,
    Text(Text<'a>),
    Pieces(Vec<Piece<'a>>),
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Piece<'a> {
    Text { text: &'a str },
    ImageUrl { image_url: Address<'a> },
}

#[derive(Serialize)]
struct Address<'a> {
    url: &'a str,
}

#[derive(Serialize)]
struct Call<'a> {
    id: &'a str,
    r#type: &'static str,
    function: Function<'a>,
}

#[derive(Serialize)]
struct Function<'a> {
    name: &'a str,
    arguments: String,
}

impl<'a> Entry<'a> {
    fn new(role: &'static str, content: Said<'a>) -> Self {
        Self {
            role,
            tool_call_id: None,
            content,
            tool_calls: Vec::new(),
        }
    }
}

/// What the session itself says, if it is sent.
fn of_session(text: Text<'_>, role: SystemRole) -> Option<Entry<'_>> {
    let role = role.word()?;
    (!text.is_empty()).then(|| Entry::new(role, Said::Text(text)))
}

fn answer(parts: &[Part]) -> Result<Entry<'_>> {
    let mut text = Text::default();
    let mut calls = Vec::new();
    for part in parts {
        match part {
            Part::Text { text: more } if text.is_empty() => text = more.into(),
            Part::Text { text: more } => text.to_mut().push_str(more),
            Part::ToolCall {
                tool_call_id,
                tool_name,
                args,
            } => calls.push(Call {
                id: tool_call_id,
                r#type: "function",
                function: Function {
                    name: tool_name,
                    arguments: args.to_string(),
                },
            }),
            _ => return Err(unknown_part()),
        }
    }
    let content = if text.is_empty() && !calls.is_empty() {
        Said::Nothing
    } else {
        Said::Text(text)
    };
    Ok(Entry {
        tool_calls: calls,
        ..Entry::new("assistant", content)
    })
}

/// What a user or tools say: each result is a message of its own.
fn told<'a>(parts: &'a [Part], all: &mut Vec<Entry<'a>>) -> Result<()> {
    let mut pieces = Vec::new();
    for part in parts {
        match part {
            Part::Text { text } => pieces.push(Piece::Text { text }),
            Part::Image { url, .. } => pieces.push(Piece::ImageUrl {
                image_url: Address { url },
            }),
            Part::ToolResult {
                tool_call_id,
                content,
                ..
            } => all.push(Entry {
                tool_call_id: Some(tool_call_id),
                ..Entry::new("tool", Said::Text(content.into()))
            }),
            _ => return Err(unknown_part()),
        }
    }
    if !pieces.is_empty() {
        all.push(Entry::new("user", Said::Pieces(pieces)));
    }
    Ok(())
}
