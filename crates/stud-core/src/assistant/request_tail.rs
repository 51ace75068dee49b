//! The tail of a request: the user's input, or the results of the tools that the model called.

use serde::{Deserialize, Serialize};
use stud_contract_provider::{Content, Message, Part, Role};

/// The unanswered messages, as hooks before a request see them and may change them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", content = "content", rename_all = "kebab-case")]
pub(super) enum Prior {
    /// What the person said.
    Message(String),
    /// What came of the calls, in the order in which they were proposed.
    ToolResults(Vec<ToolResult>),
}

/// What came of one call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ToolResult {
    tool_call_id: String,
    tool_name: String,
    /// What the model is told.
    content: String,
}

impl Prior {
    /// The end of a conversation.
    pub(super) fn of(messages: &[Message]) -> Self {
        let since = messages
            .iter()
            .rposition(|message| message.role != Role::Tool);
        let results = &messages[since.map_or(0, |last| last + 1)..];
        if results.is_empty() {
            let said = messages.last().map(|message| message.content.text());
            return Self::Message(said.unwrap_or_default());
        }
        let parts = results.iter().flat_map(|message| match &message.content {
            Content::Parts(parts) => &parts[..],
            Content::Text(_) => &[],
        });
        Self::ToolResults(parts.filter_map(ToolResult::of).collect())
    }

    /// Puts it into the place of what it was made of. A result of a call that is not there goes nowhere.
    pub(super) fn put(self, messages: &mut [Message]) {
        match self {
            Self::Message(text) => {
                if let Some(last) = messages.last_mut() {
                    last.content = text.into();
                }
            }
            Self::ToolResults(results) => {
                for result in results {
                    result.put(messages);
                }
            }
        }
    }
}

impl ToolResult {
    fn of(part: &Part) -> Option<Self> {
        match part {
            Part::ToolResult {
                tool_call_id,
                tool_name,
                content,
            } => Some(Self {
                tool_call_id: tool_call_id.clone(),
                tool_name: tool_name.clone(),
                content: content.clone(),
            }),
            _ => None,
        }
    }

    fn put(self, messages: &mut [Message]) {
        let results = messages.iter_mut().rev().flat_map(parts_of);
        for part in results {
            if let Part::ToolResult {
                tool_call_id,
                content,
                ..
            } = part
                && *tool_call_id == self.tool_call_id
            {
                *content = self.content;
                return;
            }
        }
    }
}

fn parts_of(message: &mut Message) -> &mut [Part] {
    match &mut message.content {
        Content::Parts(parts) => parts,
        Content::Text(_) => &mut [],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn said(role: Role, text: &str) -> Message {
        Message {
            role,
            content: text.into(),
        }
    }

    fn proposing(ids: &[&str]) -> Message {
        let calls = ids.iter().map(|id| Part::ToolCall {
            tool_call_id: (*id).to_owned(),
            tool_name: "read".to_owned(),
            args: json!({}),
        });
        Message {
            role: Role::Assistant,
            content: calls.collect::<Vec<_>>().into(),
        }
    }

    fn result(id: &str, content: &str) -> Message {
        let part = Part::ToolResult {
            tool_call_id: id.to_owned(),
            tool_name: "read".to_owned(),
            content: content.to_owned(),
        };
        Message {
            role: Role::Tool,
            content: vec![part].into(),
        }
    }

    #[test]
    fn the_last_words_can_be_put_otherwise() {
        let mut messages = vec![said(Role::Assistant, "hi"), said(Role::User, "one")];
        let prior = json!(Prior::of(&messages));
        assert_eq!(prior, json!({"kind": "message", "content": "one"}));
        Prior::Message("two".to_owned()).put(&mut messages);
        assert_eq!(
            messages,
            [said(Role::Assistant, "hi"), said(Role::User, "two")]
        );
    }

    #[test]
    fn the_last_results_can_be_put_otherwise() {
        let mut messages = vec![proposing(&["a", "b"]), result("a", "1"), result("b", "2")];
        let mut prior = json!(Prior::of(&messages));
        let expected = json!({"kind": "tool-results", "content": [
            {"toolCallId": "a", "toolName": "read", "content": "1"},
            {"toolCallId": "b", "toolName": "read", "content": "2"},
        ]});
        assert_eq!(prior, expected);
        prior["content"][1]["content"] = "3".into();
        prior["content"][0]["toolCallId"] = "nobody's".into();
        let prior: Prior = serde_json::from_value(prior).unwrap();
        prior.put(&mut messages);
        assert_eq!(messages[1..], [result("a", "1"), result("b", "3")]);
    }
}
