//! A pattern, and where to begin looking for it.

use std::path::{Path, PathBuf};

use globset::{GlobBuilder, GlobMatcher};
use stud_sdk::prelude::*;

/// Every letter that makes more of a name than a name.
const WILD: [char; 7] = ['*', '?', '[', ']', '{', '}', '\\'];

/// What paths are compared with.
#[derive(Debug)]
pub(crate) struct Pattern {
    /// The directories that the pattern names as they are.
    pub(crate) start: PathBuf,
    /// How far below them a match can be.
    pub(crate) depth: usize,
    rest: GlobMatcher,
}

impl Pattern {
    /// Reads a pattern, or says with `ToolTerminal/InputInvalid` what is wrong with it.
    pub(crate) fn read(text: &str) -> Result<Self> {
        let refused = |why: String| Error::invalid_input(why).with("pattern", text);
        if text.starts_with('/') || text.starts_with('~') {
            let why = "the pattern is relative to `path`, and does not begin with `/` or `~`";
            return Err(refused(why.to_owned()));
        }
        let parts: Vec<_> = text
            .split('/')
            .filter(|part| !matches!(*part, "" | "."))
            .collect();
        if parts.contains(&"..") {
            let why = "the pattern stays below `path`, and has no `..` in it";
            return Err(refused(why.to_owned()));
        }
        let Some((_, directories)) = parts.split_last() else {
            return Err(refused("the pattern names nothing".to_owned()));
        };
        let plain = directories
            .iter()
            .take_while(|part| !part.contains(WILD))
            .count();
        let rest = &parts[plain..];
        // A choice may have more or fewer parts than it seems.
        let anywhere = rest
            .iter()
            .any(|part| part.contains("**") || part.contains(['{', '\\', '[']));
        let depth = if anywhere { usize::MAX } else { rest.len() };
        let rest = GlobBuilder::new(&rest.join("/"))
            .literal_separator(true)
            .backslash_escape(true)
            .empty_alternates(true)
            .build()
            .map_err(|error| refused(format!("the pattern is invalid: {}", error.kind())))?;
        Ok(Self {
            start: parts[..plain].iter().collect(),
            depth,
            rest: rest.compile_matcher(),
        })
    }

    /// Whether a path below [`Pattern::start`] is meant.
    pub(crate) fn matches(&self, path: &Path) -> bool {
        self.rest.is_match(path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_directories_are_where_to_begin() {
        for (text, start, depth) in [
            ("*.rs", "", 1),
            ("src/*.rs", "src", 1),
            ("./src//core/*/x", "src/core", 2),
            ("src/**/*.rs", "src", usize::MAX),
            ("**/*.rs", "", usize::MAX),
            ("a/b", "a", 1),
            ("a", "", 1),
            ("{a,b}/c", "", usize::MAX),
            ("{a/b,c}", "", usize::MAX),
        ] {
            let pattern = Pattern::read(text).unwrap();
            assert_eq!(
                (pattern.start.as_path(), pattern.depth),
                (Path::new(start), depth),
                "{text}"
            );
        }
    }

    #[test]
    fn wildcards_stay_within_a_name_unless_they_are_two() {
        for (text, path, expected) in [
            ("*.rs", "a.rs", true),
            ("*.rs", "b/a.rs", false),
            ("**/*.rs", "a.rs", true),
            ("**/*.rs", "b/c/a.rs", true),
            ("**", "b/c/a.rs", true),
            ("*/x", "b/x", true),
            ("*/x", "b/c/x", false),
            ("?.rs", "ab.rs", false),
            ("[ab].rs", "b.rs", true),
            ("{a,b/c}.rs", "b/c.rs", true),
            ("*", ".hidden", true),
        ] {
            assert_eq!(
                Pattern::read(text).unwrap().matches(Path::new(path)),
                expected,
                "{text} {path}"
            );
        }
    }

    #[test]
    fn what_is_no_pattern_is_refused() {
        for text in [
            "/etc/*", "~/x", "../*", "a/../b", "a/..", "[", "{a", "a[", ".", "/", "./",
        ] {
            let error = Pattern::read(text).unwrap_err();
            assert_eq!(error.code(), "InputInvalid", "{text}");
        }
    }
}
