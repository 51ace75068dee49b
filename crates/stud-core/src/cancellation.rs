//! What is said of work that was called off: which scope it belonged to, and who called it off.

use stud_contract_meta::Error;
use stud_diagnostics::{Code, codes};

/// What work belongs to, and is called off with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scope {
    Session,
    Turn,
    Tool,
}

/// Who called it off.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reason {
    /// Somebody wanted this and nothing else to stop.
    User,
    /// What it belongs to came to its end.
    Parent,
}

impl Scope {
    const fn code(self) -> &'static Code {
        match self {
            Self::Session => &codes::SESSION_CANCELLED,
            Self::Turn => &codes::TURN_CANCELLED,
            Self::Tool => &codes::TOOL_CANCELLED,
        }
    }

    const fn as_str(self) -> &'static str {
        match self {
            Self::Session => "session",
            Self::Turn => "turn",
            Self::Tool => "tool",
        }
    }
}

impl Reason {
    const fn as_str(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Parent => "parent",
        }
    }
}

/// The error of class `Cancellation` for work in `scope`.
pub(crate) fn called_off(scope: Scope, reason: Reason, message: &str) -> Error {
    let code = scope.code();
    Error::new(code.class, code.name, message)
        .with("kind", scope.as_str())
        .with("reason", reason.as_str())
}
