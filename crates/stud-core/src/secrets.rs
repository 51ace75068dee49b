//! Where a secret comes from when one is needed.
//!
//! Configs hold references; what they stand for is looked up here at the point of use and nowhere else. Every value
//! that leaves this module has been learned by the [`Redactor`], so it can be used and cannot be written down.

mod file;
mod keyring;
mod vault;

pub use crate::redact::{ReferenceKind, SecretReference};
pub use vault::{UserVault, Vault};

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use secrecy::{ExposeSecret as _, SecretString};
use stud_contract_meta::{Error, Result};
use stud_diagnostics::{Code, codes};
use stud_host_api::refusal;

use crate::platform;
use crate::plugin_scope::Scope;
use crate::redact::{Origin, Redactor};
use crate::settings::{Settings, pointed_at};

/// Where a value was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Source {
    /// In the environment of the process.
    Os,
    /// In `env` of the settings of this scope.
    Settings(Scope),
    /// In the vault.
    Keyring,
}

impl Source {
    /// The word in audit records.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Os => "os",
            Self::Settings(Scope::Project) => "settings.project",
            Self::Settings(Scope::Global) => "settings.global",
            Self::Settings(Scope::Bundled) => "settings.bundled",
            Self::Keyring => "keyring",
        }
    }

    /// The layer it belongs to, as audit records say it. The vault is the user's, as is everything global.
    pub const fn scope_layer(self) -> &'static str {
        match self {
            Self::Os => "os",
            Self::Settings(scope) => scope.as_str(),
            Self::Keyring => Scope::Global.as_str(),
        }
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A value and where it was found. Its `Debug` form does not show the value.
#[derive(Debug, Clone)]
pub struct Resolved {
    /// The value; never empty.
    pub value: SecretString,
    /// Where it was found.
    pub source: Source,
}

impl Resolved {
    /// The layer it belongs to: `os`, `project`, `global` or `bundled`.
    pub const fn scope_layer(&self) -> &'static str {
        self.source.scope_layer()
    }
}

/// Looks names up: the environment of the process first, then `env` of the settings from the highest scope to the
/// lowest, then the vault. There is no way to list them.
pub struct Env {
    settings: Settings,
    vault: Arc<dyn Vault>,
    redactor: Arc<Redactor>,
    /// What relative paths of references start from.
    global_root: PathBuf,
    os: fn(&str) -> Option<String>,
}

impl Env {
    /// Lookups with these settings; what they find is learned by `redactor`.
    pub fn new(
        global_root: &Path,
        settings: Settings,
        vault: Arc<dyn Vault>,
        redactor: Arc<Redactor>,
    ) -> Self {
        Self {
            settings,
            vault,
            redactor,
            global_root: global_root.to_owned(),
            os: platform::env_value,
        }
    }

    /// The value of a name, if it has one. An empty value counts as none.
    pub fn get(&self, name: &str) -> Result<Option<Resolved>> {
        let found = match self.outside_vault(name) {
            Some(found) => Some(found),
            None => self.in_vault(name)?,
        };
        if let Some(found) = &found {
            let origin = Origin {
                source: "env",
                identifier: name.to_owned(),
            };
            self.redactor.learn_from(&found.value, origin);
        }
        Ok(found)
    }

    /// The value of a name; `Validation/EnvNameNotSet` if it has none.
    pub fn require(&self, name: &str) -> Result<Resolved> {
        self.get(name)?
            .ok_or_else(|| refusal::env_name_not_set(name))
    }

    /// What a reference stands for.
    ///
    /// `Validation/EnvNameNotSet` or `Validation/SecretMissing` if that is nothing.
    pub fn resolve(&self, reference: &SecretReference) -> Result<SecretString> {
        let name = &reference.name;
        let value = match reference.kind {
            ReferenceKind::Env => return Ok(self.require(name)?.value),
            ReferenceKind::Keyring => self.vault.get(name)?,
            ReferenceKind::File => file::alone(&self.global_root.join(name))?,
        };
        let value = value
            .filter(|value| !value.expose_secret().is_empty())
            .ok_or_else(|| missing(reference))?;
        let origin = Origin {
            source: "settings",
            identifier: name.clone(),
        };
        self.redactor.learn_from(&value, origin);
        Ok(value)
    }

    /// Whether a reference leads to something. A keyring is not asked for the value, because that may ask its owner.
    pub fn leads_somewhere(&self, reference: &SecretReference) -> Result<bool> {
        let name = &reference.name;
        let in_vault = || Ok(self.vault.names()?.contains(name));
        match reference.kind {
            ReferenceKind::Env => match self.outside_vault(name) {
                Some(_) => Ok(true),
                None => in_vault(),
            },
            ReferenceKind::Keyring => in_vault(),
            ReferenceKind::File => {
                let file = std::fs::metadata(self.global_root.join(name));
                Ok(file.is_ok_and(|file| file.is_file() && file.len() > 0))
            }
        }
    }

    fn outside_vault(&self, name: &str) -> Option<Resolved> {
        let of = |source| {
            move |value: String| Resolved {
                value: SecretString::from(value),
                source,
            }
        };
        let from_settings = || {
            self.settings.each("env", name).find_map(|set| {
                let value = self.expanded(set.value.as_str()?)?;
                Some(of(Source::Settings(set.scope))(value))
            })
        };
        (self.os)(name).map(of(Source::Os)).or_else(from_settings)
    }

    /// A setting's own text, or the variable of the process that `${NAME}` points at: so no secret need stand in a file.
    fn expanded(&self, text: &str) -> Option<String> {
        match pointed_at(text) {
            Some(variable) => (self.os)(variable),
            None => Some(text.to_owned()).filter(|value| !value.is_empty()),
        }
    }

    /// Only a name that is known to be there is asked for, because asking a keyring may ask its owner.
    fn in_vault(&self, name: &str) -> Result<Option<Resolved>> {
        if !self.vault.names()?.iter().any(|known| known == name) {
            return Ok(None);
        }
        let value = self.vault.get(name)?;
        let value = value.filter(|value| !value.expose_secret().is_empty());
        Ok(value.map(|value| Resolved {
            value,
            source: Source::Keyring,
        }))
    }
}

impl fmt::Debug for Env {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The settings may hold values of variables, so they are not shown.
        f.debug_struct("Env")
            .field("vault", &self.vault)
            .finish_non_exhaustive()
    }
}

fn missing(reference: &SecretReference) -> Error {
    let SecretReference { kind, name } = reference;
    let what = match kind {
        ReferenceKind::Env => "variable",
        ReferenceKind::Keyring => "entry of the keyring or the secrets file",
        ReferenceKind::File => "file with a secret in it",
    };
    refuse(
        &codes::SECRET_MISSING,
        format!("there is no {what} `{name}`"),
    )
    .with("kind", kind.as_str())
    .with("name", name.as_str())
}

fn refuse(code: &Code, message: impl Into<String>) -> Error {
    Error::new(code.class, code.name, message)
}

#[cfg(test)]
mod tests;
