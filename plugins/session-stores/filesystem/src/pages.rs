//! Pages of a journal, found without reading what comes before them.
//!
//! Numbers only rise and lines can be found from anywhere, so the start of a page is found by halving the file. What
//! was seen on the way is kept in a sparse [`Index`], and the end of the last page beside it, so that reading on from
//! there needs no search at all.

mod index;

use std::io;

use stud_sdk::session_store::{JournalPage, JournalRecord, Page};

use crate::checksum::Key;
use crate::disk::DiskFile;
use crate::line::Line;
use crate::lines::Lines;
use crate::tail::{self, Unfit};
use index::Index;

/// A page ends with the record that fills this; contracts allow fewer records than were asked for.
const PAGE_BYTES: usize = 1024 * 1024;

/// Searching stops when the start of a page is at most this far away.
const NEAR_BYTES: u64 = 64 * 1024;

/// What is remembered of a journal between two pages.
#[derive(Debug)]
pub(crate) struct Pages {
    key: Key,
    index: Index,
    /// The last record of the last page, and where the record behind it begins.
    reached: Option<(u64, u64)>,
    /// The length the file had when it was last looked at and had no torn tail. What is whole only grows.
    whole: Option<u64>,
}

impl Pages {
    /// Nothing is known yet of the journal of the session with this key.
    pub(crate) fn new(key: Key) -> Self {
        Self {
            key,
            index: Index::default(),
            reached: None,
            whole: None,
        }
    }

    /// Reads a page of a journal. `end` is where its writer says that it ends, if that is known.
    pub(crate) fn read(
        &mut self,
        file: &dyn DiskFile,
        end: Option<u64>,
        unsynced_bytes: u64,
        page: Page,
    ) -> Result<JournalPage, Unfit> {
        let mut attempt = || {
            let end = match end {
                Some(end) => end,
                None => self.end(file, unsynced_bytes)?,
            };
            let done = self.collect(file, end, page);
            if let Err(Unfit::Damaged(_)) = done {
                *self = Self::new(self.key);
            }
            done
        };
        match attempt() {
            // What is remembered may be of another file than the one that is there now, or the writer may have cut a
            // torn tail while it was looked at. Damage is still there the second time.
            Err(Unfit::Damaged(_)) => attempt(),
            done => done,
        }
    }

    /// Reads the records behind `page.after_seq` that there is room for.
    fn collect(&mut self, file: &dyn DiskFile, end: u64, page: Page) -> Result<JournalPage, Unfit> {
        let limit = page.limit.map_or(usize::MAX, |limit| {
            usize::try_from(limit).unwrap_or(usize::MAX)
        });
        let mut lines = Lines::new(file, self.start(file, end, page.after_seq)?, end);
        let mut collected = JournalPage::default();
        let mut bytes = 0;
        let mut before = None;
        while let Some((offset, text)) = lines.next()? {
            let damaged = || Unfit::Damaged(offset);
            let line = Line::parse(text, self.key).ok_or_else(damaged)?;
            if before
                .replace(line.seq)
                .is_some_and(|before| before >= line.seq)
            {
                return Err(damaged());
            }
            self.index.note(line.seq, offset);
            if page.after_seq.is_some_and(|after| line.seq <= after) {
                continue;
            }
            if collected.records.len() >= limit || bytes >= PAGE_BYTES {
                let last = collected.records.last().map(|record| record.seq);
                // A page without room for any record leads to itself.
                let reached = last
                    .or(page.after_seq)
                    .unwrap_or(line.seq.saturating_sub(1));
                self.reached = Some((reached, offset));
                collected.next_after_seq = Some(reached);
                break;
            }
            let record = serde_json::from_slice(line.json).map_err(|_| damaged())?;
            let seq = line.seq;
            collected.records.push(JournalRecord { seq, record });
            bytes += text.len();
        }
        Ok(collected)
    }

    /// The end of the journal while this process does not write it.
    fn end(&mut self, file: &dyn DiskFile, unsynced_bytes: u64) -> Result<u64, Unfit> {
        let len = file.len()?;
        if self.whole == Some(len) {
            return Ok(len);
        }
        let end = tail::judge(file, unsynced_bytes, self.key)?.end;
        self.whole = (end == len).then_some(len);
        Ok(end)
    }

    /// Where a line begins that has no wanted one before it, and the first wanted one not far behind it.
    fn start(&mut self, file: &dyn DiskFile, end: u64, after: Option<u64>) -> io::Result<u64> {
        let Some(after) = after else {
            return Ok(0);
        };
        if let Some((_, offset)) = self
            .reached
            .filter(|(seq, offset)| *seq == after && *offset <= end)
        {
            return Ok(offset);
        }
        let (mut low, mut high) = self.index.around(after, end);
        while high.saturating_sub(low) > NEAR_BYTES {
            let middle = low + (high - low) / 2;
            match first_line(file, middle, high, self.key)? {
                Some((seq, offset)) => {
                    self.index.note(seq, offset);
                    if seq <= after {
                        low = offset;
                    } else {
                        high = middle;
                    }
                }
                None => high = middle,
            }
        }
        Ok(low)
    }
}

/// The first whole line that begins between two offsets.
fn first_line(file: &dyn DiskFile, from: u64, to: u64, key: Key) -> io::Result<Option<(u64, u64)>> {
    let mut lines = Lines::behind(file, from, to)?;
    while let Some((offset, text)) = lines.next()? {
        // A broken one is for the page that meets it to report.
        if let Some(line) = Line::parse(text, key) {
            return Ok(Some((line.seq, offset)));
        }
    }
    Ok(None)
}
