//! Replacing what stands in a text exactly once.

use stud_sdk::{Error, ErrorExt, Result};

use crate::failure::{ambiguous, missing};

/// More places are not looked for: two are too many already.
const MOST_PLACES: usize = 20;

/// One text to be put in the place of another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Replacement<'a> {
    /// What stands there, exactly once.
    pub old: &'a str,
    /// What is to stand there.
    pub new: &'a str,
}

impl Replacement<'_> {
    /// Fails with `ToolTerminal/InputInvalid` for what could change nothing, whatever the file.
    pub fn check(&self) -> Result<()> {
        if self.old.is_empty() {
            return Err(Error::invalid_input(
                "`oldString` is empty, and stands nowhere in particular",
            ));
        }
        if self.old == self.new {
            return Err(Error::invalid_input(
                "`oldString` and `newString` are the same",
            ));
        }
        Ok(())
    }
}

/// The text after one replacement.
///
/// Fails with `ToolTerminal/NotFound` if the old text is not there, and with `ToolTerminal/AmbiguousMatch` if it is
/// there more than once. Places that overlap are more than one: it would matter which of them is meant.
pub fn replace(path: &str, text: &str, replacement: Replacement<'_>) -> Result<String> {
    replacement.check()?;
    let Replacement { old, new } = replacement;
    match *places(text, old) {
        [] => Err(absent(path, text, old)),
        [at] => Ok([&text[..at], new, &text[at + old.len()..]].concat()),
        ref several => Err(too_often(path, text, several)),
    }
}

/// Where `old` begins in `text`, overlapping or not: the first few places.
fn places(text: &str, old: &str) -> Box<[usize]> {
    let mut from = 0;
    let next = || {
        let at = from + text[from..].find(old)?;
        from = at + text[at..].chars().next().map_or(1, char::len_utf8);
        Some(at)
    };
    std::iter::from_fn(next).take(MOST_PLACES).collect()
}

fn absent(path: &str, text: &str, old: &str) -> Error {
    let mut why = format!("`oldString` is not in `{path}`");
    if text.contains(&old.replace('\n', "\r\n")) {
        why.push_str("; it would be with the line ends of that file, which are CRLF");
    }
    missing(path, why)
}

fn too_often(path: &str, text: &str, places: &[usize]) -> Error {
    let line = |at: &usize| text[..*at].matches('\n').count() + 1;
    let lines: Vec<_> = places.iter().map(line).collect();
    let count = match places.len() {
        MOST_PLACES => format!("at least {MOST_PLACES}"),
        count => count.to_string(),
    };
    let why = format!(
        "`oldString` is in `{path}` {count} times, first on lines {} and {}; add what stands around the one you mean",
        lines.first().unwrap_or(&1),
        lines.get(1).unwrap_or(&1)
    );
    ambiguous(path, why).with("lines", lines)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(text: &str, old: &str, new: &str) -> Result<String> {
        replace("f", text, Replacement { old, new })
    }

    fn code(text: &str, old: &str, new: &str) -> String {
        run(text, old, new).unwrap_err().code().to_owned()
    }

    #[test]
    fn what_stands_there_once_is_replaced() {
        for (text, old, new, expected) in [
            ("abc", "b", "x", "axc"),
            ("abc", "abc", "", ""),
            ("abc", "c", "cd", "abcd"),
            ("a\r\nb\r\n", "a\r\n", "", "b\r\n"),
            ("\u{feff}a", "a", "b", "\u{feff}b"),
            ("é€", "€", "é", "éé"),
            ("no end", "end", "end\n", "no end\n"),
        ] {
            assert_eq!(run(text, old, new).unwrap(), expected);
        }
    }

    #[test]
    fn what_is_not_there_is_not_found() {
        assert_eq!(code("abc", "x", "y"), "NotFound");
        assert_eq!(code("", "x", "y"), "NotFound");
        assert_eq!(code("abc", "abcd", "y"), "NotFound");
    }

    #[test]
    fn other_line_ends_are_pointed_out() {
        let error = run("a\r\nb\r\n", "a\nb", "c").unwrap_err();
        assert!(error.message().contains("CRLF"), "{error}");
        let error = run("a\nb\n", "a\nc", "c").unwrap_err();
        assert!(!error.message().contains("CRLF"), "{error}");
    }

    #[test]
    fn what_is_there_twice_is_ambiguous_even_if_it_overlaps() {
        assert_eq!(code("abab", "ab", "x"), "AmbiguousMatch");
        assert_eq!(code("aaa", "aa", "x"), "AmbiguousMatch");
        assert_eq!(code("ééé", "éé", "x"), "AmbiguousMatch");
        let error = run("x\ny\nx\nx\n", "x", "z").unwrap_err();
        assert_eq!(error.context()["lines"], stud_sdk::json!([1, 3, 4]));
    }

    #[test]
    fn a_text_that_is_everywhere_is_not_counted_to_the_end() {
        let text = "a".repeat(1_000_000);
        let error = run(&text, &text[..500_000], "b").unwrap_err();
        assert!(error.message().contains("at least 20 times"), "{error}");
        assert_eq!(error.context()["lines"].as_array().unwrap().len(), 20);
    }

    #[test]
    fn what_changes_nothing_is_invalid() {
        assert_eq!(code("abc", "b", "b"), "InputInvalid");
        assert_eq!(code("abc", "", "b"), "InputInvalid");
    }
}
