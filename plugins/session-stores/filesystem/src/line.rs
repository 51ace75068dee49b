//! One record as a line of the journal.
//!
//! ```text
//! 6c40df5f0b497347 12 1/3 +s {"kind":"note","text":"hi"}
//! └ checksum       │  │   │  └ the record, as compact JSON
//!                  │  │   └ `+`: all before this batch was on the disk when it was written; `-`: it was not;
//!                  │  │     `s`: the checksum covers the session too
//!                  │  └ the first of the three records that were added together
//!                  └ seq
//! ```
//!
//! The checksum covers the name of the session's folder and a zero byte, and everything behind it up to the newline. A
//! line without `s` was written by an older version, whose checksums do not cover the name; none follows a line that has
//! it. Compact JSON has neither a newline nor a zero byte in
//! it, so lines can be found from anywhere in the file, and zero bytes come only from blocks a file system never
//! wrote. The place in the batch makes a batch all or nothing: without its last line none of it counts. The sign tells
//! whether bytes further up were promised to survive the loss of power, and so whether losing them is damage.

use std::io::Write as _;

use serde_json::Value;

use crate::checksum::{Key, checksum};

const CHECKSUM_DIGITS: usize = 16;

/// A line that is what was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Line<'a> {
    /// The record's place in the session.
    pub(crate) seq: u64,
    /// Its place in the batch, from 1.
    pub(crate) place: u64,
    /// How many records the batch has.
    pub(crate) count: u64,
    /// Whether all before the batch was on the disk when it was written.
    pub(crate) follows_synced: bool,
    /// Whether its checksum covers the session.
    pub(crate) is_bound: bool,
    /// The record.
    pub(crate) json: &'a [u8],
}

impl<'a> Line<'a> {
    /// Reads a line with its newline, if it is whole and of the session with this key.
    pub(crate) fn parse(bytes: &'a [u8], key: Key) -> Option<Self> {
        let line = bytes.strip_suffix(b"\n")?;
        let (sum, covered) = line.split_at_checked(CHECKSUM_DIGITS)?;
        let covered = covered.strip_prefix(b" ")?;
        let sum = u64::from_str_radix(str::from_utf8(sum).ok()?, 16).ok()?;
        let mut fields = covered.splitn(4, |byte| *byte == b' ');
        let seq = number(fields.next()?)?;
        let batch = fields.next()?;
        let slash = batch.iter().position(|byte| *byte == b'/')?;
        let (follows_synced, is_bound) = match fields.next()? {
            b"+s" => (true, true),
            b"-s" => (false, true),
            b"+" => (true, false),
            b"-" => (false, false),
            _ => return None,
        };
        let due = if is_bound {
            key.checksum(covered)
        } else {
            checksum(covered)
        };
        if due != sum {
            return None;
        }
        Some(Self {
            seq,
            place: number(&batch[..slash])?,
            count: number(&batch[slash + 1..])?,
            follows_synced,
            is_bound,
            json: fields.next()?,
        })
    }

    /// Whether a batch begins with it.
    pub(crate) fn is_first(&self) -> bool {
        self.place == 1
    }

    /// Whether a batch ends with it.
    pub(crate) fn is_last(&self) -> bool {
        self.place == self.count
    }

    /// Whether it may stand right behind `before`.
    pub(crate) fn fits_behind(&self, before: &Line<'_>) -> bool {
        let goes_on = if before.is_last() {
            self.is_first()
        } else {
            self.place == before.place + 1 && self.count == before.count
        };
        goes_on && self.seq > before.seq && (self.is_bound || !before.is_bound)
    }
}

/// Adds one record of a batch to `lines`.
pub(crate) fn push(
    lines: &mut Vec<u8>,
    seq: u64,
    (place, count): (usize, usize),
    follows_synced: bool,
    key: Key,
    record: &Value,
) -> serde_json::Result<()> {
    let start = lines.len();
    let covered = start + CHECKSUM_DIGITS + 1;
    let sign = if follows_synced { '+' } else { '-' };
    // Writing to memory fails only in the record itself.
    write!(
        lines,
        "{:0CHECKSUM_DIGITS$x} {seq} {place}/{count} {sign}s ",
        0
    )
    .map_err(serde_json::Error::io)?;
    serde_json::to_writer(&mut *lines, record)?;
    let sum = format!("{:0CHECKSUM_DIGITS$x}", key.checksum(&lines[covered..]));
    lines[start..start + CHECKSUM_DIGITS].copy_from_slice(sum.as_bytes());
    lines.push(b'\n');
    Ok(())
}

