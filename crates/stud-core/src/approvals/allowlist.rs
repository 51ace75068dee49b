//! The mode `allowlist`: patterns of keys that may pass without a question.

use crate::did_you_mean::nearest;

/// Patterns in byte order, each once. `*` stands for any run of characters, everything else for itself.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Allowlist(Vec<String>);

impl Allowlist {
    /// The union of what all scopes list.
    pub fn of(patterns: impl IntoIterator<Item = String>) -> Self {
        let mut patterns: Vec<String> = patterns.into_iter().collect();
        patterns.sort_unstable();
        patterns.dedup();
        Self(patterns)
    }

    /// All patterns.
    pub fn patterns(&self) -> &[String] {
        &self.0
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The first pattern that fits the key.
    pub fn find(&self, key: &str) -> Option<&str> {
        let mut patterns = self.0.iter().map(String::as_str);
        patterns.find(|pattern| fits(pattern, key))
    }

    /// The pattern that comes nearest to fitting.
    pub fn near(&self, key: &str) -> Option<&str> {
        let starts = |pattern: &&str| {
            let start = pattern.split('*').next().unwrap_or_default();
            !start.is_empty() && key.starts_with(start)
        };
        let patterns = || self.0.iter().map(String::as_str);
        patterns().find(starts).or_else(|| nearest(key, patterns()))
    }
}

/// Whether a pattern fits a whole key. Linear in both: after a star only the next literal piece matters.
fn fits(pattern: &str, key: &str) -> bool {
    let mut pieces = pattern.split('*');
    let first = pieces.next().unwrap_or_default();
    let Some(mut rest) = key.strip_prefix(first) else {
        return false;
    };
    let Some(last) = pieces.next_back() else {
        // Without a star the whole pattern is the first piece.
        return rest.is_empty();
    };
    for piece in pieces {
        let Some(place) = rest.find(piece) else {
            return false;
        };
        rest = &rest[place + piece.len()..];
    }
    rest.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_is_any_run_and_the_rest_is_literal() {
        for (pattern, key, expected) in [
            ("git", "git", true),
            ("git", "gitk", false),
            ("git", "agit", false),
            ("git*", "git push", true),
            ("*", "", true),
            ("*", "any/thing", true),
            ("src/*", "src/a/b", true),
            ("src/*", "src", false),
            ("*.rs", "a/b.rs", true),
            ("a*b*c", "a-b-c", true),
            ("a*b*c", "acb", false),
            ("ab*ba", "aba", false),
            ("", "", true),
            ("", "x", false),
            ("a.c", "abc", false),
            ("a**b", "ab", true),
        ] {
            assert_eq!(fits(pattern, key), expected, "{pattern} {key}");
        }
    }

    #[test]
    fn patterns_are_sorted_and_unique() {
        let list = Allowlist::of(["b", "a", "b"].map(str::to_owned));
        assert_eq!(list.patterns(), ["a", "b"]);
    }

    #[test]
    fn the_nearest_pattern_shares_its_beginning() {
        let list = Allowlist::of(["git status".to_owned(), "src/lib*".to_owned()]);
        assert_eq!(list.near("docs"), None);
        assert_eq!(list.near("git statu"), Some("git status"));
        assert_eq!(list.near("src/lib"), Some("src/lib*"));
    }
}
