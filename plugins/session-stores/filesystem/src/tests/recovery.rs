//! What the store does when the disk lets it down, case by case.

use std::io::ErrorKind;
use std::path::PathBuf;
use std::sync::Arc;

use stud_sdk::session_store::{Damage, DamagedPart, Stored};
use stud_sdk::{Error, Result};

use super::faulty_disk::{Aftermath, Deed, Fault, FaultyDisk};
use super::samples::{SESSION, read_all, snapshot, synced, written};
use crate::disk::{Access, Disk as _, write_all};
use crate::journal::Cut;
use crate::store::Store;

fn root() -> PathBuf {
    PathBuf::from("/stud/sessions")
}

fn file(name: &str) -> PathBuf {
    root().join(SESSION).join(name)
}

fn open(disk: &FaultyDisk) -> Store {
    Store::new(Arc::new(disk.clone()), root())
}

/// A store whose journal has some records, all on the disk.
fn with_records(seqs: impl IntoIterator<Item = u64>) -> (FaultyDisk, Store) {
    let disk = FaultyDisk::new();
    let store = open(&disk);
    for seq in seqs {
        store.append(SESSION, &synced([seq])).0.unwrap();
    }
    (disk, store)
}

fn append(store: &Store, seq: u64) -> Result<()> {
    store.append(SESSION, &synced([seq])).0
}

fn words(damage: &[Damage]) -> Vec<(DamagedPart, &str)> {
    let words = damage.iter().map(|damage| (damage.part, &*damage.reason));
    words.collect()
}

fn reason(error: &Error) -> &str {
    error.context()["reason"].as_str().unwrap_or_default()
}

#[test]
fn a_sync_that_failed_is_not_tried_again() {
    let (disk, store) = with_records([1]);
    store.append(SESSION, &written([2])).0.unwrap();
    disk.plan([(0, Fault::Fails(ErrorKind::Other))]);
    let failed = store.append(SESSION, &synced([])).0.unwrap_err();
    assert_eq!((failed.code(), reason(&failed)), ("StoreUnavailable", "io"));

    let before = disk.done().len();
    for again in [
        store.append(SESSION, &synced([])).0,
        append(&store, 3),
        store.write(&snapshot(0)).0,
    ] {
        let refused = again.unwrap_err();
        assert_eq!(
            (refused.code(), reason(&refused)),
            ("StoreUnavailable", "poisoned")
        );
        assert_eq!(refused.context()["sessionId"], SESSION);
    }
    assert_eq!(reason(&store.sync().unwrap_err()), "poisoned");
    assert_eq!(disk.done().len(), before, "nothing touches the disk");
    assert_eq!(read_all(&store), Ok(vec![1, 2]));

    // The next writer writes again what the failed sync has lost.
    store.close();
    let store = open(&disk);
    append(&store, 3).unwrap();
    disk.restart(Aftermath::NothingUnsynced);
    assert_eq!(read_all(&open(&disk)), Ok(vec![1, 2, 3]));
}

#[test]
fn records_whose_sync_failed_are_taken_back() {
    let (disk, store) = with_records([1]);
    disk.plan([(1, Fault::Fails(ErrorKind::Other))]);
    let failed = append(&store, 2).unwrap_err();
    assert_eq!(failed.code(), "StoreUnavailable");
    assert_eq!(read_all(&store), Ok(vec![1]));
    assert_eq!(read_all(&open(&disk)), Ok(vec![1]));
}

#[test]
fn half_a_record_is_taken_back_at_once() {
    let (disk, store) = with_records([1]);
    let before = disk.content(&file("journal.log"));
    disk.plan([
        (0, Fault::Short(4)),
        (1, Fault::Fails(ErrorKind::StorageFull)),
    ]);
    let full = append(&store, 2).unwrap_err();
    assert_eq!((full.code(), reason(&full)), ("StoreUnavailable", "io"));
    assert!(
        full.context()["path"]
            .as_str()
            .unwrap()
            .ends_with("journal.log")
    );
    assert_eq!(disk.content(&file("journal.log")), before);
    append(&store, 2).unwrap();
    assert_eq!(read_all(&store), Ok(vec![1, 2]));
}

