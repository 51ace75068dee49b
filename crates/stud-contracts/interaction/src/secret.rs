//! Text that must not be seen.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A password, token or key, on its way from the person to whoever asked.
///
/// It has no `Display`, and `Debug` hides it, so that it cannot slip into a log.
/// It does serialize, since it has to cross to the asker; keep that JSON away from records and events.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(extend("format" = "password", "writeOnly" = true)))]
#[serde(transparent)]
pub struct Secret(String);

impl Secret {
    /// Takes custody of `text`.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The secret itself. Each call is a place to look at in a review.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Not even the length is shown.
        f.write_str("Secret(..)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn debug_shows_nothing_of_it() {
        assert_eq!(format!("{:?}", Secret::new("hunter2")), "Secret(..)");
        assert_eq!(
            format!("{:#?}", Some(Secret::new("hunter2"))),
            "Some(\n    Secret(..),\n)"
        );
    }

    #[test]
    fn it_is_a_plain_string_on_the_wire() {
        let secret: Secret = serde_json::from_str("\"hunter2\"").unwrap();
        assert_eq!(secret.expose(), "hunter2");
        assert_eq!(serde_json::to_string(&secret).unwrap(), "\"hunter2\"");
    }
}
