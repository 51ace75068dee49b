//! Long journals on the machine's own disk.

use std::ffi::OsString;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use stud_sdk::json;
use stud_sdk::session_store::{Durability, JournalBatch, JournalRecord, Page};
use tempfile::TempDir;

use super::samples::SESSION;
use crate::disk::{Access, Disk, DiskFile, RealDisk};
use crate::store::Store;

/// The machine's disk, with a count of the bytes that were read.
struct Counting(Arc<AtomicU64>);

struct CountingFile(Box<dyn DiskFile>, Arc<AtomicU64>);

impl Disk for Counting {
    fn open(&self, path: &Path, access: Access) -> io::Result<Box<dyn DiskFile>> {
        let file = RealDisk.open(path, access)?;
        Ok(Box::new(CountingFile(file, self.0.clone())))
    }

    fn create_dir(&self, path: &Path) -> io::Result<()> {
        RealDisk.create_dir(path)
    }

    fn sync_dir(&self, path: &Path) -> io::Result<()> {
        RealDisk.sync_dir(path)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        RealDisk.rename(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        RealDisk.remove(path)
    }

    fn remove_dir(&self, path: &Path) -> io::Result<()> {
        RealDisk.remove_dir(path)
    }

    fn names(&self, dir: &Path) -> io::Result<Vec<OsString>> {
        RealDisk.names(dir)
    }

    fn exists(&self, path: &Path) -> io::Result<bool> {
        RealDisk.exists(path)
    }
}

impl DiskFile for CountingFile {
    fn len(&self) -> io::Result<u64> {
        self.0.len()
    }

    fn read_at(&self, offset: u64, into: &mut [u8]) -> io::Result<usize> {
        let count = self.0.read_at(offset, into)?;
        self.1.fetch_add(count as u64, Ordering::Relaxed);
        Ok(count)
    }

    fn write_at(&mut self, offset: u64, bytes: &[u8]) -> io::Result<usize> {
        self.0.write_at(offset, bytes)
    }

    fn truncate(&mut self, len: u64) -> io::Result<()> {
        self.0.truncate(len)
    }

    fn sync(&mut self) -> io::Result<()> {
        self.0.sync()
    }

    fn try_lock(&self) -> io::Result<bool> {
        self.0.try_lock()
    }

    fn unlock(&self) -> io::Result<()> {
        self.0.unlock()
    }

    fn is_at(&self, path: &Path) -> io::Result<bool> {
        self.0.is_at(path)
    }
}

/// A journal in a folder that goes away.
struct Long {
    folder: TempDir,
    read: Arc<AtomicU64>,
}

impl Long {
    /// Records with the even numbers from 2 on, each with that much text, in batches of so many.
    fn new(records: u64, size: usize, batch: usize) -> Self {
        let long = Self {
            folder: TempDir::new().unwrap(),
            read: Arc::default(),
        };
        let store = long.store();
        let seqs: Vec<u64> = (1..=records).map(|index| index * 2).collect();
        for seqs in seqs.chunks(batch) {
            let records = seqs.iter().map(|seq| JournalRecord {
                seq: *seq,
                record: json!({"n": seq, "text": "x".repeat(size)}),
            });
            let batch = JournalBatch {
                records: records.collect(),
                durability: Durability::Written,
            };
            store.append(SESSION, &batch).0.unwrap();
        }
        long
    }

    /// Another process, as far as the store can tell.
    fn store(&self) -> Store {
        Store::new(
            Arc::new(Counting(self.read.clone())),
            self.folder.path().join("sessions"),
        )
    }

