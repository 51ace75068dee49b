//! One writer at a time.
//!
//! The calls of one proposal run together, and two edits of one file must both be in it afterward. A writer locks
//! the directory meanwhile: a file cannot be held, because it is replaced. The operating system keeps the lock, so it
//! counts between plugins and between processes, and ends with its holder.

use std::collections::BTreeMap;
use std::os::fd::OwnedFd;
use std::thread;
use std::time::Duration;

use rustix::fs::{FlockOperation, Mode, OFlags, flock, openat};
use rustix::io::Errno;
use stud_sdk::{Cx, Error, ErrorExt, Result};

use crate::failure::busy;
use crate::target::Target;

/// How long another writer is waited for: so many times, so long.
const PATIENCE: (u32, Duration) = (2000, Duration::from_millis(5));

/// The directories that are held. They are free again when this is dropped.
#[derive(Debug)]
#[must_use = "the directories are free as soon as this is dropped"]
pub struct Held {
    _directories: Vec<OwnedFd>,
}

/// Holds the directories of files that are to be written.
///
/// Fails with `ToolTransient/ResourceBusy` if another writer holds one for long, and with `Cancellation/ToolCancelled`
/// if the call is cancelled.
pub fn lock<'t>(targets: impl IntoIterator<Item = &'t Target>, cx: &Cx) -> Result<Held> {
    // Each once, and all in one order, so that no two wait for each other.
    let directories: BTreeMap<_, _> = targets
        .into_iter()
        .map(|target| (target.directory_id(), target))
        .collect();
    let mut held = Vec::with_capacity(directories.len());
    for target in directories.values() {
        held.extend(hold(target, cx)?);
    }
    Ok(Held { _directories: held })
}

/// None where there are no locks, as on some network disks: then every writer still leaves a whole file.
fn hold(target: &Target, cx: &Cx) -> Result<Option<OwnedFd>> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let Ok(directory) = openat(target.directory(), ".", flags, Mode::empty()) else {
        return Ok(None);
    };
    let (times, pause) = PATIENCE;
    for _ in 0..times {
        match flock(&directory, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => return Ok(Some(directory)),
            Err(Errno::WOULDBLOCK | Errno::INTR) => {}
            Err(_) => return Ok(None),
        }
        if cx.is_cancelled() {
            return Err(Error::cancelled());
        }
        thread::sleep(pause);
    }
    let path = target.path();
    Err(busy(
        path,
        format!("another program has locked the directory of `{path}`"),
    ))
}
