//! The child sessions of a stored session: what the audit trail says of each, and what was said in it.

use std::path::Path;

use serde::Serialize;
use serde_json::{Map, Value};
use stud_host_api::audit::AuditRecord;
use stud_host_api::session::TranscriptRecord;

use crate::audit::{self, Broken, Chain};
use crate::ledger::transcript_record;
use crate::session::transcript_file::{self, FOLDER};

/// A child session.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct StoredChild {
    /// Its id.
    pub subagent_id: String,
    /// The session that opened it.
    pub parent_session_id: String,
    /// How deep it is; a child of the session itself is at 1.
    pub depth: u64,
    /// The name it was given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// The provider it ran on.
    pub provider_id: String,
    /// The model it ran on.
    pub model_id: String,
    /// The tools it was allowed.
    pub envelope: Vec<String>,
    /// `running` where its end is not on record, else `completed`, `halted` or `aborted`.
    pub state: &'static str,
    /// Why it was aborted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The tokens it has sent, with those of its own children.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input_tokens: Option<u64>,
    /// The tokens it has received, with those of its own children.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output_tokens: Option<u64>,
    /// Its transcript; empty where none was kept.
    pub records: Vec<TranscriptRecord>,
}

/// The children of a session, in the order in which they were opened.
pub(super) fn read(global_root: &Path, session_id: &str) -> Result<Vec<StoredChild>, Broken> {
    let folder = audit::folder(global_root, session_id);
    let trail = audit::trail(&folder);
    let mut children = Vec::new();
    if !trail.exists() {
        return Ok(children);
    }
    for step in Chain::open(&trail)?.of_session(session_id) {
        let Some(record) = &step.record else { continue };
        take(record, &mut children);
    }
    let transcripts = folder.parent().map(|session| session.join(FOLDER));
    for child in &mut children {
        let file = transcripts
            .as_ref()
            .map(|folder| folder.join(format!("{}.jsonl", child.subagent_id)));
        // One that cannot be read is shown without its words; the trail still says what it did.
        let records = file.and_then(|file| transcript_file::read(&file).ok());
        let records = records.into_iter().flatten();
        child.records = records.map(transcript_record).collect();
    }
    Ok(children)
}

fn take(record: &AuditRecord, children: &mut Vec<StoredChild>) {
    let payload = &record.payload;
    let id = record.subagent_id.as_deref();
    let state = match record.kind.as_deref() {
        Some("SubagentSpawned") => {
            children.extend(opened(record));
            return;
        }
        Some("SubagentCompleted") => "completed",
        Some("SubagentHalted") => "halted",
        Some("SubagentAborted") => "aborted",
        _ => return,
    };
    let ended = children
        .iter_mut()
        .find(|child| Some(&*child.subagent_id) == id);
    if let Some(child) = ended {
        child.state = state;
        child.reason = text(payload, "reason");
        child.input_tokens = payload.get("inputTokens").and_then(Value::as_u64);
        child.output_tokens = payload.get("outputTokens").and_then(Value::as_u64);
    }
}

fn opened(record: &AuditRecord) -> Option<StoredChild> {
    let payload = &record.payload;
    let envelope = payload.get("approvedEnvelope").and_then(Value::as_array);
    let names = envelope.into_iter().flatten().filter_map(Value::as_str);
    Some(StoredChild {
        subagent_id: record.subagent_id.clone()?,
        parent_session_id: record.parent_session_id.clone()?,
        depth: u64::from(record.depth?),
        label: text(payload, "label"),
        provider_id: text(payload, "providerId").unwrap_or_default(),
        model_id: text(payload, "modelId").unwrap_or_default(),
        envelope: names.map(str::to_owned).collect(),
        state: "running",
        reason: None,
        input_tokens: None,
        output_tokens: None,
        records: Vec::new(),
    })
}

fn text(payload: &Map<String, Value>, member: &str) -> Option<String> {
    payload.get(member)?.as_str().map(str::to_owned)
}
