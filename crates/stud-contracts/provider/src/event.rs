//! What comes back from a model, piece by piece.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use stud_abi::StreamItem;
use stud_contract_meta::{Error, Result};
use stud_diagnostics::codes;

/// One piece of an answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(
    tag = "type",
    rename_all = "kebab-case",
    rename_all_fields = "camelCase"
)]
#[non_exhaustive]
pub enum StreamEvent {
    /// More of the text.
    TextDelta {
        /// What to add to it.
        delta: String,
    },
    /// More of the reasoning.
    ThinkingDelta {
        /// What to add to it.
        delta: String,
    },
    /// A call the model proposes, complete.
    ToolCall {
        /// Which call; unique in the session.
        tool_call_id: String,
        /// Which tool.
        tool_name: String,
        /// With what.
        args: Value,
    },
    /// What the request cost so far. The last one counts.
    Usage(Usage),
    /// The end.
    Finish {
        /// Why it ended.
        reason: FinishReason,
    },
}

/// What a request cost.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Usage {
    /// Tokens sent.
    pub input_tokens: u64,
    /// Tokens received.
    pub output_tokens: u64,
    /// Tokens sent that the backend remembered; they are part of `inputTokens`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cached_input_tokens: Option<u64>,
}

/// Why an answer ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum FinishReason {
    /// The model was done.
    Stop,
    /// The model waits for the calls it proposed.
    ToolCalls,
    /// There was no room for more.
    Length,
    /// The backend held something back.
    ContentFilter,
    /// The backend failed after it had begun.
    Error,
    /// Something else.
    Other,
}

impl FinishReason {
    /// The word on every wire.
    ///
    /// ```
    /// use stud_contract_provider::FinishReason;
    ///
    /// assert_eq!(FinishReason::ToolCalls.as_str(), "tool-calls");
    /// ```
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Stop => "stop",
            Self::ToolCalls => "tool-calls",
            Self::Length => "length",
            Self::ContentFilter => "content-filter",
            Self::Error => "error",
            Self::Other => "other",
        }
    }

    /// The reason for a word of a backend, with `_` or `-` between its parts; an unknown word is an error.
    pub fn from_backend(word: &str) -> Self {
        match word {
            "stop" => Self::Stop,
            "length" => Self::Length,
            "tool_calls" | "tool-calls" => Self::ToolCalls,
            "content_filter" | "content-filter" => Self::ContentFilter,
            _ => Self::Error,
        }
    }
}

impl StreamEvent {
    /// Reads a piece as it crossed the boundary.
    ///
    /// Fails with `ExtensionHost/NotImplemented` for an event this version does not know.
    pub fn read(item: StreamItem) -> Result<Self> {
        match item {
            StreamItem::Text(delta) => Ok(Self::TextDelta { delta }),
            StreamItem::Thinking(delta) => Ok(Self::ThinkingDelta { delta }),
            StreamItem::Event(json) => serde_json::from_str(&json).map_err(|error| {
                Error::new(
                    codes::NOT_IMPLEMENTED.class,
                    codes::NOT_IMPLEMENTED.name,
                    format!("the stream has a piece of another shape: {error}"),
                )
            }),
        }
    }
}

impl From<StreamEvent> for StreamItem {
    fn from(event: StreamEvent) -> Self {
        match event {
            StreamEvent::TextDelta { delta } => Self::Text(delta),
            StreamEvent::ThinkingDelta { delta } => Self::Thinking(delta),
            event @ (StreamEvent::ToolCall { .. }
            | StreamEvent::Usage(_)
            | StreamEvent::Finish { .. }) => {
                // Texts, numbers and JSON values: nothing in them can fail to be written.
                Self::Event(serde_json::to_string(&event).unwrap_or_default())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use stud_diagnostics::Class;

    fn check(event: &StreamEvent, json: Value) {
        assert_eq!(serde_json::to_value(event).unwrap(), json);
        assert_eq!(serde_json::from_value::<StreamEvent>(json).unwrap(), *event);
        let item = StreamItem::from(event.clone());
        assert_eq!(StreamEvent::read(item).unwrap(), *event);
    }

    #[test]
    fn events_keep_their_names() {
        let delta = "hi".to_owned();
        check(
            &StreamEvent::TextDelta {
                delta: delta.clone(),
            },
            json!({"type": "text-delta", "delta": "hi"}),
        );
        check(
            &StreamEvent::ThinkingDelta { delta },
            json!({"type": "thinking-delta", "delta": "hi"}),
        );
        check(
            &StreamEvent::ToolCall {
                tool_call_id: "c1".to_owned(),
                tool_name: "read".to_owned(),
                args: json!({"path": "a"}),
            },
            json!({"type": "tool-call", "toolCallId": "c1", "toolName": "read", "args": {"path": "a"}}),
        );
        check(
            &StreamEvent::Usage(Usage {
                input_tokens: 10,
                output_tokens: 2,
                cached_input_tokens: Some(8),
            }),
            json!({"type": "usage", "inputTokens": 10, "outputTokens": 2, "cachedInputTokens": 8}),
        );
        check(
            &StreamEvent::Finish {
                reason: FinishReason::ToolCalls,
            },
            json!({"type": "finish", "reason": "tool-calls"}),
        );
    }

    #[test]
    fn deltas_cross_as_bare_text() {
        let event = StreamEvent::TextDelta {
            delta: "hi".to_owned(),
        };
        assert_eq!(StreamItem::from(event), StreamItem::Text("hi".to_owned()));
    }

    #[test]
    fn a_piece_nobody_knows_is_a_typed_error() {
        for text in [r#"{"type":"audio-delta"}"#, "{", "null"] {
            let error = StreamEvent::read(StreamItem::Event(text.to_owned())).unwrap_err();
            assert!(error.is(Class::ExtensionHost, "NotImplemented"), "{error}");
        }
    }

    #[test]
    fn words_of_backends() {
        use FinishReason::{ContentFilter, Error, Length, Stop, ToolCalls};
        for (word, reason) in [
            ("stop", Stop),
            ("length", Length),
            ("tool_calls", ToolCalls),
            ("tool-calls", ToolCalls),
            ("content_filter", ContentFilter),
            ("content-filter", ContentFilter),
            ("end_turn", Error),
        ] {
            assert_eq!(FinishReason::from_backend(word), reason, "{word}");
        }
        let all = [
            Stop,
            ToolCalls,
            Length,
            ContentFilter,
            Error,
            FinishReason::Other,
        ];
        assert_eq!(
            serde_json::to_value(all).unwrap(),
            json!([
                "stop",
                "tool-calls",
                "length",
                "content-filter",
                "error",
                "other"
            ])
        );
    }
}
