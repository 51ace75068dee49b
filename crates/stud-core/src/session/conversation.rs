//! The conversation as a snapshot keeps it.

use std::collections::VecDeque;
use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::compacting::Compaction;
use super::message::Kept;

/// What a snapshot should not exceed.
pub(super) const SNAPSHOT_BUDGET: usize = 8 << 20;

/// The messages of a session, the newest of them if there are too many for a snapshot.
///
/// The journal has them all; this is what makes a session quick to open and cheap to keep.
#[derive(Debug, Default)]
pub(super) struct Conversation {
    messages: VecDeque<Arc<Kept>>,
    bytes: usize,
    /// The number of the last message there ever was.
    last_number: u64,
    /// What the messages that no longer fit would add.
    dropped_bytes: usize,
}

impl Conversation {
    pub(super) fn of(messages: Vec<Map<String, Value>>) -> Self {
        let mut conversation = Self::default();
        for message in messages {
            // Numbers continue where they were, whatever of the past is still here and in whatever order.
            let next = conversation.last_number + 1;
            let number = number(&message).unwrap_or(next);
            conversation.last_number = conversation.last_number.max(number);
            conversation.keep(message);
        }
        conversation
    }

    /// Adds what `role` said in the record `seq`, in this turn.
    pub(super) fn say(&mut self, role: &str, content: Value, seq: u64, turn_id: Option<&str>) {
        let message = self.message(role, content, seq, turn_id);
        self.keep(message);
    }

    fn message(
        &mut self,
        role: &str,
        content: Value,
        seq: u64,
        turn_id: Option<&str>,
    ) -> Map<String, Value> {
        self.last_number += 1;
        let message = json!({
            "id": format!("m{}", self.last_number),
            "role": role,
            "content": content,
            "monotonicTs": seq.to_string(),
        });
        let Value::Object(mut message) = message else {
            return Map::new();
        };
        if let Some(turn_id) = turn_id {
            message.insert("turnId".to_owned(), turn_id.into());
        }
        message
    }

    /// Puts other words into the message of the record `seq`, or takes it out.
    pub(super) fn revise(&mut self, seq: u64, text: Option<&str>) {
        let seq = Value::from(seq.to_string());
        let newest = self
            .messages
            .iter()
            .rposition(|said| said.message().get("monotonicTs") == Some(&seq));
        let Some(old) = newest.and_then(|place| self.messages.remove(place)) else {
            return;
        };
        self.bytes -= weight(old.message());
        if let (Some(text), Some(place)) = (text, newest) {
            let mut message = old.message().clone();
            message.insert("content".to_owned(), text.into());
            self.bytes += weight(&message);
            self.messages.insert(place, Arc::new(Kept::new(message)));
        }
    }

    fn keep(&mut self, message: Map<String, Value>) {
        self.bytes += weight(&message);
        self.messages.push_back(Arc::new(Kept::new(message)));
        while self.bytes > SNAPSHOT_BUDGET && self.drop_the_oldest() {}
    }

    /// Drops the oldest turn as a whole, because no model continues from half of one. The newest stays whatever its
    /// size: it is what is being answered. Returns whether a turn was dropped.
    fn drop_the_oldest(&mut self) -> bool {
        let ends = (self.messages.front(), self.messages.back());
        let (Some(oldest), Some(newest)) = ends else {
            return false;
        };
        let count = match oldest.turn_id() {
            // What was said outside any turn stands alone.
            None => 1,
            turn if turn == newest.turn_id() => 0,
            turn => {
                let of_turn = |kept: &&Arc<Kept>| kept.turn_id() == turn;
                self.messages.iter().take_while(of_turn).count()
            }
        };
        let count = count.min(self.messages.len() - 1);
        let dropped = self.messages.drain(..count);
        let dropped: usize = dropped.map(|kept| weight(kept.message())).sum();
        self.bytes -= dropped;
        self.dropped_bytes += dropped;
        count > 0
    }

    /// Puts a summary in the place of what it summarizes. Whatever was said since stays.
    pub(super) fn condense(&mut self, compaction: &Compaction, seq: u64) {
        let through = self
            .messages
            .iter()
            .position(|message| message.id() == compaction.through);
        let replaced = through.map_or(0, |through| through + 1);
        let rest = self.messages.split_off(replaced);
        let old = std::mem::replace(&mut self.messages, rest);
        for message in old.into_iter().rev() {
            if compaction.kept.iter().any(|id| id == message.id()) {
                self.messages.push_front(message);
            }
        }
        let content = json!({"summary": compaction.summary});
        let summary = self.message("user", content, seq, None);
        self.messages.push_front(Arc::new(Kept::new(summary)));
        self.bytes = self
            .messages
            .iter()
            .map(|kept| weight(kept.message()))
            .sum();
        // What did not fit is in the summary, or further back than anyone looks.
        self.dropped_bytes = 0;
    }

