//! Where a journal ends, told from its last part alone.
//!
//! A process can die in the middle of a write, and a machine can lose whatever was not synced: the end of the file, or
//! single blocks of it, which then read as zeros. So the end is where the last batch ends that is whole and has
//! nothing but whole batches before it; what lies behind it is a torn tail. Torn are only bytes that were never
//! acknowledged: a line that is broken although whole ones follow is damage, unless its bytes were lost before they were
//! ever synced. The writer syncs by itself before too many bytes are not, so the last part of the file is all there is
//! to look at, however long the journal is.

use std::io;

use crate::checksum::Key;
use crate::disk::{DiskFile, read_range};
use crate::line::Line;

/// The end of a journal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Tail {
    /// Behind the last record.
    pub(crate) end: u64,
    /// The last record.
    pub(crate) last_seq: Option<u64>,
    /// Everything before this offset is on the disk for sure.
    pub(crate) synced: u64,
    /// How many bytes lie behind the end.
    pub(crate) torn_bytes: u64,
    /// How many whole records are in them.
    pub(crate) torn_records: u64,
}

/// Why a journal cannot be read.
#[derive(Debug)]
pub(crate) enum Unfit {
    /// The disk failed.
    Io(io::Error),
    /// What was stored is broken at this offset.
    Damaged(u64),
}

impl From<io::Error> for Unfit {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

/// Finds the end of a journal.
///
/// The writer continues until `unsynced_bytes` are not synced, and a batch of up to as many may be on its way then; a
/// larger one is alone.
pub(crate) fn judge(file: &dyn DiskFile, unsynced_bytes: u64, key: Key) -> Result<Tail, Unfit> {
    let len = file.len()?;
    let mut size = 2 * unsynced_bytes;
    loop {
        let from = len.saturating_sub(size);
        let bytes = read_range(file, from, len)?;
        if let Some(tail) = (Window {
            from,
            bytes: &bytes,
            key,
        })
        .judge()?
        {
            return Ok(tail);
        }
        // It begins inside a batch that cannot be judged without its start.
        size = size.saturating_mul(2);
    }
}

/// The last part of a journal.
struct Window<'a> {
    from: u64,
    bytes: &'a [u8],
    key: Key,
}

/// What is known of the lines so far.
struct Progress<'a> {
    /// The line before.
    before: Option<Line<'a>>,
    /// Where the last whole batch ends, and with which record.
    whole: Option<(usize, Option<u64>)>,
    /// Where the batch begins that is under way, if that is in the window.
    batch: Option<usize>,
    /// Everything before is on the disk.
    synced: usize,
}

impl Window<'_> {
    /// The end of the journal, unless the window is too small to tell.
    fn judge(&self) -> Result<Option<Tail>, Unfit> {
        let Some(start) = self.first_line() else {
            return Ok(None);
        };
        let mut progress = Progress {
            before: None,
            // Nothing stands before the start of the file, and that is whole.
            whole: (self.from == 0).then_some((0, None)),
            batch: None,
            synced: start,
        };
        let mut at = start;
        for bytes in self.bytes[start..].split_inclusive(|byte| *byte == b'\n') {
            let Some(line) = Line::parse(bytes, self.key) else {
                self.may_be_torn(at, bytes)?;
                break;
            };
            let misfit = match &progress.before {
                Some(before) => !line.fits_behind(before),
                None => self.from == 0 && !line.is_first(),
            };
            if misfit {
                return Err(self.damaged(at));
            }
            progress.take(line, at, bytes.len());
            at += bytes.len();
        }
        Ok(progress
            .whole
            .map(|(end, last_seq)| self.tail(end, last_seq, progress.synced)))
    }

    /// Where the first line begins that is in the window from its start.
    fn first_line(&self) -> Option<usize> {
        if self.from == 0 {
            return Some(0);
        }
        let newline = self.bytes.iter().position(|byte| *byte == b'\n')?;
        Some(newline + 1)
    }

    /// Passes if the broken line at `at` and all behind it were never promised to survive.
    fn may_be_torn(&self, at: usize, broken: &[u8]) -> Result<(), Unfit> {
        let never_written = broken.contains(&0);
        let mut behind = self.lines(at + broken.len());
        // A batch that begins behind it, on top of bytes that were synced, shows that these were.
        let is_damage =
            behind.any(|line| !never_written || (line.is_first() && line.follows_synced));
        if is_damage {
            return Err(self.damaged(at));
        }
        Ok(())
    }

    /// The whole lines from an offset on, wherever they stand.
    fn lines(&self, from: usize) -> impl Iterator<Item = Line<'_>> {
        let rest = self.bytes.get(from..).unwrap_or_default();
        rest.split_inclusive(|byte| *byte == b'\n')
            .filter_map(|bytes| Line::parse(bytes, self.key))
    }

    fn tail(&self, end: usize, last_seq: Option<u64>, synced: usize) -> Tail {
        Tail {
            end: self.from + end as u64,
            last_seq,
            synced: self.from + synced.min(end) as u64,
            torn_bytes: (self.bytes.len() - end) as u64,
            torn_records: self.lines(end).count() as u64,
        }
    }

    fn damaged(&self, at: usize) -> Unfit {
        Unfit::Damaged(self.from + at as u64)
    }
}

impl<'a> Progress<'a> {
    fn take(&mut self, line: Line<'a>, at: usize, size: usize) {
        if line.is_first() {
            self.batch = Some(at);
        }
        // A batch is judged with all its lines or not at all.
        if let Some(batch) = self.batch.filter(|_| line.is_last()) {
            self.whole = Some((at + size, Some(line.seq)));
            if line.follows_synced {
                self.synced = batch;
            }
        }
        self.before = Some(line);
    }
}

#[cfg(test)]
mod tests;
