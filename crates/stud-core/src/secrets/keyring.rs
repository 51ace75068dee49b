//! The keyring of the operating system.

use secrecy::SecretString;

#[cfg(not(shuttle))]
mod os;

#[cfg(not(shuttle))]
pub(super) use os::OsKeyring;

/// A keyring, or what stands in for one.
pub(super) trait Keyring: Send + Sync {
    /// Whether there is one. What this says holds for the whole process.
    fn is_there(&self) -> bool;

    /// The entry of a name, or why it cannot be had.
    fn get(&self, name: &str) -> Result<Option<SecretString>, String>;

    /// Replaces the entry of a name.
    fn set(&self, name: &str, value: &SecretString) -> Result<(), String>;

    /// Removes the entry of a name; whether there was one.
    fn delete(&self, name: &str) -> Result<bool, String>;
}

/// A model has no operating system, and is built without what talks to one.
#[cfg(shuttle)]
#[derive(Debug, Default)]
pub(super) struct OsKeyring;

#[cfg(shuttle)]
impl Keyring for OsKeyring {
    fn is_there(&self) -> bool {
        false
    }

    fn get(&self, _: &str) -> Result<Option<SecretString>, String> {
        Ok(None)
    }

    fn set(&self, _: &str, _: &SecretString) -> Result<(), String> {
        Err("a model has no keyring".to_owned())
    }

    fn delete(&self, _: &str) -> Result<bool, String> {
        Ok(false)
    }
}
