//! Approvals that hold for a project: `.stud/approvals.json`.

use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use serde::{Deserialize, Serialize};
use stud_contract_meta::{Error, Result};
use stud_diagnostics::codes;

use crate::platform::{self, Durability, ReadError};
use crate::sync::{Mutex, lock};
use crate::trust::TrustedProject;

/// Far more than a person ever grants.
const LARGEST_FILE: u64 = 4 << 20;

/// The approvals of a project. Only a trusted one has any.
#[derive(Debug)]
pub struct ProjectApprovals {
    path: PathBuf,
    known: Mutex<Option<Known>>,
}

/// What was read, and from which version of the file.
#[derive(Debug)]
struct Known {
    version: Version,
    grants: Vec<Grant>,
}

/// Tells one version of the file from the next, which takes its place with an inode of its own; nothing while there is
/// no file.
type Version = Option<(u64, u64, Option<SystemTime>)>;

/// A yes that holds until it is taken back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Grant {
    /// What it covers.
    pub key: Subject,
    /// When it was given.
    pub granted_at: String,
    /// Who gave it.
    pub granted_by: GrantedBy,
    /// Always `project`: nothing else is written down.
    pub scope: String,
}

/// A tool and what it may touch.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Subject {
    /// The tool.
    pub tool_id: String,
    /// The key it derived.
    pub approval_key: String,
}

/// Who said yes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum GrantedBy {
    /// A person.
    User,
    /// The allowlist.
    Allowlist,
}

impl Grant {
    pub(super) fn of_person(key: Subject, granted_at: String) -> Self {
        Self {
            key,
            granted_at,
            granted_by: GrantedBy::User,
            scope: "project".to_owned(),
        }
    }
}

impl ProjectApprovals {
    /// Those of a trusted project. Nothing is read before it is needed.
    pub fn of(project: &TrustedProject) -> Self {
        Self::at(project.root().join("approvals.json"))
    }

    pub(super) fn at(path: PathBuf) -> Self {
        Self {
            path,
            known: Mutex::default(),
        }
    }

    /// Where they are kept.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// All that is granted, oldest first. What other sessions and processes have granted or revoked counts at once.
    pub fn grants(&self) -> Result<Vec<Grant>> {
        let mut known = lock(&self.known);
        let version = self.version();
        if let Some(known) = known.as_ref().filter(|known| known.version == version) {
            return Ok(known.grants.clone());
        }
        let grants = self.read()?;
        *known = Some(Known {
            version,
            grants: grants.clone(),
        });
        Ok(grants)
    }

    fn version(&self) -> Version {
        let metadata = std::fs::metadata(&self.path).ok()?;
        Some((metadata.ino(), metadata.len(), metadata.modified().ok()))
    }

    /// Adds what is not there yet. What another process has added meanwhile stays.
    pub(super) fn add(&self, grants: impl Iterator<Item = Grant>) -> Result<()> {
        let grants: Vec<Grant> = grants.collect();
        self.change(|known| {
            for grant in grants {
                if known.iter().all(|old| old.key != grant.key) {
                    known.push(grant);
                }
            }
        })
    }

    /// Takes back what `unwanted` says, and gives what it was.
    pub fn revoke(&self, unwanted: impl Fn(&Grant) -> bool) -> Result<Vec<Grant>> {
        let mut taken = Vec::new();
        if !self.path.exists() {
            return Ok(taken);
        }
        self.change(|known| {
            let (out, kept) = std::mem::take(known).into_iter().partition(&unwanted);
            taken = out;
            *known = kept;
        })?;
        Ok(taken)
    }

    fn change(&self, change: impl FnOnce(&mut Vec<Grant>)) -> Result<()> {
        let lock_file = self.path.with_extension("lock");
        let changed = platform::alone(&lock_file, || {
            let mut grants = self.read()?;
            let before = grants.clone();
            change(&mut grants);
            if grants != before {
                self.write(&grants)?;
            }
            let version = self.version();
            *lock(&self.known) = Some(Known { version, grants });
            Ok(())
        });
        changed.unwrap_or_else(|error| Err(self.unavailable(&format!("cannot be locked: {error}"))))
    }

    fn read(&self) -> Result<Vec<Grant>> {
        let bytes = match platform::read_file(&self.path, LARGEST_FILE) {
            Ok(bytes) => bytes,
            Err(ReadError::Missing) => return Ok(Vec::new()),
            Err(error) => return Err(self.unavailable(&format!("cannot be read: {error}"))),
        };
        let mut grants: Vec<Grant> = serde_json::from_slice(&bytes)
            .map_err(|error| self.unavailable(&format!("is not what it must be: {error}")))?;
        grants.retain(|grant| grant.scope == "project");
        Ok(grants)
    }

    fn write(&self, grants: &[Grant]) -> Result<()> {
        let text = serde_json::to_string_pretty(grants).unwrap_or_default() + "\n";
        platform::replace_file(&self.path, text.as_bytes(), 0o600, Durability::Synced)
            .map_err(|error| self.unavailable(&format!("cannot be written: {error}")))
    }

    fn unavailable(&self, what: &str) -> Error {
        let code = &codes::APPROVAL_CACHE_UNAVAILABLE;
        let path = self.path.display().to_string();
        let message = format!("the project's approvals `{path}` {what}");
        Error::new(code.class, code.name, message).with("path", path)
    }
}
