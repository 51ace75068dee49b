//! A stored session that was changed behind stud's back: said when it is resumed, shown, and by `stud doctor`.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use stud_tests::World;

/// A session with three turns; gives its id and its folder.
fn talked(world: &World) -> (String, PathBuf) {
    let mut id: Option<String> = None;
    for text in ["first", "second", "third"] {
        let mut arguments = vec!["--headless", "--json"];
        if let Some(id) = &id {
            arguments.extend(["--resume", id.as_str()]);
        }
        arguments.push(text);
        let said = world.stud(&arguments);
        assert_eq!(said.status, 0, "{said:#?}");
        let line: Value = serde_json::from_str(said.stdout.lines().next().unwrap()).unwrap();
        id = Some(line["sessionId"].as_str().unwrap().to_owned());
    }
    let id = id.unwrap();
    let folder = world.home().join("sessions").join(&id);
    (id, folder)
}

fn edit(path: &Path, edit: impl FnOnce(&mut Vec<u8>)) {
    let mut bytes = fs::read(path).unwrap();
    edit(&mut bytes);
    fs::write(path, bytes).unwrap();
}

fn without_line(bytes: &mut Vec<u8>, number: usize) {
    let text = String::from_utf8(std::mem::take(bytes)).unwrap();
    let kept = text.split_inclusive('\n').enumerate();
    *bytes = kept
        .filter(|(at, _)| *at != number)
        .flat_map(|(_, line)| line.bytes())
        .collect();
}

fn state_file(folder: &Path) -> PathBuf {
    let mut files = fs::read_dir(folder.join("state")).unwrap();
    files.next().unwrap().unwrap().path()
}

/// The codes of the problems that `stud doctor` names.
fn diagnosed(world: &World) -> Vec<Value> {
    let doctor = world.stud(&["doctor", "--json"]).json();
    let problems = doctor["problems"].as_array().unwrap().clone();
    let about_sessions = problems
        .into_iter()
        .filter(|problem| problem["class"] == "Session");
    about_sessions.collect()
}

type Change = fn(&Path);

const CHANGES: &[(&str, Change)] = &[
    ("the journal is deleted", |folder| {
        fs::remove_file(folder.join("journal.log")).unwrap();
    }),
    ("the journal is emptied", |folder| {
        edit(&folder.join("journal.log"), Vec::clear);
    }),
    ("the journal is halved", |folder| {
        edit(&folder.join("journal.log"), |bytes| {
            bytes.truncate(bytes.len() / 2);
        });
    }),
    ("the first record is removed", |folder| {
        edit(&folder.join("journal.log"), |bytes| without_line(bytes, 0));
    }),
    ("a record is removed", |folder| {
        edit(&folder.join("journal.log"), |bytes| without_line(bytes, 3));
    }),
    ("the last record is removed", |folder| {
        edit(&folder.join("journal.log"), |bytes| {
            let last = bytes.split(|byte| *byte == b'\n').count() - 2;
            without_line(bytes, last);
        });
    }),
    ("a record is there twice", |folder| {
        edit(&folder.join("journal.log"), |bytes| {
            let line: Vec<u8> = bytes
                .split_inclusive(|byte| *byte == b'\n')
                .nth(2)
                .unwrap()
                .to_vec();
            bytes.extend(line);
        });
    }),
    ("the state is deleted", |folder| {
        fs::remove_dir_all(folder.join("state")).unwrap();
    }),
    ("the state is emptied", |folder| {
        edit(&state_file(folder), Vec::clear);
    }),
    ("`throughSeq` is another", |folder| {
        edit(&state_file(folder), |bytes| {
            let text = String::from_utf8(bytes.clone()).unwrap();
            let place = text.find("\"throughSeq\": ").unwrap() + "\"throughSeq\": ".len();
            bytes[place] = if bytes[place] == b'9' { b'8' } else { b'9' };
        });
    }),
    ("a word of the manifest is another", |folder| {
        edit(&folder.join("manifest.json"), |bytes| {
            let text = String::from_utf8(bytes.clone()).unwrap();
            *bytes = text.replacen("first", "fjrst", 1).into_bytes();
        });
    }),
    ("the manifest ends early", |folder| {
        edit(&folder.join("manifest.json"), |bytes| {
            bytes.truncate(bytes.len() / 2);
        });
    }),
];

