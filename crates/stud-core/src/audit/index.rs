//! The heads of all trails, kept outside them in a trail of their own: `<globalRoot>/audit-index/trail.jsonl`.
//!
//! The chain inside a trail shows what was changed before its end. That its end was cut off, that it was written anew or
//! deleted, only something outside can show. So the number and the hash of a trail's last record are put into the index at
//! the end of each turn and of the session, and that a session was removed is put there too. The index is chained as every
//! trail is. With the key that the setting `audit.key` refers to, each entry has a seal: its HMAC-SHA256.

mod seal;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::{Map, Value, json};
use stud_contract_meta::Result;

pub use seal::Seal;

use super::{Broken, CORE, Chain, Entry, LIFECYCLE, Step, Trail, trail, unavailable};
use crate::platform;
use crate::redact::{Redactor, SecretReference};
use crate::secrets::{Env, UserVault};
use crate::settings::{AuditSettings, Settings};

/// The name of the folder, and the session that the records of the index belong to.
const INDEX: &str = "audit-index";

/// Where the index is.
pub fn index_path(global_root: &Path) -> PathBuf {
    trail(&global_root.join(INDEX))
}

/// What is put into the index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IndexEntry<'a> {
    /// A trail has so many records, and the last one has this hash.
    Head {
        /// The number of the last record.
        records: u64,
        /// Its hash.
        last_hash: &'a str,
    },
    /// The session was removed, and its trail with it.
    Removed,
}

impl IndexEntry<'_> {
    const fn kind(self) -> &'static str {
        match self {
            Self::Head { .. } => "head",
            Self::Removed => "removed",
        }
    }
}

/// The way to the index for those who add to it.
#[derive(Debug, Clone)]
pub struct Index {
    global_root: PathBuf,
    seal: Option<Arc<Seal>>,
}

impl Index {
    /// The index below a global root, with the key its entries are sealed with.
    pub fn new(global_root: &Path, seal: Option<Seal>) -> Self {
        Self {
            global_root: global_root.to_owned(),
            seal: seal.map(Arc::new),
        }
    }

    /// The index of these settings: sealed with the key that the global file refers to. What a project says about it is
    /// not read, because a trail also says what the project did.
    ///
    /// # Errors
    ///
    /// `Session/AuditTrailUnavailable` if `audit.key` is no reference to a secret, and why a secret cannot be had. A key
    /// that cannot be had is not left out in silence.
    pub fn of(global_root: &Path, settings: &Settings, redactor: &Arc<Redactor>) -> Result<Self> {
        let settings = settings.without_project();
        let set = AuditSettings::of(&settings).key;
        let Some(key) = set.value else {
            return Ok(Self::new(global_root, None));
        };
        let reference = SecretReference::of(key).ok_or_else(|| {
            let why = r#"`audit.key` in the settings is not a reference to a secret, such as `{"kind": "keyring", "name": "audit"}`"#;
            unavailable(&index_path(global_root), why)
        })?;
        let vault = Arc::new(UserVault::new(global_root));
        let env = Env::new(global_root, settings.clone(), vault, redactor.clone());
        Ok(Self::new(
            global_root,
            Some(Seal::new(env.resolve(&reference)?)),
        ))
    }

    /// The key its entries are sealed with.
    pub fn seal(&self) -> Option<&Seal> {
        self.seal.as_deref()
    }

    /// Puts the head of a trail into the index.
    pub(crate) fn add_head(&self, trail: &Trail) -> Result<()> {
        let (records, last_hash) = trail.head();
        let head = IndexEntry::Head {
            records,
            last_hash: &last_hash,
        };
        self.add(&trail.session_id, head)
    }

