//! A piece of a file or a manifest, with the places a diagnostic points at.

use std::fmt::Display;
use std::ops::Range;

use crate::json::{self, floor};

/// How many lines are kept on each side of the place pointed at.
pub(crate) const REACH: usize = 60;

/// How many bytes are kept on each side of the place pointed at.
const REACH_BYTES: usize = 64 * 1024;

/// A place in a [`Source`] and what to say about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Label {
    /// The bytes of [`Source::text`] pointed at.
    pub range: Range<usize>,
    /// Whether this is the place the diagnostic is about.
    pub primary: bool,
    /// What to say there; may be empty.
    pub text: String,
}

/// The part of a document near the place a diagnostic is about.
///
/// The text is cut to that neighborhood when it is made, so that a diagnostic about a large
/// file stays small.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Source {
    /// What the document is called, such as `libask_line.so#manifest`.
    pub name: String,
    /// The lines kept.
    pub text: String,
    /// The number of the first line kept, from 1.
    pub first_line: usize,
    /// The places pointed at.
    pub labels: Vec<Label>,
}

impl Source {
    /// Points at bytes of a text that is shown as it stands.
    ///
    /// On a line too long to keep whole, columns count from the first character kept.
    pub fn new(name: impl Into<String>, text: &str, range: Range<usize>) -> Self {
        let start = floor(text, range.start);
        let end = floor(text, range.end.min(start + REACH_BYTES)).max(start);
        let from = first_kept(text, start);
        let to = last_kept(text, end);
        Self {
            name: name.into(),
            text: text[from..to].to_owned(),
            first_line: text[..from].matches('\n').count() + 1,
            labels: vec![Label {
                range: start - from..end - from,
                primary: true,
                text: String::new(),
            }],
        }
    }

    /// Points at the value under a JSON Pointer of a document laid out one member per line.
    ///
    /// `document` is a `serde_json::Value` or JSON text in any layout, even malformed.
    /// A pointer to nothing points at the nearest parent that exists.
    pub fn of_json(name: impl Into<String>, document: impl Display, pointer: &str) -> Self {
        Self::of_json_at(name, document, &[(pointer, "")])
    }

    /// Like [`Source::of_json`] with words for each place; the first is the primary one.
    ///
    /// A secondary place too far from the primary one to be shown with it is left out.
    pub fn of_json_at(
        name: impl Into<String>,
        document: impl Display,
        places: &[(&str, &str)],
    ) -> Self {
        let document = document.to_string();
        let marks: Vec<_> = places
            .iter()
            .map(|(pointer, _)| json::locate(&document, pointer))
            .collect();
        let laid_out = json::lay_out(&document, &marks, REACH);
        let labels = places.iter().zip(laid_out.marks).enumerate();
        Self {
            name: name.into(),
            text: laid_out.text,
            first_line: laid_out.first_line,
            labels: labels
                .filter_map(|(index, ((_, text), range))| {
                    Some(Label {
                        range: range?,
                        primary: index == 0,
                        text: (*text).to_owned(),
                    })
                })
                .collect(),
        }
    }

    /// Points at the value under a JSON Pointer of a file, with the line numbers its author sees.
    ///
    /// A file written on very long lines is laid out as by [`Source::of_json`].
    pub fn of_json_file(name: impl Into<String>, text: &str, pointer: &str) -> Self {
        if text.lines().any(|line| line.len() > json::LINE_LIMIT) {
            return Self::of_json(name, text, pointer);
        }
        Self::new(name, text, json::locate(text, pointer))
    }

    /// Says something at the primary place.
    #[must_use]
    pub fn saying(mut self, text: impl Into<String>) -> Self {
        if let Some(label) = self.labels.iter_mut().find(|label| label.primary) {
            label.text = text.into();
        }
        self
    }

    /// Points at a second place; the range is into [`Source::text`].
    #[must_use]
    pub fn label(mut self, range: Range<usize>, text: impl Into<String>) -> Self {
        self.labels.push(Label {
            range,
            primary: false,
            text: text.into(),
        });
        self
    }
}

fn first_kept(text: &str, start: usize) -> usize {
    let lines = text[..start]
        .rmatch_indices('\n')
        .nth(REACH)
        .map_or(0, |(at, _)| at + 1);
    lines.max(floor(text, start.saturating_sub(REACH_BYTES)))
}

fn last_kept(text: &str, end: usize) -> usize {
    let lines = text[end..]
        .match_indices('\n')
        .nth(REACH)
        .map_or(text.len(), |(at, _)| end + at);
    lines.min(floor(text, end.saturating_add(REACH_BYTES)))
}

#[cfg(test)]
mod tests {
    use super::{REACH, Source};

    fn pointed_at(source: &Source) -> Vec<(&str, bool)> {
        let labels = source.labels.iter();
        labels
            .map(|label| (&source.text[label.range.clone()], label.primary))
            .collect()
    }

    #[test]
    fn a_file_keeps_its_own_lines() {
        let text = "{\n\n  \"a\" :1,\n  \"b\": [ 2 ]\n}\n";
        let source = Source::of_json_file("config.json", text, "/b/0");
        assert_eq!((source.text.as_str(), source.first_line), (text, 1));
        assert_eq!(pointed_at(&source), [("2", true)]);
    }

    #[test]
    fn a_file_on_one_long_line_is_laid_out() {
        let text = format!("{{\"a\":\"{}\",\"b\":2}}", "x".repeat(5000));
        let source = Source::of_json_file("config.json", &text, "/b");
        assert!(source.text.ends_with("\n  \"b\": 2\n}"));
        assert_eq!(pointed_at(&source), [("2", true)]);
    }

    #[test]
    fn a_long_text_is_cut_to_its_neighborhood() {
        let text = "line\n".repeat(100_000) + "here\n" + &"line\n".repeat(100_000);
        let source = Source::new("notes", &text, 500_000..500_004);
        assert_eq!(pointed_at(&source), [("here", true)]);
        assert_eq!(source.first_line, 100_001 - REACH);
        assert_eq!(source.text.lines().count(), 2 * REACH + 1);
    }

    #[test]
    fn ranges_outside_the_text_or_inside_a_character_are_survived() {
        let ends = [(0, 0), (1, 1), (1, 2), (2, 1), (7, 9), (0, usize::MAX)];
        for (start, end) in ends {
            let source = Source::new("é", "éé", start..end);
            assert_eq!(source.text, "éé");
            assert_eq!(pointed_at(&source).len(), 1);
        }
        let long = "é".repeat(1_000_000);
        assert!(Source::new("é", &long, 999_999..usize::MAX).text.len() < 300_000);
    }

    #[test]
    fn a_secondary_place_out_of_reach_is_left_out() {
        let list = vec![1; 1000];
        let places = [("/500", ""), ("/501", "near"), ("/900", "far")];
        let source = Source::of_json_at("list", serde_json::json!(list), &places);
        assert_eq!(pointed_at(&source), [("1", true), ("1", false)]);
    }
}
