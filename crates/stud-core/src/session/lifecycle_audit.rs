//! What is put on record of a session's own life.

use serde_json::{Value, json};
use stud_host_api::events::{BudgetSite, CoreEvent, ManifestSizeBudgetExceeded};

use super::Session;
use super::conversation::SNAPSHOT_BUDGET;
use crate::audit::{LIFECYCLE, Trail};
use crate::provenance::Integrity;

impl Session {
    /// Records that the session ended, and whether the index will have the head of its trail: if it does not have it
    /// later, the index was changed.
    pub(super) fn end_of_life(&self) {
        let mut facts = self.lifecycle_facts("end");
        if self.index.is_some() {
            facts["indexed"] = true.into();
        }
        self.audit_lifecycle("end", facts);
    }

    /// Closes the trail and puts its head into the index, or takes it away if it is not worth keeping.
    pub(super) fn close_trail(&self, is_worthless: impl FnOnce(&Trail) -> bool) {
        let Some(trail) = &self.books.trail else {
            return;
        };
        if is_worthless(trail) {
            let _ = trail.close();
            return trail.discard();
        }
        if let Some(Err(error)) = self.index.as_ref().map(|index| index.add_head(trail)) {
            let reason = "the head of the audit trail could not be put into the index";
            self.books.suppress(reason, &self.correlation_id(), &error);
        }
        let _ = trail.close();
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