    /// Adds an entry. Processes that do so at once wait for one another.
    ///
    /// # Errors
    ///
    /// `Session/AuditTrailBroken` if the end of the index was changed, `Session/AuditTrailUnavailable` if it cannot be
    /// written.
    pub fn add(&self, session_id: &str, entry: IndexEntry<'_>) -> Result<()> {
        let folder = self.global_root.join(INDEX);
        let added = platform::alone(&self.global_root.join("audit-index.lock"), || {
            let opened = Trail::open(&folder, INDEX, Arc::new(Redactor::new()))?.trail;
            let mut payload = Map::from_iter([("sessionId".to_owned(), session_id.into())]);
            if let IndexEntry::Head { records, last_hash } = entry {
                payload.insert("records".to_owned(), records.into());
                payload.insert("lastHash".to_owned(), last_hash.into());
            }
            if let Some(seal) = &self.seal {
                let sealed = seal.of(entry.kind(), &payload, &opened.last_hash());
                payload.insert("seal".to_owned(), sealed.into());
            }
            opened.append(Entry {
                class: LIFECYCLE.to_owned(),
                kind: Some(entry.kind().to_owned()),
                correlation_id: session_id.to_owned(),
                actor: CORE.to_owned(),
                payload,
                ..Entry::default()
            })?;
            if entry == IndexEntry::Removed {
                opened.close()?;
            }
            opened.leave();
            Ok(())
        });
        let path = index_path(&self.global_root);
        added.unwrap_or_else(|error| Err(unavailable(&path, &error.to_string())))
    }
}

/// What the index says.
#[derive(Debug, Default)]
pub struct Heads {
    sessions: BTreeMap<String, OfSession>,
    /// How many entries it has.
    pub entries: u64,
    /// Whether there is an index.
    pub is_kept: bool,
}

#[derive(Debug, Default)]
struct OfSession {
    /// The hashes of records, by their numbers.
    heads: BTreeMap<u64, String>,
    is_removed: bool,
    is_sealed: bool,
}

/// Where a trail is not the one whose head is in the index.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Mismatch {
    /// There is no trail.
    Missing {
        /// How many records it had.
        records: u64,
    },
    /// It has fewer records than it had.
    CutOff {
        /// How many records it had.
        records: u64,
    },
    /// A record has another hash than it had.
    Replaced {
        /// The number of the record.
        seq: u64,
    },
    /// The trail says that its head was put into the index, and it is not there.
    NotIndexed {
        /// The number of the record that says so.
        seq: u64,
    },
}

impl Mismatch {
    /// The word for programs.
    pub const fn word(&self) -> &'static str {
        match self {
            Self::Missing { .. } => "trailMissing",
            Self::CutOff { .. } => "cutOff",
            Self::Replaced { .. } => "replaced",
            Self::NotIndexed { .. } => "notIndexed",
        }
    }
}

impl std::fmt::Display for Mismatch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Missing { records } => write!(
                f,
                "the trail is gone; the index says that it had {records} records, and no removal of the session"
            ),
            Self::CutOff { records } => write!(
                f,
                "records were cut off the end; the index says that there were {records}"
            ),
            Self::Replaced { seq } => write!(
                f,
                "record {seq} is not the one whose hash is in the index: it was edited with a hash of its own, or the trail was written anew"
            ),
            Self::NotIndexed { seq } => write!(
                f,
                "record {seq} says that the trail is in the index, and it is not: the index was cut, written anew or removed"
            ),
        }
    }
}

/// Why the index cannot be relied on.
#[derive(Debug)]
pub enum IndexFlaw {
    /// Its chain is broken.
    Broken(Broken),
    /// The entry on this line has no seal of the key.
    Unsealed {
        /// The line, from 1.
        line: u64,
    },
}

/// Reads the index, and says whether it is the one that was written. What was read until then counts all the same.
///
/// With a key, every entry from the first sealed one on has to have its seal.
pub fn read_index(global_root: &Path, seal: Option<&Seal>) -> (Heads, Option<IndexFlaw>) {
    let path = index_path(global_root);
    let mut heads = Heads::default();
    if path.symlink_metadata().is_err() {
        return (heads, None);
    }
    heads.is_kept = true;
    let chain = match Chain::open(&path) {
        Ok(chain) => chain.of_session(INDEX),
        Err(broken) => return (heads, Some(IndexFlaw::Broken(broken))),
    };
    let mut sealing = false;
    for step in chain {
        if let Some(reason) = step.reason {
            let broken = Broken {
                line: step.line,
                seq: step.seq,
                whole: heads.entries,
                reason,
            };
            return (heads, Some(IndexFlaw::Broken(broken)));
        }
        let is_sealed = seal.is_some_and(|seal| seal.fits(&step));
        let claims = sealed(&step);
        if seal.is_some() && !is_sealed && (sealing || claims) {
            return (heads, Some(IndexFlaw::Unsealed { line: step.line }));
        }
        sealing |= is_sealed;
        heads.take(&step, is_sealed);
    }
    (heads, None)
}

