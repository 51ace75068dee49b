//! Texts in files, and names as text.

use std::ffi::OsStr;

/// The beginning of a text, at most so many bytes, and whether something was cut off. No character is cut in two.
pub fn cut(text: &str, most: usize) -> (&str, bool) {
    if text.len() <= most {
        return (text, false);
    }
    let end = (0..=most).rev().find(|at| text.is_char_boundary(*at));
    (&text[..end.unwrap_or(0)], true)
}

/// A name as text, and whether it is as on the disk: what is no UTF-8 is shown as `�`.
pub fn shown(name: &OsStr) -> (String, bool) {
    name.to_str().map_or_else(
        || (name.to_string_lossy().into_owned(), false),
        |text| (text.to_owned(), true),
    )
}

/// Checks that bytes are UTF-8, piece by piece.
#[derive(Debug, Default)]
pub(crate) struct Check {
    /// The beginning of a character whose end is in the next piece.
    open: Vec<u8>,
    seen: u64,
}

/// Where bytes stop being UTF-8.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct NotText {
    pub(crate) offset: u64,
}

impl Check {
    /// The next piece.
    pub(crate) fn feed(&mut self, mut piece: &[u8]) -> Result<(), NotText> {
        // Finish the open character, one byte at a time: at most three are missing.
        while !self.open.is_empty() {
            let Some((first, rest)) = piece.split_first() else {
                return Ok(());
            };
            self.open.push(*first);
            piece = rest;
            match std::str::from_utf8(&self.open) {
                Ok(_) => {
                    self.seen += self.open.len() as u64;
                    self.open.clear();
                }
                Err(error) if error.error_len().is_some() => return self.wrong_at(0),
                Err(_) => {}
            }
        }
        let Err(error) = std::str::from_utf8(piece) else {
            self.seen += piece.len() as u64;
            return Ok(());
        };
        if error.error_len().is_some() {
            return self.wrong_at(error.valid_up_to());
        }
        let (whole, open) = piece.split_at(error.valid_up_to());
        self.seen += whole.len() as u64;
        self.open.extend_from_slice(open);
        Ok(())
    }

    /// There is no other piece.
    pub(crate) fn finish(self) -> Result<(), NotText> {
        if self.open.is_empty() {
            return Ok(());
        }
        self.wrong_at(0)
    }

    fn wrong_at(&self, further: usize) -> Result<(), NotText> {
        Err(NotText {
            offset: self.seen + further as u64,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::ffi::OsStrExt as _;

    fn check(bytes: &[u8], size: usize) -> Result<(), NotText> {
        let mut check = Check::default();
        for piece in bytes.chunks(size) {
            check.feed(piece)?;
        }
        check.finish()
    }

    #[test]
    fn text_is_text_however_it_comes_in_pieces() {
        let text = "aé€😀\u{feff}\0z".repeat(3);
        for size in 1..text.len() {
            assert_eq!(check(text.as_bytes(), size), Ok(()), "{size}");
        }
        assert_eq!(check(b"", 1), Ok(()));
    }

    #[test]
    fn the_first_wrong_byte_is_found_however_it_comes_in_pieces() {
        for (bytes, offset) in [
            (&b"abc\xff"[..], 3),
            (b"abc\xc3", 3),
            (b"ab\xe2\x82", 2),
            (b"ab\xe2\x82x", 2),
            (b"\xed\xa0\x80", 0),
            (b"\xf0\x9f\x98\x80\xf0\x9f\x98", 4),
            (b"\xc0\x80", 0),
        ] {
            for size in 1..=bytes.len() {
                assert_eq!(
                    check(bytes, size),
                    Err(NotText { offset }),
                    "{bytes:?} {size}"
                );
            }
        }
    }

    #[test]
    fn a_cut_is_between_characters() {
        assert_eq!(cut("aé", 3), ("aé", false));
        assert_eq!(cut("aé", 2), ("a", true));
        assert_eq!(cut("😀", 3), ("", true));
        assert_eq!(cut("", 0), ("", false));
        assert_eq!(cut("a", 0), ("", true));
    }

    #[test]
    fn a_name_that_is_no_text_is_told_apart() {
        assert_eq!(shown(OsStr::new("é")), ("é".to_owned(), true));
        assert_eq!(
            shown(OsStr::from_bytes(b"a\xffb")),
            ("a\u{fffd}b".to_owned(), false)
        );
    }
}
