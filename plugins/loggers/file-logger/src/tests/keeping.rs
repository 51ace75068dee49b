//! What is written, where, and what is set aside.

use super::*;
use std::collections::BTreeSet;
use std::os::unix::fs::PermissionsExt as _;
use std::thread;

#[test]
fn a_record_is_one_line_and_written_at_once() {
    let folder = TempDir::new().unwrap();
    let harness = logger(&folder, json!({}));
    let mut audit = numbered(7);
    audit.kind = RecordKind::Audit;
    audit.severity = Severity::Warn;
    harness.sink(&numbered(1)).unwrap();
    harness.sink(&audit).unwrap();
    let expected = concat!(
        r#"{"ts":"2026-01-01T00:00:00.000Z","kind":"event","sev":"info","name":"ToolInvocationSucceeded","#,
        r#""sessionId":"session-1","correlationId":"turn-1","payload":{"number":1}}"#,
        "\n",
        r#"{"ts":"2026-01-01T00:00:00.000Z","kind":"audit","sev":"warn","name":"ToolInvocationSucceeded","#,
        r#""sessionId":"session-1","correlationId":"turn-1","payload":{"number":7}}"#,
        "\n",
    );
    // Nothing has been told to flush yet.
    assert_eq!(fs::read_to_string(log(&folder)).unwrap(), expected);
}

#[test]
fn secrets_stay_out_of_events_and_audit_records_stay_whole() {
    let folder = TempDir::new().unwrap();
    let record = |kind| {
        let mut record = numbered(1);
        record.kind = kind;
        record.payload.insert("key".into(), "sk-ant-1".into());
        record
    };
    let harness = logger(&folder, json!({}));
    for kind in RecordKind::ALL {
        harness.sink(&record(kind)).unwrap();
    }
    let open = logger(&folder, json!({"redactSecrets": false}));
    open.sink(&record(RecordKind::Event)).unwrap();
    let keys: Vec<_> = lines(&log(&folder))
        .into_iter()
        .map(|line| line["payload"]["key"].clone())
        .collect();
    assert_eq!(keys, ["[REDACTED]", "sk-ant-1", "[REDACTED]", "sk-ant-1"]);
}

#[test]
fn without_a_path_the_file_is_the_sessions_own() {
    let folder = TempDir::new().unwrap();
    let root = folder.path().join("home/.stud");
    let host = FakeHost::new().global_root(root.clone());
    let harness = Harness::new(crate::stud_plugin(), host);
    harness.start().unwrap();
    assert!(!root.exists(), "nothing is made before the first record");
    harness.sink(&numbered(1)).unwrap();
    assert_eq!(numbers(&root.join("logs/session-session-1.jsonl")), [1]);
}

#[test]
fn files_and_folders_are_made_for_their_owner_alone() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("a/b/log");
    let config = json!({"path": path, "rotateAtBytes": 1});
    let harness = Harness::new(crate::stud_plugin(), FakeHost::new().config(config));
    harness.sink(&numbered(1)).unwrap();
    harness.sink(&numbered(2)).unwrap();
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&folder.path().join("a")), 0o700);
    assert_eq!(mode(&folder.path().join("a/b")), 0o700);
    let files: Vec<_> = fs::read_dir(folder.path().join("a/b")).unwrap().collect();
    assert_eq!(files.len(), 2);
    for file in files {
        assert_eq!(mode(&file.unwrap().path()), 0o600);
    }
}

#[test]
fn a_new_logger_adds_to_what_is_there() {
    let folder = TempDir::new().unwrap();
    let first = logger(&folder, json!({}));
    first.sink(&numbered(1)).unwrap();
    first.stop().unwrap();
    let second = logger(&folder, json!({}));
    second.sink(&numbered(2)).unwrap();
    second.stop().unwrap();
    assert_eq!(numbers(&log(&folder)), [1, 2]);
}

#[test]
fn a_file_is_set_aside_before_it_would_be_too_large() {
    let folder = TempDir::new().unwrap();
    let limit = 2 * size_of(&numbered(1));
    let harness = logger(&folder, json!({"rotateAtBytes": limit}));
    for number in 1..=5 {
        harness.sink(&numbered(number)).unwrap();
    }
    let contents: Vec<_> = aside(&folder).iter().map(|path| numbers(path)).collect();
    assert_eq!(contents, [[1, 2], [3, 4]]);
    assert_eq!(numbers(&log(&folder)), [5]);
}

