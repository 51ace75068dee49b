use std::fs::{self, File};
use std::time::SystemTime;

use super::*;
use crate::session::Facts;
use crate::store::MemoryStore;
use crate::sync::{Mutex, lock};

/// A store that notes which snapshots are read.
#[derive(Default)]
struct Noting {
    store: MemoryStore,
    read: Mutex<Vec<String>>,
}

impl Store for Noting {
    fn store_id(&self) -> &str {
        self.store.store_id()
    }

    fn journals(&self) -> bool {
        self.store.journals()
    }

    fn append(&self, session_id: &str, batch: &JournalBatch) -> Result<()> {
        self.store.append(session_id, batch)
    }

    fn write(&self, stored: &Stored) -> Result<()> {
        self.store.write(stored)
    }

    fn read(&self, session_id: &str) -> Result<Stored> {
        lock(&self.read).push(session_id.to_owned());
        self.store.read(session_id)
    }

    fn read_journal(
        &self,
        session_id: &str,
        page: Page,
    ) -> Result<stud_contract_session_store::JournalPage> {
        self.store.read_journal(session_id, page)
    }

    fn list(&self) -> Result<Vec<String>> {
        self.store.list()
    }
}

/// A session that was last written so many hours after 1970.
fn keep(store: &Noting, trails: &Path, id: &str, hours: u64) {
    let at = SystemTime::UNIX_EPOCH + Duration::from_secs(hours * 3600);
    let facts = Facts {
        session_id: id.to_owned(),
        project_root: "/p/.stud".into(),
        mode: SecurityMode::default(),
        created_at: platform::rfc3339(at),
        machine: None,
    };
    let core = CoreSlot::default();
    let mut kept = stored(&facts, store.store_id(), core, Vec::new(), Vec::new());
    kept.manifest.updated_at = platform::rfc3339(at);
    store.write(&kept).unwrap();
    let folder = trails.join(id).join("audit");
    fs::create_dir_all(&folder).unwrap();
    let trail = File::create(audit::trail(&folder)).unwrap();
    trail.set_modified(at).unwrap();
}

#[test]
fn the_last_session_is_found_without_reading_every_snapshot() {
    let trails = tempfile::tempdir().unwrap();
    let store = Noting::default();
    for hours in 0..50 {
        keep(&store, trails.path(), &format!("s{hours}"), hours);
    }
    assert_eq!(latest(&store, trails.path()).unwrap(), "s49");
    assert_eq!(*lock(&store.read), ["s49"]);
}

#[test]
fn a_snapshot_that_says_a_later_time_than_its_trail_is_read_too() {
    let trails = tempfile::tempdir().unwrap();
    let store = Noting::default();
    keep(&store, trails.path(), "one", 10);
    keep(&store, trails.path(), "other", 11);
    // Whether a session without a trail is newer is only known from its snapshot.
    keep(&store, trails.path(), "bare", 12);
    fs::remove_dir_all(trails.path().join("bare")).unwrap();
    assert_eq!(latest(&store, trails.path()).unwrap(), "bare");
    keep(&store, trails.path(), "bare", 9);
    fs::remove_dir_all(trails.path().join("bare")).unwrap();
    assert_eq!(latest(&store, trails.path()).unwrap(), "other");
}

#[test]
fn records_that_are_missing_are_named() {
    let store = Noting::default();
    let record = |seq: u64| JournalRecord {
        seq,
        record: match seq {
            1 => json!({
                "timestamp": "2026-01-01T00:00:00.000Z",
                "kind": "session_start",
                "payload": {"sessionId": "s"},
            }),
            _ => json!({
                "timestamp": "2026-01-01T00:00:00.000Z",
                "kind": "note",
                "payload": {},
            }),
        },
    };
    for seqs in [&[1, 2, 3][..], &[6, 7], &[9]] {
        let batch = JournalBatch {
            records: seqs.iter().map(|seq| record(*seq)).collect(),
            durability: Durability::Written,
        };
        store.append("s", &batch).unwrap();
    }
    let missing: Vec<(u64, u64)> = check("s", &store)
        .unwrap()
        .iter()
        .map(|told| {
            let number = |member: &str| told.context[member].as_u64().unwrap();
            (number("firstMissing"), number("lastMissing"))
        })
        .collect();
    assert_eq!(missing, [(4, 5), (8, 8)]);
}
