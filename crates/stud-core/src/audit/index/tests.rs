use std::fs;

use secrecy::SecretString;

use super::*;
use crate::audit::verify_steps;

const SESSION: &str = "0198c0de-0000-7000-8000-000000000001";

fn key(text: &str) -> Seal {
    Seal::new(SecretString::from(text.to_owned()))
}

/// A trail with so many records, the last of which says that it is in the index.
fn write_trail(root: &Path, records: u64) -> String {
    let folder = super::super::folder(root, SESSION);
    let trail = Trail::open(&folder, SESSION, Arc::new(Redactor::new()))
        .unwrap()
        .trail;
    for number in 1..=records {
        let payload = json!({"event": "end", "number": number, "indexed": number == records});
        trail
            .append(Entry {
                class: LIFECYCLE.to_owned(),
                correlation_id: "c".to_owned(),
                actor: CORE.to_owned(),
                payload: payload.as_object().cloned().unwrap(),
                ..Entry::default()
            })
            .unwrap();
    }
    let hash = trail.last_hash();
    trail.close().unwrap();
    hash
}

fn add(index: &Index, records: u64, last_hash: &str) {
    let head = IndexEntry::Head { records, last_hash };
    index.add(SESSION, head).unwrap();
}

fn compare(root: &Path, seal: Option<&Seal>) -> (Option<Mismatch>, Option<IndexFlaw>) {
    let (heads, flaw) = read_index(root, seal);
    let path = trail(&super::super::folder(root, SESSION));
    let mut comparison = heads.comparison(SESSION);
    let chain = Chain::open(&path).unwrap();
    let verified = verify_steps(chain, |step| comparison.see(step)).unwrap();
    (comparison.end(verified.records), flaw)
}

#[test]
fn a_trail_that_is_the_one_in_the_index_has_no_mismatch() {
    let root = tempfile::tempdir().unwrap();
    let hash = write_trail(root.path(), 3);
    let index = Index::new(root.path(), None);
    add(&index, 3, &hash);
    let (mismatch, flaw) = compare(root.path(), None);
    assert_eq!(mismatch, None);
    assert!(flaw.is_none());
}

#[test]
fn a_trail_that_was_written_anew_or_cut_is_found() {
    let root = tempfile::tempdir().unwrap();
    let hash = write_trail(root.path(), 3);
    let index = Index::new(root.path(), None);
    add(&index, 3, &hash);
    let path = trail(&super::super::folder(root.path(), SESSION));
    for (records, expected) in [
        (3, Mismatch::Replaced { seq: 3 }),
        (2, Mismatch::CutOff { records: 3 }),
    ] {
        fs::remove_file(&path).unwrap();
        write_trail(root.path(), records);
        assert_eq!(compare(root.path(), None).0, Some(expected));
    }
}

#[test]
fn an_index_that_was_removed_is_found_by_what_the_trail_says() {
    let root = tempfile::tempdir().unwrap();
    let hash = write_trail(root.path(), 3);
    add(&Index::new(root.path(), None), 3, &hash);
    fs::remove_file(index_path(root.path())).unwrap();
    let expected = Mismatch::NotIndexed { seq: 3 };
    assert_eq!(compare(root.path(), None).0, Some(expected));
}

#[test]
fn a_session_that_was_removed_is_not_missing() {
    let root = tempfile::tempdir().unwrap();
    let index = Index::new(root.path(), None);
    add(&index, 3, "abc");
    let heads = read_index(root.path(), None).0;
    assert_eq!(heads.sessions().collect::<Vec<_>>(), [SESSION]);
    index.add(SESSION, IndexEntry::Removed).unwrap();
    let heads = read_index(root.path(), None).0;
    assert_eq!(heads.sessions().count(), 0);
    assert!(heads.knows(SESSION));
}

#[test]
fn without_the_key_no_entry_can_be_made() {
    let root = tempfile::tempdir().unwrap();
    let hash = write_trail(root.path(), 3);
    let sealing = Index::new(root.path(), Some(key("the key")));
    add(&sealing, 3, &hash);
    assert!(compare(root.path(), Some(&key("the key"))).1.is_none());
    let other = compare(root.path(), Some(&key("another"))).1;
    assert!(matches!(other, Some(IndexFlaw::Unsealed { line: 1 })));

    // An attacker without the key writes the trail anew and puts its head into the index.
    let path = trail(&super::super::folder(root.path(), SESSION));
    fs::remove_file(path).unwrap();
    let forged = write_trail(root.path(), 4);
    add(&Index::new(root.path(), None), 4, &forged);
    let (mismatch, flaw) = compare(root.path(), Some(&key("the key")));
    assert_eq!(mismatch, Some(Mismatch::Replaced { seq: 3 }));
    assert!(matches!(flaw, Some(IndexFlaw::Unsealed { line: 2 })));

    // Or writes the index anew: with a seal that is not the key's, and with none, which only the trail tells.
    fs::remove_file(index_path(root.path())).unwrap();
    add(&Index::new(root.path(), Some(key("a guess"))), 4, &forged);
    let flaw = compare(root.path(), Some(&key("the key"))).1;
    assert!(matches!(flaw, Some(IndexFlaw::Unsealed { line: 1 })));
    fs::remove_file(index_path(root.path())).unwrap();
    add(&Index::new(root.path(), None), 4, &forged);
    let heads = read_index(root.path(), Some(&key("the key"))).0;
    assert!(!heads.is_sealed(SESSION));
}

#[test]
fn an_index_that_was_edited_is_broken() {
    let root = tempfile::tempdir().unwrap();
    let index = Index::new(root.path(), None);
    for records in 1..4 {
        add(&index, records, &"a".repeat(64));
    }
    let path = index_path(root.path());
    let text = fs::read_to_string(&path).unwrap();
    for edited in [
        text.replacen("\"records\":2", "\"records\":3", 1),
        text.split_inclusive('\n').skip(1).collect(),
    ] {
        fs::write(&path, edited).unwrap();
        let flaw = read_index(root.path(), None).1;
        assert!(matches!(flaw, Some(IndexFlaw::Broken(_))), "{flaw:?}");
    }
}
