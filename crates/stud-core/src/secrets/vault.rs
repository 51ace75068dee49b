//! Secrets by name, kept for one user.

use std::fmt;
use std::path::Path;

use secrecy::SecretString;
use stud_contract_meta::{Error, Result};
use stud_diagnostics::codes;

use super::file::{SecretsFile, StoredSecret};
use super::keyring::{Keyring, OsKeyring};
use super::refuse;

/// Keeps secrets by name. Nothing is opened before something is asked for.
pub trait Vault: fmt::Debug + Send + Sync {
    /// The secret of a name, if there is one.
    fn get(&self, name: &str) -> Result<Option<SecretString>>;

    /// Keeps a secret, in place of any of the same name.
    fn set(&self, name: &str, value: &SecretString) -> Result<()>;

    /// Forgets a secret; whether there was one.
    fn delete(&self, name: &str) -> Result<bool>;

    /// The names of all secrets that were put in here, in byte order. The keyring is not asked for this.
    fn names(&self) -> Result<Vec<String>>;
}

/// The keyring of the operating system where there is one, and `<globalRoot>/secrets.json` where there is none.
///
/// A keyring that is there and says no is an error: a secret does not go to a file because its owner was away.
pub struct UserVault {
    keyring: Box<dyn Keyring>,
    file: SecretsFile,
}

impl UserVault {
    /// The vault of the user whose global root this is.
    pub fn new(global_root: &Path) -> Self {
        Self::with(Box::new(OsKeyring), global_root)
    }

    pub(super) fn with(keyring: Box<dyn Keyring>, global_root: &Path) -> Self {
        Self {
            keyring,
            file: SecretsFile::below(global_root),
        }
    }
}

impl Vault for UserVault {
    fn get(&self, name: &str) -> Result<Option<SecretString>> {
        // The file is read first, because that prompts for nothing; its entries are not in the keyring.
        if let Some(StoredSecret(value)) = self.file.read()?.entries.remove(name) {
            return Ok(Some(value));
        }
        if !self.keyring.is_there() {
            return Ok(None);
        }
        self.keyring.get(name).map_err(|why| refused(name, &why))
    }

    fn set(&self, name: &str, value: &SecretString) -> Result<()> {
        if name.is_empty() {
            let message = "a secret needs a name";
            return Err(refuse(&codes::SECRET_STORE_UNAVAILABLE, message));
        }
        if !self.keyring.is_there() {
            return self.file.change(|contents| {
                contents
                    .entries
                    .insert(name.to_owned(), StoredSecret(value.clone()));
            });
        }
        self.keyring
            .set(name, value)
            .map_err(|why| refused(name, &why))?;
        // A copy from before there was a keyring must not outlive the one in it.
        self.file.change(|contents| {
            contents.entries.remove(name);
            contents.keyring.insert(name.to_owned());
        })
    }

    fn delete(&self, name: &str) -> Result<bool> {
        let known = self.file.read()?;
        let mut was_there = known.entries.contains_key(name);
        if self.keyring.is_there() {
            was_there |= self
                .keyring
                .delete(name)
                .map_err(|why| refused(name, &why))?;
        } else if known.keyring.contains(name) {
            return Err(refused(name, "it has the secret and is not running"));
        }
        if known.entries.contains_key(name) || known.keyring.contains(name) {
            self.file.change(|contents| {
                contents.entries.remove(name);
                contents.keyring.remove(name);
            })?;
        }
        Ok(was_there)
    }

    fn names(&self) -> Result<Vec<String>> {
        let contents = self.file.read()?;
        let mut names = contents.keyring;
        names.extend(contents.entries.into_keys());
        Ok(names.into_iter().collect())
    }
}

impl fmt::Debug for UserVault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("UserVault")
            .field("file", &self.file)
            .finish_non_exhaustive()
    }
}

fn refused(name: &str, why: &str) -> Error {
    let message = format!("the keyring did not do its part for `{name}`: {why}");
    refuse(&codes::SECRET_STORE_UNAVAILABLE, message).with("name", name)
}