fn number(digits: &[u8]) -> Option<u64> {
    str::from_utf8(digits).ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use stud_sdk::json;

    fn key() -> Key {
        Key::of(b"a-session")
    }

    fn line(seq: u64, record: &Value) -> Vec<u8> {
        let mut lines = Vec::new();
        push(&mut lines, seq, (2, 3), true, key(), record).unwrap();
        lines
    }

    #[test]
    fn a_record_is_one_line_of_text() {
        let record = json!({"text": "two\nlines, a \u{0} and a \"quote\""});
        let written = line(12, &record);
        assert_eq!(written.split_inclusive(|byte| *byte == b'\n').count(), 1);
        assert!(!written.contains(&0));
        assert_eq!(
            str::from_utf8(&written).unwrap().split_once(' ').unwrap().1,
            "12 2/3 +s {\"text\":\"two\\nlines, a \\u0000 and a \\\"quote\\\"\"}\n"
        );
        let read = Line::parse(&written, key()).unwrap();
        assert_eq!(
            (read.seq, read.place, read.count, read.follows_synced),
            (12, 2, 3, true)
        );
        assert_eq!(serde_json::from_slice::<Value>(read.json).unwrap(), record);
    }

    #[test]
    fn a_line_is_of_one_session() {
        let written = line(12, &json!("hi"));
        assert!(Line::parse(&written, key()).is_some());
        assert_eq!(Line::parse(&written, Key::of(b"another")), None);
    }

    #[test]
    fn the_lines_of_older_versions_are_read_in_any_session() {
        // Written before checksums covered the session.
        let covered = b"12 1/1 + {\"kind\":\"note\"}";
        let mut old = format!("{:016x} ", checksum(covered)).into_bytes();
        old.extend_from_slice(covered);
        old.push(b'\n');
        let read = Line::parse(&old, key()).unwrap();
        assert_eq!(
            (read.seq, read.is_bound, read.follows_synced),
            (12, false, true)
        );
    }

    #[test]
    fn no_part_of_a_line_is_a_line() {
        let written = line(12, &json!("a b"));
        for length in 0..written.len() {
            assert_eq!(Line::parse(&written[..length], key()), None, "{length}");
            assert_eq!(
                Line::parse(&written[written.len() - length..], key()),
                None,
                "{length}"
            );
        }
    }

    #[test]
    fn a_changed_byte_is_seen() {
        let written = line(12, &json!({"n": 1}));
        for place in 0..written.len() {
            for change in [0, b'0', b'x', b'\n', written[place] ^ 1] {
                let mut changed = written.clone();
                changed[place] = change;
                if changed != written {
                    assert_eq!(Line::parse(&changed, key()), None, "{place} {change}");
                }
            }
        }
    }

    #[test]
    fn lines_follow_one_another_in_order() {
        let one = |seq, place, count| Line {
            seq,
            place,
            count,
            follows_synced: false,
            is_bound: true,
            json: b"0",
        };
        assert!(one(2, 1, 1).fits_behind(&one(1, 1, 1)));
        assert!(one(9, 2, 2).fits_behind(&one(1, 1, 2)));
        assert!(!one(1, 1, 1).fits_behind(&one(1, 1, 1)));
        assert!(!one(2, 2, 2).fits_behind(&one(1, 1, 1)));
        assert!(!one(2, 1, 1).fits_behind(&one(1, 1, 2)));
        assert!(!one(2, 2, 3).fits_behind(&one(1, 1, 2)));
        let unbound = |seq| Line {
            is_bound: false,
            ..one(seq, 1, 1)
        };
        assert!(one(2, 1, 1).fits_behind(&unbound(1)));
        assert!(unbound(2).fits_behind(&unbound(1)));
        assert!(!unbound(2).fits_behind(&one(1, 1, 1)));
    }
}
