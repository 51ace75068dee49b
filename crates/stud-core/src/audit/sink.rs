//! Bytes of the file: appended whole or not at all, and read without moving the writer's position.

use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Read, Write};
use std::os::unix::fs::FileExt as _;

use super::reason::LONGEST;

/// Something that can be added to and cut.
pub(super) trait Medium: Write {
    fn cut(&mut self, length: u64) -> io::Result<()>;
}

impl Medium for &File {
    fn cut(&mut self, length: u64) -> io::Result<()> {
        self.set_len(length)
    }
}

/// Why nothing was added.
#[derive(Debug, thiserror::Error)]
#[error("{why}")]
pub(super) struct Failure {
    why: String,
    /// Whether part of a record is left at the end, so that nothing can follow.
    pub(super) is_final: bool,
}

/// Adds `bytes` behind `end` in one write. A write that does not take all of them is taken back.
pub(super) fn put(medium: &mut impl Medium, end: u64, bytes: &[u8]) -> Result<(), Failure> {
    let why = loop {
        match medium.write(bytes) {
            Ok(taken) if taken == bytes.len() => return Ok(()),
            Ok(taken) => break format!("only {taken} of {} bytes were written", bytes.len()),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => break error.to_string(),
        }
    };
    match medium.cut(end) {
        Ok(()) => Err(Failure {
            why,
            is_final: false,
        }),
        Err(error) => Err(Failure {
            why: format!("{why}, and the piece could not be cut off: {error}"),
            is_final: true,
        }),
    }
}

/// A part of a file, read from its own place.
#[derive(Debug)]
pub(super) struct FilePart<'a> {
    file: &'a File,
    at: u64,
    end: u64,
}

impl<'a> FilePart<'a> {
    pub(super) fn new(file: &'a File, start: u64, end: u64) -> Self {
        Self {
            file,
            at: start,
            end,
        }
    }

    /// Its lines without their ends.
    pub(super) fn lines(self) -> impl Iterator<Item = io::Result<Vec<u8>>> {
        let mut reader = BufReader::with_capacity(64 * 1024, self);
        std::iter::from_fn(move || next_line(&mut reader).transpose())
            .map(|line| line.map(|(bytes, _)| bytes))
    }
}

impl Read for FilePart<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let left = usize::try_from(self.end.saturating_sub(self.at)).unwrap_or(usize::MAX);
        let room = buffer.len().min(left);
        let read = self.file.read_at(&mut buffer[..room], self.at)?;
        self.at += read as u64;
        Ok(read)
    }
}

/// The next line without its end, and whether it had one.
pub(super) fn next_line(reader: &mut BufReader<impl Read>) -> io::Result<Option<(Vec<u8>, bool)>> {
    let mut bytes = Vec::new();
    reader.take(LONGEST + 1).read_until(b'\n', &mut bytes)?;
    if bytes.is_empty() {
        return Ok(None);
    }
    let is_whole = bytes.pop_if(|last| *last == b'\n').is_some();
    Ok(Some((bytes, is_whole)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Takes so many bytes at each write, or fails.
    struct Fake {
        bytes: Vec<u8>,
        takes: Vec<io::Result<usize>>,
        can_cut: bool,
    }

    impl Write for Fake {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let taken = self.takes.remove(0)?.min(bytes.len());
            self.bytes.extend(&bytes[..taken]);
            Ok(taken)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    impl Medium for Fake {
        fn cut(&mut self, length: u64) -> io::Result<()> {
            if !self.can_cut {
                return Err(io::ErrorKind::PermissionDenied.into());
            }
            self.bytes.truncate(usize::try_from(length).unwrap());
            Ok(())
        }
    }

    fn fake(takes: Vec<io::Result<usize>>, can_cut: bool) -> Fake {
        Fake {
            bytes: b"one\n".to_vec(),
            takes,
            can_cut,
        }
    }

    #[test]
    fn an_interrupted_write_is_tried_again() {
        let mut medium = fake(vec![Err(io::ErrorKind::Interrupted.into()), Ok(9)], false);
        put(&mut medium, 4, b"two\n").unwrap();
        assert_eq!(medium.bytes, b"one\ntwo\n");
    }

    #[test]
    fn a_piece_is_taken_back() {
        for failure in [Ok(0), Ok(3), Err(io::ErrorKind::StorageFull.into())] {
            let mut medium = fake(vec![failure], true);
            assert!(!put(&mut medium, 4, b"two\n").unwrap_err().is_final);
            assert_eq!(medium.bytes, b"one\n");
        }
    }

    #[test]
    fn a_piece_that_stays_ends_it() {
        let mut medium = fake(vec![Ok(3)], false);
        let failure = put(&mut medium, 4, b"two\n").unwrap_err();
        assert!(failure.is_final, "{failure}");
        assert!(failure.to_string().contains("only 3 of 4 bytes"));
    }
}
