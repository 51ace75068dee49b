//! The audit trail of one session: what was decided and done, in a file that shows when it was changed.
//!
//! Every record is one line of canonical JSON (RFC 8785). It holds its number, the hash of the record before it and
//! its own hash, so that an edit, a removal, an insertion or another order breaks the chain where it happened. The
//! chain needs no key: a process that can rewrite the whole file can make a new chain, and records cut off the end leave none
//! to miss. Against both there is the index of heads, and a hash that was written down elsewhere.

mod reason;
mod line;
mod sink;
mod chain;
mod tail;
mod writer_lock;
mod opening;
mod children;
mod payload;
mod sessions;
mod time;
mod index;
pub mod bootstrap;

pub use chain::{Broken, Chain, Step, Verified, verify, verify_each, verify_steps};
pub use index::{
    Comparison, Heads, Index, IndexEntry, IndexFlaw, Mismatch, Seal, index_path, read_index,
};
pub use line::GENESIS;
pub use opening::TornTail;
pub use reason::Reason;
pub(crate) use sessions::last_touched;
pub use sessions::{AuditedSession, find, folder, holder, is_written, kept, trail};
pub use stud_host_api::audit::{ActiveSubagent, AuditQuery, AuditRecord};
pub(crate) use time::millis_between;
pub use time::{millis_of, moment};

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::{Map, Value};
use stud_contract_meta::{Error, Result};
use stud_diagnostics::{Code, codes};
use stud_host_api::audit::{CORE_CLASSES, is_core_class};
use stud_host_api::refusal;

use crate::platform;
use crate::redact::Redactor;
use crate::sync::{Mutex, lock};
use children::Children;
use opening::{lock_folder, move_aside, open_file};
use sink::FilePart;
use writer_lock::WriterLock;

/// The actor of what core itself did.
pub const CORE: &str = "core";

/// The name of the file in a session's audit folder.
pub const FILE: &str = "trail.jsonl";

/// The class of what a session's beginning and end leave on record.
pub(crate) const LIFECYCLE: &str = "SessionLifecycle";

/// Something to put on record. The trail adds the session, the time, the number and the hashes.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Entry {
    /// The family of the record.
    pub class: String,
    /// What happened within the family.
    pub kind: Option<String>,
    /// The turn, or an id of its own for what happens outside one.
    pub correlation_id: String,
    /// The id of a plugin, or [`CORE`].
    pub actor: String,
    /// The orchestrator's session, for what happened inside a child.
    pub parent_session_id: Option<String>,
    /// The child, for what happened inside one.
    pub subagent_id: Option<String>,
    /// The child's depth, for what happened inside one.
    pub depth: Option<u32>,
    /// The facts.
    pub payload: Map<String, Value>,
}

/// A trail, and what had to be done to open it.
#[derive(Debug)]
pub struct Opened {
    /// The trail, ready to be added to.
    pub trail: Trail,
    /// The piece of a record that was moved aside, if the last one was not written to its end.
    pub dropped: Option<TornTail>,
}

/// The trail of one session. Any thread may add to it; records are written one after the other.
#[derive(Debug)]
pub struct Trail {
    path: PathBuf,
    session_id: String,
    redactor: Arc<Redactor>,
    file: File,
    /// Held until the trail is closed.
    lock: Mutex<Option<WriterLock>>,
    state: Mutex<TrailState>,
    children: Mutex<Children>,
    /// Whether the name of the file is still to be synced.
    nameless: AtomicBool,
}

#[derive(Debug)]
struct TrailState {
    /// Where the last whole record ends.
    end: u64,
    seq: u64,
    last_hash: String,
    last_time: String,
    /// Whether more is on record than when the session began and ended.
    eventful: bool,
    /// Why nothing can be added any more.
    unusable: Option<String>,
}

