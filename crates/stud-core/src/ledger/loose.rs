//! What a journal has begun and not ended.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What is on record as begun and not as ended. A process that ends early leaves it so.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct OpenRecords {
    /// Unanswered prompts, by id.
    #[serde(rename = "openPrompts")]
    pub(crate) prompts: BTreeMap<String, OpenPrompt>,
    /// Prompts that stay open though their tools are gone: what their records say, by id.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) detached: BTreeMap<String, Value>,
    /// Their tools, by the ids of the calls.
    pub(crate) tool_calls: BTreeMap<String, String>,
    /// The stages of a state machine that calls belong to, by the ids of the calls.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) stage_calls: BTreeMap<String, Value>,
    /// Turns; there is one at most, unless a journal was written by a process that did not close them.
    #[serde(rename = "openTurns", skip_serializing_if = "BTreeSet::is_empty")]
    pub(crate) turns: BTreeSet<String>,
}

/// What has to be known of a prompt to put its end on record.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct OpenPrompt {
    pub(crate) request_kind: String,
    pub(crate) correlation_id: String,
    pub(crate) raised_at: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) asked_by: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) tool_call_id: Option<String>,
}

impl OpenRecords {
    /// What a record begins or ends, as it lies in the store.
    pub(super) fn take_record(&mut self, record: &Value) {
        self.take(
            record["kind"].as_str().unwrap_or_default(),
            record["extId"].as_str(),
            &record["payload"],
        );
    }

    /// What a record that `ext_id` caused begins or ends.
    pub(crate) fn take(&mut self, kind: &str, ext_id: Option<&str>, payload: &Value) {
        let text = |member: &str| payload[member].as_str().unwrap_or_default().to_owned();
        match kind {
            "interaction_request" => {
                let call = payload["payload"]["toolCallId"].as_str();
                let prompt = OpenPrompt {
                    request_kind: text("kind"),
                    correlation_id: text("correlationId"),
                    raised_at: text("issuedAt"),
                    asked_by: ext_id.map(str::to_owned),
                    tool_call_id: call.map(str::to_owned),
                };
                self.prompts.insert(text("interactionId"), prompt);
            }
            "interaction_response" => {
                let id = text("interactionId");
                self.prompts.remove(&id);
                self.detached.remove(&id);
            }
            "interaction_detached" => {
                self.detached.insert(text("interactionId"), payload.clone());
            }
            "tool_call" => {
                if let Some(stage) = payload.get("stage") {
                    self.stage_calls.insert(text("toolCallId"), stage.clone());
                }
                self.tool_calls.insert(text("toolCallId"), text("toolName"));
            }
            "tool_result" => {
                self.tool_calls.remove(&text("toolCallId"));
                self.stage_calls.remove(&text("toolCallId"));
            }
            "turn_start" => {
                self.turns.insert(text("turnId"));
            }
            "turn_end" => {
                self.turns.remove(&text("turnId"));
            }
            _ => {}
        }
    }
}
