//! How far the journal had come when a snapshot was written.
//!
//! A snapshot covers records that are in the journal. It remembers where the journal ended, and the checksum of the bytes
//! before that place, so that reading the snapshot tells whether those records are still there without reading them: a
//! journal that was deleted, emptied, cut, exchanged, or that lost or gained a byte anywhere before is not the same at
//! that place.

use std::io;

use serde::{Deserialize, Serialize};

use crate::checksum::Key;
use crate::disk::{DiskFile, read_range};

/// How many bytes before the end are covered by the checksum.
const COVERED_BYTES: u64 = 4096;

/// Where a journal ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Anchor {
    /// Behind its last record.
    pub(crate) end: u64,
    /// Its last record.
    pub(crate) last_seq: Option<u64>,
    /// The checksum of the last bytes before the end.
    checksum: String,
}

impl Anchor {
    /// The anchor of a journal that ends there. Everything before has to be on the disk already.
    pub(crate) fn of(
        file: &dyn DiskFile,
        end: u64,
        last_seq: Option<u64>,
        key: Key,
    ) -> io::Result<Self> {
        Ok(Self {
            end,
            last_seq,
            checksum: sum(file, end, key)?,
        })
    }

    /// Whether a journal has what it had then.
    pub(crate) fn is_held(&self, file: &dyn DiskFile, key: Key) -> io::Result<bool> {
        Ok(file.len()? >= self.end && sum(file, self.end, key)? == self.checksum)
    }
}

fn sum(file: &dyn DiskFile, end: u64, key: Key) -> io::Result<String> {
    let bytes = read_range(file, end.saturating_sub(COVERED_BYTES), end)?;
    Ok(format!("{:016x}", key.checksum(&bytes)))
}