#[test]
fn half_a_record_that_cannot_be_taken_back_is_the_last_thing_written() {
    let (disk, store) = with_records([1]);
    disk.plan([
        (0, Fault::Short(4)),
        (1, Fault::Fails(ErrorKind::StorageFull)),
        (2, Fault::Fails(ErrorKind::Other)),
    ]);
    append(&store, 2).unwrap_err();
    assert_eq!(reason(&append(&store, 2).unwrap_err()), "poisoned");
    store.close();
    let store = open(&disk);
    let (done, cut) = store.append(SESSION, &synced([2]));
    done.unwrap();
    assert!(cut.is_some());
    assert_eq!(read_all(&store), Ok(vec![1, 2]));
}

#[test]
fn a_batch_that_does_not_go_on_is_refused_as_a_whole() {
    let (disk, store) = with_records([1, 5]);
    let before = disk.content(&file("journal.log"));
    for (seqs, seq, last) in [
        (&[5][..], 5, 5),
        (&[4], 4, 5),
        (&[6, 6], 6, 6),
        (&[6, 9, 8], 8, 9),
    ] {
        let refused = store
            .append(SESSION, &synced(seqs.iter().copied()))
            .0
            .unwrap_err();
        assert_eq!(
            (refused.class(), reason(&refused)),
            ("Session", "outOfOrder")
        );
        assert_eq!(refused.context()["seq"], seq);
        assert_eq!(refused.context()["lastSeq"], last);
    }
    assert_eq!(disk.content(&file("journal.log")), before);
    append(&store, 6).unwrap();
}

#[test]
fn a_torn_tail_is_put_aside_and_told_of() {
    let (disk, store) = with_records([1, 2]);
    store.append(SESSION, &written([3, 4, 6])).0.unwrap();
    drop(store);
    let whole = disk.content(&file("journal.log")).unwrap();
    for number in 1..4 {
        disk.edit(&file("journal.log"), |bytes| {
            bytes.clear();
            bytes.extend(&whole[..whole.len() - 5]);
        });
        let store = open(&disk);
        // A reader leaves it alone.
        assert_eq!(read_all(&store), Ok(vec![1, 2]));
        assert_eq!(
            disk.content(&file("journal.log")).unwrap().len(),
            whole.len() - 5
        );

        let (done, cut) = store.append(SESSION, &synced([7]));
        done.unwrap();
        let torn = file(&format!("journal.torn-{number}"));
        let bytes = disk.content(&torn).unwrap();
        let expected = Cut {
            bytes: bytes.len() as u64,
            records: 2,
            last_seq: Some(2),
            kept_in: torn,
            is_covered: false,
        };
        assert_eq!(cut, Some(expected));
        assert!(whole[..whole.len() - 5].ends_with(&bytes));
        assert_eq!(read_all(&store), Ok(vec![1, 2, 7]));
        // It is told of once.
        assert_eq!(store.append(SESSION, &synced([8])).1, None);
    }
}

#[test]
fn a_torn_tail_is_told_of_even_if_the_journal_cannot_be_opened_then() {
    let (disk, store) = with_records([1, 2]);
    drop(store);
    disk.edit(&file("journal.log"), |bytes| {
        bytes.truncate(bytes.len() - 1);
    });
    let store = open(&disk);
    let cutting = disk.done().len();
    assert!(store.append(SESSION, &synced([2])).1.is_some());
    let syncs = disk.done()[cutting..]
        .iter()
        .rposition(|deed| *deed == Deed::Write);
    store.close();

    disk.edit(&file("journal.log"), |bytes| {
        bytes.truncate(bytes.len() - 1);
    });
    // The last write is the batch, and before it the names in the folder are made sure of.
    disk.plan([(syncs.unwrap() as u64 - 1, Fault::Fails(ErrorKind::Other))]);
    let (done, cut) = open(&disk).append(SESSION, &synced([2]));
    assert_eq!(done.unwrap_err().code(), "StoreUnavailable");
    assert!(cut.is_some());
}

