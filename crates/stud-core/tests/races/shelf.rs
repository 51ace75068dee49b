//! The store of a model: it keeps everything, checks what it is given, and fails when it is told to.

use std::ops::Range;
use std::sync::Arc;

use shuttle::rand::{Rng as _, thread_rng};
use shuttle::sync::Mutex;
use stud_contract_meta::{Error, Result};
use stud_contract_session_store::{Durability, JournalBatch, JournalPage, Page, Stored};
use stud_core::ledger::transcript_record;
use stud_core::store::{MemoryStore, Store};
use stud_diagnostics::codes;
use stud_host_api::session::TranscriptRecord;

/// A [`MemoryStore`] that is watched.
pub(crate) struct StoredSessions {
    kept: MemoryStore,
    state: Mutex<State>,
    /// Whether a thread that posts to the ledger may write by itself. Every model is tried with both.
    at_once: bool,
}

#[derive(Default)]
struct State {
    /// Which calls of `append` fail, counted from 0.
    failing: Range<usize>,
    appends: usize,
    /// By session: the last record, and the last one that is safe.
    last: std::collections::BTreeMap<String, (u64, u64)>,
}

impl StoredSessions {
    pub(crate) fn new() -> Arc<Self> {
        Arc::new(Self {
            kept: MemoryStore::default(),
            state: Mutex::default(),
            at_once: thread_rng().r#gen(),
        })
    }

    /// A store whose calls of `append` fail while their number is in `failing`. A failed batch takes two of them,
    /// because core tries once more.
    pub(crate) fn failing(failing: Range<usize>) -> Arc<Self> {
        let shelf = Self::new();
        shelf.state.lock().unwrap().failing = failing;
        shelf
    }

    /// The journal of a session, in order.
    pub(crate) fn journal(&self, session_id: &str) -> Vec<TranscriptRecord> {
        let page = self.kept.read_journal(session_id, Page::default()).unwrap();
        assert_eq!(page.next_after_seq, None, "a model's journal is one page");
        page.records.into_iter().map(transcript_record).collect()
    }

    /// What would be left of a session if the process ended now.
    pub(crate) fn after_a_crash(&self, session_id: &str) -> Arc<Self> {
        // No writer proceeds while this is held.
        let _state = self.state.lock().unwrap();
        let left = Self::new();
        if let Ok(snapshot) = self.kept.read(session_id) {
            left.write(&snapshot).unwrap();
        }
        let page = self.kept.read_journal(session_id, Page::default()).unwrap();
        let batch = JournalBatch {
            records: page.records,
            durability: Durability::Synced,
        };
        left.append(session_id, &batch).unwrap();
        left
    }

    /// Whether the record survives the loss of power.
    pub(crate) fn is_safe(&self, session_id: &str, seq: u64) -> bool {
        let state = self.state.lock().unwrap();
        state
            .last
            .get(session_id)
            .is_some_and(|(_, safe)| seq <= *safe)
    }

    /// The records of this kind about this prompt, in whatever session.
    pub(crate) fn about(
        &self,
        interaction_id: &str,
        kind: &str,
    ) -> Vec<(String, TranscriptRecord)> {
        let mut found = Vec::new();
        for session_id in self.kept.list().unwrap() {
            for record in self.journal(&session_id) {
                if record.kind == kind && record.payload["interactionId"] == interaction_id {
                    found.push((session_id.clone(), record));
                }
            }
        }
        found
    }
}

impl Store for StoredSessions {
    fn store_id(&self) -> &'static str {
        "shelf"
    }

    fn journals(&self) -> bool {
        true
    }

    fn appends_at_once(&self) -> bool {
        self.at_once
    }

    fn append(&self, session_id: &str, batch: &JournalBatch) -> Result<()> {
        let mut state = self.state.lock().unwrap();
        let number = state.appends;
        state.appends += 1;
        if state.failing.contains(&number) {
            let code = &codes::STORE_UNAVAILABLE;
            return Err(Error::new(code.class, code.name, "the shelf is full"));
        }
        let (last, safe) = state.last.entry(session_id.to_owned()).or_default();
        for record in &batch.records {
            assert_eq!(record.seq, *last + 1, "records are numbered without gaps");
            *last = record.seq;
        }
        if batch.durability == Durability::Synced {
            *safe = *last;
        }
        self.kept.append(session_id, batch)
    }

    fn write(&self, stored: &Stored) -> Result<()> {
        let _state = self.state.lock().unwrap();
        self.kept.write(stored)
    }

    fn read(&self, session_id: &str) -> Result<Stored> {
        self.kept.read(session_id)
    }

    fn read_journal(&self, session_id: &str, page: Page) -> Result<JournalPage> {
        self.kept.read_journal(session_id, page)
    }

    fn list(&self) -> Result<Vec<String>> {
        self.kept.list()
    }
}
