use std::cell::Cell;

use stud_sdk::json;

use super::*;
use crate::line;

/// Enough for the lines below to be all in the first window.
const ALL: u64 = 1 << 20;

/// A read-only file that counts the bytes read.
struct Bytes {
    bytes: Vec<u8>,
    read: Cell<usize>,
}

impl Bytes {
    fn new(bytes: &[u8]) -> Self {
        Self {
            bytes: bytes.to_vec(),
            read: Cell::new(0),
        }
    }
}

impl DiskFile for Bytes {
    fn len(&self) -> io::Result<u64> {
        Ok(self.bytes.len() as u64)
    }

    fn read_at(&self, offset: u64, into: &mut [u8]) -> io::Result<usize> {
        let rest = &self.bytes[usize::try_from(offset).unwrap()..];
        let count = rest.len().min(into.len());
        into[..count].copy_from_slice(&rest[..count]);
        self.read.set(self.read.get() + count);
        Ok(count)
    }

    fn write_at(&mut self, _offset: u64, _bytes: &[u8]) -> io::Result<usize> {
        unreachable!()
    }

    fn truncate(&mut self, _len: u64) -> io::Result<()> {
        unreachable!()
    }

    fn sync(&mut self) -> io::Result<()> {
        unreachable!()
    }

    fn try_lock(&self) -> io::Result<bool> {
        unreachable!()
    }

    fn unlock(&self) -> io::Result<()> {
        unreachable!()
    }

    fn is_at(&self, _path: &std::path::Path) -> io::Result<bool> {
        unreachable!()
    }
}

/// Batches as the writer writes them: records, whether all before them was synced, and the size of each record.
fn journal(batches: &[(&[u64], bool)]) -> Vec<u8> {
    let mut lines = Vec::new();
    for (seqs, follows_synced) in batches {
        for (index, seq) in seqs.iter().enumerate() {
            let place = (index + 1, seqs.len());
            let record = json!({"n": seq});
            line::push(&mut lines, *seq, place, *follows_synced, key(), &record).unwrap();
        }
    }
    lines
}

fn key() -> Key {
    Key::of(b"a-session")
}

fn ends(bytes: &[u8]) -> Vec<usize> {
    let newlines = bytes.iter().enumerate().filter(|(_, byte)| **byte == b'\n');
    newlines.map(|(index, _)| index + 1).collect()
}

fn found(bytes: &[u8], unsynced_bytes: u64) -> Result<Tail, u64> {
    judge(&Bytes::new(bytes), unsynced_bytes, key()).map_err(|unfit| match unfit {
        Unfit::Damaged(offset) => offset,
        Unfit::Io(error) => panic!("{error}"),
    })
}

const THREE: &[(&[u64], bool)] = &[(&[1, 2], true), (&[5], false), (&[6, 7, 9], false)];

#[test]
fn a_journal_that_is_whole_ends_where_it_ends() {
    let whole = journal(THREE);
    let tail = found(&whole, ALL).unwrap();
    assert_eq!((tail.end, tail.last_seq), (whole.len() as u64, Some(9)));
    assert_eq!((tail.torn_bytes, tail.torn_records, tail.synced), (0, 0, 0));

    let empty = found(b"", ALL).unwrap();
    assert_eq!((empty.end, empty.last_seq, empty.torn_bytes), (0, None, 0));
}

#[test]
fn wherever_it_is_torn_it_ends_with_a_whole_batch() {
    let whole = journal(THREE);
    let ends = ends(&whole);
    for length in 0..=whole.len() {
        let tail = found(&whole[..length], ALL).unwrap();
        let (end, last_seq) = match length {
            length if length >= ends[5] => (ends[5], Some(9)),
            length if length >= ends[2] => (ends[2], Some(5)),
            length if length >= ends[1] => (ends[1], Some(2)),
            _ => (0, None),
        };
        assert_eq!(
            (tail.end, tail.last_seq),
            (end as u64, last_seq),
            "{length}"
        );
        assert_eq!(tail.torn_bytes, (length - end) as u64, "{length}");
        let records = ends
            .iter()
            .filter(|line| (end + 1..=length).contains(*line))
            .count();
        assert_eq!(tail.torn_records, records as u64, "{length}");
    }
}

#[test]
fn what_follows_the_end_of_a_file_that_was_never_written_is_torn() {
    let mut bytes = journal(THREE);
    let end = bytes.len() as u64;
    bytes.extend([0; 100]);
    let tail = found(&bytes, ALL).unwrap();
    assert_eq!((tail.end, tail.torn_bytes), (end, 100));
}

#[test]
fn a_broken_line_with_whole_ones_behind_it_is_damage() {
    let whole = journal(THREE);
    let ends = ends(&whole);
    for place in 0..whole.len() {
        let mut broken = whole.clone();
        broken[place] ^= 1;
        let line = ends.iter().filter(|end| **end <= place).count();
        let start = if line == 0 { 0 } else { ends[line - 1] };
        match found(&broken, ALL) {
            Err(offset) => assert_eq!(offset, start as u64, "{place}"),
            // The last line has no whole one behind it, and neither has the one before without its newline.
            Ok(tail) => {
                assert!(line == 5 || place + 1 == ends[4], "{place}");
                assert_eq!(tail.last_seq, Some(5), "{place}");
            }
        }
    }
}

