//! What was changed behind the store's back is told of when the session is read.

use std::path::PathBuf;
use std::sync::Arc;

use stud_observed::campaign;
use stud_sdk::json;
use stud_sdk::session_store::{DamagedPart, Stored};

use super::faulty_disk::FaultyDisk;
use super::samples::{SESSION, read_all, snapshot, synced};
use crate::checksum::checksum;
use crate::disk::{Access, Disk as _, write_all};
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

/// A session with records 1 to 8, of which the snapshot covers six.
fn kept() -> FaultyDisk {
    let disk = FaultyDisk::new();
    let store = open(&disk);
    for seq in 1..7 {
        store.append(SESSION, &synced([seq])).0.unwrap();
    }
    store.write(&snapshot(5)).0.unwrap();
    store.append(SESSION, &synced([7, 8])).0.unwrap();
    disk
}

fn read(disk: &FaultyDisk) -> stud_sdk::Result<Stored> {
    open(disk).read(SESSION)
}

/// What is told of the session, as words.
fn told(disk: &FaultyDisk) -> Vec<(DamagedPart, String)> {
    let read = read(disk).unwrap();
    let damage = read.damage.into_iter();
    damage.map(|damage| (damage.part, damage.reason)).collect()
}

fn slots(disk: &FaultyDisk) -> PathBuf {
    let names = disk.names(&file("state")).unwrap();
    let [name] = &names[..] else {
        panic!("{names:?}");
    };
    file("state").join(name)
}

/// Puts a line of a journal out of it.
fn without_line(bytes: &mut Vec<u8>, number: usize) {
    let lines: Vec<&[u8]> = bytes.split_inclusive(|byte| *byte == b'\n').collect();
    let kept = lines.iter().enumerate().filter(|(at, _)| *at != number);
    *bytes = kept.flat_map(|(_, line)| line.to_vec()).collect();
}

#[test]
fn a_session_that_is_whole_has_no_damage() {
    let disk = kept();
    assert_eq!(read(&disk), Ok(snapshot(5)));
}

#[test]
fn every_bit_of_a_snapshot_counts() {
    let disk = kept();
    let mut flips: u64 = 0;
    for path in [file("manifest.json"), slots(&disk)] {
        let whole = disk.content(&path).unwrap();
        for bit in 0..whole.len() * 8 {
            disk.edit(&path, |bytes| bytes[bit / 8] ^= 1 << (bit % 8));
            let is_told = read(&disk).map_or(true, |read| !read.damage.is_empty());
            assert!(is_told, "bit {bit} of {}", path.display());
            disk.edit(&path, |bytes| bytes.clone_from(&whole));
            flips += 1;
        }
    }
    assert!(flips > 800, "{flips}");
    campaign::figure("bits of a snapshot flipped, each told of", flips);
    assert_eq!(read(&disk), Ok(snapshot(5)));
}

#[test]
fn a_journal_that_lost_what_the_snapshot_covers_is_told_of() {
    type Edit = fn(&mut Vec<u8>);
    let cases: [(&str, Edit); 6] = [
        ("shortened", Vec::clear),
        ("shortened", |bytes| bytes.truncate(bytes.len() / 2)),
        ("altered", |bytes| without_line(bytes, 2)),
        ("altered", |bytes| without_line(bytes, 0)),
        ("altered", |bytes| bytes.insert(0, b' ')),
        ("altered", |bytes| {
            let line: Vec<u8> = bytes
                .split_inclusive(|byte| *byte == b'\n')
                .next()
                .unwrap()
                .to_vec();
            bytes.splice(0..0, line);
        }),
    ];
    for (reason, edit) in cases {
        let disk = kept();
        disk.edit(&file("journal.log"), edit);
        assert_eq!(told(&disk), [(DamagedPart::Journal, reason.to_owned())]);
    }
    let disk = kept();
    disk.remove(&file("journal.log")).unwrap();
    let damage = read(&disk).unwrap().damage;
    assert_eq!(damage[0].reason, "missing");
    assert!(damage[0].message.contains("records up to 6"), "{damage:?}");
}

#[test]
fn the_journal_of_another_session_is_not_read() {
    let disk = kept();
    let other = "0198c0de-0000-7000-8000-000000000002";
    let store = open(&disk);
    for seq in 1..9 {
        store.append(other, &synced([seq])).0.unwrap();
    }
    let foreign = disk
        .content(&root().join(other).join("journal.log"))
        .unwrap();
    let kept_aside = foreign.clone();
    disk.edit(&file("journal.log"), |bytes| *bytes = foreign);
    assert_eq!(told(&disk), [(DamagedPart::Journal, "altered".to_owned())]);
    assert_eq!(read_all(&open(&disk)), Ok(Vec::new()));
    // Nothing is added to it; it is set aside as it is.
    let store = open(&disk);
    let (done, cut) = store.append(SESSION, &synced([9]));
    done.unwrap();
    let cut = cut.unwrap();
    assert!(cut.is_covered);
    assert_eq!(disk.content(&cut.kept_in), Some(kept_aside));
    assert_eq!(read_all(&store), Ok(vec![9]));
}

