//! How a task fails, and the exit code that tells a script which way it was.

use std::process::ExitCode;

/// What every task returns.
pub(crate) type Outcome = Result<(), Failure>;

/// Why a task did not end well.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The command line was wrong; exit code 2.
    Usage(String),
    /// The work was tried and failed; exit code 1.
    Failed(String),
    /// A program the task stands in for failed and has already said why.
    Exit(u8),
}

impl Failure {
    /// A wrong command line.
    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self::Usage(message.into())
    }

    /// Work that failed.
    pub(crate) fn failed(message: impl Into<String>) -> Self {
        Self::Failed(message.into())
    }

    /// Says what went wrong and gives the exit code.
    pub(crate) fn report(self) -> ExitCode {
        match self {
            Self::Usage(message) => {
                eprintln!("{message}");
                ExitCode::from(2)
            }
            Self::Failed(message) => {
                eprintln!("{message}");
                ExitCode::FAILURE
            }
            Self::Exit(code) => ExitCode::from(code),
        }
    }
}
