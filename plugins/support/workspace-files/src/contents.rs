//! Reading a file.

use std::fs::File;
use std::io::{ErrorKind, Read};
use std::os::fd::OwnedFd;

use rustix::fs::{FileType, Stat, fstat};
use rustix::io::Errno;
use stud_sdk::{Cx, Error, ErrorExt, Result};

use crate::failure::{Trouble, invalid, malformed, os};
use crate::place::Place;
use crate::root::{Absent, Root};
use crate::text::{Check, NotText};
use crate::workspace::Workspace;

/// How much is read between two looks at whether the call is still wanted.
const PIECE: usize = 64 * 1024;

/// The most that is looked at to tell whether a file is text.
const MOST_CHECKED: u64 = 1024 * 1024 * 1024;

/// The most memory that is taken on the word of a file's size: a file may be large and empty.
const MOST_AT_ONCE: usize = 16 * 1024 * 1024;

/// A file that is open for reading. It is a plain file: no directory, pipe, socket or device.
#[derive(Debug)]
pub struct Contents {
    file: File,
    stat: Stat,
    path: String,
}

/// The beginning of a text file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Excerpt {
    /// As much of the text as was asked for.
    pub text: String,
    /// Whether the file continues.
    pub truncated: bool,
    /// How large the whole file is.
    pub size: u64,
}

impl Workspace {
    /// Opens a file to read it.
    ///
    /// Fails with `ToolTerminal/NotFound` for a file that is not there, with `ToolTerminal/Forbidden` for one that may
    /// not be read, and with `ToolTerminal/InputInvalid` for what is no plain file.
    pub fn open(&self, place: &Place) -> Result<Contents> {
        self.walk_to(place)
            .map_err(|trouble| trouble.about(place.given(), self.root()))
            .and_then(|file| Contents::of(file, place.given()))
    }

    fn walk_to(&self, place: &Place) -> Result<OwnedFd, Trouble> {
        let root = Root::open(self)?;
        root.locate(place.parts(), Absent::Refuse)?.open_file(&root)
    }
}

impl Contents {
    pub(crate) fn of(file: OwnedFd, path: &str) -> Result<Self> {
        let stat = fstat(&file).map_err(|errno| os(path, errno))?;
        let what = match FileType::from_raw_mode(stat.st_mode) {
            FileType::RegularFile => {
                return Ok(Self {
                    file: File::from(file),
                    stat,
                    path: path.to_owned(),
                });
            }
            FileType::Directory => "a directory",
            FileType::Fifo => "a pipe",
            FileType::Socket => "a socket",
            FileType::CharacterDevice | FileType::BlockDevice => "a device",
            FileType::Symlink | FileType::Unknown => "no plain file",
        };
        Err(invalid(
            path,
            format!("`{path}` is {what}; only plain files have contents"),
        ))
    }

    pub(crate) fn stat(&self) -> &Stat {
        &self.stat
    }

    /// How large the file was when it was opened.
    #[expect(clippy::cast_sign_loss, reason = "no file has less than nothing in it")]
    pub fn size(&self) -> u64 {
        self.stat.st_size as u64
    }

    /// The bytes, piece by piece.
    ///
    /// Reading fails once the call is cancelled; the reader checks the call then.
    pub fn into_reader(self, cx: &Cx) -> impl Read + use<> {
        Reader {
            file: self.file,
            cx: cx.clone(),
        }
    }

    pub(crate) fn into_file(self) -> File {
        self.file
    }

