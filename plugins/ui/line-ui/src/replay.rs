//! What was said before: shown when a session is resumed, before the input prompt.

use std::collections::VecDeque;

use stud_sdk::host::session::{Page, TranscriptRecord};
use stud_sdk::{Host, Result};

use crate::escape;
use crate::prompt_heading::quoted;
use crate::screen::{Screen, Tone};

/// As many messages as a person would read again.
const SHOWN: usize = 20;

/// As much of what was meant for a model as tells which it was.
const RESULT_CHARS: usize = 200;

/// As many records as are read at a time.
const PAGE: u32 = 1000;

/// The last messages of a session, and how many came before them.
#[derive(Debug, Default)]
struct Past {
    messages: VecDeque<String>,
    earlier: usize,
}

/// Shows the last messages of a session that is taken up again.
///
/// A screen that is loaded anew in the middle of a session shows nothing: everything is on the terminal already. Such a
/// session has its plugins, and one that is on its way has none.
pub(crate) fn show(screen: &Screen, host: &Host) {
    let is_on_its_way = host.metrics().snapshot();
    if !is_on_its_way.is_ok_and(|snapshot| snapshot.extensions.loaded.is_empty()) {
        return;
    }
    // Who cannot be told what was said can still continue.
    if let Ok(past) = read(host) {
        past.tell(screen);
    }
}

fn read(host: &Host) -> Result<Past> {
    let mut past = Past::default();
    let mut after_seq = None;
    loop {
        let limit = Some(PAGE);
        let page = host.session().read(Page { after_seq, limit });
        let page = crate::session_input::wait(page)?;
        for record in &page.records {
            past.take(record);
        }
        match page.next_after_seq {
            Some(next) => after_seq = Some(next),
            None => return Ok(past),
        }
    }
}

impl Past {
    fn take(&mut self, record: &TranscriptRecord) {
        let Some(message) = message(record) else {
            return;
        };
        if self.messages.len() == SHOWN {
            self.messages.pop_front();
            self.earlier += 1;
        }
        self.messages.push_back(message);
    }

    fn tell(&self, screen: &Screen) {
        if self.messages.is_empty() {
            return;
        }
        let earlier = match self.earlier {
            0 => String::new(),
            1 => " (1 message before is not shown)".to_owned(),
            many => format!(" ({many} messages before are not shown)"),
        };
        screen.note(Tone::Faint, &format!("What was said so far{earlier}:"));
        for message in &self.messages {
            screen.note(Tone::Plain, message);
        }
    }
}

/// A record as a person gets to read it again; nothing for one that is no message.
fn message(record: &TranscriptRecord) -> Option<String> {
    let text = |member: &str| record.payload[member].as_str().unwrap_or_default();
    let (who, said) = match record.kind.as_str() {
        "user_input" => ("you".to_owned(), text("text").to_owned()),
        "assistant_message" => ("assistant".to_owned(), text("text").to_owned()),
        "tool_call" => {
            let args = &record.payload["args"];
            (
                format!("call of {}", escape::line(text("toolName"))),
                shortened(&args.to_string()),
            )
        }
        "tool_result" => {
            let who = format!("result of {}", escape::line(text("toolName")));
            (who, shortened(text("content")))
        }
        "compaction" => ("summary".to_owned(), text("summary").to_owned()),
        _ => return None,
    };
    if said.is_empty() {
        return None;
    }
    Some(if said.contains('\n') {
        format!("{who}:{}", quoted(&said))
    } else {
        format!("{who}: {}", escape::line(&said))
    })
}

fn shortened(text: &str) -> String {
    match text.char_indices().nth(RESULT_CHARS) {
        Some((cut, _)) => format!("{}…", &text[..cut]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use stud_sdk::{Value, json};

    use super::*;

    fn record(kind: &str, payload: Value) -> TranscriptRecord {
        TranscriptRecord {
            kind: kind.to_owned(),
            payload,
            ..TranscriptRecord::default()
        }
    }

    #[test]
    fn messages_are_told_with_who_said_them_and_nothing_else_is() {
        for (kind, payload, told) in [
            ("user_input", json!({"text": "hi"}), Some("you: hi")),
            (
                "assistant_message",
                json!({"text": "one\ntwo\u{1b}[2J"}),
                Some("assistant:\n  | one\n  | two\\u{1b}[2J"),
            ),
            (
                "tool_call",
                json!({"toolName": "read", "args": {"path": "a"}}),
                Some("call of read: {\"path\":\"a\"}"),
            ),
            ("assistant_message", json!({"text": ""}), None),
            ("turn_end", json!({"status": "completed"}), None),
        ] {
            assert_eq!(message(&record(kind, payload)).as_deref(), told, "{kind}");
        }
    }

    #[test]
    fn a_long_result_is_shortened() {
        let payload = json!({"toolName": "read", "content": "é".repeat(1000)});
        let told = message(&record("tool_result", payload)).unwrap();
        assert_eq!(
            told,
            format!("result of read: {}…", "é".repeat(RESULT_CHARS))
        );
    }

    #[test]
    fn only_the_last_messages_are_told_and_the_others_counted() {
        let mut past = Past::default();
        for number in 0..25 {
            past.take(&record("user_input", json!({"text": number.to_string()})));
        }
        assert_eq!((past.messages.len(), past.earlier), (SHOWN, 5));
        assert_eq!(past.messages.front().unwrap(), "you: 5");
    }
}