#[test]
fn more_files_of_a_session_are_kept() {
    let folder = TempDir::new().unwrap();
    let config = json!({"rotateAtBytes": 1});
    let host = FakeHost::new()
        .config(config)
        .global_root(folder.path().to_owned());
    let harness = Harness::new(crate::stud_plugin(), host);
    for number in 1..=13 {
        harness.sink(&numbered(number)).unwrap();
    }
    // The last one is in the file itself.
    let files = fs::read_dir(folder.path().join("logs")).unwrap();
    assert_eq!(files.count(), 11);
}

#[test]
fn only_so_many_files_are_kept() {
    for (config, kept) in [
        (json!({"rotateAtBytes": 1}), vec![5, 6, 7, 8, 9]),
        (
            json!({"rotateAtBytes": 1, "maxRotatedFiles": 2}),
            vec![8, 9],
        ),
        (json!({"rotateAtBytes": 1, "maxRotatedFiles": 0}), vec![]),
    ] {
        let folder = TempDir::new().unwrap();
        let harness = logger(&folder, config);
        for number in 1..=10 {
            harness.sink(&numbered(number)).unwrap();
        }
        let contents: Vec<_> = aside(&folder)
            .iter()
            .flat_map(|path| numbers(path))
            .collect();
        assert_eq!(contents, kept);
        assert_eq!(numbers(&log(&folder)), [10]);
    }
}

#[test]
fn the_name_of_a_file_set_aside_is_the_path_and_a_time() {
    let folder = TempDir::new().unwrap();
    let harness = logger(&folder, json!({"rotateAtBytes": 1}));
    harness.sink(&numbered(1)).unwrap();
    harness.sink(&numbered(2)).unwrap();
    let [path] = &*aside(&folder) else {
        panic!("{:?}", aside(&folder));
    };
    let name = path.file_name().unwrap().to_str().unwrap();
    let stamp = name.strip_prefix("log.").unwrap();
    let shape: String = stamp
        .chars()
        .map(|sign| if sign.is_ascii_digit() { '0' } else { sign })
        .collect();
    assert_eq!(shape, "0000-00-00T00-00-00-000Z");
}

#[test]
fn what_was_there_counts() {
    let folder = TempDir::new().unwrap();
    let before = "{\"before\":true}\n";
    fs::write(log(&folder), before).unwrap();
    let limit = size_of(&numbered(1)) + 1;
    let harness = logger(&folder, json!({"rotateAtBytes": limit}));
    harness.sink(&numbered(1)).unwrap();
    let [path] = &*aside(&folder) else {
        panic!("{:?}", aside(&folder));
    };
    assert_eq!(fs::read_to_string(path).unwrap(), before);
    assert_eq!(numbers(&log(&folder)), [1]);
}

#[test]
fn a_named_file_is_not_set_aside_unless_asked_for_and_a_sessions_own_is() {
    let large = |number| {
        let mut record = numbered(number);
        for member in 0..20 {
            let text = "x".repeat(60_000);
            record.payload.insert(format!("text{member}"), text.into());
        }
        record
    };
    let folder = TempDir::new().unwrap();
    let root = TempDir::new().unwrap();
    let named = logger(&folder, json!({}));
    let own = Harness::new(
        crate::stud_plugin(),
        FakeHost::new().global_root(root.path().into()),
    );
    for number in 1..=4 {
        named.sink(&large(number)).unwrap();
        own.sink(&large(number)).unwrap();
    }
    assert_eq!(numbers(&log(&folder)), [1, 2, 3, 4]);
    assert!(aside(&folder).is_empty());
    // A line has 1.2 MB, so two of them are more than 2 MiB.
    let files = fs::read_dir(root.path().join("logs")).unwrap();
    assert_eq!(files.count(), 4);
}

#[test]
fn many_writers_leave_whole_lines_and_lose_none() {
    const WRITERS: usize = 8;
    const EACH: usize = 100;
    let folder = TempDir::new().unwrap();
    let config = json!({"rotateAtBytes": 20_000, "maxRotatedFiles": 1024});
    // Two loggers share the file, as two sessions with the same config do.
    let loggers = [logger(&folder, config.clone()), logger(&folder, config)];
    thread::scope(|scope| {
        for writer in 0..WRITERS {
            let logger = &loggers[writer % 2];
            scope.spawn(move || {
                for number in 0..EACH {
                    logger.sink(&numbered(writer * EACH + number)).unwrap();
                }
            });
        }
    });
    let mut files = aside(&folder);
    assert!(!files.is_empty());
    files.push(log(&folder));
    let found: Vec<_> = files.iter().flat_map(|path| numbers(path)).collect();
    assert_eq!(found.len(), WRITERS * EACH);
    let different: BTreeSet<_> = found.into_iter().collect();
    assert_eq!(different.len(), WRITERS * EACH);
}
