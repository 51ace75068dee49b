//! The end of a trail, which is all that is read to continue with it.

use std::fs::File;
use std::os::unix::fs::FileExt as _;

use stud_host_api::audit::AuditRecord;

use super::line::{self, GENESIS};
use super::reason::{LONGEST, Reason};

/// How much is read first; almost always enough for the last two records.
const FIRST_LOOK: u64 = 16 * 1024;

/// How much is read at most: two records and a piece of a third cannot be longer.
const LAST_LOOK: u64 = 3 * LONGEST + 4;

/// Where a trail ends.
#[derive(Debug)]
pub(super) struct Tail {
    /// The last whole record.
    pub(super) last: Option<LastRecord>,
    /// How many bytes are whole records; what follows is a piece of one.
    pub(super) whole: u64,
}

/// The record to continue from.
#[derive(Debug)]
pub(super) struct LastRecord {
    pub(super) seq: u64,
    pub(super) hash: String,
    pub(super) record: AuditRecord,
}

/// Finds the last whole record of a file of this length, and holds it against the one before it.
pub(super) fn read(file: &File, length: u64) -> Result<Tail, Reason> {
    let mut look = FIRST_LOOK;
    loop {
        let start = length.saturating_sub(look);
        let room = usize::try_from(length - start).unwrap_or(usize::MAX);
        let mut bytes = vec![0; room];
        file.read_exact_at(&mut bytes, start)
            .map_err(|error| Reason::Unreadable(error.to_string()))?;
        if let Some(tail) = in_bytes(&bytes, start)? {
            return Ok(tail);
        }
        if look == LAST_LOOK {
            return Err(Reason::TooLong);
        }
        look = LAST_LOOK.min(look * 8);
    }
}

/// The same in the bytes from `start` to the end of the file; nothing if they do not reach back far enough.
fn in_bytes(bytes: &[u8], start: u64) -> Result<Option<Tail>, Reason> {
    let reaches_start = start == 0;
    let Some(end) = bytes.iter().rposition(|byte| *byte == b'\n') else {
        let empty = Tail {
            last: None,
            whole: 0,
        };
        return Ok(reaches_start.then_some(empty));
    };
    let whole = start + end as u64 + 1;
    let mut lines = bytes[..end].rsplit(|byte| *byte == b'\n');
    let (Some(last), before) = (lines.next(), lines.next()) else {
        return Ok(None);
    };
    // The first piece is a whole line only if the file begins with it.
    let before_is_whole = reaches_start || lines.next().is_some();
    match before {
        None if !reaches_start => return Ok(None),
        Some(_) if !before_is_whole => return Ok(None),
        None | Some(_) => {}
    }
    let last = checked(last)?;
    match before.map(checked).transpose()? {
        None if last.seq != 1 => return Err(Reason::OutOfSequence { expected: 1 }),
        None if last.prev_hash != GENESIS => return Err(Reason::Unchained),
        Some(before) if last.seq != before.seq + 1 => {
            return Err(Reason::OutOfSequence {
                expected: before.seq + 1,
            });
        }
        Some(before) if last.prev_hash != before.hash => return Err(Reason::Unchained),
        None | Some(_) => {}
    }
    Ok(Some(Tail {
        last: Some(LastRecord {
            seq: last.seq,
            hash: last.hash,
            record: last.record,
        }),
        whole,
    }))
}

struct Checked {
    seq: u64,
    hash: String,
    prev_hash: String,
    record: AuditRecord,
}

fn checked(line: &[u8]) -> Result<Checked, Reason> {
    let held = line::read(line);
    match (
        held.reason,
        held.seq,
        held.hash,
        held.prev_hash,
        held.record,
    ) {
        (None, Some(seq), Some(hash), Some(prev_hash), Some(record)) => Ok(Checked {
            seq,
            hash,
            prev_hash,
            record,
        }),
        (reason, ..) => Err(reason.unwrap_or_else(|| Reason::NotARecord("it is empty".to_owned()))),
    }
}
