//! Renders a record for a reader of the session.

use serde_json::{Map, Value};
use stud_contract_meta::Result;
use stud_core::session::archive::{TranscriptRecord, messages, records};
use stud_core::stored_sessions::StoredSessions;

/// Something that was said or done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Speech {
    /// The number of its record; none where the store keeps no records.
    pub(super) seq: Option<u64>,
    /// Who, such as `you` or `read`.
    pub(super) who: String,
    /// The text, as it was said.
    pub(super) text: String,
    /// Whether the text is meant for a program, such as the arguments of a call.
    pub(super) is_data: bool,
}

/// The conversation of a session, in order: from its records, or from its messages where there are none.
pub(super) fn conversation<'a>(
    shelf: &'a StoredSessions,
    session_id: &'a str,
) -> Result<Box<dyn Iterator<Item = Result<Speech>> + 'a>> {
    let store = &**shelf.store();
    if store.journals() {
        let spoken = records(session_id, store).filter_map(|record| match record {
            Ok(record) => speech(record).map(Ok),
            Err(error) => Some(Err(error)),
        });
        return Ok(Box::new(spoken));
    }
    let spoken = messages(session_id, store)?.into_iter();
    Ok(Box::new(spoken.filter_map(said).map(Ok)))
}

/// What a record says, if it says anything to a reader.
pub(super) fn speech(record: TranscriptRecord) -> Option<Speech> {
    let TranscriptRecord { seq, payload, .. } = record;
    let text = |member: &str| payload[member].as_str().unwrap_or_default().to_owned();
    let said = |who: &str, text: String, is_data: bool| {
        (!text.is_empty()).then(|| Speech {
            seq: Some(seq),
            who: who.to_owned(),
            text,
            is_data,
        })
    };
    match record.kind.as_str() {
        "user_input" => said("you", text("text"), false),
        "assistant_message" => said("assistant", text("text"), false),
        "tool_call" => {
            let call = format!("call of {}", text("toolName"));
            said(&call, payload["args"].to_string(), true)
        }
        "tool_result" => {
            let result = format!("result of {}", text("toolName"));
            said(&result, text("content"), true)
        }
        "note" => said(
            &format!("note of {}", record.ext_id.unwrap_or_default()),
            text("text"),
            false,
        ),
        "compaction" => said("summary of what was said so far", text("summary"), false),
        "turn_end" => {
            let ending = match text("status").as_str() {
                "halted" => "the turn stopped: a prompt needed an answer, and no UI was attached",
                "cancelled" => "the turn was cancelled",
                "failed" => "the turn failed",
                _ => "",
            };
            said("stud", ending.to_owned(), false)
        }
        _ => None,
    }
}

/// What a message says.
fn said(message: Map<String, Value>) -> Option<Speech> {
    let role = message.get("role")?.as_str()?;
    let content = message.get("content")?;
    let (who, is_data) = match role {
        "user" => ("you", false),
        "tool" => ("result", true),
        other => (other, false),
    };
    let text = ["text", "content", "summary"]
        .into_iter()
        .find_map(|member| content.get(member)?.as_str());
    let text = content.as_str().or(text).unwrap_or_default();
    (!text.is_empty()).then(|| Speech {
        seq: None,
        who: who.to_owned(),
        text: text.to_owned(),
        is_data,
    })
}
