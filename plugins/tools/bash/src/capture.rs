//! What a command printed on one of its streams, up to a limit.

use std::os::fd::AsFd;

use rustix::buffer::spare_capacity;
use rustix::io::{Errno, read};

/// As much as a pipe holds, so that one call takes all there is.
const PIPE_BYTES: usize = 64 * 1024;

/// What stands behind a text that was cut.
const MARK: &str = "\n[truncated]";

/// The beginning of a stream, and whether there was more of it.
#[derive(Debug)]
pub(crate) struct Captured {
    bytes: Vec<u8>,
    limit: usize,
    is_cut: bool,
}

/// Whether a stream has more to give.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum More {
    Perhaps,
    Never,
}

impl Captured {
    pub(crate) const fn new(limit: usize) -> Self {
        Self {
            bytes: Vec::new(),
            limit,
            is_cut: false,
        }
    }

    /// Takes what is in a pipe that has something in it or is at its end.
    ///
    /// Beyond the limit it takes and forgets, because a command whose pipe is full stands still.
    pub(crate) fn take(&mut self, pipe: impl AsFd) -> Result<More, Errno> {
        self.bytes.reserve(PIPE_BYTES);
        let taken = match read(pipe, spare_capacity(&mut self.bytes)) {
            Err(Errno::INTR | Errno::AGAIN) => return Ok(More::Perhaps),
            taken => taken?,
        };
        if self.bytes.len() > self.limit {
            self.is_cut = true;
            self.bytes.truncate(self.limit);
        }
        Ok(if taken == 0 {
            More::Never
        } else {
            More::Perhaps
        })
    }

    /// All of it as text, with a mark where it was cut.
    pub(crate) fn into_text(mut self) -> String {
        if self.is_cut {
            let whole = whole_characters(&self.bytes);
            self.bytes.truncate(whole);
        }
        let mut text = lossy(self.bytes);
        if self.is_cut {
            text.push_str(MARK);
        }
        text
    }

    /// The end of it as text, at most so many bytes of the stream.
    pub(crate) fn excerpt(&self, most: usize) -> String {
        let end = &self.bytes[self.bytes.len().saturating_sub(most)..];
        String::from_utf8_lossy(end).into_owned()
    }
}

/// Text without a copy where the bytes are text already.
fn lossy(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes)
        .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}

/// The length without the beginning of a character that a cut took the end of.
fn whole_characters(bytes: &[u8]) -> usize {
    // A character has at most four bytes, so its first one is among the last three if it is not whole.
    let tail = bytes.len().saturating_sub(3);
    let begins = bytes[tail..].iter().rposition(|byte| *byte >= 0xC0);
    let Some(begins) = begins.map(|at| tail + at) else {
        return bytes.len();
    };
    let needed = match bytes[begins] {
        0xF0.. => 4,
        0xE0.. => 3,
        _ => 2,
    };
    if bytes.len() - begins < needed {
        begins
    } else {
        bytes.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{PipeWriter, Write as _, pipe};

    fn captured(limit: usize, write: impl FnOnce(PipeWriter) + Send + 'static) -> Captured {
        let (reader, writer) = pipe().unwrap();
        let writing = std::thread::spawn(move || write(writer));
        let mut captured = Captured::new(limit);
        while captured.take(&reader).unwrap() == More::Perhaps {}
        writing.join().unwrap();
        captured
    }

    fn text(limit: usize, bytes: &'static [u8]) -> String {
        captured(limit, move |mut pipe| pipe.write_all(bytes).unwrap()).into_text()
    }

    #[test]
    fn what_just_fits_is_not_cut() {
        assert_eq!(text(5, b"12345"), "12345");
        assert_eq!(text(5, b"123456"), "12345\n[truncated]");
        assert_eq!(text(5, b""), "");
    }

    #[test]
    fn a_cut_leaves_no_half_character() {
        assert_eq!(text(4, "aéé".as_bytes()), "aé\n[truncated]");
        assert_eq!(text(2, "aéé".as_bytes()), "a\n[truncated]");
        assert_eq!(text(4, "a🦀b".as_bytes()), "a\n[truncated]");
        assert_eq!(text(5, "a🦀b".as_bytes()), "a🦀\n[truncated]");
    }

    #[test]
    fn what_is_no_text_is_replaced_and_nothing_is_lost_around_it() {
        assert_eq!(text(100, b"a\xFF\xFEb"), "a\u{FFFD}\u{FFFD}b");
        assert_eq!(
            text(3, b"a\x80\x80\x80\x80"),
            "a\u{FFFD}\u{FFFD}\n[truncated]"
        );
    }

    #[test]
    fn far_more_than_the_limit_is_taken_and_forgotten() {
        let captured = captured(10, |mut pipe| {
            for _ in 0..64 {
                pipe.write_all(&vec![b'x'; 100_000]).unwrap();
            }
        });
        assert!(captured.bytes.capacity() <= 4 * PIPE_BYTES);
        assert_eq!(captured.into_text(), "xxxxxxxxxx\n[truncated]");
    }

    #[test]
    fn an_excerpt_is_the_end() {
        let captured = captured(100, |mut pipe| pipe.write_all(b"one two").unwrap());
        assert_eq!(captured.excerpt(3), "two");
        assert_eq!(captured.excerpt(99), "one two");
    }
}
