//! A line on its way from bytes to text.

use std::mem;

use zeroize::{Zeroize as _, Zeroizing};

/// The longest line that is taken, in bytes.
pub(crate) const LONGEST_LINE: usize = 1024 * 1024;

/// What was typed up to Enter. Any line may turn out to be a secret, so all are wiped when they are dropped.
pub(crate) enum Line {
    Text(Zeroizing<String>),
    /// It cannot be used, and this is why.
    Unusable(&'static str),
}

/// The part of a line that has arrived so far.
#[derive(Default)]
pub(crate) struct Draft {
    bytes: Zeroizing<Vec<u8>>,
    too_long: bool,
}

impl Draft {
    pub(crate) fn is_empty(&self) -> bool {
        self.bytes.is_empty() && !self.too_long
    }

    pub(crate) fn push(&mut self, bytes: &[u8]) {
        if self.bytes.len() + bytes.len() > LONGEST_LINE {
            self.too_long = true;
            self.bytes.zeroize();
        }
        if self.too_long {
            return;
        }
        self.make_room(bytes.len());
        self.bytes.extend_from_slice(bytes);
    }

    /// Grows by hand: a `Vec` that moves by itself leaves its old content behind in memory.
    fn make_room(&mut self, more: usize) {
        let needed = self.bytes.len() + more;
        if needed > self.bytes.capacity() {
            let mut larger = Vec::with_capacity(needed.next_power_of_two().max(256));
            larger.extend_from_slice(&self.bytes);
            // The assignment drops the old buffer, and that wipes it.
            self.bytes = Zeroizing::new(larger);
        }
    }

    /// The line, without what ends it. The draft is empty again.
    pub(crate) fn finish(&mut self) -> Line {
        if mem::take(&mut self.too_long) {
            self.bytes.zeroize();
            return Line::Unusable("the line is too long");
        }
        let mut bytes = mem::take(&mut self.bytes);
        if bytes.last() == Some(&b'\r') {
            bytes.pop();
        }
        match String::from_utf8(mem::take(&mut *bytes)) {
            Ok(text) => Line::Text(Zeroizing::new(text)),
            Err(error) => {
                error.into_bytes().zeroize();
                Line::Unusable("the line is not UTF-8 text")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finished(pieces: &[&[u8]]) -> Result<String, &'static str> {
        let mut draft = Draft::default();
        for piece in pieces {
            draft.push(piece);
        }
        let line = draft.finish();
        assert!(draft.is_empty());
        match line {
            Line::Text(text) => Ok((*text).clone()),
            Line::Unusable(why) => Err(why),
        }
    }

    #[test]
    fn pieces_make_a_line() {
        assert_eq!(
            finished(&[b"caf", b"\xc3", b"\xa9\r"]),
            Ok("café".to_owned())
        );
        assert_eq!(finished(&[]), Ok(String::new()));
        let long = vec![b'a'; 5000];
        assert_eq!(finished(&[&long, b"b"]).unwrap().len(), 5001);
    }

    #[test]
    fn what_is_no_text_is_said_to_be_none() {
        assert_eq!(finished(&[b"\xff\xfe"]), Err("the line is not UTF-8 text"));
    }

    #[test]
    fn a_line_without_end_is_not_kept() {
        let half = vec![b'a'; LONGEST_LINE / 2 + 1];
        let mut draft = Draft::default();
        draft.push(&half);
        draft.push(&half);
        assert!(draft.bytes.is_empty() && !draft.is_empty());
        draft.push(b"and more");
        assert!(draft.bytes.is_empty());
        assert!(matches!(
            draft.finish(),
            Line::Unusable("the line is too long")
        ));
        assert!(draft.is_empty());
    }
}