impl Trail {
    /// Opens the trail in a session's audit folder, or starts one.
    ///
    /// Only the end of the file is read. A record that was not written to its end is moved aside. A last record that
    /// is not one, or does not follow from the one before it, is `Session/AuditTrailBroken`: nothing is added to a
    /// trail that was changed. A trail has one writer; a second one is `Session/AuditTrailUnavailable`.
    pub fn open(folder: &Path, session_id: &str, redactor: Arc<Redactor>) -> Result<Opened> {
        let path = folder.join(FILE);
        let failed = |error: io::Error| unavailable(&path, &error.to_string());
        let lock = lock_folder(folder, &path)?;
        let is_new = !path.exists();
        let file = open_file(&path)?;
        let length = file.metadata().map_err(failed)?.len();
        let tail = tail::read(&file, length).map_err(|reason| broken(&path, &reason))?;
        if let Some(last) = &tail.last
            && last.record.session_id != session_id
        {
            let reason = Reason::OtherSession {
                found: last.record.session_id.clone(),
            };
            return Err(broken(&path, &reason));
        }
        let dropped = if length > tail.whole {
            Some(move_aside(&file, folder, &tail, length).map_err(failed)?)
        } else {
            None
        };
        let state = match tail.last {
            None => TrailState {
                end: tail.whole,
                seq: 0,
                last_hash: GENESIS.to_owned(),
                last_time: String::new(),
                eventful: false,
                unusable: None,
            },
            Some(last) => TrailState {
                end: tail.whole,
                seq: last.seq,
                last_hash: last.hash,
                last_time: last.record.timestamp,
                // Only the end was read; the records before it are unverified.
                eventful: true,
                unusable: None,
            },
        };
        let opened = Self {
            path,
            session_id: session_id.to_owned(),
            redactor,
            file,
            lock: Mutex::new(Some(lock)),
            state: Mutex::new(state),
            children: Mutex::default(),
            nameless: AtomicBool::new(is_new),
        };
        Ok(Opened {
            trail: opened,
            dropped,
        })
    }

    /// Writes a record. It is handed to the operating system when this returns; [`Trail::sync`] makes it safe against
    /// the loss of power.
    ///
    /// `Validation/UnknownAuditClass` for a class that core does not have, `ExtensionHost/AuditClassReserved` for one
    /// reserved for core, `Validation/AuditWithoutCorrelation` for a blank correlation id.
    pub fn append(&self, entry: Entry) -> Result<AuditRecord> {
        check(&entry)?;
        let mut record = self.redacted(entry);
        let payload = payload::text(&mut record.payload)
            .map_err(|error| unavailable(&self.path, &error.to_string()))?;
        let now = platform::rfc3339(platform::now());

        let mut state = lock(&self.state);
        if let Some(why) = &state.unusable {
            return Err(unavailable(&self.path, why));
        }
        // A clock that was set back does not turn the order of the records around.
        record.timestamp = now.max(state.last_time.clone());
        let seq = state.seq + 1;
        let line = line::write(&record, &payload, seq, &state.last_hash);
        if line.bytes.len() as u64 > reason::LONGEST {
            return Err(unavailable(&self.path, "the ids of a record are too long"));
        }
        if let Err(failure) = sink::put(&mut &self.file, state.end, &line.bytes) {
            let why = failure.to_string();
            if failure.is_final {
                state.unusable = Some(why.clone());
            }
            return Err(unavailable(&self.path, &why));
        }
        state.end += line.bytes.len() as u64;
        state.seq = seq;
        state.last_hash = line.hash;
        state.last_time.clone_from(&record.timestamp);
        state.eventful |= record.class != LIFECYCLE;
        Ok(record)
    }

    /// Waits until everything written so far would survive the loss of power. Records can be added meanwhile.
    pub fn sync(&self) -> Result<()> {
        if let Some(why) = &lock(&self.state).unusable {
            return Err(unavailable(&self.path, why));
        }
        let mut synced = self.file.sync_data();
        if synced.is_ok() && self.nameless.load(Ordering::Acquire) {
            synced = self.sync_name();
        }
        synced.map_err(|error| {
            // What the system could not write it may have forgotten, so nothing more is built on it.
            let why = format!("it could not be synced: {error}");
            lock(&self.state).unusable = Some(why.clone());
            unavailable(&self.path, &why)
        })
    }

    /// Syncs the trail and gives it back: nothing is added any more, and another writer may open it.
    pub fn close(&self) -> Result<()> {
        let synced = self.sync();
        let mut state = lock(&self.state);
        state.unusable = Some("the session has ended".to_owned());
        drop(lock(&self.lock).take());
        synced
    }

    /// Gives back a trail to which nothing was added.
    pub(crate) fn leave(&self) {
        if lock(&self.state).seq == 0 {
            self.discard();
        }
        drop(lock(&self.lock).take());
    }

    /// Whether the trail has records besides those of the session's start and end.
    pub fn is_eventful(&self) -> bool {
        lock(&self.state).eventful
    }

    /// Takes away the trail of a session in which nothing happened, and the folders it was alone in.
    pub fn discard(&self) {
        let folders = self.path.ancestors().skip(1).take(2);
        if std::fs::remove_file(&self.path).is_ok() {
            if let Some(folder) = self.path.parent() {
                // Who has closed the trail has given the lock back.
                let held = lock(&self.lock).take();
                if let Some(lock) = held.or_else(|| WriterLock::take(folder).ok()) {
                    lock.remove(folder);
                }
            }
            // A folder that holds anything else stays.
            for folder in folders {
                let _ = std::fs::remove_dir(folder);
            }
        }
    }

