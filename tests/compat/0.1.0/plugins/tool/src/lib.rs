//! A tool that uses most of what a tool may ask of the host: it asks the user for a title, counts its notes in its state
//! slot, publishes an event, writes an audit record and adds a note to the transcript.
#![forbid(unsafe_code)]

use stud_sdk::host::audit::AuditEvent;
use stud_sdk::host::events::Event;
use stud_sdk::host::session::{SessionRecord, SlotValue};
use stud_sdk::interaction::{Answer, Payload};
use stud_sdk::prelude::*;

/// What the operator sets.
#[derive(Config)]
struct Options {
    /// What each note begins with.
    #[stud(default = "note")]
    prefix: String,
}

/// What the model sends.
#[derive(Args)]
struct Note {
    /// The note.
    text: String,
    /// Whether to ask the user for a title.
    #[stud(default)]
    ask: bool,
}

/// A note was kept.
#[derive(Schema)]
struct NoteKept {
    /// How many there are now.
    total: u64,
}

/// What is kept with the session.
#[derive(Schema)]
struct Notes {
    /// How many notes there are.
    total: u64,
}

/// Keeps a note.
#[tool(
    id = "frozen-tool",
    name = "frozen_note",
    config = Options,
    init = Notebook::open,
    events(NoteKept),
    state_slot(version = "1.0.0", schema = Notes),
    interactions("ToolInput")
)]
struct Notebook {
    prefix: String,
}

impl Notebook {
    fn open(_host: Host, options: Options) -> Self {
        Self {
            prefix: options.prefix,
        }
    }
}

impl Tool for Notebook {
    type Args = Note;

    async fn execute(&self, note: Note, cx: &Cx) -> Result<Output> {
        let title = if note.ask { title(cx).await? } else { None };
        let total = count(cx).await?;
        let kept = Event {
            name: "NoteKept".to_owned(),
            payload: json!({"total": total}),
        };
        cx.host().events().publish(kept)?;
        let record = AuditEvent {
            class: "FrozenTool".to_owned(),
            kind: Some("NoteKept".to_owned()),
            payload: json!({"total": total})
                .as_object()
                .cloned()
                .unwrap_or_default(),
        };
        cx.host().audit().record(record).await?;
        let text = format!("{}: {}", self.prefix, note.text);
        let line = SessionRecord::Note { text: text.clone() };
        cx.host().session().append(line).await?;
        Output::json(json!({
            "text": text,
            "title": title,
            "total": total,
            "env": cx.host().env().get("FROZEN_NAME")?,
            "mode": cx.host().config().read_global("securityMode")?,
        }))
    }

    fn approval_key(&self, _note: &Note) -> Result<String> {
        Ok("notes".to_owned())
    }
}

/// Asks the user for a title.
async fn title(cx: &Cx) -> Result<Option<Value>> {
    let form = json!({
        "toolName": "frozen_note",
        "toolCallId": cx.ids().tool_call_id,
        "inputSchema": {
            "type": "form",
            "fields": [{"id": "title", "type": "text", "label": "Title", "required": true}]
        },
    });
    let payload = Payload::read("ToolInput", form)?;
    let response = cx.host().interaction().request(payload.clone()).await?;
    Ok(match response.answer(&payload)? {
        Some(Answer::ToolInput(answer)) => {
            answer.input.and_then(|input| input.get("title").cloned())
        }
        _ => None,
    })
}

/// Adds one to the notes of the session.
async fn count(cx: &Cx) -> Result<u64> {
    let slot = cx.host().session().state_slot("frozen-tool")?;
    let kept = slot.read().await?;
    let before = kept.and_then(|kept| kept.data["total"].as_u64());
    let total = before.unwrap_or(0) + 1;
    let value = SlotValue {
        slot_version: "1.0.0".to_owned(),
        data: json!({"total": total}),
    };
    slot.write(value).await?;
    Ok(total)
}
