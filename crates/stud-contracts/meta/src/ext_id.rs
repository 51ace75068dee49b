//! What an extension is called.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A kebab-case id: `[a-z0-9][a-z0-9-]{0,63}`, unique over all categories.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ExtId(String);

/// The text was no extension id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InvalidExtId(pub String);

impl ExtId {
    /// Reads an id.
    pub fn parse(text: &str) -> Result<Self, InvalidExtId> {
        let bytes = text.as_bytes();
        let allowed = |byte: &u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
        let fits = (1..=64).contains(&bytes.len())
            && allowed(&bytes[0])
            && bytes.iter().all(|byte| allowed(byte) || *byte == b'-');
        if fits {
            Ok(Self(text.to_owned()))
        } else {
            Err(InvalidExtId(text.to_owned()))
        }
    }

    /// The id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for ExtId {
    type Error = InvalidExtId;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        Self::parse(&text)
    }
}

impl From<ExtId> for String {
    fn from(id: ExtId) -> Self {
        id.0
    }
}

impl fmt::Display for ExtId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Display for InvalidExtId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "`{}` is not a kebab-case id of at most 64 characters",
            self.0
        )
    }
}

impl std::error::Error for InvalidExtId {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_short_kebab_case() {
        for good in ["a", "line-count", "0", "a-", &"x".repeat(64)] {
            assert!(ExtId::parse(good).is_ok(), "{good}");
        }
        for wrong in ["", "-a", "Line", "a_b", "a b", "é", "../x", &"x".repeat(65)] {
            assert!(ExtId::parse(wrong).is_err(), "{wrong}");
        }
    }
}
