//! How much would have to be replayed if the session were opened now, and the snapshots that keep it from becoming much.
//!
//! A snapshot is written at the end of a turn, but one turn can write any number of records, and beyond a certain weight
//! not every turn is worth a snapshot. So the journal's growth decides too, also in the middle of a turn.

use std::sync::atomic::Ordering;
use std::sync::{OnceLock, Weak};

use serde_json::Value;
use stud_contract_session_store::JournalRecord;

use super::Session;
use crate::ledger::Follower;
use crate::sync::{AtomicBool, AtomicU64};

/// When the journal has grown by this much, a snapshot is due. What is written until it is there comes on top, so this
/// is half of the 32 MiB that are promised.
const DUE: u64 = 16 << 20;

/// What a record costs beside its content.
const LINE: u64 = 64;

/// How much the journal has grown since the last snapshot.
pub(super) struct JournalGrowth {
    since_snapshot: AtomicU64,
    /// Whether a snapshot has been asked for and is not there yet.
    asked: AtomicBool,
    session: OnceLock<Weak<Session>>,
}

impl JournalGrowth {
    /// As many bytes were replayed when the session was opened.
    pub(super) fn of(replayed: u64) -> Self {
        Self {
            since_snapshot: AtomicU64::new(replayed),
            asked: AtomicBool::new(false),
            session: OnceLock::new(),
        }
    }

    /// Whose journal it is.
    pub(super) fn watch(&self, session: Weak<Session>) {
        // It watches one journal, so it is only ever told once.
        let _ = self.session.set(session);
    }

    pub(super) fn since_snapshot(&self) -> u64 {
        self.since_snapshot.load(Ordering::Acquire)
    }

    pub(super) fn is_due(&self) -> bool {
        self.since_snapshot() >= DUE
    }

    /// A snapshot covers so much of it.
    pub(super) fn covered(&self, bytes: u64) {
        self.since_snapshot.fetch_sub(bytes, Ordering::AcqRel);
        self.asked.store(false, Ordering::Release);
    }
}

impl Follower for JournalGrowth {
    fn written(&self, records: &[JournalRecord]) {
        let bytes: u64 = records.iter().map(|record| size(&record.record)).sum();
        self.since_snapshot.fetch_add(bytes, Ordering::AcqRel);
        if self.is_due()
            && !self.asked.swap(true, Ordering::AcqRel)
            && let Some(session) = self.session.get().and_then(Weak::upgrade)
        {
            session.save_midway();
        }
    }
}

/// About as many bytes as a record has in the journal.
pub(super) fn size(record: &Value) -> u64 {
    fn of(value: &Value) -> u64 {
        match value {
            Value::Null | Value::Bool(_) => 5,
            Value::Number(_) => 8,
            Value::String(text) => text.len() as u64 + 3,
            Value::Array(items) => 2 + items.iter().map(of).sum::<u64>(),
            Value::Object(members) => members
                .iter()
                .map(|(name, value)| name.len() as u64 + 4 + of(value))
                .sum(),
        }
    }
    LINE + of(record)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_record_is_about_as_long_as_its_line() {
        let record =
            json!({"kind": "note", "payload": {"text": "x".repeat(1000), "n": [1, null, true]}});
        let line = record.to_string().len() as u64;
        assert!(
            size(&record).abs_diff(line) < 100,
            "{} {line}",
            size(&record)
        );
    }

    #[test]
    fn what_a_snapshot_covers_is_not_due_any_more() {
        let growth = JournalGrowth::of(DUE - 1);
        assert!(!growth.is_due());
        let record = JournalRecord {
            seq: 1,
            record: json!("x"),
        };
        growth.written(std::slice::from_ref(&record));
        assert!(growth.is_due());
        let covered = growth.since_snapshot();
        growth.written(&[record]);
        growth.covered(covered);
        assert!(!growth.is_due() && growth.since_snapshot() > 0);
    }
}
