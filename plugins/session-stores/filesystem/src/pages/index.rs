//! Where some of the records are.

use std::collections::BTreeMap;

/// Between two entries there is at least this much of the file, so a journal of a gigabyte has about a thousand.
const SPACING_BYTES: u64 = 1024 * 1024;

/// The offsets of some lines by the numbers of their records.
#[derive(Debug, Default)]
pub(crate) struct Index {
    entries: BTreeMap<u64, u64>,
}

impl Index {
    /// Remembers a line, unless one near it is known.
    pub(crate) fn note(&mut self, seq: u64, offset: u64) {
        let below = self.entries.range(..=seq).next_back();
        let above = self.entries.range(seq..).next();
        let is_far = |entry: Option<(&u64, &u64)>| {
            entry.is_none_or(|(_, known)| known.abs_diff(offset) >= SPACING_BYTES)
        };
        if is_far(below) && is_far(above) {
            self.entries.insert(seq, offset);
        }
    }

    /// Two offsets that the first record after `after` is between, as far as is known; lines begin at both.
    pub(crate) fn around(&self, after: u64, end: u64) -> (u64, u64) {
        let below = self.entries.range(..=after).next_back();
        let above = after
            .checked_add(1)
            .and_then(|next| self.entries.range(next..).next());
        let low = below.map_or(0, |(_, offset)| *offset);
        let high = above.map_or(end, |(_, offset)| *offset);
        (low.min(end), high.min(end))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_stays_sparse() {
        let mut index = Index::default();
        for seq in 0..10_000 {
            index.note(seq, seq * 1000);
        }
        assert_eq!(index.entries.len(), 10);
        assert_eq!(index.around(0, 10_000_000), (0, 1_049_000));
        assert_eq!(index.around(1_048, 10_000_000), (0, 1_049_000));
        assert_eq!(index.around(1_049, 10_000_000), (1_049_000, 2_098_000));
        assert_eq!(index.around(u64::MAX, 10_000_000).1, 10_000_000);
    }

    #[test]
    fn nothing_is_known_of_an_empty_one() {
        assert_eq!(Index::default().around(7, 100), (0, 100));
    }
}
