//! The logger through its own entry, on real files.

mod config;
mod failure;
mod keeping;

use std::fs;
use std::path::{Path, PathBuf};

use stud_sdk::logger::{Record, RecordKind, Severity};
use stud_sdk::testing::{FakeHost, Harness};
use stud_sdk::{Value, json};
use tempfile::TempDir;

/// A logger that writes to `log` in a folder, with more config.
fn logger(folder: &TempDir, more: Value) -> Harness {
    let mut config = more;
    config["path"] = json!(log(folder));
    Harness::new(crate::stud_plugin(), FakeHost::new().config(config))
}

fn log(folder: &TempDir) -> PathBuf {
    folder.path().join("log")
}

/// A record of a few hundred bytes with a number in it.
fn numbered(number: usize) -> Record {
    let mut record = Record {
        name: "ToolInvocationSucceeded".into(),
        severity: Severity::Info,
        kind: RecordKind::Event,
        correlation_id: "turn-1".into(),
        timestamp: "2026-01-01T00:00:00.000Z".into(),
        ..Record::default()
    };
    record.payload.insert("number".into(), number.into());
    record
}

/// Every line of a file as JSON; each has to be whole.
fn lines(path: &Path) -> Vec<Value> {
    let text = fs::read_to_string(path).unwrap();
    assert!(text.is_empty() || text.ends_with('\n'), "{text:?}");
    text.lines().map(|line| line.parse().unwrap()).collect()
}

/// The numbers of the records in a file.
fn numbers(path: &Path) -> Vec<u64> {
    let number = |line: Value| line["payload"]["number"].as_u64().unwrap();
    lines(path).into_iter().map(number).collect()
}

/// The files that were set aside, the oldest first.
fn aside(folder: &TempDir) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder.path()).unwrap();
    let mut paths: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| *path != log(folder));
    paths.sort();
    paths
}

/// How many bytes the line of a record has.
fn size_of(record: &Record) -> u64 {
    let folder = TempDir::new().unwrap();
    logger(&folder, json!({})).sink(record).unwrap();
    fs::metadata(log(&folder)).unwrap().len()
}
