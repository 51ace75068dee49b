//! The key of a backend, from its reference to its header.

use std::fmt;

use reqwest::header::HeaderValue;
use stud_sdk::host::refusal;
use stud_sdk::{Class, Error, Host, Result, Schema};

/// Where the key is, never the key itself.
#[derive(Debug, Clone, PartialEq, Eq, Schema)]
pub struct KeyReference {
    /// Which store has it.
    pub kind: KeyKind,
    /// What it is called there.
    #[stud(min_length = 1)]
    pub name: String,
}

/// A store of keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Schema)]
pub enum KeyKind {
    /// The environment, and `env` of the settings.
    Env,
    /// The keyring of the system, or stud's secrets file where there is none.
    Keyring,
}

impl KeyReference {
    /// Looks the key up, as it is now.
    pub(crate) fn resolve(&self, host: &Host) -> Result<Key> {
        let found = host.env().get(&self.name)?;
        let found = found.map(|value| value.trim().to_owned());
        match found.filter(|value| !value.is_empty()) {
            Some(value) => Ok(Key(value)),
            None => Err(self.missing()),
        }
    }

    fn missing(&self) -> Error {
        let name = &*self.name;
        match self.kind {
            KeyKind::Env => refusal::env_name_not_set(name),
            KeyKind::Keyring => {
                let message =
                    format!("there is no entry of the keyring or the secrets file `{name}`");
                Error::new(Class::Validation, "SecretMissing", message)
                    .with("kind", "keyring")
                    .with("name", name)
            }
        }
    }
}

/// A key. Its `Debug` form does not show it.
pub struct Key(String);

impl Key {
    /// The value of a header, marked so that no print of the request shows it; nothing if no header can hold the key.
    pub(crate) fn header(&self, before: &str) -> Option<HeaderValue> {
        let mut value = HeaderValue::try_from(format!("{before}{}", self.0)).ok()?;
        value.set_sensitive(true);
        Some(value)
    }

    /// The text without the key, should a backend have repeated it.
    pub(crate) fn scrub(&self, text: &str) -> String {
        text.replace(&self.0, "[REDACTED]")
    }

    #[cfg(test)]
    pub(crate) fn of(text: &str) -> Self {
        Self(text.to_owned())
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key([REDACTED])")
    }
}
