//! What a logger is given.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use stud_host_api::Severity;

/// One thing that happened.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Record {
    /// What happened: the name of the event, the class of the audit record, the code of the diagnostic.
    #[serde(rename = "type")]
    pub name: String,
    /// Which of the three streams it belongs to.
    #[serde(default)]
    pub kind: RecordKind,
    /// How much it matters.
    #[serde(default)]
    pub severity: Severity,
    /// The turn it belongs to.
    pub correlation_id: String,
    /// When, in RFC 3339 with milliseconds, UTC.
    pub timestamp: String,
    /// The facts. Secrets are in it by reference only.
    pub payload: Map<String, Value>,
}

/// The three streams of records.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum RecordKind {
    /// Something happened.
    #[default]
    Event,
    /// Something was decided.
    Audit,
    /// Something is wrong.
    Diagnostic,
}

impl RecordKind {
    /// All three.
    pub const ALL: [Self; 3] = [Self::Event, Self::Audit, Self::Diagnostic];

    /// The word on every wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Event => "event",
            Self::Audit => "audit",
            Self::Diagnostic => "diagnostic",
        }
    }
}

impl fmt::Display for RecordKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_record_keeps_its_names() {
        let json = json!({
            "type": "ToolInvocationFailed",
            "kind": "event",
            "severity": "warn",
            "correlationId": "t1",
            "timestamp": "2026-01-01T00:00:00.000Z",
            "payload": {"toolCallId": "c1"},
        });
        let record: Record = serde_json::from_value(json.clone()).unwrap();
        assert_eq!(record.name, "ToolInvocationFailed");
        assert_eq!(serde_json::to_value(record).unwrap(), json);
    }

    #[test]
    fn a_record_is_an_event_that_is_worth_knowing_unless_it_says_otherwise() {
        let json = json!({"type": "X", "correlationId": "", "timestamp": "", "payload": {}});
        let record: Record = serde_json::from_value(json).unwrap();
        assert_eq!(
            (record.kind, record.severity),
            (RecordKind::Event, Severity::Info)
        );
    }

    #[test]
    fn serde_and_text_agree_on_every_word() {
        for kind in RecordKind::ALL {
            assert_eq!(serde_json::to_value(kind).unwrap(), kind.as_str());
        }
        for severity in Severity::ALL {
            assert_eq!(serde_json::to_value(severity).unwrap(), severity.as_str());
        }
        assert!(Severity::ALL.is_sorted());
    }
}
