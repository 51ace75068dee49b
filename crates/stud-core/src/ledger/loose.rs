//! What a journal has begun and not ended.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What is on record as begun and not as ended. A process that ends early leaves it so.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct LooseEnds {
    pub(crate) prompts: BTreeSet<String>,
    /// Prompts that stay open though their tools are gone: what their records say, by id.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) detached: BTreeMap<String, Value>,
    /// Their tools, by the ids of the calls.
    pub(crate) tool_calls: BTreeMap<String, String>,
}

impl LooseEnds {
    /// What a record begins or ends, as it lies in the store.
    pub(super) fn take_record(&mut self, record: &Value) {
        self.take(
            record["kind"].as_str().unwrap_or_default(),
            &record["payload"],
        );
    }

    /// What a record begins or ends.
    pub(crate) fn take(&mut self, kind: &str, payload: &Value) {
        let text = |member: &str| payload[member].as_str().unwrap_or_default().to_owned();
        match kind {
            "interaction_request" => {
                self.prompts.insert(text("interactionId"));
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
                self.tool_calls.insert(text("toolCallId"), text("toolName"));
            }
            "tool_result" => {
                self.tool_calls.remove(&text("toolCallId"));
            }
            _ => {}
        }
    }
}
