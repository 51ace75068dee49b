//! Why a prompt is no longer here.

use std::fmt;

use crate::escape;

/// How a prompt was settled without this screen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Fate {
    AnsweredBy(String),
    Cancelled,
}

/// Why a prompt cannot be answered here, or no longer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Gone {
    Settled(Fate),
    InputEnded,
    /// The plugin is being deactivated.
    Closed,
    /// More lines wait than are read ahead, so nothing that comes can be told from what came before.
    Flooded,
    /// The person types on a terminal and questions go elsewhere.
    Unseen,
    /// The terminal would show a secret while it is typed.
    Unhidden,
    /// A kind of question this version does not know.
    Unknown,
}

impl fmt::Display for Fate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::AnsweredBy(ext_id) => write!(f, "answered by {}", escape::line(ext_id)),
            Self::Cancelled => f.write_str("cancelled"),
        }
    }
}

impl fmt::Display for Gone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Settled(fate) => return fate.fmt(f),
            Self::InputEnded => "not answered here: the input has ended",
            Self::Closed => "not answered here: this screen closes",
            Self::Flooded => "not asked here: too much input was sent ahead",
            Self::Unseen => {
                "not asked here: standard error is not the terminal, so the prompt would not be visible"
            }
            Self::Unhidden => "not asked here: the terminal cannot hide input",
            Self::Unknown => "not asked here: this screen does not know such questions",
        })
    }
}
