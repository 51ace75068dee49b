//! What is in the place of the store's files on the machine's own disk: pipes, devices, and locks of processes that ended.

use std::fs::{self, File};
use std::path::Path;
use std::sync::Arc;

use rustix::fs::{CWD, FileType, Mode, mknodat};

use super::samples::{SESSION, read_all, snapshot, synced};
use crate::disk::RealDisk;
use crate::store::Store;

fn open(root: &Path) -> Store {
    Store::new(Arc::new(RealDisk), root.to_owned())
}

fn pipe(path: &Path) {
    mknodat(CWD, path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
}

#[test]
fn a_pipe_or_a_device_in_the_place_of_a_file_is_refused_and_never_waited_for() {
    for name in ["journal.log", "manifest.json", "lock"] {
        for is_pipe in [true, false] {
            let root = tempfile::tempdir().unwrap();
            let store = open(root.path());
            store.append(SESSION, &synced([1])).0.unwrap();
            store.write(&snapshot(1)).0.unwrap();
            store.close();
            let path = root.path().join(SESSION).join(name);
            fs::remove_file(&path).unwrap();
            if is_pipe {
                pipe(&path);
            } else {
                std::os::unix::fs::symlink("/dev/zero", &path).unwrap();
            }
            let store = open(root.path());
            assert!(store.list().is_ok());
            let read = store.read(SESSION).map(drop);
            let journal = read_all(&store).map(drop);
            let appended = store.append(SESSION, &synced([2])).0;
            let failed = match name {
                "journal.log" => journal.and(appended),
                "manifest.json" => read,
                _ => appended,
            };
            let error = failed.unwrap_err();
            assert_eq!(error.class(), "Session", "{name}");
            assert!(error.message().contains("it is not a file"), "{error}");
        }
    }
}

#[test]
fn a_lock_that_a_process_left_to_its_children_does_not_keep_others_out() {
    let root = tempfile::tempdir().unwrap();
    let store = open(root.path());
    store.append(SESSION, &synced([1])).0.unwrap();
    let path = root.path().join(SESSION).join("lock");
    // What a child has: the same open file. And its parent, which took the lock, has ended.
    store.close();
    let child = File::options().read(true).write(true).open(&path).unwrap();
    child.lock().unwrap();
    let mut ended = std::process::Command::new("true").spawn().unwrap();
    ended.wait().unwrap();
    let mine = fs::read_to_string(&path).unwrap();
    let ended = mine.replacen(&std::process::id().to_string(), &ended.id().to_string(), 1);
    // A process with that number elsewhere may run.
    fs::write(&path, ended.replace("pid:[", "pid:[9")).unwrap();
    let held = open(root.path()).append(SESSION, &synced([2])).0;
    assert_eq!(held.unwrap_err().context()["reason"], "locked");
    fs::write(&path, ended).unwrap();

    let store = open(root.path());
    store.append(SESSION, &synced([2])).0.unwrap();
    assert_eq!(read_all(&store), Ok(vec![1, 2]));
    let second = open(root.path()).append(SESSION, &synced([3])).0;
    let refused = second.unwrap_err();
    assert_eq!(refused.context()["reason"], "locked");
    assert_eq!(refused.context()["pid"], std::process::id());
    drop(child);
}

#[test]
fn a_lock_is_given_back_although_a_child_has_the_file_open() {
    let root = tempfile::tempdir().unwrap();
    let store = open(root.path());
    store.append(SESSION, &synced([1])).0.unwrap();
    let held = open(root.path()).append(SESSION, &synced([2])).0;
    assert_eq!(held.unwrap_err().context()["reason"], "locked");
    store.close();
    open(root.path()).append(SESSION, &synced([2])).0.unwrap();
}