#[test]
fn a_block_that_was_lost_before_any_sync_is_torn() {
    let whole = journal(THREE);
    let ends = ends(&whole);
    let mut lost = whole.clone();
    lost[ends[1] + 3..ends[1] + 9].fill(0);
    let tail = found(&lost, ALL).unwrap();
    assert_eq!((tail.end, tail.last_seq), (ends[1] as u64, Some(2)));
    assert_eq!(tail.torn_records, 3);

    // In the middle of a batch, the batch goes as a whole.
    let mut lost = whole.clone();
    lost[ends[3] - 3..ends[3] + 3].fill(0);
    let tail = found(&lost, ALL).unwrap();
    assert_eq!((tail.end, tail.last_seq), (ends[2] as u64, Some(5)));
}

#[test]
fn a_block_that_was_synced_and_is_gone_is_damage() {
    let mut bytes = journal(&[
        (&[1, 2], true),
        (&[5], false),
        (&[6, 7], true),
        (&[8], false),
    ]);
    let ends = ends(&bytes);
    let start = ends[1];
    bytes[start + 3..start + 9].fill(0);
    assert_eq!(found(&bytes, ALL), Err(start as u64));
}

#[test]
fn a_batch_that_follows_synced_ones_does_not_vouch_for_itself() {
    let mut bytes = journal(&[(&[1], true), (&[2, 3, 4], true)]);
    let ends = ends(&bytes);
    bytes[ends[1] + 3..ends[1] + 9].fill(0);
    let tail = found(&bytes, ALL).unwrap();
    assert_eq!((tail.end, tail.torn_records), (ends[0] as u64, 2));
}

#[test]
fn lines_that_are_out_of_order_are_damage() {
    for batches in [
        &[(&[1][..], true), (&[1], true)][..],
        &[(&[2], true), (&[1], true)],
        &[(&[3, 3], true)],
    ] {
        assert!(found(&journal(batches), ALL).is_err(), "{batches:?}");
    }
    let whole = journal(&[(&[1, 2], true), (&[3], true)]);
    let first = ends(&whole)[0];
    assert_eq!(
        found(&whole[first..], ALL),
        Err(0),
        "it begins in the middle of a batch"
    );
}

#[test]
fn everything_before_a_batch_that_says_so_is_synced() {
    let bytes = journal(&[(&[1], true), (&[2], false), (&[3, 4], true), (&[5], false)]);
    let tail = found(&bytes, ALL).unwrap();
    assert_eq!(tail.synced, ends(&bytes)[1] as u64);
}

#[test]
fn only_the_end_of_a_long_journal_is_read() {
    let batches: Vec<Vec<u64>> = (0..2000)
        .map(|index| vec![index * 2, index * 2 + 1])
        .collect();
    let batches: Vec<(&[u64], bool)> = batches.iter().map(|seqs| (&**seqs, true)).collect();
    let whole = journal(&batches);
    let file = Bytes::new(&whole);
    let tail = judge(&file, 500, key()).unwrap();
    assert_eq!((tail.end, tail.last_seq), (whole.len() as u64, Some(3999)));
    assert_eq!(file.read.get(), 1000);
}

#[test]
fn the_end_does_not_depend_on_how_much_is_looked_at() {
    let seqs: Vec<u64> = (10..60).collect();
    let batches: &[(&[u64], bool)] = &[
        (&[1, 2], true),
        (&seqs, true),
        (&[70], true),
        (&[71, 72], false),
    ];
    let whole = journal(batches);
    for cut in 0..200 {
        let bytes = &whole[..whole.len() - cut];
        let expected = found(bytes, ALL).unwrap();
        for unsynced_bytes in [1, 10, 60, 150, 1000, 3000] {
            let tail = found(bytes, unsynced_bytes).unwrap();
            assert_eq!(
                (tail.end, tail.last_seq),
                (expected.end, expected.last_seq),
                "{cut} {unsynced_bytes}"
            );
            assert_eq!(
                tail.torn_records, expected.torn_records,
                "{cut} {unsynced_bytes}"
            );
            assert!(tail.synced <= tail.end);
        }
    }
}

#[test]
fn a_batch_that_is_larger_than_what_is_looked_at_is_judged_as_a_whole() {
    let seqs: Vec<u64> = (10..60).collect();
    let batches: &[(&[u64], bool)] = &[(&[1, 2], true), (&seqs, false)];
    let mut bytes = journal(batches);
    let start = ends(&bytes)[1];
    bytes[start + 100..start + 120].fill(0);
    let tail = found(&bytes, 50).unwrap();
    assert_eq!((tail.end, tail.last_seq), (start as u64, Some(2)));
}
