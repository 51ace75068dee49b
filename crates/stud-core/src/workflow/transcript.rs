//! The transcript of one attempt at a stage. It begins empty, and nothing of the session is in it.

use std::sync::Arc;

use serde_json::{Value, json};

use crate::session::Kept;
use crate::sync::{Mutex, lock};

/// What was said in an attempt.
#[derive(Debug, Default)]
pub(crate) struct StageTranscript(Mutex<Messages>);

#[derive(Debug, Default)]
struct Messages {
    said: Vec<Arc<Kept>>,
    is_frozen: bool,
}

impl StageTranscript {
    /// Adds a message. A frozen transcript stays as it is.
    pub(crate) fn say(&self, role: &str, content: Value, seq: u64, turn_id: &str) {
        let mut messages = lock(&self.0);
        if messages.is_frozen {
            return;
        }
        let message = json!({
            "id": format!("s{}", messages.said.len() + 1),
            "role": role,
            "content": content,
            "monotonicTs": seq.to_string(),
            "turnId": turn_id,
        });
        if let Value::Object(message) = message {
            messages.said.push(Arc::new(Kept::new(message)));
        }
    }

    /// The messages as a request needs them.
    pub(crate) fn messages(&self) -> Vec<Arc<Kept>> {
        lock(&self.0).said.clone()
    }

    /// Takes no more messages, and gives them as a machine sees them.
    pub(crate) fn freeze(&self) -> Vec<Value> {
        let mut messages = lock(&self.0);
        messages.is_frozen = true;
        messages.said.iter().map(|kept| shown(kept)).collect()
    }

    /// What the model said last, if it said anything.
    pub(crate) fn last_words(&self) -> Option<String> {
        let messages = lock(&self.0);
        let last = messages.said.last()?;
        let text = last.content()["text"].as_str()?;
        (last.role() == "assistant" && !text.trim().is_empty()).then(|| text.to_owned())
    }
}

/// A message of the role `assistant` has a text and perhaps calls, one of the role `tool` the result of a call.
fn shown(kept: &Kept) -> Value {
    let content = kept.content();
    let mut shown = json!({
        "role": kept.role(),
        "correlationId": kept.turn_id(),
        "content": content.get("text").or_else(|| content.get("content")).unwrap_or(content),
    });
    for member in ["toolCallId", "toolName", "toolCalls"] {
        if let Some(value) = content.get(member) {
            shown[member] = value.clone();
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frozen_transcript_stays_as_it_is() {
        let transcript = StageTranscript::default();
        transcript.say("assistant", json!({"text": "one"}), 1, "t1");
        let frozen = transcript.freeze();
        transcript.say("assistant", json!({"text": "two"}), 2, "t1");
        assert_eq!(transcript.freeze(), frozen);
        assert_eq!(
            frozen,
            [json!({"role": "assistant", "content": "one", "correlationId": "t1"})]
        );
        assert_eq!(transcript.messages().len(), 1);
    }

    #[test]
    fn the_last_words_are_those_of_the_model() {
        let transcript = StageTranscript::default();
        assert_eq!(transcript.last_words(), None);
        transcript.say("assistant", json!({"text": "done"}), 1, "t1");
        assert_eq!(transcript.last_words().as_deref(), Some("done"));
        transcript.say("tool", json!({"content": "{}"}), 2, "t1");
        assert_eq!(transcript.last_words(), None);
    }
}
