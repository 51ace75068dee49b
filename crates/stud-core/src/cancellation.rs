//! The scope of cancelled work, and who cancelled it.

use stud_contract_meta::Error;
use stud_diagnostics::{Code, codes};

/// The scope with which work is cancelled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scope {
    Session,
    Turn,
    Tool,
}

/// Who called it off.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CancelReason {
    /// This scope alone was cancelled.
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

impl CancelReason {
    const fn as_str(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Parent => "parent",
        }
    }
}

/// The error of class `Cancellation` for work in `scope`.
pub(crate) fn called_off(scope: Scope, reason: CancelReason, message: &str) -> Error {
    let code = scope.code();
    Error::new(code.class, code.name, message)
        .with("kind", scope.as_str())
        .with("reason", reason.as_str())
}
