//! The writer of one journal.
//!
//! A snapshot takes nothing out of the journal: it is the transcript itself, which people page through, and not only
//! what happened since. So the file only grows, except where a torn tail is cut off it.

use std::io;
use std::path::{Path, PathBuf};

use stud_sdk::session_store::{Durability, JournalBatch};
use stud_sdk::{Error, Result};

use crate::anchor::Anchor;
use crate::checksum::Key;
use crate::disk::{Access, Disk, DiskFile, read_range, write_all};
use crate::failure::{self, At as _, Reason, drift, unavailable};
use crate::folder::Folder;
use crate::line;
use crate::tail::{self, Tail, Unfit};

/// How much memory is kept from one batch for the next.
const KEPT_BYTES: usize = 1024 * 1024;

/// How much of a torn tail is copied at once.
const COPY_BYTES: u64 = 1024 * 1024;

/// A journal that is open for writing. Its owner has the session's lock.
pub(crate) struct Journal {
    file: Box<dyn DiskFile>,
    path: PathBuf,
    key: Key,
    /// Where the last acknowledged batch ends, and the next one begins.
    end: u64,
    /// Everything before this offset is on the disk.
    synced: u64,
    /// How much of the end may not be.
    unsynced_bytes: u64,
    last_seq: Option<u64>,
    /// The batch under way; kept for its memory.
    lines: Vec<u8>,
}

/// What was cut off a journal when it was opened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Cut {
    /// How many bytes.
    pub(crate) bytes: u64,
    /// How many whole records were among them, of batches that were not.
    pub(crate) records: u64,
    /// The last record that is left.
    pub(crate) last_seq: Option<u64>,
    /// Where the bytes are now.
    pub(crate) kept_in: PathBuf,
    /// Whether the snapshot covers some of them: then they were on the disk, and no crash took them.
    pub(crate) is_covered: bool,
}

/// How a batch failed.
#[derive(Debug)]
pub(crate) enum Failed {
    /// Nothing has changed.
    Refused(Error),
    /// The state of the disk is unknown, so nothing more may be written.
    InDoubt(Error),
}

impl Journal {
    /// Opens the journal of a session, and makes it if there is none. Afterwards all of it is on the disk.
    ///
    /// What had to be cut off is told even if something else fails then. `covered` is how much of the journal the
    /// snapshot covers; it is asked for only if something has to be cut off.
    pub(crate) fn open(
        disk: &dyn Disk,
        folder: &Folder,
        covered: impl FnOnce() -> u64,
        told: &mut Option<Cut>,
    ) -> Result<Self> {
        let path = folder.journal();
        let key = folder.key();
        let mut file = disk.open(&path, Access::Update).at("open", &path)?;
        let tail = tail::judge(&*file, disk.unsynced_bytes(), key)
            .map_err(|unfit| unfit_at(unfit, &path))?;
        if tail.torn_bytes > 0 {
            let is_covered = tail.end < covered();
            let cut = cut(disk, folder, &mut *file, &tail)?;
            *told = Some(Cut { is_covered, ..cut });
        }
        make_sure(&mut *file, &tail).at("sync", &path)?;
        disk.sync_dir(folder.path()).at("sync", folder.path())?;
        Ok(Self {
            file,
            path,
            key,
            end: tail.end,
            synced: tail.end,
            unsynced_bytes: disk.unsynced_bytes(),
            last_seq: tail.last_seq,
            lines: Vec::new(),
        })
    }

    /// Where the last acknowledged batch ends.
    pub(crate) fn end(&self) -> u64 {
        self.end
    }

    /// Where it ends, for a snapshot. All of it is on the disk then.
    pub(crate) fn anchor(&mut self) -> Result<Anchor, Failed> {
        self.sync()?;
        Anchor::of(&*self.file, self.end, self.last_seq, self.key)
            .at("read", &self.path)
            .map_err(Failed::Refused)
    }

    /// Adds a batch, all or nothing.
    pub(crate) fn append(&mut self, batch: &JournalBatch) -> Result<(), Failed> {
        self.check_order(batch).map_err(Failed::Refused)?;
        self.encode(batch).map_err(Failed::Refused)?;
        if self.lines.len() as u64 > self.unsynced_bytes && self.unsynced() > 0 {
            // What may get lost is looked for in the last part of the file, where this batch alone has no room.
            self.sync()?;
            self.encode(batch).map_err(Failed::Refused)?;
        }
        if let Err(error) = write_all(&mut *self.file, self.end, &self.lines) {
            return Err(self.take_back(&error));
        }
        let before = (self.end, self.last_seq);
        self.end += self.lines.len() as u64;
        self.last_seq = batch
            .records
            .last()
            .map(|record| record.seq)
            .or(self.last_seq);
        if batch.durability == Durability::Synced || self.unsynced() > self.unsynced_bytes {
            let synced = self.sync();
            if synced.is_err() {
                // The records were not acknowledged, so they had better not be there when the journal is opened again.
                (self.end, self.last_seq) = before;
                let _ = self.file.truncate(self.end);
            }
            synced?;
        }
        Ok(())
    }