    /// How much is read while something is done.
    fn reading<T>(&self, work: impl FnOnce() -> T) -> (T, u64) {
        let before = self.read.load(Ordering::Relaxed);
        let done = work();
        (done, self.read.load(Ordering::Relaxed) - before)
    }
}

fn page(store: &Store, after_seq: Option<u64>, limit: Option<u32>) -> (Vec<u64>, Option<u64>) {
    let page = store
        .read_journal(SESSION, Page { after_seq, limit })
        .unwrap();
    for record in &page.records {
        assert_eq!(record.record["n"], record.seq);
    }
    let seqs = page.records.iter().map(|record| record.seq);
    (seqs.collect(), page.next_after_seq)
}

#[test]
fn a_hundred_thousand_records_come_back_in_order_and_once() {
    let long = Long::new(100_000, 0, 1000);
    let store = long.store();
    let mut seen = 0;
    let mut after = None;
    loop {
        let (seqs, next) = page(&store, after, None);
        for seq in seqs {
            seen += 2;
            assert_eq!(seq, seen);
        }
        match next {
            Some(next) => assert_eq!(next, seen),
            None => break,
        }
        after = next;
    }
    assert_eq!(seen, 200_000);
}

#[test]
fn a_page_can_begin_anywhere() {
    let long = Long::new(50_000, 0, 7);
    let store = long.store();
    for after in [0, 1, 2, 3, 777, 50_000, 99_996, 12, 63_001, 99_998, 4] {
        let (seqs, next) = page(&store, Some(after), Some(3));
        let first = after / 2 * 2 + 2;
        let expected: Vec<u64> = [first, first + 2, first + 4]
            .into_iter()
            .filter(|seq| *seq <= 100_000)
            .collect();
        assert_eq!(seqs, expected, "{after}");
        let is_last = expected.last() == Some(&100_000);
        assert_eq!(next, (!is_last).then(|| first + 4), "{after}");
    }
    for after in [100_000, 100_001, u64::MAX] {
        assert_eq!(page(&store, Some(after), None), (vec![], None));
    }
    assert_eq!(page(&store, Some(4), Some(0)), (vec![], Some(4)));
    assert_eq!(page(&store, None, Some(1)), (vec![2], Some(2)));
}

#[test]
fn no_page_needs_the_whole_journal() {
    const MIB: u64 = 1024 * 1024;
    let long = Long::new(1_500, 16 * 1024, 3);
    let journal = long
        .folder
        .path()
        .join("sessions")
        .join(SESSION)
        .join("journal.log");
    assert!(std::fs::metadata(&journal).unwrap().len() > 23 * MIB);

    let (first, read) = long.reading(|| page(&long.store(), None, None));
    assert!(first.1.is_some());
    assert!(read < 3 * MIB, "{read}");

    let (last, read) = long.reading(|| page(&long.store(), Some(2_990), None));
    assert_eq!(last, (vec![2_992, 2_994, 2_996, 2_998, 3_000], None));
    assert!(read < 3 * MIB, "{read}");

    let store = long.store();
    let record = JournalRecord {
        seq: 3_001,
        record: json!({"n": 3_001}),
    };
    let batch = JournalBatch {
        records: vec![record],
        durability: Durability::Synced,
    };
    let (added, read) = long.reading(|| store.append(SESSION, &batch).0);
    added.unwrap();
    assert!(read < 3 * MIB, "{read}");

    // A reader that continues where it was needs no search, and knows its way back.
    let reader = long.store();
    let mut after = None;
    while let (_, Some(next)) = page(&reader, after, None) {
        after = Some(next);
    }
    let (again, read) = long.reading(|| page(&reader, Some(1_500), Some(1)));
    assert_eq!(again.0, [1_502]);
    assert!(read < 2 * MIB, "{read}");
}

#[test]
fn records_can_be_larger_than_anything_else() {
    let long = Long::new(6, 700 * 1024, 2);
    let store = long.store();
    assert_eq!(page(&store, Some(4), Some(2)), (vec![6, 8], Some(8)));
    assert_eq!(page(&store, None, None), (vec![2, 4], Some(4)));
    assert_eq!(page(&store, Some(8), None), (vec![10, 12], None));
}

#[test]
fn whoever_reads_while_another_writes_sees_whole_batches() {
    let folder = TempDir::new().unwrap();
    let open = || Store::new(Arc::new(RealDisk), folder.path().to_owned());
    let (writer, reader) = (open(), open());
    std::thread::scope(|threads| {
        let writing = threads.spawn(move || {
            for first in (1..900).step_by(3) {
                let records = (first..first + 3).map(|seq| JournalRecord {
                    seq,
                    record: json!({"n": seq, "text": "x".repeat(usize::try_from(seq % 50).unwrap())}),
                });
                let batch = JournalBatch {
                    records: records.collect(),
                    durability: Durability::Written,
                };
                writer.append(SESSION, &batch).0.unwrap();
            }
        });
        loop {
            let is_over = writing.is_finished();
            let (seqs, next) = page(&reader, None, None);
            let expected: Vec<u64> = (1..=seqs.len() as u64).collect();
            assert_eq!(seqs, expected);
            assert_eq!(seqs.len() % 3, 0);
            assert_eq!(next, None);
            if is_over {
                assert_eq!(seqs.len(), 900);
                break;
            }
        }
    });
}
