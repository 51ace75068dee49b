//! Says when to stop.
//!
//! Nothing is preempted: a plugin that does not look at its token holds up whatever waits for it.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use stud_abi::CancellationToken;
use stud_contract_meta::Result;

/// What a token lives and dies with.
///
/// Cancelling an outer scope cancels everything inside it, and never the other way round.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Scope {
    /// The session.
    Session,
    /// The turn that runs.
    Turn,
    /// The tool call that runs.
    Tool,
}

/// Makes cancellation tokens.
pub trait CancellationFactory: Send + Sync {
    /// A token that fires when the enclosing scope is cancelled, immediately if it already was.
    ///
    /// `Turn` outside a turn and `Tool` outside a tool call are `ExtensionHost/NotReady`.
    fn token(&self, scope: Scope) -> Result<CancellationToken>;
}

impl Scope {
    /// All scopes, outermost first.
    pub const ALL: [Self; 3] = [Self::Session, Self::Turn, Self::Tool];

    /// The word on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Session => "session",
            Self::Turn => "turn",
            Self::Tool => "tool",
        }
    }
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The text was none of the three scopes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UnknownScope;

impl FromStr for Scope {
    type Err = UnknownScope;

    fn from_str(text: &str) -> std::result::Result<Self, Self::Err> {
        Self::ALL
            .into_iter()
            .find(|scope| scope.as_str() == text)
            .ok_or(UnknownScope)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn serde_and_text_agree() {
        for scope in Scope::ALL {
            assert_eq!(serde_json::to_value(scope).unwrap(), scope.as_str());
            assert_eq!(scope.as_str().parse(), Ok(scope));
        }
        assert_eq!("stage".parse::<Scope>(), Err(UnknownScope));
    }
}