#[test]
fn damage_is_neither_read_over_nor_cut_off() {
    let (disk, store) = with_records(1..9);
    drop(store);
    disk.edit(&file("journal.log"), |bytes| bytes[200] ^= 1);
    let before = disk.content(&file("journal.log"));
    let store = open(&disk);
    let read = read_all(&store).unwrap_err();
    assert_eq!(read.code(), "ManifestDrift");
    assert!(read.context()["offset"].as_u64().unwrap() <= 200);
    assert_eq!(disk.content(&file("journal.log")), before);
}

#[test]
fn damage_at_the_end_of_a_journal_keeps_it_from_growing() {
    let (disk, store) = with_records(1..9);
    drop(store);
    disk.edit(&file("journal.log"), |bytes| {
        let near_the_end = bytes.len() - 150;
        bytes[near_the_end] ^= 1;
    });
    let before = disk.content(&file("journal.log"));
    let (done, cut) = open(&disk).append(SESSION, &synced([9]));
    assert_eq!(done.unwrap_err().code(), "ManifestDrift");
    assert_eq!(cut, None);
    assert_eq!(disk.content(&file("journal.log")), before);
}

#[test]
fn no_more_than_a_little_goes_unsynced() {
    let (disk, store) = with_records([1]);
    for seq in 2..40 {
        store.append(SESSION, &written([seq])).0.unwrap();
    }
    disk.restart(Aftermath::NothingUnsynced);
    let kept = read_all(&open(&disk)).unwrap();
    assert!(kept.len() > 30, "{kept:?}");
}

#[test]
fn a_large_batch_is_alone_in_what_may_get_lost() {
    let (disk, store) = with_records([1]);
    store.append(SESSION, &written([2])).0.unwrap();
    // Before the batch is written, what came before it is made sure of.
    disk.plan([(1, Fault::DiesBefore)]);
    store.append(SESSION, &written([5])).0.unwrap_err();
    disk.restart(Aftermath::NothingUnsynced);
    assert_eq!(read_all(&open(&disk)), Ok(vec![1, 2]));
}

/// A failure leaves the previous snapshot, unless the state is unknown, and then nothing more is written.
#[test]
fn a_snapshot_that_failed_is_not_there() {
    for next in [3, 4] {
        let operations = 30;
        let mut failures = 0;
        for operation in 0..operations {
            let disk = FaultyDisk::new();
            let store = open(&disk);
            store.write(&snapshot(2)).0.unwrap();
            disk.plan([(operation, Fault::Fails(ErrorKind::Other))]);
            if store.write(&snapshot(next)).0.is_ok() {
                continue;
            }
            failures += 1;
            disk.plan([]);
            let in_doubt = store.sync().is_err();
            let read = store.read(SESSION).unwrap();
            assert!(in_doubt || read == snapshot(2), "{next} {operation}");
        }
        assert!((5..operations).contains(&failures), "{failures}");
    }
}

#[test]
fn two_snapshots_with_one_manifest_differ_in_their_slots() {
    let disk = FaultyDisk::new();
    let store = open(&disk);
    let (two, three) = (snapshot(2), snapshot(3));
    assert_eq!(two.manifest, three.manifest);
    assert_ne!(two.slots, three.slots);
    for stored in [&two, &three, &two] {
        store.write(stored).0.unwrap();
        assert_eq!(store.read(SESSION).as_ref(), Ok(stored));
    }
}

#[test]
fn a_snapshot_whose_name_may_not_be_safe_is_the_last_thing_written() {
    let disk = FaultyDisk::new();
    let store = open(&disk);
    store.write(&snapshot(0)).0.unwrap();
    let before = disk.done().len();
    store.write(&snapshot(2)).0.unwrap();
    let syncs = disk.done()[before..]
        .iter()
        .rposition(|deed| *deed == Deed::Change);
    // The last change but the removal of the old slots is the sync of the folder.
    disk.plan([(syncs.unwrap() as u64 - 2, Fault::Fails(ErrorKind::Other))]);
    store.write(&snapshot(4)).0.unwrap_err();
    assert_eq!(
        reason(&store.write(&snapshot(4)).0.unwrap_err()),
        "poisoned"
    );
    assert_eq!(open(&disk).read(SESSION), Ok(snapshot(4)));
}