#[test]
fn every_change_is_told_of_on_resume_by_show_and_by_doctor() {
    for (what, change) in CHANGES {
        let world = World::new();
        let (id, folder) = talked(&world);
        assert_eq!(diagnosed(&world), [json!(null); 0], "{what}");
        change(&folder);
        let problems = diagnosed(&world);
        assert!(!problems.is_empty(), "{what}: doctor says nothing");
        let names = ["Session/StoredSessionDamaged", "Session/ManifestDrift"];
        let is_named = |text: &str| names.iter().any(|name| text.contains(name));
        let shown = world.stud(&["sessions", "show", &id]);
        assert!(is_named(&shown.stderr), "{what}: {shown:#?}");
        let resumed = world.stud(&["--headless", "--resume", &id, "again"]);
        assert!(is_named(&resumed.stderr), "{what}: {resumed:#?}");
        assert!(
            !resumed.stderr.contains("JournalTornTail"),
            "{what}: {resumed:#?}"
        );
    }
}

#[test]
fn what_can_be_read_is_continued() {
    let world = World::new();
    let (id, folder) = talked(&world);
    edit(&folder.join("journal.log"), |bytes| without_line(bytes, 3));
    let problems = diagnosed(&world);
    let missing = problems
        .iter()
        .find(|problem| problem["context"]["firstMissing"] == 4);
    let missing = missing.unwrap_or_else(|| panic!("{problems:#?}"));
    stud_observed::covers!(STORED_SESSION_DAMAGED, missing);
    // The conversation comes from the snapshot, and the next one is whole again.
    let resumed = world.stud(&["--headless", "--resume", &id, "fourth"]);
    assert_eq!((resumed.status, resumed.stdout.trim()), (0, "USER fourth"));
    let again = world.stud(&["--headless", "--resume", &id, "fifth"]);
    assert_eq!((again.status, &*again.stderr), (0, ""));
    // That a record is gone stays true.
    assert!(!diagnosed(&world).is_empty());
    // Its audit trail has it too.
    let records = world.stud(&["audit", "show", &id, "--kind", "resume", "--json"]);
    assert!(records.stdout.contains("\"damage\":[{"), "{records:#?}");
}

#[test]
fn a_session_whose_state_is_gone_is_rebuilt_from_its_journal() {
    let world = World::new();
    let (id, folder) = talked(&world);
    fs::remove_dir_all(folder.join("state")).unwrap();
    let resumed = world.stud(&["--headless", "--resume", &id, "fourth"]);
    assert_eq!((resumed.status, resumed.stdout.trim()), (0, "USER fourth"));
    let list = world.stud(&["sessions", "list", "--json"]).json();
    assert_eq!(list["sessions"][0]["messages"], 8);
    assert_eq!(list["diagnostics"], json!([]));
}

#[test]
fn the_journal_of_another_session_is_not_taken_for_its_own() {
    let world = World::new();
    let (id, folder) = talked(&world);
    let (_, other) = talked(&world);
    fs::copy(other.join("journal.log"), folder.join("journal.log")).unwrap();
    let resumed = world.stud(&["--headless", "--resume", &id, "fourth"]);
    assert!(
        resumed.stderr.contains("Session/StoredSessionDamaged"),
        "{resumed:#?}"
    );
    assert_eq!(resumed.stdout.trim(), "USER fourth");
}

#[test]
fn a_session_that_was_killed_before_its_first_record_is_not_named_for_ever() {
    let world = World::new();
    talked(&world);
    for (name, text) in [
        ("0192f0c1-0000-7000-8000-000000000001", ""),
        (
            "0192f0c1-0000-7000-8000-000000000002",
            "0123456789abcdef 1 1/2 +s {\"ki",
        ),
    ] {
        world.write(format!("home/sessions/{name}/journal.log"), text);
        world.write(format!("home/sessions/{name}/lock"), "4194304\n");
        world.write(format!("home/sessions/{name}/audit/lock"), "4194304\n");
    }
    let list = world.stud(&["sessions", "list", "--json"]).json();
    assert_eq!(list["sessions"].as_array().unwrap().len(), 1);
    assert_eq!(list["diagnostics"], json!([]));
    assert_eq!(diagnosed(&world), [json!(null); 0]);
    let next = world.stud(&["--headless", "--continue", "more"]);
    assert_eq!((next.status, &*next.stderr), (0, ""), "{next:#?}");
}
