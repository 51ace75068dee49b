//! Opening the file of a trail, and tidying up behind a crash.

use std::fs::{DirBuilder, File, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use stud_contract_meta::Result;
use stud_diagnostics::{Diagnostic, codes};

use super::sink::FilePart;
use super::tail::Tail;
use super::unavailable;
use super::writer_lock::{Untaken, WriterLock};

/// The piece of a record that a crash left behind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TornTail {
    /// Its length.
    pub bytes: u64,
    /// The number the record would have had.
    pub seq: u64,
    /// Where it is now.
    pub moved_to: PathBuf,
}

impl TornTail {
    /// A warning for the caller that opened the trail.
    pub fn warning(&self) -> Diagnostic {
        let message = format!(
            "the last record of the audit trail, number {}, was not written to its end",
            self.seq
        );
        Diagnostic::warning(&codes::AUDIT_TRAIL_TORN, message)
            .file(&self.moved_to)
            .with("bytes", self.bytes)
            .with("seq", self.seq)
            .note("its piece was moved aside, and the records before it are whole")
    }
}

/// Makes the folder, with no permissions for others, and takes the lock of the single writer.
pub(super) fn lock_folder(folder: &Path, path: &Path) -> Result<WriterLock> {
    let failed = |error: io::Error| unavailable(path, &error.to_string());
    let mut builder = DirBuilder::new();
    builder
        .recursive(true)
        .mode(0o700)
        .create(folder)
        .map_err(failed)?;
    std::fs::set_permissions(folder, Permissions::from_mode(0o700)).map_err(failed)?;
    WriterLock::take(folder).map_err(|untaken| match untaken {
        Untaken::Io(error) => failed(error),
        Untaken::Held(pid) => {
            let held = unavailable(path, "another process is writing it").with("inUse", true);
            match pid {
                Some(pid) => held.with("pid", pid),
                None => held,
            }
        }
    })
}

/// Opens the file for its single writer, with no permissions for others.
pub(super) fn open_file(path: &Path) -> Result<File> {
    let failed = |error: io::Error| unavailable(path, &error.to_string());
    if std::fs::symlink_metadata(path).is_ok_and(|metadata| !metadata.is_file()) {
        return Err(unavailable(path, "it is not a file"));
    }
    let file = File::options()
        .read(true)
        .append(true)
        .create(true)
        .mode(0o600)
        .open(path)
        .map_err(failed)?;
    file.set_permissions(Permissions::from_mode(0o600))
        .map_err(failed)?;
    Ok(file)
}

/// Copies what is behind the last whole record to a file of its own, and cuts it off.
pub(super) fn move_aside(
    file: &File,
    folder: &Path,
    tail: &Tail,
    length: u64,
) -> io::Result<TornTail> {
    let seq = tail.last.as_ref().map_or(0, |last| last.seq) + 1;
    let (moved_to, mut piece) = (0..)
        .map(|attempt| folder.join(format!("torn-{seq}-{attempt}.part")))
        .find_map(|name| {
            let made = File::options()
                .write(true)
                .create_new(true)
                .mode(0o600)
                .open(&name);
            match made {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => None,
                made => Some(made.map(|piece| (name, piece))),
            }
        })
        .unwrap_or_else(|| Err(io::ErrorKind::AlreadyExists.into()))?;
    io::copy(&mut FilePart::new(file, tail.whole, length), &mut piece)?;
    piece.sync_all()?;
    file.set_len(tail.whole)?;
    file.sync_all()?;
    Ok(TornTail {
        bytes: length - tail.whole,
        seq,
        moved_to,
    })
}
