//! Reading a journal line by line, a piece of the file at a time.

use std::io;

use crate::disk::DiskFile;

/// How much is read at once.
const PIECE_BYTES: usize = 64 * 1024;

/// The lines between two offsets of a file.
pub(crate) struct Lines<'a> {
    file: &'a dyn DiskFile,
    /// Where the next piece begins.
    next: u64,
    end: u64,
    buffer: Vec<u8>,
    /// How much of the buffer has been given out.
    used: usize,
}

impl<'a> Lines<'a> {
    /// The lines from `start`, where one begins, to `end`.
    pub(crate) fn new(file: &'a dyn DiskFile, start: u64, end: u64) -> Self {
        Self {
            file,
            next: start,
            end,
            buffer: Vec::new(),
            used: 0,
        }
    }

    /// The lines that begin at `offset` or behind it.
    pub(crate) fn behind(file: &'a dyn DiskFile, offset: u64, end: u64) -> io::Result<Self> {
        let Some(before) = offset.checked_sub(1) else {
            return Ok(Self::new(file, 0, end));
        };
        // The rest of a line, or the newline right before `offset`.
        let mut lines = Self::new(file, before, end);
        lines.next()?;
        Ok(lines)
    }

    /// The next line with its newline, and where it begins. The last one may lack its newline.
    pub(crate) fn next(&mut self) -> io::Result<Option<(u64, &[u8])>> {
        let mut searched = self.used;
        let size = loop {
            let fresh = &self.buffer[searched..];
            if let Some(newline) = fresh.iter().position(|byte| *byte == b'\n') {
                break searched + newline + 1 - self.used;
            }
            searched = self.buffer.len() - self.used;
            if !self.fill()? {
                break self.buffer.len() - self.used;
            }
        };
        if size == 0 {
            return Ok(None);
        }
        let start = self.used;
        let offset = self.next - (self.buffer.len() - start) as u64;
        self.used += size;
        Ok(Some((offset, &self.buffer[start..start + size])))
    }

    /// Reads another piece behind what has not been given out; false at the end.
    fn fill(&mut self) -> io::Result<bool> {
        self.buffer.drain(..self.used);
        self.used = 0;
        let left = usize::try_from(self.end - self.next).unwrap_or(usize::MAX);
        let kept = self.buffer.len();
        self.buffer.resize(kept + left.min(PIECE_BYTES), 0);
        let count = self.read(kept);
        self.buffer.truncate(kept + *count.as_ref().unwrap_or(&0));
        let count = count?;
        self.next += count as u64;
        Ok(count > 0)
    }

    fn read(&mut self, kept: usize) -> io::Result<usize> {
        loop {
            match self.file.read_at(self.next, &mut self.buffer[kept..]) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                done => return done,
            }
        }
    }
}
