//! What a logger plugin adds to its manifest.

use serde::{Deserialize, Serialize};
use stud_host_api::Severity;

use crate::record::RecordKind;

/// The members of a manifest that belong to this category.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct LoggerMembers {
    /// What it wants to be given.
    pub accepts: Accepts,
}

/// Which records a logger wants.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Accepts {
    /// What happened.
    pub events: bool,
    /// What was decided.
    pub audit: bool,
    /// What is wrong.
    pub diagnostics: bool,
    /// Nothing that matters less.
    pub min_severity: Severity,
}

impl Accepts {
    /// Whether a record of this stream and severity is wanted.
    pub fn takes(&self, kind: RecordKind, severity: Severity) -> bool {
        let wanted = match kind {
            RecordKind::Event => self.events,
            RecordKind::Audit => self.audit,
            RecordKind::Diagnostic => self.diagnostics,
        };
        wanted && severity >= self.min_severity
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn accepts() -> Accepts {
        Accepts {
            events: true,
            audit: true,
            diagnostics: false,
            min_severity: Severity::Warn,
        }
    }

    #[test]
    fn members_keep_their_names() {
        let json = json!({"accepts": {
            "events": true, "audit": true, "diagnostics": false, "minSeverity": "warn",
        }});
        let members = LoggerMembers { accepts: accepts() };
        assert_eq!(serde_json::to_value(&members).unwrap(), json);
        assert_eq!(
            serde_json::from_value::<LoggerMembers>(json).unwrap(),
            members
        );
    }

    #[test]
    fn a_record_has_to_be_of_a_wanted_stream_and_to_matter_enough() {
        let takes = |kind, severity| accepts().takes(kind, severity);
        assert!(takes(RecordKind::Event, Severity::Warn));
        assert!(takes(RecordKind::Audit, Severity::Error));
        assert!(!takes(RecordKind::Event, Severity::Info));
        assert!(!takes(RecordKind::Diagnostic, Severity::Error));
    }
}
