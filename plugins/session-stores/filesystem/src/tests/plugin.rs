//! The plugin through its manifest and its table, on the machine's own disk.

use std::fs;
use std::path::{Path, PathBuf};

use stud_sdk::session_store::{JournalRecord, Page};
use stud_sdk::testing::{FakeHost, Harness};
use stud_sdk::{Class, Error, Value, json};
use tempfile::TempDir;

use super::samples::{SESSION, record, snapshot, synced, written};
use crate::STORE_ID;

/// A plugin whose global root is a folder that goes away.
fn plugin(home: &TempDir) -> Harness {
    configured(home, json!({}))
}

fn configured(home: &TempDir, config: Value) -> Harness {
    let host = FakeHost::new()
        .global_root(home.path().to_owned())
        .config(config);
    Harness::new(crate::stud_plugin(), host)
}

fn home() -> TempDir {
    TempDir::new().unwrap()
}

fn folder(home: &TempDir) -> PathBuf {
    home.path().join("sessions").join(SESSION)
}

/// Writes a manifest as another program would.
fn put_manifest(home: &TempDir, text: &str) {
    fs::create_dir_all(folder(home)).unwrap();
    fs::write(folder(home).join("manifest.json"), text).unwrap();
}

fn manifest() -> Value {
    serde_json::to_value(snapshot(2).manifest).unwrap()
}

fn reason(error: &Error) -> &str {
    error.context()["reason"].as_str().unwrap_or_default()
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<String> = entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort_unstable();
    names
}

#[test]
fn it_claims_what_it_does() {
    let harness = plugin(&home());
    let manifest = harness.manifest();
    assert_eq!(manifest["extId"], STORE_ID);
    assert_eq!(manifest["storeId"], STORE_ID);
    assert_eq!(manifest["kind"], "SessionStore");
    assert_eq!(manifest["reloadBehavior"], "never");
    assert_eq!(
        manifest["capabilities"],
        json!({
            "journaling": true, "snapshotBytesLimit": 8 * 1024 * 1024,
            "largeSlotStreaming": false, "concurrentReaders": true, "removal": true,
        })
    );
    let schema = &manifest["configSchema"];
    assert_eq!(schema["additionalProperties"], false);
    assert_eq!(schema["required"], json!([]));
    let properties = &schema["properties"];
    let names: Vec<&String> = properties.as_object().unwrap().keys().collect();
    assert_eq!(
        names,
        [
            "active",
            "enabled",
            "flushIntervalMs",
            "path",
            "rootDir",
            "sessionsSubdir"
        ]
    );
    assert_eq!(properties["active"]["default"], true);
    assert_eq!(properties["rootDir"]["maxLength"], 4096);
    assert_eq!(properties["sessionsSubdir"]["default"], "sessions");
    assert_eq!(properties["flushIntervalMs"]["minimum"], 1);
    assert_eq!(properties["flushIntervalMs"]["maximum"], 600_000);
}

#[test]
fn a_session_comes_back_as_it_was() {
    let home = home();
    let first = plugin(&home);
    assert_eq!(first.list_sessions(), Ok(vec![]));
    for number in 0..6 {
        let stored = snapshot(number);
        first.write_session(&stored).unwrap();
        assert_eq!(first.read_session(SESSION), Ok(stored));
    }
    first.append_journal(SESSION, &written([1, 2])).unwrap();
    first.append_journal(SESSION, &synced([7])).unwrap();
    first.stop().unwrap();

    let second = plugin(&home);
    assert_eq!(second.list_sessions(), Ok(vec![SESSION.to_owned()]));
    assert_eq!(second.read_session(SESSION), Ok(snapshot(5)));
    let page = second.read_journal(SESSION, Page::default()).unwrap();
    let expected = [1, 2, 7].map(|seq| JournalRecord {
        seq,
        record: record(seq),
    });
    assert_eq!(page.records, expected);
    assert_eq!(page.next_after_seq, None);
}

#[test]
fn people_can_read_what_is_on_the_disk() {
    let home = home();
    let plugin = plugin(&home);
    plugin.write_session(&snapshot(2)).unwrap();
    plugin.write_session(&snapshot(5)).unwrap();
    plugin.append_journal(SESSION, &synced([1])).unwrap();
    assert_eq!(
        names(&folder(&home)),
        ["journal.log", "lock", "manifest.json", "state"]
    );
    assert_eq!(names(&folder(&home).join("state")).len(), 1);
    let text = fs::read_to_string(folder(&home).join("manifest.json")).unwrap();
    let keys: Vec<&str> = text
        .lines()
        .filter_map(|line| line.strip_prefix("  \"")?.split('"').next())
        .collect();
    assert_eq!(
        keys,
        [
            "createdAt",
            "messages",
            "mode",
            "projectRoot",
            "sessionId",
            "storeId",
            "updatedAt"
        ]
    );
    let read: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(read, serde_json::to_value(snapshot(5).manifest).unwrap());
    let journal = fs::read_to_string(folder(&home).join("journal.log")).unwrap();
    assert!(
        journal.contains(" 1 1/1 +s {\"kind\":\"note\""),
        "{journal}"
    );
    let pid = fs::read_to_string(folder(&home).join("lock")).unwrap();
    let mine = std::process::id().to_string();
    assert_eq!(pid.lines().next(), Some(&*mine));
}

