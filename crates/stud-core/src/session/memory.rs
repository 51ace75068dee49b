//! The conversation as a snapshot keeps it.

use std::collections::VecDeque;

use serde_json::{Map, Value, json};

/// What a snapshot should not exceed.
pub(super) const SNAPSHOT_BUDGET: usize = 8 << 20;

/// The messages of a session, the newest of them if there are too many for a snapshot.
///
/// The journal has them all; this is what makes a session quick to open and cheap to keep.
#[derive(Debug, Default)]
pub(super) struct Conversation {
    messages: VecDeque<Map<String, Value>>,
    bytes: usize,
    count: u64,
    /// What the messages that no longer fit would add.
    dropped_bytes: usize,
}

impl Conversation {
    pub(super) fn of(messages: Vec<Map<String, Value>>) -> Self {
        let mut conversation = Self::default();
        for message in messages {
            conversation.keep(message);
        }
        conversation
    }

    /// Adds what `role` said in the record `seq`.
    pub(super) fn say(&mut self, role: &str, content: Value, seq: u64) {
        let message = json!({
            "id": format!("m{}", self.count + 1),
            "role": role,
            "content": content,
            "monotonicTs": seq.to_string(),
        });
        if let Value::Object(message) = message {
            self.keep(message);
        }
    }

    /// Puts other words into the message of the record `seq`, or takes it out.
    pub(super) fn revise(&mut self, seq: u64, text: Option<&str>) {
        let seq = Value::from(seq.to_string());
        let newest = self
            .messages
            .iter()
            .rposition(|said| said["monotonicTs"] == seq);
        let Some(mut message) = newest.and_then(|place| self.messages.remove(place)) else {
            return;
        };
        self.bytes -= weight(&message);
        if let (Some(text), Some(place)) = (text, newest) {
            message.insert("content".to_owned(), text.into());
            self.bytes += weight(&message);
            self.messages.insert(place, message);
        }
    }

    fn keep(&mut self, message: Map<String, Value>) {
        self.count += 1;
        self.bytes += weight(&message);
        self.messages.push_back(message);
        while self.bytes > SNAPSHOT_BUDGET
            && let Some(oldest) = self.messages.pop_front()
        {
            self.bytes -= weight(&oldest);
            self.dropped_bytes += weight(&oldest);
        }
    }

    pub(super) fn messages(&self) -> Vec<Map<String, Value>> {
        self.messages.iter().cloned().collect()
    }

    pub(super) fn len(&self) -> usize {
        self.messages.len()
    }

    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// What a snapshot of all messages would weigh.
    pub(super) fn full_bytes(&self) -> usize {
        self.bytes + self.dropped_bytes
    }
}

/// What a message takes up, near enough.
fn weight(message: &Map<String, Value>) -> usize {
    fn of(value: &Value) -> usize {
        match value {
            Value::String(text) => text.len() + 2,
            Value::Array(items) => items.iter().map(of).sum::<usize>() + items.len(),
            Value::Object(members) => members
                .iter()
                .map(|(key, value)| key.len() + 4 + of(value))
                .sum(),
            _ => 8,
        }
    }
    message
        .iter()
        .map(|(key, value)| key.len() + 4 + of(value))
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_can_be_put_otherwise_or_taken_out() {
        let mut conversation = Conversation::default();
        for (seq, text) in [(1, "one"), (2, "two"), (3, "three")] {
            conversation.say("user", text.into(), seq);
        }
        conversation.revise(2, Some("other"));
        conversation.revise(3, None);
        conversation.revise(9, None);
        let said: Vec<_> = conversation.messages();
        let said: Vec<_> = said.iter().map(|message| &message["content"]).collect();
        assert_eq!(said, ["one", "other"]);
        let fresh = Conversation::of(conversation.messages());
        assert_eq!(conversation.bytes(), fresh.bytes());
    }

    #[test]
    fn the_oldest_messages_give_way() {
        let mut conversation = Conversation::default();
        let mebibyte = "x".repeat(1 << 20);
        for seq in 1..=10 {
            conversation.say("user", mebibyte.as_str().into(), seq);
        }
        let messages = conversation.messages();
        assert!(conversation.bytes() <= SNAPSHOT_BUDGET);
        assert!(conversation.full_bytes() > SNAPSHOT_BUDGET);
        assert_eq!(messages.last().unwrap()["id"], "m10");
        assert_eq!(messages.last().unwrap()["monotonicTs"], "10");
        assert!(messages.len() < 10);
    }
}
