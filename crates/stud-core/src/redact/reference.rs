//! A secret by name. Configs, manifests and records hold these, and never what they stand for.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Where a secret is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ReferenceKind {
    /// In the environment; the name is a variable's.
    Env,
    /// In the vault; the name is an entry's.
    Keyring,
    /// In a file of its own; the name is its path.
    File,
}

impl ReferenceKind {
    /// The word on every wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Env => "env",
            Self::Keyring => "keyring",
            Self::File => "file",
        }
    }

    fn of(word: &str) -> Option<Self> {
        [Self::Env, Self::Keyring, Self::File]
            .into_iter()
            .find(|kind| kind.as_str() == word)
    }
}

impl fmt::Display for ReferenceKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A secret by name: `{"kind": "env", "name": "API_KEY"}`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SecretReference {
    /// Where it is kept.
    pub kind: ReferenceKind,
    /// Its name there.
    pub name: String,
}

impl SecretReference {
    /// The reference a value is, if it is one: an object with these two members and no other.
    pub fn of(value: &Value) -> Option<Self> {
        Self::in_members(value.as_object()?)
    }

    pub(super) fn in_members(members: &Map<String, Value>) -> Option<Self> {
        let kind = claimed_kind(members)?;
        let name = name_in(members)?;
        (members.len() == 2).then(|| Self {
            kind,
            name: name.to_owned(),
        })
    }
}

/// Whether an object says it is a reference and lacks the name of one.
pub(super) fn is_malformed(members: &Map<String, Value>) -> bool {
    claimed_kind(members).is_some() && name_in(members).is_none()
}

fn claimed_kind(members: &Map<String, Value>) -> Option<ReferenceKind> {
    ReferenceKind::of(members.get("kind")?.as_str()?)
}

fn name_in(members: &Map<String, Value>) -> Option<&str> {
    members
        .get("name")?
        .as_str()
        .filter(|name| !name.is_empty())
}