#[test]
fn state_that_is_gone_or_altered_is_told_of_and_not_used() {
    let disk = kept();
    let path = slots(&disk);
    let whole = disk.content(&path).unwrap();
    let text = String::from_utf8(whole).unwrap();
    assert!(text.contains("\"snapshot\": 5"), "{text}");
    disk.edit(&path, |bytes| {
        *bytes = text
            .replace("\"snapshot\": 5", "\"snapshot\": 4")
            .into_bytes();
    });
    let damaged = read(&disk).unwrap();
    assert_eq!(damaged.slots, []);
    assert_eq!(damaged.damage[0].part, DamagedPart::State);
    assert_eq!(damaged.damage[0].reason, "altered");

    disk.remove(&path).unwrap();
    assert_eq!(told(&disk), [(DamagedPart::State, "missing".to_owned())]);
    disk.remove_dir(&file("state")).unwrap();
    assert_eq!(told(&disk), [(DamagedPart::State, "missing".to_owned())]);
}

#[test]
fn state_of_another_session_is_not_used() {
    let disk = kept();
    let other = "0198c0de-0000-7000-8000-000000000002";
    let mut foreign = snapshot(5);
    foreign.manifest.session_id = other.to_owned();
    open(&disk).write(&foreign).0.unwrap();
    let names = disk.names(&root().join(other).join("state")).unwrap();
    let text = disk.content(&root().join(other).join("state").join(&names[0]));
    let path = slots(&disk);
    disk.edit(&path, |bytes| *bytes = text.unwrap());
    assert_eq!(told(&disk), [(DamagedPart::State, "altered".to_owned())]);
}

/// A cut in what the snapshot covers: the bytes were on the disk, so no crash took them.
#[test]
fn a_cut_inside_what_the_snapshot_covers_is_no_torn_tail() {
    for (left, is_covered) in [(3, true), (20, false)] {
        let disk = kept();
        disk.edit(&file("journal.log"), |bytes| {
            // Twenty bytes before the end are the batch behind the snapshot.
            let end = if is_covered {
                bytes.len() / 2
            } else {
                bytes.len()
            };
            bytes.truncate(end - left);
        });
        let (done, cut) = open(&disk).append(SESSION, &synced([9]));
        done.unwrap();
        assert_eq!(cut.unwrap().is_covered, is_covered);
    }
}

#[test]
fn a_session_of_an_older_version_is_read_and_continued() {
    let disk = FaultyDisk::new();
    let stored = snapshot(5);
    open(&disk).write(&stored).0.unwrap();
    // The slots alone, without a checksum, as they were written before.
    let path = slots(&disk);
    disk.edit(&path, |bytes| {
        *bytes = serde_json::to_vec_pretty(&stored.slots).unwrap();
    });
    let mut journal = Vec::new();
    for seq in 1..4 {
        let covered = format!("{seq} 1/1 + {}", super::samples::record(seq));
        journal.extend(format!("{:016x} {covered}\n", checksum(covered.as_bytes())).into_bytes());
    }
    let mut old = disk.open(&file("journal.log"), Access::New).unwrap();
    write_all(&mut *old, 0, &journal).unwrap();
    old.sync().unwrap();
    disk.sync_dir(&root().join(SESSION)).unwrap();

    let store = open(&disk);
    assert_eq!(store.read(SESSION).as_ref(), Ok(&stored));
    store.append(SESSION, &synced([4])).0.unwrap();
    assert_eq!(read_all(&store), Ok(vec![1, 2, 3, 4]));
    store.write(&stored).0.unwrap();
    assert_eq!(open(&disk).read(SESSION), Ok(stored));
    assert!(
        disk.content(&file("journal.log"))
            .unwrap()
            .starts_with(&journal)
    );
}

#[test]
fn a_session_whose_first_record_was_never_whole_is_none() {
    let disk = kept();
    for (name, text) in [
        ("empty", &b""[..]),
        ("torn", b"0123456789abcdef 1 1/2 +s {"),
    ] {
        let folder = root().join(name);
        disk.create_dir(&folder).unwrap();
        let mut journal = disk.open(&folder.join("journal.log"), Access::New).unwrap();
        write_all(&mut *journal, 0, text).unwrap();
    }
    assert_eq!(open(&disk).list(), Ok(vec![SESSION.to_owned()]));
    let refused = open(&disk).read("torn").unwrap_err();
    assert_eq!(refused.context()["missing"], json!(true));
}
