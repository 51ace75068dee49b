//! What goes wrong, and what happens afterwards.

use super::*;
use std::env;
use std::process::Command;

use stud_sdk::{Class, Phase, Result};

fn is_unavailable(outcome: Result<()>, path: &Path) {
    let error = outcome.unwrap_err();
    assert!(error.is(Class::Session, "StoreUnavailable"), "{error}");
    assert_eq!(error.context()["path"], json!(path), "{error}");
    assert!(error.message().contains(path.to_str().unwrap()), "{error}");
}

#[test]
fn a_folder_that_cannot_be_made_is_an_error_until_it_can() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("a/log");
    let config = json!({"path": path});
    let harness = Harness::new(crate::stud_plugin(), FakeHost::new().config(config));
    fs::write(folder.path().join("a"), "in the way").unwrap();
    is_unavailable(harness.sink(&numbered(1)), &path);
    is_unavailable(harness.sink(&numbered(2)), &path);
    fs::remove_file(folder.path().join("a")).unwrap();
    harness.sink(&numbered(3)).unwrap();
    assert_eq!(numbers(&path), [3]);
}

#[test]
fn only_a_regular_file_is_written_to() {
    let folder = TempDir::new().unwrap();
    let harness = logger(&folder, json!({}));
    fs::create_dir(log(&folder)).unwrap();
    is_unavailable(harness.sink(&numbered(1)), &log(&folder));

    // A pipe would stop the session as soon as it is full.
    fs::remove_dir(log(&folder)).unwrap();
    let made = Command::new("mkfifo").arg(log(&folder)).status().unwrap();
    assert!(made.success());
    is_unavailable(harness.sink(&numbered(2)), &log(&folder));
}

#[test]
fn a_file_that_was_removed_or_replaced_is_opened_again() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("a/log");
    let config = json!({"path": path});
    let harness = Harness::new(crate::stud_plugin(), FakeHost::new().config(config));
    harness.sink(&numbered(1)).unwrap();
    fs::remove_dir_all(folder.path().join("a")).unwrap();
    harness.sink(&numbered(2)).unwrap();
    assert_eq!(numbers(&path), [2]);
    fs::rename(&path, folder.path().join("moved")).unwrap();
    harness.sink(&numbered(3)).unwrap();
    assert_eq!(numbers(&folder.path().join("moved")), [2]);
    assert_eq!(numbers(&path), [3]);

    // Another file in its place is no reason to continue in the old one.
    fs::rename(&path, folder.path().join("moved")).unwrap();
    fs::write(&path, "").unwrap();
    harness.sink(&numbered(4)).unwrap();
    assert_eq!(numbers(&path), [4]);
}

#[test]
fn a_line_that_was_torn_is_never_glued_to_the_next() {
    let folder = TempDir::new().unwrap();
    fs::write(log(&folder), "{\"ts\":\"20").unwrap();
    let harness = logger(&folder, json!({}));
    harness.sink(&numbered(1)).unwrap();
    harness.sink(&numbered(2)).unwrap();
    let text = fs::read_to_string(log(&folder)).unwrap();
    let (torn, rest) = text.split_once('\n').unwrap();
    assert_eq!(torn, "{\"ts\":\"20");
    let found: Vec<Value> = rest.lines().map(|line| line.parse().unwrap()).collect();
    assert_eq!(found.len(), 2);
}

#[test]
fn a_file_that_cannot_be_set_aside_takes_the_line_all_the_same() {
    let folder = TempDir::new().unwrap();
    // With the time behind it, this name is longer than any a file may have.
    let path = folder.path().join("n".repeat(240));
    let config = json!({"path": path, "rotateAtBytes": 1});
    let harness = Harness::new(crate::stud_plugin(), FakeHost::new().config(config));
    harness.sink(&numbered(1)).unwrap();
    is_unavailable(harness.sink(&numbered(2)), &path);
    assert_eq!(numbers(&path), [1, 2]);
}

/// Tells the child process of the next test which file to fill.
const FULL_DISK: &str = "FILE_LOGGER_TEST_FULL_DISK";

#[test]
fn a_full_disk_tears_one_line_at_most() {
    #[expect(
        clippy::disallowed_methods,
        reason = "a test that runs itself anew says through the environment what to do"
    )]
    if let Some(path) = env::var_os(FULL_DISK) {
        return fill(Path::new(&path));
    }
    let folder = TempDir::new().unwrap();
    // A limit on the size of files is to a process what a full disk is to all of them.
    let status = Command::new("sh")
        .args(["-c", "trap '' XFSZ; ulimit -f 1; exec \"$0\" \"$@\""])
        .arg(env::current_exe().unwrap())
        .args([
            "--exact",
            "tests::failure::a_full_disk_tears_one_line_at_most",
        ])
        .env(FULL_DISK, log(&folder))
        .output()
        .unwrap();
    assert!(status.status.success(), "{status:?}");

    let torn = fs::read_to_string(log(&folder)).unwrap();
    assert!(!torn.ends_with('\n'), "{torn}");
    logger(&folder, json!({})).sink(&numbered(9)).unwrap();
    let text = fs::read_to_string(log(&folder)).unwrap();
    let rest = text.strip_prefix(&*torn).unwrap();
    assert!(rest.starts_with("\n{") && rest.ends_with("}\n"), "{rest}");
    let (_, line) = rest.split_once('\n').unwrap();
    assert_eq!(line.parse::<Value>().unwrap()["payload"]["number"], 9);
}

/// Writes until there is no room left, then a little more, and then where there is room again.
fn fill(path: &Path) {
    let config = json!({"path": path});
    let harness = Harness::new(crate::stud_plugin(), FakeHost::new().config(config));
    let mut kept = 0;
    let full = loop {
        match harness.sink(&numbered(kept)) {
            Ok(()) if kept < 100 => kept += 1,
            outcome => break outcome,
        }
    };
    is_unavailable(full, path);
    let whole = fs::read_to_string(path).unwrap().matches('\n').count();
    assert_eq!(whole, kept, "a record is kept whole or its loss is told");
    is_unavailable(harness.sink(&numbered(100)), path);

    let aside = path.with_extension("aside");
    fs::rename(path, &aside).unwrap();
    harness.sink(&numbered(101)).unwrap();
    assert_eq!(numbers(path), [101]);
    fs::rename(&aside, path).unwrap();
}

#[test]
fn stopping_is_safe_at_any_time_and_loses_nothing() {
    let folder = TempDir::new().unwrap();
    let harness = logger(&folder, json!({}));
    harness
        .start()
        .unwrap()
        .lifecycle(Phase::Deactivate)
        .unwrap();
    assert!(!log(&folder).exists());
    harness.sink(&numbered(1)).unwrap();
    harness.lifecycle(Phase::Dispose).unwrap();
    harness.lifecycle(Phase::Dispose).unwrap();
    assert_eq!(numbers(&log(&folder)), [1]);
}
