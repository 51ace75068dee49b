//! One pattern in one file after the other.

use std::io;

use grep_matcher::LineTerminator;
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::{BinaryDetection, Searcher, SearcherBuilder, Sink, SinkFinish, SinkMatch};
use stud_sdk::prelude::*;
use workspace_files::{Contents, cut};

use crate::Match;

/// The most memory a pattern may take when it is compiled, and again while it is matched.
const MOST_PATTERN_BYTES: usize = 4 * 1024 * 1024;

/// The most memory one line may take.
const MOST_LINE_BYTES: usize = 8 * 1024 * 1024;

/// What is looked for, and what was found.
#[derive(Debug)]
pub(crate) struct Search {
    matcher: RegexMatcher,
    searcher: Searcher,
    found: Collected,
    files: usize,
}

impl Search {
    /// Compiles a pattern, or says with `ToolTerminal/InputInvalid` what is wrong with it.
    pub(crate) fn new(pattern: &str, case_insensitive: bool) -> Result<Self> {
        let matcher = RegexMatcherBuilder::new()
            .case_insensitive(case_insensitive)
            .multi_line(true)
            .crlf(true)
            .size_limit(MOST_PATTERN_BYTES)
            .dfa_size_limit(MOST_PATTERN_BYTES)
            .build(pattern)
            .map_err(|error| {
                let why = format!("the pattern is not a regular expression for a line: {error}");
                Error::invalid_input(why).with("pattern", pattern)
            })?;
        let searcher = SearcherBuilder::new()
            .line_number(true)
            .line_terminator(LineTerminator::crlf())
            .binary_detection(BinaryDetection::quit(0))
            .heap_limit(Some(MOST_LINE_BYTES))
            .build();
        Ok(Self {
            matcher,
            searcher,
            found: Collected::default(),
            files: 0,
        })
    }

    /// At most so many lines, and so many bytes of each.
    pub(crate) const fn limit(&mut self, lines: usize, bytes: usize) {
        self.found.most = lines;
        self.found.most_bytes = bytes;
    }

    /// Whether something was found that is over the limit.
    pub(crate) const fn is_full(&self) -> bool {
        self.found.is_full
    }

    /// How many files were searched.
    pub(crate) const fn files(&self) -> usize {
        self.files
    }

    /// What was found.
    pub(crate) fn into_matches(self) -> Vec<Match> {
        self.found.matches
    }

    /// Searches a file, by its path and whether that is as on the disk.
    pub(crate) fn file(&mut self, contents: Contents, path: (String, bool), cx: &Cx) -> Result<()> {
        self.files += 1;
        self.found.begin(path);
        let reader = contents.into_reader(cx);
        let searched = self
            .searcher
            .search_reader(&self.matcher, reader, &mut self.found);
        let Err(error) = searched else {
            return Ok(());
        };
        if cx.is_cancelled() {
            return Err(Error::cancelled());
        }
        let path = &self.found.path;
        Err(Error::failed(format!(
            "`{path}` could not be searched to its end: {error}"
        ))
        .with("path", path.as_str()))
    }
}

/// The lines that were found.
#[derive(Debug, Default)]
struct Collected {
    matches: Vec<Match>,
    most: usize,
    most_bytes: usize,
    is_full: bool,
    path: String,
    path_is_as_on_disk: bool,
    /// How many lines there were before this file.
    before: usize,
}

impl Collected {
    fn begin(&mut self, (path, is_as_on_disk): (String, bool)) {
        self.path = path;
        self.path_is_as_on_disk = is_as_on_disk;
        self.before = self.matches.len();
    }
}

impl Sink for Collected {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, found: &SinkMatch<'_>) -> io::Result<bool> {
        if self.matches.len() == self.most {
            self.is_full = true;
            return Ok(false);
        }
        let bytes = found.bytes();
        let bytes = bytes.strip_suffix(b"\n").unwrap_or(bytes);
        let bytes = bytes.strip_suffix(b"\r").unwrap_or(bytes);
        // Not more of a line of megabytes than will be shown, and the end of a character.
        let head = &bytes[..bytes.len().min(self.most_bytes + 4)];
        let (whole, is_text) = match std::str::from_utf8(head) {
            Ok(text) => (text.to_owned(), true),
            Err(error) if error.error_len().is_none() && head.len() < bytes.len() => (
                String::from_utf8_lossy(&head[..error.valid_up_to()]).into_owned(),
                true,
            ),
            Err(_) => (String::from_utf8_lossy(head).into_owned(), false),
        };
        let (text, _) = cut(&whole, self.most_bytes);
        let is_cut = text.len() < whole.len() || head.len() < bytes.len();
        self.matches.push(Match {
            path: self.path.clone(),
            line: found.line_number().unwrap_or(0),
            text: text.to_owned(),
            cut: is_cut.then_some(true),
            lossy: (!is_text || !self.path_is_as_on_disk).then_some(true),
        });
        Ok(true)
    }

    /// What was found in a file before it turned out to be no text is no line.
    fn finish(&mut self, _: &Searcher, end: &SinkFinish) -> io::Result<()> {
        if end.binary_byte_offset().is_some() {
            self.matches.truncate(self.before);
            self.is_full = false;
        }
        Ok(())
    }
}
