//! What a provider is asked to send to its model.

use std::fmt;

use serde::de::{SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

use crate::verbatim::Verbatim;

/// One request to a model.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Request {
    /// What the model is told before everything else.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub system: Option<String>,
    /// The conversation, oldest first.
    pub messages: Vec<Message>,
    /// The tools the model may propose calls of.
    #[serde(default)]
    pub tools: Vec<ToolSpec>,
    /// The model.
    pub model_id: String,
    /// The most the answer may have; the backend's own limit when left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_tokens: Option<u64>,
    /// How far the answer may stray; the backend's own choice when left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub temperature: Option<f64>,
    /// Parameters of this backend alone, as the session's settings have them.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub params: Map<String, Value>,
}

/// One message of the conversation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Message {
    /// Who says it.
    pub role: Role,
    /// What is said.
    pub content: Content,
}

/// Who says a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// The session.
    System,
    /// The person.
    User,
    /// The model.
    Assistant,
    /// A tool.
    Tool,
}

/// What a message says: a text, or parts.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum Content {
    /// One text.
    Text(String),
    /// Several parts, in order.
    Parts(Vec<Part>),
}

/// One part of a message.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(
    tag = "type",
    rename_all = "kebab-case",
    rename_all_fields = "camelCase"
)]
#[non_exhaustive]
pub enum Part {
    /// A text.
    Text {
        /// The text.
        text: String,
    },
    /// A picture.
    Image {
        /// Where it is; `data:` for one that is in the message.
        url: String,
        /// What it is; the backend may find out when left out.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        media_type: Option<String>,
    },
    /// A call the model proposed.
    ToolCall {
        /// Which call.
        tool_call_id: String,
        /// Which tool.
        tool_name: String,
        /// With what.
        args: Value,
    },
    /// What came of a call.
    ToolResult {
        /// Which call.
        tool_call_id: String,
        /// Which tool.
        tool_name: String,
        /// What the model is told.
        content: String,
    },
}

/// A tool, as the model is told of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ToolSpec {
    /// What to call it by.
    pub name: String,
    /// What it does.
    pub description: String,
    /// The JSON Schema of its arguments, valid by the time it gets here.
    #[cfg_attr(feature = "schema", schemars(with = "Value"))]
    pub parameters: Verbatim,
}

impl Content {
    /// All text in it, parts joined by line breaks; pictures and calls have none.
    pub fn text(&self) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::Parts(parts) => {
                let texts = parts.iter().filter_map(|part| match part {
                    Part::Text { text } | Part::ToolResult { content: text, .. } => Some(&**text),
                    Part::Image { .. } | Part::ToolCall { .. } => None,
                });
                texts.collect::<Vec<_>>().join("\n")
            }
        }
    }
}

impl<'de> Deserialize<'de> for Content {
    /// Looks at what comes: that takes less than to keep it until it is known what it is.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Said;

        impl<'de> Visitor<'de> for Said {
            type Value = Content;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a text, or a list of parts")
            }

            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Content, E> {
                Ok(text.into())
            }

            fn visit_string<E: serde::de::Error>(self, text: String) -> Result<Content, E> {
                Ok(text.into())
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Content, A::Error> {
                let mut parts = Vec::with_capacity(list.size_hint().unwrap_or(0).min(64));
                while let Some(part) = list.next_element()? {
                    parts.push(part);
                }
                Ok(Content::Parts(parts))
            }
        }

        deserializer.deserialize_any(Said)
    }
}

/// The members that parts have, before it is known which part it is.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Members {
    r#type: PartType,
    text: Option<String>,
    url: Option<String>,
    media_type: Option<String>,
    tool_call_id: Option<String>,
    tool_name: Option<String>,
    #[serde(default, deserialize_with = "whatever_is_there")]
    args: Option<Value>,
    content: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
enum PartType {
    Text,
    Image,
    ToolCall,
    ToolResult,
}

/// `null` is there, too.
fn whatever_is_there<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}

