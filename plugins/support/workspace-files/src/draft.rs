//! Writing files: each of them whole, and all of them or none.

use std::ffi::OsString;
use std::os::fd::OwnedFd;
use std::process;
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::fs::{AtFlags, Mode, OFlags, Stat, fchmod, fsync, openat, renameat, unlinkat};
use rustix::io::{Errno, write};
use stud_sdk::{Cx, Error, ErrorExt, Result};

use crate::failure::{busy, os};
use crate::own::identity;
use crate::target::Target;

/// How many names are tried for a draft.
const MOST_NAMES: u32 = 1000;

/// How much is written between two looks at whether the call is still wanted.
const PIECE: usize = 1024 * 1024;

/// What a file is to have in it.
#[derive(Debug)]
pub struct Change<'t> {
    target: &'t Target,
    after: String,
    before: Option<Before>,
}

#[derive(Debug)]
struct Before {
    text: String,
    stat: Stat,
}

impl<'t> Change<'t> {
    /// A new text, whatever is there.
    pub const fn overwrite(target: &'t Target, after: String) -> Self {
        Self {
            target,
            after,
            before: None,
        }
    }

    /// Reads a file of at most `most` bytes of text, to change it. Whatever else changes it meanwhile is noticed.
    pub fn begin(target: &'t Target, most: u64, cx: &Cx) -> Result<Self> {
        let contents = target.open()?;
        let stat = *contents.stat();
        let text = contents.whole(most, cx)?;
        Ok(Self {
            target,
            after: text.clone(),
            before: Some(Before { text, stat }),
        })
    }

    /// The text as it will be.
    pub fn text(&self) -> &str {
        &self.after
    }

    /// Makes it another one.
    pub fn set(&mut self, text: String) {
        self.after = text;
    }

    /// A concurrent change must not be overwritten by this one.
    fn check_unchanged(&self) -> Result<()> {
        let now = self.target.look()?;
        let same = match (&self.before, &now) {
            (None, _) => true,
            (Some(before), Some(now)) => stamp(&before.stat) == stamp(now),
            (Some(_), None) => false,
        };
        if same {
            return Ok(());
        }
        let path = self.target.path();
        let why = format!("`{path}` was changed by another program meanwhile; read it again");
        Err(busy(path, why))
    }
}

/// What tells a file from the one it was.
fn stamp(stat: &Stat) -> impl PartialEq + use<> {
    (
        identity(stat),
        stat.st_size,
        stat.st_mtime,
        stat.st_mtime_nsec,
    )
}

