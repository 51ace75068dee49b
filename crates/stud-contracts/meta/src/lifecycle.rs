//! The four phases of an extension's life.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Core calls these in order; a phase an extension does not declare does nothing.
///
/// `init → activate ⇄ deactivate → dispose`. `activate` may run many times, and `dispose` must bear being called twice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Phase {
    /// Once, with the validated config. Expensive work should wait for `activate`.
    Init,
    /// From loaded or inactive to active.
    Activate,
    /// From active to inactive; what `init` acquired stays.
    Deactivate,
    /// Releases everything.
    Dispose,
}

impl Phase {
    /// All four, in order.
    pub const ALL: [Self; 4] = [Self::Init, Self::Activate, Self::Deactivate, Self::Dispose];

    /// The word on every wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Init => "init",
            Self::Activate => "activate",
            Self::Deactivate => "deactivate",
            Self::Dispose => "dispose",
        }
    }
}

impl fmt::Display for Phase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// When a changed extension may take the place of the running one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ReloadBehavior {
    /// At the next stage boundary.
    InTurn,
    /// When the turn has ended.
    BetweenTurns,
    /// Not while the process lives.
    Never,
}

impl ReloadBehavior {
    /// Reads one of the three words.
    pub fn parse(word: &str) -> Option<Self> {
        match word {
            "in-turn" => Some(Self::InTurn),
            "between-turns" => Some(Self::BetweenTurns),
            "never" => Some(Self::Never),
            _ => None,
        }
    }
}