impl<'de> Deserialize<'de> for Part {
    /// Reads all members there can be, which takes less than to keep them until it is known which ones are needed.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        fn needed<T, E: serde::de::Error>(name: &'static str, member: Option<T>) -> Result<T, E> {
            member.ok_or_else(|| E::missing_field(name))
        }

        let members = Members::deserialize(deserializer)?;
        Ok(match members.r#type {
            PartType::Text => Self::Text {
                text: needed("text", members.text)?,
            },
            PartType::Image => Self::Image {
                url: needed("url", members.url)?,
                media_type: members.media_type,
            },
            PartType::ToolCall => Self::ToolCall {
                tool_call_id: needed("toolCallId", members.tool_call_id)?,
                tool_name: needed("toolName", members.tool_name)?,
                args: needed("args", members.args)?,
            },
            PartType::ToolResult => Self::ToolResult {
                tool_call_id: needed("toolCallId", members.tool_call_id)?,
                tool_name: needed("toolName", members.tool_name)?,
                content: needed("content", members.content)?,
            },
        })
    }
}

impl From<&str> for Content {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for Content {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<Vec<Part>> for Content {
    fn from(parts: Vec<Part>) -> Self {
        Self::Parts(parts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_request_keeps_its_names() {
        let json = json!({
            "system": "Be brief.",
            "messages": [
                {"role": "system", "content": "s"},
                {"role": "user", "content": [
                    {"type": "text", "text": "What is this?"},
                    {"type": "image", "url": "data:image/png;base64,AA==", "mediaType": "image/png"},
                    {"type": "image", "url": "https://example.org/a.png"},
                ]},
                {"role": "assistant", "content": [
                    {"type": "tool-call", "toolCallId": "c1", "toolName": "look", "args": {"at": 1}},
                ]},
                {"role": "tool", "content": [
                    {"type": "tool-result", "toolCallId": "c1", "toolName": "look", "content": "a cat"},
                ]},
            ],
            "tools": [{"name": "look", "description": "Looks.", "parameters": {"type": "object"}}],
            "modelId": "small",
            "maxTokens": 100,
            "temperature": 0.5,
            "params": {"effort": "low"},
        });
        let request: Request = serde_json::from_value(json.clone()).unwrap();
        assert_eq!(request.messages[1].content.text(), "What is this?");
        assert_eq!(request.messages[3].content.text(), "a cat");
        assert_eq!(serde_json::to_value(request).unwrap(), json);
    }

    #[test]
    fn a_part_has_the_members_of_its_type_in_any_order() {
        let part = |json: &str| serde_json::from_str::<Part>(json).map_err(|why| why.to_string());
        let call =
            part(r#"{"args":null,"toolName":"a","more":[1],"toolCallId":"c","type":"tool-call"}"#);
        let expected = Part::ToolCall {
            tool_call_id: "c".to_owned(),
            tool_name: "a".to_owned(),
            args: Value::Null,
        };
        assert_eq!(call, Ok(expected));
        for (json, why) in [
            (r#"{"text":"a"}"#, "missing field `type`"),
            (r#"{"type":"text"}"#, "missing field `text`"),
            (r#"{"type":"image","text":"a"}"#, "missing field `url`"),
            (
                r#"{"type":"tool-call","toolCallId":"c","toolName":"a"}"#,
                "missing field `args`",
            ),
            (r#"{"type":"song"}"#, "unknown variant `song`"),
        ] {
            let error = part(json).unwrap_err();
            assert!(error.starts_with(why), "{json}: {error}");
        }
    }

    #[test]
    fn what_may_be_left_out_is_left_out() {
        let json = json!({
            "messages": [{"role": "user", "content": "hi"}], "tools": [], "modelId": "small",
        });
        let request = Request {
            messages: vec![Message {
                role: Role::User,
                content: "hi".into(),
            }],
            model_id: "small".to_owned(),
            ..Request::default()
        };
        assert_eq!(serde_json::to_value(&request).unwrap(), json);
        assert_eq!(serde_json::from_value::<Request>(json).unwrap(), request);
    }
}