/// Writes all changes, or none of them.
///
/// Every text is on the disk under another name before the first file is replaced. If a file cannot be replaced then,
/// those before it are put back; the error says so, and names those that could not be.
pub fn replace_all(changes: &[Change<'_>], cx: &Cx) -> Result<()> {
    let mut drafts = Vec::with_capacity(changes.len());
    for change in changes {
        let mode = protected_mode(change.target)?;
        drafts.push(Draft::write(
            change.target,
            change.after.as_bytes(),
            mode,
            Some(cx),
        )?);
    }
    for change in changes {
        change.check_unchanged()?;
    }
    if cx.is_cancelled() {
        return Err(Error::cancelled());
    }
    for (done, draft) in drafts.iter_mut().enumerate() {
        if let Err(error) = draft.put_in_place() {
            return Err(put_back(&changes[..done], error));
        }
    }
    for change in changes {
        settle(change.target);
    }
    Ok(())
}

/// The mode of the file that is there; none for a new one. A file that may not be written is not replaced either.
fn protected_mode(target: &Target) -> Result<Option<Mode>> {
    let Some(stat) = target.look()? else {
        return Ok(None);
    };
    let flags = OFlags::WRONLY | OFlags::NONBLOCK | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    match openat(target.directory(), target.name(), flags, Mode::empty()) {
        // A program that runs cannot be written, and can be replaced.
        Ok(_) | Err(Errno::TXTBSY | Errno::NOENT) => {}
        Err(errno) => return Err(os(target.path(), errno)),
    }
    // Not who it runs as: that was given to the old content.
    Ok(Some(Mode::from_raw_mode(stat.st_mode & 0o777)))
}

/// Undoes what was done before `error`, and says what came of it.
fn put_back(done: &[Change<'_>], error: Error) -> Error {
    let mut restored = Vec::new();
    let mut lost = Vec::new();
    for change in done {
        let path = change.target.path();
        match restore(change) {
            Ok(()) => restored.push(path),
            Err(_) => lost.push(path),
        }
    }
    match (restored.as_slice(), lost.as_slice()) {
        ([], []) => error,
        (_, []) => error.with("restored", restored),
        _ => error.with("restored", restored).with("notRestored", lost),
    }
}

fn restore(change: &Change<'_>) -> Result<()> {
    let target = change.target;
    let Some(before) = &change.before else {
        return Err(Error::failed("what was there was never read"));
    };
    let mode = Mode::from_raw_mode(before.stat.st_mode & 0o777);
    Draft::write(target, before.text.as_bytes(), Some(mode), None)?.put_in_place()
}

/// Has the directory on the disk too. If that fails the content is safe all the same, under one name or the other.
fn settle(target: &Target) {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    if let Ok(directory) = openat(target.directory(), ".", flags, Mode::empty()) {
        let _ = fsync(directory);
    }
}

/// A text on the disk that has not taken its place. It is removed when it is dropped before.
struct Draft<'t> {
    target: &'t Target,
    name: Option<OsString>,
}

impl<'t> Draft<'t> {
    /// Writes a text next to the file it is for. Without a mode it gets the one of any new file.
    fn write(target: &'t Target, text: &[u8], mode: Option<Mode>, cx: Option<&Cx>) -> Result<Self> {
        let fail = |errno| os(target.path(), errno);
        // Until it has its mode no other user can read what may be secret in the file it replaces.
        let at_first = if mode.is_some() { 0o600 } else { 0o666 };
        let (name, file) = create(target, Mode::from_raw_mode(at_first)).map_err(fail)?;
        let draft = Self {
            target,
            name: Some(name),
        };
        for piece in text.chunks(PIECE) {
            if cx.is_some_and(Cx::is_cancelled) {
                return Err(Error::cancelled());
            }
            write_all(&file, piece).map_err(fail)?;
        }
        if let Some(mode) = mode {
            fchmod(&file, mode).map_err(fail)?;
        }
        fsync(&file).map_err(fail)?;
        Ok(draft)
    }

    fn put_in_place(&mut self) -> Result<()> {
        let Some(name) = &self.name else {
            return Ok(());
        };
        let directory = self.target.directory();
        renameat(directory, name, directory, self.target.name())
            .map_err(|errno| os(self.target.path(), errno))?;
        self.name = None;
        Ok(())
    }
}

impl Drop for Draft<'_> {
    fn drop(&mut self) {
        if let Some(name) = &self.name {
            let _ = unlinkat(self.target.directory(), name, AtFlags::empty());
        }
    }
}

/// A new file under an unused name.
fn create(target: &Target, mode: Mode) -> rustix::io::Result<(OsString, OwnedFd)> {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    for _ in 0..MOST_NAMES {
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = OsString::from(format!(".stud-{}-{number}.tmp", process::id()));
        match openat(target.directory(), &name, flags, mode) {
            Ok(file) => return Ok((name, file)),
            // Another plugin counts too, or a crash left one behind.
            Err(Errno::EXIST) => {}
            Err(errno) => return Err(errno),
        }
    }
    Err(Errno::EXIST)
}

fn write_all(file: &OwnedFd, mut bytes: &[u8]) -> rustix::io::Result<()> {
    while !bytes.is_empty() {
        match write(file, bytes) {
            Ok(0) => return Err(Errno::IO),
            Ok(len) => bytes = &bytes[len..],
            Err(Errno::INTR) => {}
            Err(errno) => return Err(errno),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