#[cfg(unix)]
#[test]
fn sessions_are_private() {
    use std::os::unix::fs::PermissionsExt as _;

    let home = home();
    let plugin = plugin(&home);
    plugin.write_session(&snapshot(2)).unwrap();
    plugin.append_journal(SESSION, &synced([1])).unwrap();
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    for name in ["", "state"] {
        assert_eq!(mode(&folder(&home).join(name)), 0o700, "{name}");
    }
    for name in ["manifest.json", "journal.log", "lock"] {
        assert_eq!(mode(&folder(&home).join(name)), 0o600, "{name}");
    }
}

#[test]
fn a_session_that_is_not_there_is_unavailable() {
    let home = home();
    let plugin = plugin(&home);
    let error = plugin.read_session(SESSION).unwrap_err();
    assert!(error.is(Class::Session, "StoreUnavailable"), "{error}");
    assert_eq!(reason(&error), "noSession");
    assert_eq!(error.context()["sessionId"], SESSION);
    let page = plugin.read_journal(SESSION, Page::default()).unwrap();
    assert!(page.records.is_empty());
    assert_eq!(
        names(home.path()),
        Vec::<String>::new(),
        "looking leaves nothing behind"
    );
}

#[test]
fn a_session_that_another_stud_has_open_is_unavailable() {
    let home = home();
    let (first, second) = (plugin(&home), plugin(&home));
    first.append_journal(SESSION, &synced([1])).unwrap();
    let refused = [
        second.append_journal(SESSION, &synced([2])),
        second.write_session(&snapshot(0)),
    ];
    for refused in refused {
        let error = refused.unwrap_err();
        assert!(error.is(Class::Session, "StoreUnavailable"), "{error}");
        assert_eq!(reason(&error), "locked");
        assert_eq!(error.context()["pid"], std::process::id());
        assert!(error.message().contains("another stud"), "{error}");
    }
    // Reading needs no lock.
    assert_eq!(
        second
            .read_journal(SESSION, Page::default())
            .unwrap()
            .records
            .len(),
        1
    );
    first.stop().unwrap();
    second.append_journal(SESSION, &synced([2])).unwrap();
    assert_eq!(
        second
            .read_journal(SESSION, Page::default())
            .unwrap()
            .records
            .len(),
        2
    );
}

#[test]
fn a_journal_without_a_snapshot_is_a_session_too() {
    let home = home();
    let plugin = plugin(&home);
    plugin.append_journal(SESSION, &synced([1])).unwrap();
    assert_eq!(plugin.list_sessions(), Ok(vec![SESSION.to_owned()]));
    let error = plugin.read_session(SESSION).unwrap_err();
    assert!(error.is(Class::Session, "ManifestDrift"), "{error}");
}

#[test]
fn only_sessions_are_listed_and_in_order() {
    let home = home();
    let plugin = plugin(&home);
    for id in ["b", "a-2", "a", "B"] {
        plugin.append_journal(id, &synced([1])).unwrap();
    }
    let sessions = home.path().join("sessions");
    fs::create_dir_all(sessions.join("with-audit-alone/audit")).unwrap();
    fs::create_dir(sessions.join("ends with a dot.")).unwrap();
    fs::write(sessions.join("ends with a dot./journal.log"), "").unwrap();
    fs::write(sessions.join("file"), "").unwrap();
    assert_eq!(plugin.list_sessions().unwrap(), ["B", "a", "a-2", "b"]);
}

#[test]
fn a_manifest_of_another_store_is_refused() {
    let home = home();
    let mut foreign = manifest();
    foreign["storeId"] = json!("sqlite");
    // It need not even look like one of ours.
    foreign["schemaVersion"] = json!("1.0");
    put_manifest(&home, &foreign.to_string());
    let error = plugin(&home).read_session(SESSION).unwrap_err();
    assert!(error.is(Class::Session, "ResumeMismatch"), "{error}");
    assert_eq!(error.context()["manifestStoreId"], "sqlite");
    assert_eq!(error.context()["activeStoreId"], STORE_ID);
    assert_eq!(error.context()["sessionId"], SESSION);
}