    pub(super) fn messages(&self) -> Vec<Map<String, Value>> {
        let messages = self.messages.iter();
        messages.map(|kept| kept.message().clone()).collect()
    }

    /// The messages, shared: a copy costs a counter for each.
    pub(super) fn history(&self) -> Vec<Arc<Kept>> {
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

fn number(message: &Map<String, Value>) -> Option<u64> {
    message.get("id")?.as_str()?.strip_prefix('m')?.parse().ok()
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
            conversation.say("user", text.into(), seq, None);
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
    fn a_turn_gives_way_as_a_whole_and_never_the_newest() {
        let mut conversation = Conversation::default();
        let huge = "x".repeat(SNAPSHOT_BUDGET + 1);
        conversation.say("user", "read it".into(), 1, Some("t1"));
        conversation.say("tool", huge.as_str().into(), 2, Some("t1"));
        let kept = |conversation: &Conversation| {
            let messages = conversation.messages();
            let seqs = messages
                .iter()
                .map(|message| message["monotonicTs"].clone());
            seqs.collect::<Vec<_>>()
        };
        assert_eq!(kept(&conversation), ["1", "2"]);
        assert!(conversation.bytes() > SNAPSHOT_BUDGET);
        conversation.say("user", "and now?".into(), 3, Some("t2"));
        assert_eq!(kept(&conversation), ["3"]);
        assert!(conversation.full_bytes() > SNAPSHOT_BUDGET);
        conversation.say("user", huge.as_str().into(), 4, None);
        assert_eq!(kept(&conversation), ["4"]);
    }

    #[test]
    fn the_oldest_messages_give_way() {
        let mut conversation = Conversation::default();
        let mebibyte = "x".repeat(1 << 20);
        for seq in 1..=10 {
            conversation.say("user", mebibyte.as_str().into(), seq, None);
        }
        let messages = conversation.messages();
        assert!(conversation.bytes() <= SNAPSHOT_BUDGET);
        assert!(conversation.full_bytes() > SNAPSHOT_BUDGET);
        assert_eq!(messages.last().unwrap()["id"], "m10");
        assert_eq!(messages.last().unwrap()["monotonicTs"], "10");
        assert!(messages.len() < 10);
    }

    #[test]
    fn numbers_go_on_after_a_resume_from_what_was_left() {
        let mut conversation = Conversation::default();
        let mebibyte = "x".repeat(1 << 20);
        for seq in 1..=10 {
            conversation.say("user", mebibyte.as_str().into(), seq, None);
        }
        let mut resumed = Conversation::of(conversation.messages());
        resumed.say("user", "next".into(), 11, Some("t1"));
        let last = resumed.messages().pop().unwrap();
        assert_eq!(last["id"], "m11");
        assert_eq!(last["turnId"], "t1");
        let compaction = Compaction {
            through: "m10".to_owned(),
            ..Compaction::default()
        };
        resumed.condense(&compaction, 12);
        let mut resumed = Conversation::of(resumed.messages());
        resumed.say("user", "after that".into(), 13, None);
        let ids: Vec<Value> = resumed
            .messages()
            .iter()
            .map(|message| message["id"].clone())
            .collect();
        assert_eq!(ids, ["m12", "m11", "m13"]);
    }

    fn texts(conversation: &Conversation) -> Vec<String> {
        let messages = conversation.messages();
        let text = |message: &Map<String, Value>| match &message["content"] {
            Value::String(text) => text.clone(),
            other => format!("[{}]", other["summary"].as_str().unwrap()),
        };
        messages.iter().map(text).collect()
    }

    #[test]
    fn a_summary_takes_the_place_of_what_it_replaces_and_of_nothing_else() {
        let mut conversation = Conversation::default();
        for (seq, text) in (1..).zip(["a", "b", "c", "d"]) {
            conversation.say("user", text.into(), seq, None);
        }
        let compaction = Compaction {
            summary: "a and c".to_owned(),
            through: "m3".to_owned(),
            kept: vec!["m2".to_owned()],
            ..Compaction::default()
        };
        // The conversation continued while the model wrote the summary.
        conversation.say("user", "e".into(), 5, None);
        let before = conversation.bytes();
        conversation.condense(&compaction, 6);
        assert_eq!(texts(&conversation), ["[a and c]", "b", "d", "e"]);
        assert_eq!(conversation.messages()[0]["id"], "m6");
        assert!(conversation.bytes() < before + 50);

        let again = Compaction {
            summary: "all".to_owned(),
            through: "m5".to_owned(),
            ..Compaction::default()
        };
        conversation.condense(&again, 7);
        assert_eq!(texts(&conversation), ["[all]"]);
    }
}
