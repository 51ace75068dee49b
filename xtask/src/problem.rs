//! What a check found: where, what, and how to fix it.

use std::fmt;

/// How much a finding matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Weight {
    /// The check fails.
    Problem,
    /// Worth a look; the check passes.
    Note,
}

/// One finding of a check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Problem {
    pub(crate) weight: Weight,
    pub(crate) file: String,
    pub(crate) line: usize,
    pub(crate) message: String,
    pub(crate) fix: String,
}

impl Problem {
    /// A finding that fails the check.
    pub(crate) fn new(
        file: impl Into<String>,
        line: usize,
        message: impl Into<String>,
        fix: impl Into<String>,
    ) -> Self {
        Self {
            weight: Weight::Problem,
            file: file.into(),
            line,
            message: message.into(),
            fix: fix.into(),
        }
    }

    /// The same finding, as a remark only.
    pub(crate) fn into_note(mut self) -> Self {
        self.weight = Weight::Note;
        self
    }

    /// An entry of an exemption list that excuses nothing any more.
    pub(crate) fn stale_exemption(check: &str, entry: &str) -> Self {
        Self::new(
            format!("xtask/src/check/{check}.rs"),
            1,
            format!("the exemption for `{entry}` is no longer needed"),
            "remove it from the list",
        )
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            weight,
            file,
            line,
            message,
            fix,
        } = self;
        match weight {
            Weight::Problem => write!(f, "{file}:{line}: {message} ({fix})"),
            Weight::Note => write!(f, "{file}:{line}: note: {message} ({fix})"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Problem;

    #[test]
    fn a_problem_reads_as_place_message_and_fix() {
        let problem = Problem::new("a.rs", 3, "too long", "split it");
        assert_eq!(problem.to_string(), "a.rs:3: too long (split it)");
        assert_eq!(
            problem.into_note().to_string(),
            "a.rs:3: note: too long (split it)"
        );
    }
}
