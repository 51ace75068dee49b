//! In whose name the session speaks.

use model_http::Bag;

/// The role of system messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SystemRole {
    System,
    Developer,
    /// They are not sent.
    Removed,
}

impl SystemRole {
    /// What `systemMessageMode` says.
    pub(crate) fn take(bag: &mut Bag) -> Self {
        let mode = bag.take("systemMessageMode");
        match mode.as_ref().and_then(|mode| mode.as_str()) {
            Some("developer") => Self::Developer,
            Some("remove") => Self::Removed,
            _ => Self::System,
        }
    }

    /// The word, if they are sent.
    pub(crate) fn word(self) -> Option<&'static str> {
        match self {
            Self::System => Some("system"),
            Self::Developer => Some("developer"),
            Self::Removed => None,
        }
    }
}
