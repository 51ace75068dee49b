//! Where one session writes down what happens: the single writer of its transcript.
//!
//! Everything that changes a session is posted here as a commit: records, how safe they have to be, and what follows
//! from them. One writer takes what has gathered, numbers it, hands it to the store in one call, and only then lets
//! the consequences happen, in the same order. So no record is visible that would not survive the process, and a disk
//! that is slow makes batches larger rather than queues longer.

use std::collections::VecDeque;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Weak};
use std::time::Duration;

use serde_json::{Map, Value};
use stud_contract_meta::{Error, Result};
use stud_contract_session_store::{Durability, JournalBatch, JournalPage, JournalRecord, Page};
use stud_host_api::session::TranscriptRecord;

use crate::cancellation::{CancelReason, Scope, called_off};
use crate::executor::{Mailbox, Pace, spawn};
use crate::platform;
use crate::redact::Redactor;
use crate::store::Store;
use crate::sync::{AtomicU64, Mutex, lock, promise};
use crate::timer::{Alarm, Timer};

mod loose;

pub(crate) use loose::{OpenPrompt, OpenRecords};

/// Records that are only written are made safe against the loss of power within this time.
const SYNC_WITHIN: Duration = Duration::from_millis(50);

/// No records, and those before made safe.
const SYNC: JournalBatch = JournalBatch {
    records: Vec::new(),
    durability: Durability::Synced,
};

/// A record that has no number yet.
#[derive(Debug, Clone, Default)]
pub struct Draft {
    /// What it is.
    pub kind: &'static str,
    /// The turn it belongs to.
    pub correlation_id: Option<String>,
    /// The plugin that adds it; none for core's own.
    pub ext_id: Option<String>,
    /// The content.
    pub payload: Value,
}

/// Receives the records of a transcript as they are written.
pub trait Follower: Send + Sync {
    /// Takes records in the order of their numbers, before anything follows from them.
    ///
    /// It runs on the writer's thread, so it must not wait for anything.
    fn written(&self, records: &[JournalRecord]);
}

/// Those who follow a transcript.
type Followers = Arc<Mutex<Vec<Arc<dyn Follower>>>>;

/// The transcript of one session, and the only way to add to it.
pub struct Ledger {
    session_id: String,
    mailbox: Arc<Mailbox<Commit>>,
    store: Arc<dyn Store>,
    last_seq: Arc<AtomicU64>,
    loose_ends: Arc<Mutex<OpenRecords>>,
    followers: Followers,
}

type Then = Box<dyn FnOnce(Result<u64>) + Send>;

struct Commit {
    drafts: Vec<Draft>,
    durability: Durability,
    then: Then,
}

impl Ledger {
    /// A ledger that continues after `last_seq`. An empty one begins with `first`, when there is something to write.
    pub fn new(
        session_id: &str,
        last_seq: u64,
        first: Draft,
        store: Arc<dyn Store>,
        redactor: Arc<Redactor>,
        timer: Arc<dyn Timer>,
    ) -> Arc<Self> {
        let last = Arc::new(AtomicU64::new(last_seq));
        let loose_ends = Arc::new(Mutex::default());
        let followers = Followers::default();
        // A stranger's store may never come back.
        let pace = if store.is_ours() {
            Pace::Prompt
        } else {
            Pace::Leisurely
        };
        Arc::new_cyclic(|ledger| {
            let mut writer = Writer {
                session_id: session_id.to_owned(),
                last_seq: last.clone(),
                loose_ends: loose_ends.clone(),
                followers: followers.clone(),
                first: (last_seq == 0).then_some(first),
                store: store.clone(),
                redactor,
                timer,
                ledger: ledger.clone(),
                pending: None,
            };
            Self {
                session_id: session_id.to_owned(),
                mailbox: Mailbox::new(pace, move |batch| writer.write(batch)),
                store,
                last_seq: last,
                loose_ends,
                followers,
            }
        })
    }

    /// Adds records; `then` learns the number of the last one, on the writer's thread.
    ///
    /// What `then` does is seen by everyone in the order of the records, so it must not wait for anything.
    pub fn commit(
        &self,
        drafts: Vec<Draft>,
        durability: Durability,
        then: impl FnOnce(Result<u64>) + Send + 'static,
    ) {
        self.mailbox.post(Commit {
            drafts,
            durability,
            then: Box::new(then),
        });
    }

    /// Adds records and waits until they are as safe as they have to be.
    pub async fn append(&self, drafts: Vec<Draft>, durability: Durability) -> Result<u64> {
        let (promise, promised) = promise();
        self.commit(drafts, durability, move |result| promise.keep(result));
        promised.await.unwrap_or_else(|| Err(closed()))
    }

    /// The number of the last record that was written.
    pub fn last_seq(&self) -> u64 {
        self.last_seq.load(Ordering::Acquire)
    }

    /// Takes over what processes before this one began and did not end.
    pub(crate) fn take_over(&self, loose_ends: OpenRecords) {
        *lock(&self.loose_ends) = loose_ends;
    }

    /// What was begun and not ended, as far as consequences have happened.
    pub(crate) fn loose_ends(&self) -> OpenRecords {
        lock(&self.loose_ends).clone()
    }

    /// Hands every record that is written from now on to `follower`. What was written before is read with
    /// [`Ledger::page`]; a record that is written meanwhile may come both ways, and its number says so.
    pub fn follow(&self, follower: Arc<dyn Follower>) {
        lock(&self.followers).push(follower);
    }

