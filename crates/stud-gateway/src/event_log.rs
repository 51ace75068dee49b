//! The events of one live session: the latest in memory, all others made again from the transcript when a client wants
//! them.
//!
//! A client pulls events at its own pace and names the last one it has. So a client that is slow costs no memory, holds
//! up no other, and misses nothing: what is no longer in memory is read from the session store.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use axum::extract::ws::Utf8Bytes;
use stud_contract_meta::Result;
use stud_contract_session_store::{JournalRecord, Page};
use stud_core::ledger::{Follower, Ledger};
use tokio::sync::Notify;

use crate::chat_event::{ChatEvent, Projection};

/// How many events and bytes of them are kept in memory.
const KEPT_EVENTS: usize = 2048;
const KEPT_BYTES: usize = 512 << 10;

/// How many records are read from the store at a time.
const PAGE: u32 = 500;

/// The events of a session.
pub(crate) struct EventLog {
    session_id: String,
    state: Mutex<State>,
    wakers: Mutex<Wakers>,
}

#[derive(Default)]
struct Wakers {
    next: u64,
    by_id: BTreeMap<u64, Arc<Notify>>,
}

struct State {
    projection: Projection,
    kept: VecDeque<ChatEvent>,
    bytes: usize,
    /// Records that came while older ones are still read; nothing once they are.
    early: Option<Vec<JournalRecord>>,
}

/// Events after a certain one, as far as they are in memory.
pub(crate) enum Recent {
    /// These, the oldest first.
    Events(Vec<ChatEvent>),
    /// The next one is not in memory any more.
    Gone,
}

impl EventLog {
    /// The log of a session whose records are followed from now on. [`EventLog::load`] reads those before.
    pub(crate) fn follow(session_id: &str, ledger: &Ledger) -> Arc<Self> {
        let log = Arc::new(Self {
            session_id: session_id.to_owned(),
            state: Mutex::new(State {
                projection: Projection::new(session_id),
                kept: VecDeque::new(),
                bytes: 0,
                early: Some(Vec::new()),
            }),
            wakers: Mutex::default(),
        });
        ledger.follow(log.clone());
        log
    }

    /// Reads the records that were written before.
    pub(crate) fn load(&self, ledger: &Ledger) -> Result<()> {
        let mut after = Some(0);
        while let Some(after_seq) = after {
            let page = ledger.page(Page {
                after_seq: Some(after_seq),
                limit: Some(PAGE),
            })?;
            let mut state = lock(&self.state);
            for record in &page.records {
                state.take(record);
            }
            after = page.next_after_seq;
        }
        let mut state = lock(&self.state);
        for record in state.early.take().unwrap_or_default() {
            state.take(&record);
        }
        drop(state);
        self.wake();
        Ok(())
    }

    /// The number of the last event.
    pub(crate) fn last_seq(&self) -> u64 {
        lock(&self.state).projection.last_seq()
    }

    /// Whether a prompt of the session was settled.
    pub(crate) fn is_settled(&self, interaction_id: &str) -> bool {
        lock(&self.state).projection.is_settled(interaction_id)
    }

    /// The next events after `seq`.
    pub(crate) fn recent(&self, seq: u64, at_most: usize) -> Recent {
        let state = lock(&self.state);
        if seq >= state.projection.last_seq() {
            return Recent::Events(Vec::new());
        }
        match state.kept.front() {
            Some(first) if first.seq <= seq + 1 => {
                let skip = usize::try_from(seq + 1 - first.seq).unwrap_or(usize::MAX);
                let events = state.kept.iter().skip(skip).take(at_most);
                Recent::Events(events.cloned().collect())
            }
            _ => Recent::Gone,
        }
    }

    /// Makes the events anew from the first record, for a client that is far behind.
    pub(crate) fn replay(&self) -> Replay {
        Replay {
            projection: Projection::new(&self.session_id),
            after_record: Some(0),
            made: VecDeque::new(),
        }
    }

    /// Wakes `waker` after each event, until the id that this gives is taken out.
    pub(crate) fn add_waker(&self, waker: Arc<Notify>) -> u64 {
        let mut wakers = lock(&self.wakers);
        wakers.next += 1;
        let id = wakers.next;
        wakers.by_id.insert(id, waker);
        id
    }

    pub(crate) fn remove_waker(&self, id: u64) {
        lock(&self.wakers).by_id.remove(&id);
    }

    /// Wakes everyone who waits for events or for anything else about the session.
    pub(crate) fn wake(&self) {
        for waker in lock(&self.wakers).by_id.values() {
            waker.notify_one();
        }
    }
}

impl Follower for EventLog {
    fn written(&self, records: &[JournalRecord]) {
        {
            let mut state = lock(&self.state);
            if let Some(early) = &mut state.early {
                early.extend_from_slice(records);
                return;
            }
            let before = state.projection.last_seq();
            for record in records {
                state.take(record);
            }
            if state.projection.last_seq() == before {
                return;
            }
        }
        self.wake();
    }
}

impl State {
    fn take(&mut self, record: &JournalRecord) {
        for event in self.projection.take(record) {
            self.bytes += event.frame.len();
            self.kept.push_back(event);
        }
        while self.kept.len() > KEPT_EVENTS || self.bytes > KEPT_BYTES && self.kept.len() > 1 {
            if let Some(event) = self.kept.pop_front() {
                self.bytes -= event.frame.len();
            }
        }
    }
}

/// The events of a session from its first record on, read from the store bit by bit.
pub(crate) struct Replay {
    projection: Projection,
    /// The last record that was read; nothing when there are no more for now.
    after_record: Option<u64>,
    made: VecDeque<ChatEvent>,
}

impl Replay {
    /// The next events after `seq`, none at the end of what is written.
    pub(crate) fn next(
        &mut self,
        ledger: &Ledger,
        seq: u64,
        at_most: usize,
    ) -> Result<Vec<ChatEvent>> {
        loop {
            while self.made.front().is_some_and(|event| event.seq <= seq) {
                self.made.pop_front();
            }
            if !self.made.is_empty() {
                let count = at_most.min(self.made.len());
                return Ok(self.made.drain(..count).collect());
            }
            let Some(after_seq) = self.after_record else {
                return Ok(Vec::new());
            };
            let page = ledger.page(Page {
                after_seq: Some(after_seq),
                limit: Some(PAGE),
            })?;
            for record in &page.records {
                self.made.extend(self.projection.take(record));
            }
            self.after_record = page.next_after_seq;
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The frames of events.
pub(crate) fn frames(events: &[ChatEvent]) -> impl Iterator<Item = Utf8Bytes> + '_ {
    events.iter().map(|event| event.frame.clone())
}
