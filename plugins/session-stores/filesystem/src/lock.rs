//! One writer per session, across processes.
//!
//! The lock is the operating system's, on a file in the session's folder, so it ends with the process that holds it,
//! however that ends. The file stays: removing it would let two processes lock two files of the same name. The number
//! in it is a hint for people and means nothing by itself.

use std::path::Path;

use stud_sdk::{Error, Result};

use crate::disk::{Access, Disk, DiskFile, read, write_all};
use crate::failure::{At as _, Reason, unavailable};

/// The right to write one session, for as long as it lives.
pub(crate) struct Lock {
    _file: Box<dyn DiskFile>,
}

impl Lock {
    /// Takes the lock, or says who has it.
    pub(crate) fn take(disk: &dyn Disk, path: &Path) -> Result<Self> {
        let mut file = disk.open(path, Access::Update).at("open", path)?;
        if !file.try_lock().at("lock", path)? {
            return Err(held(disk, path));
        }
        let process = format!("{}\n", std::process::id());
        // The lock is held with or without the hint, and a full disk is reported by what needs the room.
        let _ = file
            .truncate(0)
            .and_then(|()| write_all(&mut *file, 0, process.as_bytes()));
        Ok(Self { _file: file })
    }
}

fn held(disk: &dyn Disk, path: &Path) -> Error {
    let pid = read(disk, path).ok().and_then(|bytes| {
        let text = str::from_utf8(&bytes).ok()?;
        text.trim().parse::<u32>().ok()
    });
    let holder = pid.map_or_else(String::new, |pid| format!(", process {pid},"));
    let message =
        format!("another stud{holder} has the session open; close it there, or continue there");
    let error = unavailable(Reason::Locked, message);
    match pid {
        Some(pid) => error.with("pid", pid),
        None => error,
    }
}