    /// A page of the transcript.
    pub fn page(&self, page: Page) -> Result<JournalPage> {
        self.store.read_journal(&self.session_id, page)
    }
}

/// `Cancellation/SessionCancelled`: the session ended first.
pub(crate) fn closed() -> Error {
    called_off(
        Scope::Session,
        CancelReason::Parent,
        "the session ended first",
    )
}

/// A stored record with its number.
pub fn transcript_record(stored: JournalRecord) -> TranscriptRecord {
    let seq = stored.seq;
    let mut record = stored.record;
    if let Value::Object(members) = &mut record {
        members.insert("seq".to_owned(), seq.into());
    }
    // A record of another shape keeps its place, so that a paging reader sees that a record exists.
    serde_json::from_value(record).unwrap_or_else(|_| TranscriptRecord {
        seq,
        kind: "unreadable".to_owned(),
        ..TranscriptRecord::default()
    })
}

struct Writer {
    session_id: String,
    last_seq: Arc<AtomicU64>,
    loose_ends: Arc<Mutex<OpenRecords>>,
    followers: Followers,
    /// The first record of all, until it is written.
    first: Option<Draft>,
    store: Arc<dyn Store>,
    redactor: Arc<Redactor>,
    timer: Arc<dyn Timer>,
    ledger: Weak<Ledger>,
    /// Rings when what was written has to be made safe.
    pending: Option<Alarm>,
}

impl Writer {
    fn write(&mut self, mut commits: VecDeque<Commit>) {
        let (batch, ends) = self.number(&mut commits);
        let last = ends.last().copied();
        let written = self.append(&batch);
        if let (Ok(()), Some(last)) = (&written, last) {
            self.last_seq.store(last, Ordering::Release);
            if last > 0 {
                self.first = None;
            }
            for follower in lock(&self.followers).iter() {
                follower.written(&batch.records);
            }
        }
        // What comes before the first record that has to be synced need not wait for the disk.
        let mut synced = None;
        let mut records = batch.records.iter().peekable();
        for (commit, end) in commits.into_iter().zip(ends) {
            let safe = match (&written, commit.durability) {
                (Ok(()), Durability::Synced) => synced.get_or_insert_with(|| self.append(&SYNC)),
                (result, _) => result,
            };
            if written.is_ok() && records.peek().is_some_and(|record| record.seq <= end) {
                let mut loose_ends = lock(&self.loose_ends);
                while let Some(record) = records.next_if(|record| record.seq <= end) {
                    loose_ends.take_record(&record.record);
                }
            }
            (commit.then)(safe.clone().map(|()| end));
        }
        if matches!(synced, Some(Ok(()))) {
            self.pending = None;
        } else if written.is_ok() && !self.store.appends_at_once() {
            self.sync_later();
        }
    }

    /// Gives every draft its number, and every commit the number of its last record.
    fn number(&self, commits: &mut VecDeque<Commit>) -> (JournalBatch, Vec<u64>) {
        let timestamp = platform::rfc3339(platform::now());
        let mut seq = self.last_seq.load(Ordering::Acquire);
        let mut records = Vec::new();
        let mut ends = Vec::with_capacity(commits.len());
        for commit in commits {
            let drafts = std::mem::take(&mut commit.drafts);
            let first = self
                .first
                .clone()
                .filter(|_| seq == 0 && !drafts.is_empty());
            for draft in first.into_iter().chain(drafts) {
                seq += 1;
                let record = self.record(draft, &timestamp);
                records.push(JournalRecord { seq, record });
            }
            ends.push(seq);
        }
        let batch = JournalBatch {
            records,
            durability: Durability::Written,
        };
        (batch, ends)
    }

    /// A record as it lies in the store; its number is beside it.
    fn record(&self, draft: Draft, timestamp: &str) -> Value {
        let mut payload = draft.payload;
        self.redactor.redact(&mut payload);
        let mut record = Map::new();
        let mut put = |member: &str, value: Value| record.insert(member.to_owned(), value);
        put("timestamp", timestamp.into());
        put("kind", draft.kind.into());
        if let Some(correlation_id) = draft.correlation_id {
            put("correlationId", correlation_id.into());
        }
        if let Some(ext_id) = draft.ext_id {
            put("extId", ext_id.into());
        }
        put("payload", payload);
        record.into()
    }

    /// Hands records to the store, and tries once more if it fails.
    fn append(&self, batch: &JournalBatch) -> Result<()> {
        if batch.records.is_empty() && batch.durability == Durability::Written {
            return Ok(());
        }
        let first = self.store.append(&self.session_id, batch);
        first.or_else(|_| self.store.append(&self.session_id, batch))
    }

    fn sync_later(&mut self) {
        if self.pending.is_some() {
            return;
        }
        // Only the writer may touch the store, so the alarm posts a commit without records; and not on the clock's own
        // thread, which others wait for.
        let ledger = self.ledger.clone();
        let job = Box::new(move || {
            let Some(ledger) = ledger.upgrade() else {
                return;
            };
            spawn(move || ledger.commit(Vec::new(), Durability::Synced, |_| {}));
        });
        self.pending = Some(self.timer.after(SYNC_WITHIN, job));
    }
}

impl std::fmt::Debug for Ledger {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Ledger")
            .field("session_id", &self.session_id)
            .field("last_seq", &self.last_seq())
            .finish_non_exhaustive()
    }
}
