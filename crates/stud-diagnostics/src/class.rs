//! The eight error classes: what a program should do next.

use std::fmt;
use std::str::FromStr;

/// Says who owns the next move after a failure.
///
/// The set is closed. A caller that has never seen a code can still act on its class.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Class {
    /// Something declared or configured is wrong; the operator or the author fixes it.
    Validation,
    /// A provider failed in a way that may pass; retry with backoff.
    ProviderTransient,
    /// A provider lacks something the session needs; pick another one.
    ProviderCapability,
    /// A tool failed in a way that may pass.
    ToolTransient,
    /// A tool failed for good; the model is told and may react.
    ToolTerminal,
    /// The session or what it stands on failed.
    Session,
    /// Not a failure: the work was cancelled.
    Cancellation,
    /// A plugin or the machinery around it failed.
    ExtensionHost,
}

impl Class {
    /// All classes, in the order the error model lists them.
    pub const ALL: [Self; 8] = [
        Self::Validation,
        Self::ProviderTransient,
        Self::ProviderCapability,
        Self::ToolTransient,
        Self::ToolTerminal,
        Self::Session,
        Self::Cancellation,
        Self::ExtensionHost,
    ];

    /// The word on every wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Validation => "Validation",
            Self::ProviderTransient => "ProviderTransient",
            Self::ProviderCapability => "ProviderCapability",
            Self::ToolTransient => "ToolTransient",
            Self::ToolTerminal => "ToolTerminal",
            Self::Session => "Session",
            Self::Cancellation => "Cancellation",
            Self::ExtensionHost => "ExtensionHost",
        }
    }
}

impl fmt::Display for Class {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The text was none of the eight class names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UnknownClass;

impl FromStr for Class {
    type Err = UnknownClass;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::ALL
            .into_iter()
            .find(|class| class.as_str() == text)
            .ok_or(UnknownClass)
    }
}
