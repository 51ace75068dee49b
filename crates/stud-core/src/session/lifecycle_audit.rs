//! What is put on record of a session's own life.

use serde_json::{Value, json};
use stud_host_api::events::{BudgetSite, CoreEvent, ManifestSizeBudgetExceeded};

use super::Session;
use super::conversation::SNAPSHOT_BUDGET;
use crate::audit::LIFECYCLE;
use crate::provenance::Integrity;

impl Session {
    /// Records that the session started, resumed, or ended.
    pub(super) fn lifecycle(&self, event: &str) {
        self.audit_lifecycle(event, self.lifecycle_facts(event));
    }

    /// What is put on record of that.
    pub(super) fn lifecycle_facts(&self, event: &str) -> Value {
        json!({
            "event": event,
            "sessionId": self.id(),
            "storeId": self.store.store_id(),
        })
    }

    pub(super) fn audit_lifecycle(&self, event: &str, facts: Value) {
        let correlation_id = self.correlation_id();
        self.books
            .audit(LIFECYCLE, Some(event), &correlation_id, facts);
    }

    /// Puts on record whether a plugin is the one that was pinned.
    pub(crate) fn audit_integrity(&self, ext_id: &str, verdict: Integrity) {
        let correlation_id = self.correlation_id();
        let facts = verdict.facts(ext_id);
        self.books.audit("Integrity", None, &correlation_id, facts);
    }

    /// A snapshot weighs more than it should. That stops nothing, and is told, and put on record.
    pub(super) fn over_budget(&self, site: BudgetSite, bytes: usize) {
        let exceeded = ManifestSizeBudgetExceeded {
            actual_bytes: bytes as u64,
            recommendation: "/compact".to_owned(),
            site,
            threshold_bytes: SNAPSHOT_BUDGET as u64,
        };
        self.audit_lifecycle(ManifestSizeBudgetExceeded::NAME, json!(exceeded));
        self.publish_state(&exceeded);
    }
}