    /// The records that fit, oldest first.
    pub fn query(&self, query: &AuditQuery) -> Result<Vec<AuditRecord>> {
        let query = AuditQuery {
            since: query
                .since
                .as_ref()
                .map(|since| moment(since).unwrap_or_else(|| since.clone())),
            ..query.clone()
        };
        let mut found = Vec::new();
        self.each(0, lock(&self.state).end, |record| {
            if query.matches(&record) {
                found.push(record);
            }
        })?;
        Ok(found)
    }

    /// The child sessions that were opened and have not ended, oldest first.
    pub fn active_subagents(&self) -> Result<Vec<ActiveSubagent>> {
        let mut children = lock(&self.children);
        // Held, so that two callers do not go over the same records.
        let end = lock(&self.state).end;
        let start = children.seen;
        self.each(start, end, |record| children.see(&record))?;
        children.seen = end;
        Ok(children.active())
    }

    /// How many records there are, and the hash of the last one.
    pub(crate) fn head(&self) -> (u64, String) {
        let state = lock(&self.state);
        (state.seq, state.last_hash.clone())
    }

    /// The hash of the last record, which stands for everything before it.
    pub fn last_hash(&self) -> String {
        lock(&self.state).last_hash.clone()
    }

    /// Where the trail is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Reads the records between two places in the file.
    fn each(&self, start: u64, end: u64, mut see: impl FnMut(AuditRecord)) -> Result<()> {
        for bytes in FilePart::new(&self.file, start, end).lines() {
            let bytes = bytes.map_err(|error| unavailable(&self.path, &error.to_string()))?;
            let record = serde_json::from_slice(&bytes)
                .map_err(|error| broken(&self.path, &Reason::NotARecord(error.to_string())))?;
            see(record);
        }
        Ok(())
    }

    /// The record of an entry, without what must not be in one.
    fn redacted(&self, entry: Entry) -> AuditRecord {
        let mut payload = entry.payload;
        self.redactor.for_record(&mut payload);
        let is_core = entry.actor == CORE;
        // Core's own words are no secrets, even where a secret happens to be one of them.
        let text = |text: String| {
            if is_core {
                text
            } else {
                self.redactor.text_for_record(&text).into_owned()
            }
        };
        AuditRecord {
            class: text(entry.class),
            kind: entry.kind.map(text),
            correlation_id: entry.correlation_id,
            timestamp: String::new(),
            session_id: self.session_id.clone(),
            actor: entry.actor,
            parent_session_id: entry.parent_session_id,
            subagent_id: entry.subagent_id,
            depth: entry.depth,
            payload,
        }
    }

    /// Makes sure that the file will be found: its name is in a folder, whose name is in a folder.
    fn sync_name(&self) -> io::Result<()> {
        let mut folders = self.path.ancestors().skip(1);
        if let Some(folder) = folders.next() {
            File::open(folder)?.sync_all()?;
        }
        for folder in folders.take(2) {
            // The session's own folder and the one it is in; they may belong to another user.
            if let Ok(folder) = File::open(folder) {
                let _ = folder.sync_all();
            }
        }
        self.nameless.store(false, Ordering::Release);
        Ok(())
    }
}

fn check(entry: &Entry) -> Result<()> {
    let class = entry.class.as_str();
    let is_core = is_core_class(class);
    if (entry.actor == CORE && !is_core) || class.trim().is_empty() {
        let message = format!("core has no audit class `{class}`");
        return Err(refuse(&codes::UNKNOWN_AUDIT_CLASS, message)
            .with("class", class)
            .with("expected", CORE_CLASSES.to_vec()));
    }
    if entry.actor != CORE && is_core {
        return Err(refusal::audit_class_reserved(class));
    }
    if entry.correlation_id.trim().is_empty() {
        let message = format!("the audit record of class `{class}` has no correlation id");
        return Err(refuse(&codes::AUDIT_WITHOUT_CORRELATION, message).with("class", class));
    }
    Ok(())
}

fn broken(path: &Path, reason: &Reason) -> Error {
    let shown = path.display();
    let message = format!("the audit trail `{shown}` is not the one that was written: {reason}");
    refuse(&codes::AUDIT_TRAIL_BROKEN, message)
        .with("path", shown.to_string())
        .with("reason", reason.word())
}

fn unavailable(path: &Path, why: &str) -> Error {
    let shown = path.display();
    let message = format!("the audit trail `{shown}` cannot be used: {why}");
    refuse(&codes::AUDIT_TRAIL_UNAVAILABLE, message).with("path", shown.to_string())
}

fn refuse(code: &Code, message: impl Into<String>) -> Error {
    Error::new(code.class, code.name, message)
}

#[cfg(test)]
mod tests;