#[test]
fn a_manifest_that_is_none_is_drift() {
    let whole = manifest();
    let with = |name: &str, value: Value| {
        let mut changed = whole.clone();
        changed[name] = value;
        changed.to_string()
    };
    let mut without_mode = whole.clone();
    without_mode.as_object_mut().unwrap().remove("mode");
    let home = home();
    let plugin = plugin(&home);
    for text in [
        String::new(),
        "{".to_owned(),
        "[]".to_owned(),
        "null".to_owned(),
        "\u{0}\u{0}\u{0}".to_owned(),
        whole.to_string()[1..].to_owned(),
        without_mode.to_string(),
        with("env", json!({"KEY": "value"})),
        with("mode", json!("always")),
        with("messages", json!("none")),
        with("storeId", json!("")),
        with("storeId", json!(7)),
        with("projectRoot", json!(" ")),
        with("smState", json!({"smExtId": "", "stateSlotRef": "x"})),
        with("sessionId", json!("another")),
    ] {
        put_manifest(&home, &text);
        let error = plugin.read_session(SESSION).unwrap_err();
        stud_observed::covers!(MANIFEST_DRIFT, error);
        assert!(
            error.context()["path"]
                .as_str()
                .unwrap()
                .ends_with("manifest.json")
        );
    }
    fs::write(folder(&home).join("manifest.json"), [0xff, 0xfe]).unwrap();
    assert_eq!(
        plugin.read_session(SESSION).unwrap_err().code(),
        "ManifestDrift"
    );
    fs::remove_file(folder(&home).join("manifest.json")).unwrap();
    assert_eq!(
        plugin.read_session(SESSION).unwrap_err().code(),
        "ManifestDrift"
    );
    fs::create_dir(folder(&home).join("manifest.json")).unwrap();
    assert_eq!(
        plugin.read_session(SESSION).unwrap_err().code(),
        "ManifestDrift"
    );
}

#[test]
fn a_manifest_alone_is_a_session_without_slots() {
    let home = home();
    put_manifest(&home, &manifest().to_string());
    let plugin = plugin(&home);
    let stored = plugin.read_session(SESSION).unwrap();
    assert_eq!(
        (stored.manifest, stored.slots),
        (snapshot(2).manifest, vec![])
    );
    assert_eq!(plugin.list_sessions(), Ok(vec![SESSION.to_owned()]));
}

#[test]
fn broken_slots_are_told_of_and_not_used() {
    let home = home();
    let plugin = plugin(&home);
    plugin.write_session(&snapshot(5)).unwrap();
    let state = folder(&home).join("state");
    fs::write(state.join(&names(&state)[0]), "{").unwrap();
    let read = plugin.read_session(SESSION).unwrap();
    assert_eq!(read.manifest, snapshot(5).manifest);
    assert_eq!(read.slots, []);
    assert_eq!(read.damage[0].reason, "altered");
}

#[test]
fn no_id_leads_out_of_the_folder() {
    let outside = home();
    let home = TempDir::new_in(outside.path()).unwrap();
    let plugin = plugin(&home);
    for id in ["../../evil", "/evil", "a/../../evil", "..\\evil"] {
        let mut stored = snapshot(2);
        stored.manifest.session_id = id.to_owned();
        plugin.write_session(&stored).unwrap();
        assert_eq!(plugin.read_session(id), Ok(stored));
        assert_eq!(plugin.list_sessions().unwrap(), ["evil"], "{id}");
    }
    for id in ["..", "../..", ".", "", "/", "a/..", "nul\0"] {
        let mut stored = snapshot(2);
        stored.manifest.session_id = id.to_owned();
        let refused = [
            plugin.write_session(&stored).err(),
            plugin.read_session(id).err(),
            plugin.append_journal(id, &synced([1])).err(),
            plugin.read_journal(id, Page::default()).err(),
        ];
        for error in refused {
            assert_eq!(error.unwrap().class(), "Session", "{id}");
        }
    }
    assert_eq!(names(outside.path()).len(), 1);
    assert_eq!(names(home.path()), ["sessions"]);
}

#[test]
fn a_place_that_cannot_be_used_is_unavailable() {
    let home = home();
    fs::write(home.path().join("sessions"), "a file").unwrap();
    let plugin = plugin(&home);
    let errors = [
        plugin.list_sessions().err(),
        plugin.read_session(SESSION).err(),
        plugin.write_session(&snapshot(0)).err(),
        plugin.append_journal(SESSION, &synced([1])).err(),
        plugin.read_journal(SESSION, Page::default()).err(),
    ];
    for error in errors {
        let error = error.unwrap();
        assert!(error.is(Class::Session, "StoreUnavailable"), "{error}");
        assert_eq!(reason(&error), "io");
    }
}

