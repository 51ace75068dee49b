//! What kind of hook it is and how often it fires.

use std::fmt;

use serde::{Deserialize, Serialize};

/// What a hook does with what passes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum SubKind {
    /// Puts something else in its place.
    Transform,
    /// Lets it pass or does not.
    Guard,
    /// Looks at it.
    Observer,
}

impl SubKind {
    /// All three, as the matrix lists them.
    pub const ALL: [Self; 3] = [Self::Transform, Self::Guard, Self::Observer];

    /// The word in a manifest.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Transform => "transform",
            Self::Guard => "guard",
            Self::Observer => "observer",
        }
    }

    /// The sub-kind whose word this is.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == word)
    }
}

impl fmt::Display for SubKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// How often a hook fires.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum FiringMode {
    /// Once each time the stage runs.
    #[default]
    PerStage,
    /// Once for each tool call; around `TOOL_CALL` only.
    PerCall,
    /// Once for each piece of the answer; around `STREAM_RESPONSE` only.
    PerToken,
}
