//! The file itself: opened when needed, and again after anything went wrong.

use std::fs::{self, DirBuilder, File, TryLockError};
use std::io::{self, ErrorKind, Read as _, Seek as _, SeekFrom, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use stud_sdk::{Class, Error, Result};

use crate::rotation::Rotation;

/// A file that lines are added to.
#[derive(Debug)]
pub(crate) struct LogFile {
    path: PathBuf,
    rotation: Option<Rotation>,
    /// None before the first line, and after any failure: opening again is the way out of all of them.
    open: Option<Open>,
}

impl LogFile {
    /// A file that is not opened yet.
    pub(crate) fn new(path: PathBuf, rotation: Option<Rotation>) -> Self {
        Self {
            path,
            rotation,
            open: None,
        }
    }

    /// Adds one line, which ends with a line feed.
    pub(crate) fn append(&mut self, line: &str) -> Result<()> {
        let (mut open, size) = self.reach()?;
        let mut rotated = Ok(());
        if let Some(rotation) = self.rotation
            && rotation.is_due(size, line.len())
        {
            rotated = self.rotate(rotation, open);
            // The line matters more than the limit, so it is written even if the file could not be set aside.
            (open, _) = self.open_anew()?;
        }
        open.write(line)
            .map_err(|error| self.unavailable("be written to", &error))?;
        self.open = Some(open);
        rotated
    }

    /// Brings what was written to the disk, and closes the file.
    pub(crate) fn close(&mut self) -> Result<()> {
        match self.open.take() {
            Some(open) => open
                .file
                .sync_all()
                .map_err(|error| self.unavailable("be brought to the disk", &error)),
            None => Ok(()),
        }
    }

    /// The file and its size. A file that is no longer at its path is left behind: lines in it would be lost.
    fn reach(&mut self) -> Result<(Open, u64)> {
        if let Some(open) = self.open.take()
            && let Some(size) = open.size_at(&self.path)
        {
            return Ok((open, size));
        }
        self.open_anew()
    }

    fn open_anew(&self) -> Result<(Open, u64)> {
        Open::at(&self.path).map_err(|error| self.unavailable("be opened", &error))
    }

    /// Sets the full file aside, unless another logger on the same path does so or has done so.
    fn rotate(&self, rotation: Rotation, full: Open) -> Result<()> {
        // The lock goes with the file, and ends when it is closed. A file system without locks does without.
        if matches!(full.file.try_lock(), Err(TryLockError::WouldBlock)) {
            return Ok(());
        }
        if full.size_at(&self.path).is_none() {
            return Ok(());
        }
        full.file
            .sync_all()
            .and_then(|()| rotation.rotate(&self.path, SystemTime::now()))
            .map_err(|error| self.unavailable("be rotated", &error))
    }

    fn unavailable(&self, what: &str, error: &io::Error) -> Error {
        let path = self.path.display().to_string();
        let message = format!("the log `{path}` cannot {what}: {error}");
        Error::new(Class::Session, "StoreUnavailable", message).with("path", path)
    }
}

/// An open file.
#[derive(Debug)]
struct Open {
    file: File,
    /// Device and number, which stay with the file when it is renamed.
    identity: (u64, u64),
    /// Whether the last line has no end: the disk was full, or the writer was killed.
    is_torn: bool,
}

impl Open {
    /// Opens or makes the file, with the folders it needs, for its owner alone.
    fn at(path: &Path) -> io::Result<(Self, u64)> {
        let mut file = match open(path) {
            Err(error) if error.kind() == ErrorKind::NotFound => {
                let folders = path.parent().unwrap_or(Path::new(""));
                DirBuilder::new()
                    .recursive(true)
                    .mode(0o700)
                    .create(folders)?;
                open(path)?
            }
            other => other?,
        };
        let metadata = file.metadata()?;
        if !metadata.is_file() {
            // A pipe without a reader would block the session.
            return Err(io::Error::other("it is not a regular file"));
        }
        let size = metadata.len();
        let opened = Self {
            is_torn: size > 0 && last_byte(&mut file)? != b'\n',
            identity: (metadata.dev(), metadata.ino()),
            file,
        };
        Ok((opened, size))
    }

    /// The size of the file, if it still is the one at this path.
    fn size_at(&self, path: &Path) -> Option<u64> {
        let metadata = fs::metadata(path).ok()?;
        let is_same = (metadata.dev(), metadata.ino()) == self.identity;
        is_same.then_some(metadata.len())
    }

    /// Writes the line in one piece, so that those of others do not get between.
    fn write(&mut self, line: &str) -> io::Result<()> {
        let repaired;
        let text = if self.is_torn {
            repaired = format!("\n{line}");
            &repaired
        } else {
            line
        };
        let written = loop {
            match self.file.write(text.as_bytes()) {
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                other => break other?,
            }
        };
        if written < text.len() {
            let message = format!("{written} of {} bytes were taken", text.len());
            return Err(io::Error::new(ErrorKind::WriteZero, message));
        }
        self.is_torn = false;
        Ok(())
    }
}

fn open(path: &Path) -> io::Result<File> {
    File::options()
        .read(true)
        .append(true)
        .create(true)
        .mode(0o600)
        .open(path)
}

fn last_byte(file: &mut File) -> io::Result<u8> {
    let mut byte = [0];
    file.seek(SeekFrom::End(-1))?;
    file.read_exact(&mut byte)?;
    Ok(byte[0])
}

#[cfg(test)]
mod tests {
    use super::*;
    use tempfile::TempDir;

    const AT_ONCE: Rotation = Rotation {
        at_bytes: 1,
        keep: 5,
    };

    fn names(folder: &TempDir) -> Vec<String> {
        let entries = fs::read_dir(folder.path()).unwrap();
        let mut names: Vec<_> = entries
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn a_file_that_another_logger_has_set_aside_is_not_set_aside_twice() {
        let folder = TempDir::new().unwrap();
        let path = folder.path().join("log");
        let log = LogFile::new(path.clone(), Some(AT_ONCE));
        let (full, _) = Open::at(&path).unwrap();
        fs::rename(&path, folder.path().join("log.aside")).unwrap();
        fs::write(&path, "new").unwrap();
        log.rotate(AT_ONCE, full).unwrap();
        assert_eq!(names(&folder), ["log", "log.aside"]);
    }

    #[test]
    fn a_file_that_another_logger_is_setting_aside_takes_the_line() {
        let folder = TempDir::new().unwrap();
        let path = folder.path().join("log");
        let mut log = LogFile::new(path.clone(), Some(AT_ONCE));
        log.append("1\n").unwrap();
        let other = File::open(&path).unwrap();
        other.lock().unwrap();
        log.append("2\n").unwrap();
        assert_eq!(names(&folder), ["log"]);
        drop(other);
        log.append("3\n").unwrap();
        assert_eq!(names(&folder).len(), 2);
        assert_eq!(fs::read_to_string(&path).unwrap(), "3\n");
    }
}