#[cfg(unix)]
#[test]
fn a_folder_that_may_not_be_read_is_unavailable_and_stops_no_list() {
    use std::os::unix::fs::PermissionsExt as _;

    let home = home();
    let plugin = plugin(&home);
    plugin.write_session(&snapshot(2)).unwrap();
    plugin.append_journal("other", &synced([1])).unwrap();
    let allow =
        |mode| fs::set_permissions(folder(&home), fs::Permissions::from_mode(mode)).unwrap();
    allow(0o000);
    let expected = if fs::read_dir(folder(&home)).is_ok() {
        // Root may read everything.
        ("", vec![SESSION.to_owned(), "other".to_owned()])
    } else {
        ("StoreUnavailable", vec!["other".to_owned()])
    };
    let error = plugin.read_session(SESSION).err();
    let listed = plugin.list_sessions();
    allow(0o700);
    assert_eq!(error.as_ref().map_or("", Error::code), expected.0);
    assert_eq!(listed, Ok(expected.1));
}

#[test]
fn a_torn_tail_is_published_and_put_on_record() {
    let home = home();
    let first = plugin(&home);
    first.append_journal(SESSION, &synced([3])).unwrap();
    first.append_journal(SESSION, &synced([4, 5])).unwrap();
    first.stop().unwrap();
    let journal = folder(&home).join("journal.log");
    let whole = fs::read(&journal).unwrap();
    fs::write(&journal, &whole[..whole.len() - 1]).unwrap();

    let second = plugin(&home);
    second.append_journal(SESSION, &synced([4])).unwrap();
    let torn = folder(&home).join("journal.torn-1");
    let expected = json!({
        "sessionId": SESSION,
        "droppedBytes": fs::metadata(&torn).unwrap().len(),
        "droppedRecords": 1,
        "lastSeq": 3,
        "keptIn": torn,
    });
    let published = second.host().published();
    assert_eq!(published.len(), 1);
    assert_eq!(published[0].name, "JournalTornTail");
    assert_eq!(published[0].payload, expected);
    let audited = second.host().audited();
    assert_eq!(audited.len(), 1);
    assert_eq!(audited[0].class, "JournalTornTail");
    assert_eq!(Value::Object(audited[0].payload.clone()), expected);
    let seqs: Vec<u64> = second
        .read_journal(SESSION, Page::default())
        .unwrap()
        .records
        .iter()
        .map(|record| record.seq)
        .collect();
    assert_eq!(seqs, [3, 4]);
}

#[test]
fn sessions_lie_where_the_config_says() {
    let home = home();
    let elsewhere = TempDir::new().unwrap();
    let there = elsewhere.path().to_str().unwrap();
    for (config, expected) in [
        (
            json!({"enabled": true, "active": true, "flushIntervalMs": 50}),
            home.path().join("sessions"),
        ),
        (
            json!({"sessionsSubdir": "kept.here"}),
            home.path().join("kept.here"),
        ),
        (json!({"rootDir": there}), elsewhere.path().join("sessions")),
        (
            json!({"rootDir": there, "sessionsSubdir": "s"}),
            elsewhere.path().join("s"),
        ),
        (
            json!({"rootDir": "below"}),
            home.path().join("below/sessions"),
        ),
        (
            json!({"path": format!("{there}/direct")}),
            elsewhere.path().join("direct"),
        ),
        (
            json!({"path": "direct", "rootDir": there}),
            home.path().join("direct"),
        ),
        (json!({"path": "~/mine"}), elsewhere.path().join("mine")),
    ] {
        let host = FakeHost::new()
            .global_root(home.path().to_owned())
            .env("HOME", there);
        let plugin = Harness::new(crate::stud_plugin(), host.config(config.clone()));
        plugin.write_session(&snapshot(0)).unwrap();
        assert!(
            expected.join(SESSION).join("manifest.json").is_file(),
            "{config}"
        );
    }
}

#[test]
fn a_folder_name_that_is_none_is_refused_at_the_start() {
    let home = home();
    let long = "x".repeat(129);
    for name in ["", ".", "..", "a/b", "..\\up", "a b", "ä", &long] {
        let error = configured(&home, json!({"sessionsSubdir": name}))
            .start()
            .unwrap_err();
        assert!(error.is(Class::Session, "StoreUnavailable"), "{error}");
        assert_eq!(error.context()["field"], "sessionsSubdir", "{name}");
    }
}

#[test]
fn its_life_can_begin_and_end_without_a_session() {
    let home = home();
    let plugin = plugin(&home);
    plugin.start().unwrap().stop().unwrap();
    assert_eq!(names(home.path()), Vec::<String>::new());
    let error = plugin.list_sessions().unwrap_err();
    assert_eq!(error.code(), "LifecyclePhaseInvalid");
}
