//! The durable record of what was decided and done, and the narrow way to read it.
//!
//! Not a log: a record is structured, immutable, always has a correlation id and never holds a resolved secret.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use stud_contract_meta::Result;

use crate::BoxFuture;

/// What a plugin puts on record. Core adds who, when, and in which turn and session.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct AuditEvent {
    /// The family of the record; not one of [`CORE_CLASSES`].
    pub class: String,
    /// What happened within the family.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// The facts.
    #[serde(default)]
    pub payload: Map<String, Value>,
}

/// A record as it was written.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct AuditRecord {
    /// The family of the record.
    pub class: String,
    /// What happened within the family.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// The turn, or an id of its own for what happens outside one.
    pub correlation_id: String,
    /// When it was written.
    pub timestamp: String,
    /// The session whose trail this is.
    pub session_id: String,
    /// Who did it: the id of a plugin, or `core`.
    pub actor: String,
    /// The orchestrator's session, for what happened inside a child.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent_session_id: Option<String>,
    /// The child, for what happened inside one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subagent_id: Option<String>,
    /// The child's depth, for what happened inside one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub depth: Option<u32>,
    /// The facts.
    #[serde(default)]
    pub payload: Map<String, Value>,
}

/// Which records to read. Every criterion that is given has to hold.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct AuditQuery {
    /// Of this family.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub class: Option<String>,
    /// Of this kind.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// From this turn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub correlation_id: Option<String>,
    /// From a child of this session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent_session_id: Option<String>,
    /// From this child.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subagent_id: Option<String>,
    /// Written at this time or later.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<String>,
}

/// A child session that was opened and has not ended.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ActiveSubagent {
    /// The child.
    pub subagent_id: String,
    /// The session that opened it.
    pub parent_session_id: String,
    /// How deep it is; a child of the orchestrator is at 1.
    pub depth: u32,
    /// The provider it runs on.
    pub provider_id: String,
    /// The model it runs on.
    pub model_id: String,
    /// The tools it may use unasked.
    pub approved_envelope: Vec<String>,
    /// When it was opened.
    pub spawned_at: String,
}

/// Writes and reads the session's audit trail.
pub trait AuditLogger: Send + Sync {
    /// Appends a record, with the caller as its actor.
    ///
    /// A class of [`CORE_CLASSES`] is `ExtensionHost/AuditClassReserved`.
    fn record(&self, event: AuditEvent) -> BoxFuture<'_, Result<()>>;

    /// The records of this session that fit, oldest first.
    fn query(&self, query: AuditQuery) -> BoxFuture<'_, Result<Vec<AuditRecord>>>;

    /// The child sessions that run right now, oldest first: opened on record, and no end on record.
    fn active_subagents(&self) -> BoxFuture<'_, Result<Vec<ActiveSubagent>>>;
}

/// The families that only core writes, in byte order.
pub const CORE_CLASSES: [&str; 33] = [
    "Approval",
    "Command",
    "Compaction",
    "Control",
    "Env",
    "ExtensionReloadRefused",
    "ExtensionReloaded",
    "ExtensionsReloaded",
    "GrantConsumed",
    "GrantIssued",
    "GuardDeny",
    "HealthReported",
    "Integrity",
    "Interaction",
    "IsolationViolation",
    "MCP",
    "ModelSwitch",
    "ModelSwitchRejected",
    "NetworkPolicyChange",
    "Params",
    "ProviderExchange",
    "ProviderSwitch",
    "ProviderSwitchRejected",
    "SMAttached",
    "SMTransition",
    "SessionLifecycle",
    "StageExecution",
    "StateSlotDrift",
    "SubagentExecution",
    "SuppressedError",
    "ToolInvocation",
    "TrustDecision",
    "Turn",
];

/// Whether only core may write records of this class.
pub fn is_core_class(class: &str) -> bool {
    CORE_CLASSES.binary_search(&class).is_ok()
}

impl AuditQuery {
    /// Whether the query asks for this record.
    pub fn matches(&self, record: &AuditRecord) -> bool {
        fn wanted(criterion: Option<&String>, value: Option<&String>) -> bool {
            criterion.is_none() || criterion == value
        }
        wanted(self.class.as_ref(), Some(&record.class))
            && wanted(self.kind.as_ref(), record.kind.as_ref())
            && wanted(self.correlation_id.as_ref(), Some(&record.correlation_id))
            && wanted(self.parent_session_id.as_ref(), record.parent_session_id.as_ref())
            && wanted(self.subagent_id.as_ref(), record.subagent_id.as_ref())
            // Times all have the same form, in which byte order is the order of time.
            && self.since.as_ref().is_none_or(|since| record.timestamp >= *since)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn record() -> Value {
        json!({
            "class": "SubagentExecution",
            "kind": "SubagentSpawned",
            "correlationId": "t1",
            "timestamp": "2026-01-01T00:00:00.500Z",
            "sessionId": "s1",
            "actor": "core",
            "parentSessionId": "s1",
            "subagentId": "a1",
            "depth": 1,
            "payload": {"label": "finder"},
        })
    }

    fn finds(query: Value) -> bool {
        let query: AuditQuery = serde_json::from_value(query).unwrap();
        query.matches(&serde_json::from_value(record()).unwrap())
    }

    #[test]
    fn a_record_round_trips() {
        let read: AuditRecord = serde_json::from_value(record()).unwrap();
        assert_eq!(serde_json::to_value(read).unwrap(), record());
    }

    #[test]
    fn an_event_has_no_room_for_an_actor() {
        let json = json!({"class": "Indexing", "kind": "Built", "payload": {"files": 3}});
        let event: AuditEvent = serde_json::from_value(json.clone()).unwrap();
        assert_eq!(serde_json::to_value(event).unwrap(), json);
    }

    #[test]
    fn an_active_subagent_round_trips() {
        let json = json!({
            "subagentId": "a1",
            "parentSessionId": "s1",
            "depth": 1,
            "providerId": "echo",
            "modelId": "echo-1",
            "approvedEnvelope": ["read"],
            "spawnedAt": "2026-01-01T00:00:00.000Z",
        });
        let child: ActiveSubagent = serde_json::from_value(json.clone()).unwrap();
        assert_eq!(serde_json::to_value(child).unwrap(), json);
    }

    #[test]
    fn a_query_is_the_conjunction_of_its_criteria() {
        assert!(finds(json!({})));
        assert!(finds(json!({
            "class": "SubagentExecution",
            "kind": "SubagentSpawned",
            "correlationId": "t1",
            "parentSessionId": "s1",
            "subagentId": "a1",
            "since": "2026-01-01T00:00:00.500Z",
        })));
        for miss in [
            json!({"class": "Turn"}),
            json!({"kind": "SubagentHalted"}),
            json!({"correlationId": "t2"}),
            json!({"parentSessionId": "s2"}),
            json!({"subagentId": "a2"}),
            json!({"since": "2026-01-01T00:00:00.501Z"}),
            json!({"class": "SubagentExecution", "kind": "SubagentHalted"}),
        ] {
            assert!(!finds(miss.clone()), "{miss}");
        }
    }

    #[test]
    fn core_classes_are_in_byte_order_and_unique() {
        assert!(CORE_CLASSES.is_sorted_by(|a, b| a < b));
        assert!(
            is_core_class("Approval") && is_core_class("Interaction") && !is_core_class("Indexing")
        );
    }
}
