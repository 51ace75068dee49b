//! Which child sessions run, told from the records alone.

use serde_json::{Map, Value};
use stud_host_api::audit::{ActiveSubagent, AuditRecord};

const CLASS: &str = "SubagentExecution";
const SPAWNED: &str = "SubagentSpawned";
const ENDED: [&str; 3] = ["SubagentCompleted", "SubagentHalted", "SubagentAborted"];

/// What the records say so far.
#[derive(Debug, Default)]
pub(super) struct Children {
    /// How much of the file has been gone through.
    pub(super) seen: u64,
    active: Vec<ActiveSubagent>,
}

impl Children {
    /// Takes one more record into account.
    pub(super) fn see(&mut self, record: &AuditRecord) {
        let (CLASS, Some(kind)) = (record.class.as_str(), record.kind.as_deref()) else {
            return;
        };
        if kind == SPAWNED {
            self.active.extend(opened(record));
        } else if ENDED.contains(&kind)
            && let Some(ended) = text(record.subagent_id.as_ref(), &record.payload, "subagentId")
        {
            self.active.retain(|child| child.subagent_id != ended);
        }
    }

    pub(super) fn active(&self) -> Vec<ActiveSubagent> {
        self.active.clone()
    }
}

/// The child a record says was opened; the fields around the payload come first.
fn opened(record: &AuditRecord) -> Option<ActiveSubagent> {
    let payload = &record.payload;
    let fact = |name: &str| text(None, payload, name).unwrap_or_default();
    let parent = text(
        record.parent_session_id.as_ref(),
        payload,
        "parentSessionId",
    );
    let depth = record
        .depth
        .or_else(|| u32::try_from(payload.get("depth")?.as_u64()?).ok());
    let envelope = payload.get("approvedEnvelope").and_then(Value::as_array);
    Some(ActiveSubagent {
        subagent_id: text(record.subagent_id.as_ref(), payload, "subagentId")?,
        parent_session_id: parent.unwrap_or_else(|| record.session_id.clone()),
        depth: depth.unwrap_or(1),
        provider_id: fact("providerId"),
        model_id: fact("modelId"),
        approved_envelope: envelope
            .into_iter()
            .flatten()
            .filter_map(|tool| tool.as_str().map(str::to_owned))
            .collect(),
        spawned_at: record.timestamp.clone(),
    })
}

fn text(stamped: Option<&String>, payload: &Map<String, Value>, name: &str) -> Option<String> {
    let in_payload = || payload.get(name)?.as_str().map(str::to_owned);
    stamped.cloned().or_else(in_payload)
}