#[test]
fn an_edited_manifest_keeps_its_slots_if_they_are_the_only_ones() {
    let disk = FaultyDisk::new();
    let store = open(&disk);
    let mut stored: Stored = snapshot(5);
    store.write(&stored).0.unwrap();
    stored.manifest.updated_at = "2027-01-01T00:00:00.000Z".to_owned();
    disk.edit(&file("manifest.json"), |bytes| {
        *bytes = serde_json::to_vec(&stored.manifest).unwrap();
    });
    let mut read = store.read(SESSION).unwrap();
    let damage = std::mem::take(&mut read.damage);
    assert_eq!(read, stored);
    assert_eq!(words(&damage), [(DamagedPart::Manifest, "altered")]);

    // With two candidates the state is unknown.
    let other = file("state/0123456789abcdef.json");
    let mut added = disk.open(&other, Access::New).unwrap();
    write_all(&mut *added, 0, b"[]\n").unwrap();
    let error = store.read(SESSION).unwrap_err();
    assert_eq!(error.code(), "ManifestDrift");
}

#[test]
fn what_could_not_be_read_back_is_refused_before_the_disk_is_touched() {
    let disk = FaultyDisk::new();
    let store = open(&disk);
    let mut foreign = snapshot(1);
    foreign.manifest.store_id = "sqlite".to_owned();
    let error = store.write(&foreign).0.unwrap_err();
    assert_eq!(error.code(), "ResumeMismatch");
    assert_eq!(error.context()["manifestStoreId"], "sqlite");
    assert_eq!(error.context()["activeStoreId"], "filesystem-session-store");

    let mut blank = snapshot(1);
    blank.manifest.store_id = " ".to_owned();
    assert_eq!(store.write(&blank).0.unwrap_err().code(), "ManifestDrift");
    blank = snapshot(3);
    blank
        .manifest
        .sm_state
        .as_mut()
        .unwrap()
        .state_slot_ref
        .clear();
    let error = store.write(&blank).0.unwrap_err();
    assert_eq!(error.context()["field"], "smState.stateSlotRef");
    assert_eq!(disk.done(), []);
}

#[test]
fn what_a_crash_left_half_written_is_cleared_away() {
    let disk = FaultyDisk::new();
    let store = open(&disk);
    store.write(&snapshot(1)).0.unwrap();
    disk.plan([(4, Fault::DiesInside(4))]);
    store.write(&snapshot(2)).0.unwrap_err();
    disk.restart(Aftermath::Killed);
    let names = || disk.names(&file("state")).unwrap();
    assert_eq!(names().len(), 2, "{:?}", names());
    let store = open(&disk);
    store.write(&snapshot(4)).0.unwrap();
    assert_eq!(names().len(), 1, "{:?}", names());
    assert_eq!(store.read(SESSION), Ok(snapshot(4)));
}

#[test]
fn nothing_to_add_and_nothing_to_sync_leaves_no_trace() {
    let disk = FaultyDisk::new();
    let store = open(&disk);
    store.append(SESSION, &written([])).0.unwrap();
    store.append(SESSION, &synced([])).0.unwrap();
    assert!(!disk.done().contains(&Deed::Change));
    assert_eq!(store.list(), Ok(Vec::new()));
}

#[test]
fn what_another_process_has_written_can_be_made_sure_of() {
    let (disk, store) = with_records([1]);
    store.append(SESSION, &written([2])).0.unwrap();
    disk.restart(Aftermath::Killed);
    drop(store);
    open(&disk).append(SESSION, &synced([])).0.unwrap();
    disk.restart(Aftermath::NothingUnsynced);
    assert_eq!(read_all(&open(&disk)), Ok(vec![1, 2]));
}

#[test]
fn a_closed_store_refuses_everything_that_needs_a_session() {
    let (_, store) = with_records([1]);
    store.close();
    assert_eq!(reason(&append(&store, 2).unwrap_err()), "closed");
    assert_eq!(reason(&store.write(&snapshot(0)).0.unwrap_err()), "closed");
    assert_eq!(store.sync(), Ok(()));
}
