//! What is wrong with a file, and in which line.

/// What is wrong, and in which line of the file, from 1.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Fault {
    pub(super) line: usize,
    pub(super) problem: String,
}

pub(super) type Parsed<T> = Result<T, Fault>;

pub(super) fn fault<T>(line: usize, problem: impl Into<String>) -> Parsed<T> {
    Err(Fault {
        line,
        problem: problem.into(),
    })
}
