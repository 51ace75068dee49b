//! One process at a time has a session open, and the others can tell which.
//!
//! The lock is the operating system's, on a file of its own in the session's audit folder, and ends with the process that
//! holds it. A process that was forked off the holder has it too, and may outlive it; the session is not that process's,
//! so a lock whose process has ended is replaced by another file of its name. Whether it has ended is only known of
//! processes with numbers of the same machine and the same container, so the file names these too.

use std::fs::{File, TryLockError};
use std::io::{self, Read as _, Seek as _, Write as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::fs::OFlags;
use rustix::process::{Pid, test_kill_process};

use crate::executor;

/// The name of the file in the audit folder.
const FILE: &str = "lock";

/// A process that only looks whether a session is open holds the lock for a moment, which is waited for.
const PAUSES: [u64; 4] = [1, 5, 25, 0];

/// The right to write a session's trail, and with it the session.
#[derive(Debug)]
pub(super) struct WriterLock {
    /// None on a file system without locks.
    file: Option<File>,
}

/// Why the lock could not be taken.
#[derive(Debug)]
pub(super) enum Untaken {
    /// Another process has it, by this number if that is known.
    Held(Option<u32>),
    /// The disk failed.
    Io(io::Error),
}

impl From<io::Error> for Untaken {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

impl WriterLock {
    /// Takes the lock of the session whose audit folder this is.
    pub(super) fn take(folder: &Path) -> Result<Self, Untaken> {
        let path = folder.join(FILE);
        let mut holder = None;
        for pause in PAUSES {
            let file = open(&path)?;
            match file.try_lock() {
                // A process that replaced the file in this moment has the lock.
                Ok(()) if is_at(&file, &path)? => return Ok(Self::signed(file)),
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => {
                    let signature = read_signature(&file);
                    if has_ended(&signature) {
                        return Self::take_over(&path, &signature);
                    }
                    holder = pid_in(&signature);
                }
                Err(TryLockError::Error(error)) if error.kind() == io::ErrorKind::Unsupported => {
                    return Ok(Self { file: None });
                }
                Err(TryLockError::Error(error)) => return Err(error.into()),
            }
            executor::pause(Duration::from_millis(pause));
        }
        Err(Untaken::Held(holder))
    }

    /// Takes the lock that a process left to its children when it ended.
    fn take_over(path: &Path, ended: &str) -> Result<Self, Untaken> {
        let fresh = PathBuf::from(format!("{}.new", path.display()));
        let file = open(&fresh)?;
        // Another process that takes over has this one.
        if file.try_lock().is_err()
            || !is_at(&file, &fresh)?
            || read_signature(&open(path)?) != ended
        {
            return Err(Untaken::Held(None));
        }
        let lock = Self::signed(file);
        std::fs::rename(&fresh, path)?;
        Ok(lock)
    }

    fn signed(mut file: File) -> Self {
        let signature = format!("{}\n{}\n", std::process::id(), numbering());
        // The lock is held with or without its signature.
        let _ = file
            .set_len(0)
            .and_then(|()| file.rewind())
            .and_then(|()| file.write_all(signature.as_bytes()));
        Self { file: Some(file) }
    }

    /// Removes the file of a session that is not kept, while no other process can have the lock.
    pub(super) fn remove(self, folder: &Path) {
        let _ = std::fs::remove_file(folder.join(FILE));
        drop(self);
    }

    /// The process that has the session open, if one has; 0 if its number is not known.
    pub(super) fn holder(folder: &Path) -> Option<u32> {
        let path = folder.join(FILE);
        if !path.symlink_metadata().is_ok_and(|found| found.is_file()) {
            return None;
        }
        let file = open(&path).ok()?;
        // The lock goes with the file at the end of this function.
        if !matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock)) {
            return None;
        }
        let signature = read_signature(&file);
        (!has_ended(&signature)).then(|| pid_in(&signature).unwrap_or_default())
    }
}

