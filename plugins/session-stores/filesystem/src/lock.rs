//! One writer per session, across processes.
//!
//! The lock is the operating system's, on a file in the session's folder, so it ends with the process that holds it,
//! however that ends. The file stays: removing it would let two processes lock two files of the same name. The number
//! in it names the process that took the lock.
//!
//! A process that was forked off the holder has the lock too, and may outlive it. The session is not that process's, so a
//! lock whose process has ended is replaced by another file of its name. Whether it has ended is only known of processes
//! with numbers of the same machine and the same container, so the file names these too.

use std::path::{Path, PathBuf};

use stud_sdk::{Error, Result};

use crate::disk::{Access, Disk, DiskFile, read, write_all};
use crate::failure::{At as _, Reason, unavailable};

/// How often the file can be replaced by another process in the moment it is locked.
const ATTEMPTS: usize = 5;

/// The right to write one session, for as long as it lives.
pub(crate) struct Lock {
    file: Box<dyn DiskFile>,
}

impl Lock {
    /// Takes the lock, or says which process has it.
    pub(crate) fn take(disk: &dyn Disk, path: &Path) -> Result<Self> {
        for _ in 0..ATTEMPTS {
            let file = disk.open(path, Access::Update).at("open", path)?;
            if !file.try_lock().at("lock", path)? {
                return match signature(disk, path) {
                    Some(ended) if disk.has_ended(&ended) => Self::take_over(disk, path, &ended),
                    signature => Err(held(signature.as_deref())),
                };
            }
            // A process that replaced the file in this moment has the lock.
            if file.is_at(path).at("look for", path)? {
                return Ok(Self::signed(disk, file));
            }
        }
        Err(held(signature(disk, path).as_deref()))
    }

    /// Takes the lock that a process left to its children when it ended.
    fn take_over(disk: &dyn Disk, path: &Path, ended: &str) -> Result<Self> {
        let mut fresh = path.as_os_str().to_owned();
        fresh.push(".new");
        let fresh = PathBuf::from(fresh);
        let file = disk.open(&fresh, Access::Update).at("open", &fresh)?;
        // Another process that takes over has this one.
        if !file.try_lock().at("lock", &fresh)?
            || !file.is_at(&fresh).at("look for", &fresh)?
            || signature(disk, path).as_deref() != Some(ended)
        {
            return Err(held(None));
        }
        let lock = Self::signed(disk, file);
        disk.rename(&fresh, path).at("replace", path)?;
        Ok(lock)
    }

    fn signed(disk: &dyn Disk, mut file: Box<dyn DiskFile>) -> Self {
        let process = disk.signature();
        // The lock is held with or without its signature, and a full disk is reported by what needs the room.
        let _ = file
            .truncate(0)
            .and_then(|()| write_all(&mut *file, 0, process.as_bytes()));
        Self { file }
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // Closing the file alone would leave the lock to processes that were forked off this one.
        let _ = self.file.unlock();
    }
}

/// What the process that took the lock last has written into it.
fn signature(disk: &dyn Disk, path: &Path) -> Option<String> {
    String::from_utf8(read(disk, path).ok()?).ok()
}

fn held(signature: Option<&str>) -> Error {
    let pid = signature.and_then(|text| text.lines().next()?.parse::<u32>().ok());
    let holder = pid.map_or_else(String::new, |pid| format!(", process {pid},"));
    let message =
        format!("another stud{holder} has the session open; close it there, or continue there");
    let error = unavailable(Reason::Locked, message);
    match pid {
        Some(pid) => error.with("pid", pid),
        None => error,
    }
}