    /// Returns once every record survives the loss of power.
    pub(crate) fn sync(&mut self) -> Result<(), Failed> {
        if self.unsynced() == 0 {
            return Ok(());
        }
        // After a failed sync the system may take the bytes for written although they are not, so that a second try
        // would succeed and mean nothing.
        self.file
            .sync()
            .at("sync", &self.path)
            .map_err(Failed::InDoubt)?;
        self.synced = self.end;
        Ok(())
    }

    fn unsynced(&self) -> u64 {
        self.end - self.synced
    }

    fn check_order(&self, batch: &JournalBatch) -> Result<()> {
        let mut last = self.last_seq;
        for record in &batch.records {
            if let Some(last) = last.filter(|last| *last >= record.seq) {
                let message = format!(
                    "record {} does not come after record {last}, the last one",
                    record.seq
                );
                return Err(unavailable(Reason::OutOfOrder, message)
                    .with("seq", record.seq)
                    .with("lastSeq", last));
            }
            last = Some(record.seq);
        }
        Ok(())
    }

    fn encode(&mut self, batch: &JournalBatch) -> Result<()> {
        let follows_synced = self.unsynced() == 0;
        let count = batch.records.len();
        self.lines.clear();
        self.lines.shrink_to(KEPT_BYTES);
        for (index, record) in batch.records.iter().enumerate() {
            line::push(
                &mut self.lines,
                record.seq,
                (index + 1, count),
                follows_synced,
                self.key,
                &record.record,
            )
            .map_err(|error| {
                unavailable(
                    Reason::Io,
                    format!("record {} cannot be JSON: {error}", record.seq),
                )
            })?;
        }
        Ok(())
    }

    /// Cuts off what a failed write left behind, so that nothing is ever added to half a record.
    fn take_back(&mut self, error: &io::Error) -> Failed {
        let failed = failure::disk("write", &self.path, error);
        match self.file.truncate(self.end).and_then(|()| self.file.sync()) {
            Ok(()) => {
                self.synced = self.end;
                Failed::Refused(failed)
            }
            Err(_) => Failed::InDoubt(failed),
        }
    }
}

/// Whether a session has begun: whether its journal has a record, or anything that would have to be looked into.
pub(crate) fn is_begun(disk: &dyn Disk, folder: &Folder) -> bool {
    let Ok(file) = disk.open(&folder.journal(), Access::Read) else {
        // What cannot be opened although it is there is named when the session is read.
        return disk.exists(&folder.journal()).unwrap_or(false);
    };
    match tail::judge(&*file, disk.unsynced_bytes(), folder.key()) {
        Ok(tail) => tail.last_seq.is_some(),
        Err(_) => true,
    }
}

/// Puts what lies behind the end of a journal into a file of its own, and then cuts it off.
fn cut(disk: &dyn Disk, folder: &Folder, file: &mut dyn DiskFile, tail: &Tail) -> Result<Cut> {
    let mut number = 1;
    while disk
        .exists(&folder.torn(number))
        .at("look for", &folder.torn(number))?
    {
        number += 1;
    }
    let kept_in = folder.torn(number);
    let copied = copy(disk, file, tail, &kept_in);
    if copied.is_err() {
        let _ = disk.remove(&kept_in);
    }
    copied.at("write", &kept_in)?;
    disk.sync_dir(folder.path()).at("sync", folder.path())?;
    file.truncate(tail.end).at("shorten", &folder.journal())?;
    Ok(Cut {
        bytes: tail.torn_bytes,
        records: tail.torn_records,
        last_seq: tail.last_seq,
        kept_in,
        is_covered: false,
    })
}

fn copy(disk: &dyn Disk, from: &dyn DiskFile, tail: &Tail, to: &Path) -> io::Result<()> {
    let mut file = disk.open(to, Access::New)?;
    let mut copied = 0;
    while copied < tail.torn_bytes {
        let size = COPY_BYTES.min(tail.torn_bytes - copied);
        let piece = read_range(from, tail.end + copied, tail.end + copied + size)?;
        if piece.is_empty() {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        write_all(&mut *file, copied, &piece)?;
        copied += piece.len() as u64;
    }
    file.sync()
}

/// Makes sure that all of a journal is on the disk.
///
/// The last writer may have ended because a sync failed. Then the system holds bytes that are not on the disk and
/// that it takes for written, so they are written once more: there is no other way to get them there.
fn make_sure(file: &mut dyn DiskFile, tail: &Tail) -> io::Result<()> {
    if tail.synced < tail.end {
        let doubtful = read_range(file, tail.synced, tail.end)?;
        write_all(file, tail.synced, &doubtful)?;
    }
    if tail.end > 0 || tail.torn_bytes > 0 {
        file.sync()?;
    }
    Ok(())
}

/// Why a journal cannot be read, as an error of the store.
pub(crate) fn unfit_at(unfit: Unfit, path: &Path) -> Error {
    match unfit {
        Unfit::Io(error) => failure::disk("read", path, &error),
        Unfit::Damaged(offset) => {
            let message = format!(
                "{} is damaged at byte {offset}: the line there is not the one that was written for this session",
                path.display()
            );
            drift(path, message).with("offset", offset)
        }
    }
}
