//! Which files are searched.

use std::path::Path;

use globset::{GlobBuilder, GlobMatcher};
use stud_sdk::prelude::*;

/// A pattern for names or for paths.
#[derive(Debug)]
pub(crate) struct Filter {
    pattern: GlobMatcher,
    whole_path: bool,
}

impl Filter {
    /// Reads a pattern, or says with `ToolTerminal/InputInvalid` what is wrong with it.
    pub(crate) fn read(text: &str) -> Result<Self> {
        let pattern = GlobBuilder::new(text.strip_prefix("./").unwrap_or(text))
            .literal_separator(true)
            .backslash_escape(true)
            .empty_alternates(true)
            .build()
            .map_err(|error| {
                let why = format!("`glob` is not a valid pattern: {}", error.kind());
                Error::invalid_input(why).with("glob", text)
            })?;
        Ok(Self {
            pattern: pattern.compile_matcher(),
            whole_path: text.contains('/'),
        })
    }

    /// Whether a file is searched.
    pub(crate) fn lets(&self, path: &Path) -> bool {
        if self.whole_path {
            return self.pattern.is_match(path);
        }
        path.file_name()
            .is_some_and(|name| self.pattern.is_match(name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_without_a_slash_is_for_names() {
        for (glob, path, expected) in [
            ("*.rs", "a.rs", true),
            ("*.rs", "b/c/a.rs", true),
            ("*.rs", "a.rst", false),
            ("b/*.rs", "b/a.rs", true),
            ("b/*.rs", "c/b/a.rs", false),
            ("./b/*.rs", "b/a.rs", true),
            ("**/b/*.rs", "c/b/a.rs", true),
            ("*.{rs,toml}", "x/Cargo.toml", true),
        ] {
            assert_eq!(
                Filter::read(glob).unwrap().lets(Path::new(path)),
                expected,
                "{glob} {path}"
            );
        }
        assert_eq!(Filter::read("[").unwrap_err().code(), "InputInvalid");
    }
}