    /// The whole text, if it is at most `most` bytes.
    ///
    /// Fails with `ToolTerminal/InputInvalid` for a larger file and with `ToolTerminal/OutputMalformed` for one that is
    /// no text.
    pub fn whole(mut self, most: u64, cx: &Cx) -> Result<String> {
        let path = std::mem::take(&mut self.path);
        let too_large = |size| {
            let why = format!("`{path}` has {size} bytes, and at most {most} are taken");
            invalid(&path, why)
                .with("sizeBytes", size)
                .with("maxBytes", most)
        };
        if self.size() > most {
            return Err(too_large(self.size()));
        }
        let size = usize::try_from(self.size()).unwrap_or(MOST_AT_ONCE);
        let mut bytes = Vec::with_capacity(size.min(MOST_AT_ONCE));
        self.pieces(&path, cx, |piece| {
            bytes.extend_from_slice(piece);
            let size = bytes.len() as u64;
            if size > most {
                Err(too_large(size))
            } else {
                Ok(())
            }
        })?;
        String::from_utf8(bytes).map_err(|error| {
            let offset = error.utf8_error().valid_up_to() as u64;
            no_text(&path, NotText { offset })
        })
    }

    /// The beginning of the text, at most `most` bytes, after the whole file was found to be text.
    pub fn excerpt(mut self, most: usize, cx: &Cx) -> Result<Excerpt> {
        let path = std::mem::take(&mut self.path);
        if self.size() > MOST_CHECKED {
            return Err(unchecked(&path, self.size()));
        }
        let size = usize::try_from(self.size()).unwrap_or(most);
        let mut kept = Vec::with_capacity(size.min(most).min(MOST_AT_ONCE));
        let mut check = Check::default();
        let mut size = 0_u64;
        self.pieces(&path, cx, |piece| {
            size += piece.len() as u64;
            if size > MOST_CHECKED {
                return Err(unchecked(&path, size));
            }
            let room = most - kept.len();
            kept.extend_from_slice(&piece[..piece.len().min(room)]);
            check.feed(piece).map_err(|wrong| no_text(&path, wrong))
        })?;
        check.finish().map_err(|wrong| no_text(&path, wrong))?;
        let truncated = size > kept.len() as u64;
        // All of it is text, so only a character at the very end can be incomplete.
        let end = match std::str::from_utf8(&kept) {
            Ok(text) => text.len(),
            Err(error) => error.valid_up_to(),
        };
        kept.truncate(end);
        let text = String::from_utf8(kept).map_err(|error| {
            let offset = error.utf8_error().valid_up_to() as u64;
            no_text(&path, NotText { offset })
        })?;
        Ok(Excerpt {
            text,
            truncated,
            size,
        })
    }

    fn pieces(self, path: &str, cx: &Cx, mut take: impl FnMut(&[u8]) -> Result<()>) -> Result<()> {
        let mut file = self.file;
        let size = usize::try_from(self.stat.st_size).unwrap_or(PIECE);
        // A small file is read at once; the byte more finds out that it has ended.
        let mut piece = vec![0; size.saturating_add(1).clamp(512, PIECE)];
        loop {
            if cx.is_cancelled() {
                return Err(Error::cancelled());
            }
            match file.read(&mut piece) {
                Ok(0) => return Ok(()),
                Ok(len) => take(&piece[..len])?,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => {
                    let errno = Errno::from_io_error(&error).unwrap_or(Errno::IO);
                    return Err(os(path, errno));
                }
            }
        }
    }
}

fn unchecked(path: &str, size: u64) -> Error {
    let why = format!(
        "`{path}` has {size} bytes; only files up to {MOST_CHECKED} bytes are read, others can be searched"
    );
    invalid(path, why).with("sizeBytes", size)
}

fn no_text(path: &str, wrong: NotText) -> Error {
    let why = format!(
        "`{path}` is not UTF-8 text: byte {} is invalid",
        wrong.offset
    );
    malformed(path, why).with("byteOffset", wrong.offset)
}

/// Stops reading when the call is cancelled.
struct Reader {
    file: File,
    cx: Cx,
}

impl Read for Reader {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        if self.cx.is_cancelled() {
            return Err(std::io::Error::other("cancelled"));
        }
        self.file.read(buffer)
    }
}

#[cfg(test)]
mod tests;