impl Drop for WriterLock {
    fn drop(&mut self) {
        // Closing the file alone would leave the lock to processes that were forked off this one.
        if let Some(file) = &self.file {
            let _ = file.unlock();
        }
    }
}

fn open(path: &Path) -> io::Result<File> {
    let never_waits = OFlags::NONBLOCK.union(OFlags::NOCTTY);
    let file = File::options()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .mode(0o600)
        .custom_flags(never_waits.bits().cast_signed())
        .open(path)?;
    if !file.metadata()?.is_file() {
        return Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            "the lock is not a file",
        ));
    }
    Ok(file)
}

fn is_at(file: &File, path: &Path) -> io::Result<bool> {
    let open = file.metadata()?;
    match std::fs::metadata(path) {
        Ok(named) => Ok((open.dev(), open.ino()) == (named.dev(), named.ino())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

/// What the process that took the lock last has written into it: its number, and where that number holds.
fn read_signature(mut file: &File) -> String {
    let mut text = String::new();
    let read = file
        .rewind()
        .and_then(|()| file.take(256).read_to_string(&mut text));
    // What cannot be read names no process.
    read.map(|_| text).unwrap_or_default()
}

fn pid_in(signature: &str) -> Option<u32> {
    signature.lines().next()?.parse().ok()
}

/// Whether the process with this signature has ended, if that can be told from here.
fn has_ended(signature: &str) -> bool {
    let here = numbering();
    // The number of a process elsewhere says nothing here.
    if here.is_empty() || signature.lines().nth(1) != Some(&here) {
        return false;
    }
    let pid = signature.lines().next().and_then(|pid| pid.parse().ok());
    pid.and_then(Pid::from_raw)
        .is_some_and(|pid| matches!(test_kill_process(pid), Err(rustix::io::Errno::SRCH)))
}

/// Where the numbers of processes mean what they mean here: this run of this machine, and this container. Empty where
/// the system does not say.
fn numbering() -> String {
    let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id");
    let container = std::fs::read_link("/proc/self/ns/pid");
    match (boot, container) {
        (Ok(boot), Ok(container)) => format!("{} {}", boot.trim(), container.display()),
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_loser_is_told_the_process() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(WriterLock::holder(folder.path()), None);
        let lock = WriterLock::take(folder.path()).unwrap();
        assert_eq!(WriterLock::holder(folder.path()), Some(std::process::id()));
        let Err(Untaken::Held(holder)) = WriterLock::take(folder.path()) else {
            panic!("it is held");
        };
        assert_eq!(holder, Some(std::process::id()));
        drop(lock);
        assert_eq!(WriterLock::holder(folder.path()), None);
        WriterLock::take(folder.path()).unwrap();
    }

    #[test]
    fn a_lock_that_a_process_left_to_its_children_is_taken_over() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(FILE);
        let mut ended = std::process::Command::new("true").spawn().unwrap();
        ended.wait().unwrap();
        // A child has the lock with the file, and its parent took it.
        let child = open(&path).unwrap();
        child.lock().unwrap();
        std::fs::write(&path, format!("{}\n{}\n", ended.id(), numbering())).unwrap();
        assert_eq!(WriterLock::holder(folder.path()), None);
        let lock = WriterLock::take(folder.path()).unwrap();
        assert_eq!(WriterLock::holder(folder.path()), Some(std::process::id()));
        assert!(matches!(
            WriterLock::take(folder.path()),
            Err(Untaken::Held(Some(_)))
        ));
        drop((lock, child));
    }

    #[test]
    fn a_pipe_in_its_place_is_refused_without_waiting() {
        let folder = tempfile::tempdir().unwrap();
        let mode = rustix::fs::Mode::RUSR;
        let path = folder.path().join(FILE);
        rustix::fs::mknodat(rustix::fs::CWD, &path, rustix::fs::FileType::Fifo, mode, 0).unwrap();
        assert!(matches!(
            WriterLock::take(folder.path()),
            Err(Untaken::Io(_))
        ));
        assert_eq!(WriterLock::holder(folder.path()), None);
    }
}
