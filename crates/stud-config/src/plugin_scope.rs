//! Where a plugin or a setting comes from.

use std::fmt;

use serde::Serialize;

/// The three layers, lowest first: a later one hides an earlier one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Scope {
    /// Shipped inside the program.
    Bundled,
    /// Below the global root.
    Global,
    /// Below `<cwd>/.stud`, and only once the project is trusted.
    Project,
}

impl Scope {
    /// The word on every wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Bundled => "bundled",
            Self::Global => "global",
            Self::Project => "project",
        }
    }
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
