//! How many extensions of a category there may be.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// How many may be loaded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(into = "Value")]
pub enum LoadedCardinality {
    /// Any number.
    Unlimited,
    /// One.
    One,
    /// A fixed number, at least one.
    N(u64),
}

/// How many may be active.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ActiveCardinality {
    /// Any number.
    Unlimited,
    /// One.
    One,
    /// One, and it is attached to the session: state machines.
    OneAttached,
}

impl LoadedCardinality {
    /// Reads `"unlimited"`, `"one"` or `{"kind":"n","n":3}`.
    pub fn parse(value: &Value) -> Option<Self> {
        match value {
            Value::String(word) if word == "unlimited" => Some(Self::Unlimited),
            Value::String(word) if word == "one" => Some(Self::One),
            Value::Object(object) if object.len() == 2 && object.get("kind")? == "n" => {
                object.get("n")?.as_u64().filter(|n| *n > 0).map(Self::N)
            }
            _ => None,
        }
    }
}

impl ActiveCardinality {
    /// Reads one of the three words.
    pub fn parse(value: &Value) -> Option<Self> {
        match value.as_str()? {
            "unlimited" => Some(Self::Unlimited),
            "one" => Some(Self::One),
            "one-attached" => Some(Self::OneAttached),
            _ => None,
        }
    }
}

impl From<LoadedCardinality> for Value {
    fn from(cardinality: LoadedCardinality) -> Self {
        match cardinality {
            LoadedCardinality::Unlimited => "unlimited".into(),
            LoadedCardinality::One => "one".into(),
            LoadedCardinality::N(n) => serde_json::json!({"kind": "n", "n": n}),
        }
    }
}

impl fmt::Display for LoadedCardinality {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unlimited => f.write_str("unlimited"),
            Self::One => f.write_str("one"),
            Self::N(n) => write!(f, "{n}"),
        }
    }
}

impl fmt::Display for ActiveCardinality {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Unlimited => "unlimited",
            Self::One => "one",
            Self::OneAttached => "one-attached",
        })
    }
}
