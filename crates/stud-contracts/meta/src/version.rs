//! Versions and ranges: one grammar for every use.

use std::fmt;

use semver::{Version, VersionReq};

/// A version of exactly three numbers, without pre-release or build text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SemVer {
    /// Raised by a breaking change.
    pub major: u64,
    /// Raised by an addition.
    pub minor: u64,
    /// Raised by anything else.
    pub patch: u64,
}

impl SemVer {
    /// A version known at compile time.
    pub const fn new(major: u64, minor: u64, patch: u64) -> Self {
        Self {
            major,
            minor,
            patch,
        }
    }

    /// Reads `MAJOR.MINOR.PATCH`.
    pub fn parse(text: &str) -> Option<Self> {
        let version = Version::parse(text).ok()?;
        let plain = version.pre.is_empty() && version.build.is_empty();
        plain.then_some(Self::new(version.major, version.minor, version.patch))
    }

    /// Whether something built against `self` is served by `implemented`: same major, minor no newer.
    pub const fn is_served_by(self, implemented: Self) -> bool {
        self.major == implemented.major && self.minor <= implemented.minor
    }
}

impl fmt::Display for SemVer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.major, self.minor, self.patch)
    }
}

/// A range such as `>=1.2.0 <2.0.0`, `^1.2` or `1.2.3`.
///
/// It is the `semver` crate's grammar, where a bare version means caret; spaces join comparators like commas do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Range(VersionReq);

impl Range {
    /// Reads a range; `None` when it is empty or not one.
    pub fn parse(text: &str) -> Option<Self> {
        let mut joined = String::new();
        let mut operator = "";
        for word in text.split([' ', '\t', ',']).filter(|word| !word.is_empty()) {
            // An operator may stand apart from its version: `>= 1.0.0`.
            if word
                .chars()
                .all(|c| matches!(c, '<' | '>' | '=' | '^' | '~'))
            {
                if !operator.is_empty() {
                    return None;
                }
                operator = word;
                continue;
            }
            if !joined.is_empty() {
                joined.push_str(", ");
            }
            joined.push_str(operator);
            joined.push_str(word);
            operator = "";
        }
        if joined.is_empty() || !operator.is_empty() {
            return None;
        }
        VersionReq::parse(&joined).ok().map(Self)
    }

    /// Whether `version` lies in the range.
    pub fn contains(&self, version: SemVer) -> bool {
        self.0
            .matches(&Version::new(version.major, version.minor, version.patch))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_is_three_plain_numbers() {
        assert_eq!(SemVer::parse("1.2.3"), Some(SemVer::new(1, 2, 3)));
        for wrong in [
            "1.2",
            "1",
            "v1.2.3",
            "1.2.3-rc.1",
            "1.2.3+build",
            "01.2.3",
            "",
            " 1.2.3",
            "1.2.3.4",
        ] {
            assert_eq!(SemVer::parse(wrong), None, "{wrong:?}");
        }
    }

    #[test]
    fn a_plugin_is_served_by_the_same_major_and_no_older_minor() {
        let core = SemVer::new(1, 2, 0);
        assert!(SemVer::new(1, 2, 9).is_served_by(core));
        assert!(SemVer::new(1, 0, 0).is_served_by(core));
        assert!(!SemVer::new(1, 3, 0).is_served_by(core));
        assert!(!SemVer::new(2, 0, 0).is_served_by(core));
        assert!(!SemVer::new(0, 9, 0).is_served_by(core));
    }

    #[test]
    fn ranges_join_with_spaces_or_commas() {
        let inside = SemVer::new(1, 4, 0);
        for range in [
            ">=1.0.0 <2.0.0",
            ">=1.0.0, <2.0.0",
            ">= 1.0.0  < 2.0.0",
            "^1.2",
            "1.2.3",
            "*",
            "~1.4.0",
            ">=1.4.0 <=1.4.0",
        ] {
            assert!(Range::parse(range).unwrap().contains(inside), "{range}");
        }
        for range in [">1.4.0", "<1.4.0", "=1.3.0", "^2", "~1.3"] {
            assert!(!Range::parse(range).unwrap().contains(inside), "{range}");
        }
        for wrong in [
            "",
            "  ",
            "latest",
            ">=",
            "1 || 2",
            ">= >= 1.0.0",
            "not.a.version",
        ] {
            assert_eq!(Range::parse(wrong), None, "{wrong:?}");
        }
    }
}
