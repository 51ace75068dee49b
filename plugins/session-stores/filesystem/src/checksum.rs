//! CRC-64/XZ: tells whether bytes are the ones that were written.
//!
//! A record and the link between a manifest and its slots are both held by it. 64 bits are enough that two different
//! texts do not meet by accident, which 32 bits are not once there are many; the variant is the one that `xz` and most
//! other tools know, so a journal can be checked without stud. It is no protection against someone who means harm:
//! a process that may write these files may write anything.

const POLYNOMIAL: u64 = 0xC96C_5795_D787_0F42;

static TABLE: [u64; 256] = table();

/// The checksum of some bytes.
pub(crate) fn checksum(bytes: &[u8]) -> u64 {
    !extend(!0, bytes)
}

/// What a session's records are checked with: the checksum covers the name of the session's folder before the bytes, so
/// that a record of one session is no record of another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Key(u64);

impl Key {
    /// The key of the session whose folder has this name.
    pub(crate) fn of(name: &[u8]) -> Self {
        // No name of a folder has a zero byte in it, so none is the beginning of another.
        Self(extend(extend(!0, name), &[0]))
    }

    /// The checksum of some bytes of this session.
    pub(crate) fn checksum(self, bytes: &[u8]) -> u64 {
        !extend(self.0, bytes)
    }
}

fn extend(crc: u64, bytes: &[u8]) -> u64 {
    bytes.iter().fold(crc, |crc: u64, byte| {
        TABLE[usize::from(crc.to_le_bytes()[0] ^ byte)] ^ (crc >> 8)
    })
}

const fn table() -> [u64; 256] {
    let mut table = [0; 256];
    let mut index = 0;
    while index < table.len() {
        let mut crc = index as u64;
        let mut bit = 0;
        while bit < 8 {
            crc = if crc & 1 == 1 {
                (crc >> 1) ^ POLYNOMIAL
            } else {
                crc >> 1
            };
            bit += 1;
        }
        table[index] = crc;
        index += 1;
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_the_checksum_that_xz_has() {
        assert_eq!(checksum(b"123456789"), 0x995D_C9BB_DF19_39FA);
        assert_eq!(checksum(b""), 0);
    }

    #[test]
    fn the_bytes_of_two_sessions_differ() {
        let (one, other) = (Key::of(b"one"), Key::of(b"other"));
        assert_ne!(one.checksum(b"x"), other.checksum(b"x"));
        assert_eq!(one.checksum(b"x"), checksum(b"one\0x"));
    }

    #[test]
    fn every_single_bit_counts() {
        let text = *b"a record of a session";
        let whole = checksum(&text);
        for place in 0..text.len() {
            for bit in 0..8 {
                let mut damaged = text;
                damaged[place] ^= 1 << bit;
                assert_ne!(checksum(&damaged), whole, "{place} {bit}");
            }
        }
    }
}