fn sealed(step: &Step) -> bool {
    let record = step.record.as_ref();
    record.is_some_and(|record| record.payload.contains_key("seal"))
}

impl Heads {
    fn take(&mut self, step: &Step, is_sealed: bool) {
        self.entries += 1;
        let Some(record) = &step.record else { return };
        let text = |member: &str| record.payload.get(member).and_then(Value::as_str);
        let Some(session_id) = text("sessionId") else {
            return;
        };
        let of = self.sessions.entry(session_id.to_owned()).or_default();
        of.is_sealed = is_sealed;
        match record.kind.as_deref() {
            Some("removed") => {
                of.is_removed = true;
                of.heads.clear();
            }
            Some("head") => {
                let seq = record.payload.get("records").and_then(Value::as_u64);
                if let (Some(seq), Some(hash)) = (seq, text("lastHash")) {
                    of.heads.insert(seq, hash.to_owned());
                }
            }
            _ => {}
        }
    }

    /// The sessions whose trails should be there.
    pub fn sessions(&self) -> impl Iterator<Item = &str> {
        let kept = self.sessions.iter().filter(|(_, of)| !of.heads.is_empty());
        kept.map(|(id, _)| id.as_str())
    }

    /// Whether the last entry about a session has a seal that fits.
    pub fn is_sealed(&self, session_id: &str) -> bool {
        self.sessions.get(session_id).is_some_and(|of| of.is_sealed)
    }

    /// Whether the index knows of a session.
    pub fn knows(&self, session_id: &str) -> bool {
        self.sessions.contains_key(session_id)
    }

    /// Holds a trail against the index, one record after the other.
    pub fn comparison(&self, session_id: &str) -> Comparison<'_> {
        Comparison {
            due: self.sessions.get(session_id).map(|of| &of.heads),
            mismatch: None,
            indexed: None,
        }
    }
}

/// A trail that is held against the index.
#[derive(Debug)]
pub struct Comparison<'a> {
    due: Option<&'a BTreeMap<u64, String>>,
    mismatch: Option<Mismatch>,
    /// The last record that says that the trail is in the index.
    indexed: Option<u64>,
}

impl Comparison<'_> {
    /// The number of the last record that the index has the hash of.
    pub fn due(&self) -> Option<u64> {
        self.due?.keys().next_back().copied()
    }

    /// Takes the next record.
    pub fn see(&mut self, step: &Step) {
        let (Some(seq), Some(hash)) = (step.seq, &step.hash) else {
            return;
        };
        let due = self.due.and_then(|due| due.get(&seq));
        if due.is_some_and(|due| due != hash) {
            self.mismatch.get_or_insert(Mismatch::Replaced { seq });
        }
        let says_so = |payload: &Map<String, Value>| payload.get("indexed") == Some(&json!(true));
        if step
            .record
            .as_ref()
            .is_some_and(|record| says_so(&record.payload))
        {
            self.indexed = Some(seq);
        }
    }

    /// What is wrong with a trail of that many records.
    pub fn end(self, records: u64) -> Option<Mismatch> {
        let last = self.due().unwrap_or_default();
        let cut_off = (last > records).then_some(Mismatch::CutOff { records: last });
        let unknown = self.indexed.filter(|seq| *seq > last);
        self.mismatch
            .or(cut_off)
            .or_else(|| unknown.map(|seq| Mismatch::NotIndexed { seq }))
    }
}

#[cfg(test)]
mod tests;
