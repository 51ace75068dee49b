//! What is put on record of a session's own life.

use serde_json::{Value, json};

use super::Session;
use super::conversation::SNAPSHOT_BUDGET;
use crate::audit::LIFECYCLE;
use crate::provenance::Verdict;

impl Session {
    /// Puts on record that the session began, went on, or ended.
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
    pub(crate) fn audit_integrity(&self, ext_id: &str, verdict: Verdict) {
        let correlation_id = self.correlation_id();
        let facts = verdict.facts(ext_id);
        self.books.audit("Integrity", None, &correlation_id, facts);
    }

    /// A snapshot weighs more than it should. That stops nothing, and is told, and put on record.
    pub(super) fn over_budget(&self, site: &str, bytes: usize) {
        const NAME: &str = "ManifestSizeBudgetExceeded";
        let payload = json!({
            "site": site,
            "actualBytes": bytes,
            "thresholdBytes": SNAPSHOT_BUDGET,
            "recommendation": "/compact",
        });
        self.audit_lifecycle(NAME, payload.clone());
        self.publish_state(NAME, &payload);
    }
}
