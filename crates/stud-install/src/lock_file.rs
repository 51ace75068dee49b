//! `plugins.lock.json`: what is installed below a root, from where, and with which digests.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use stud_config::platform::{self, Durability, ReadError};
use stud_contract_meta::Kind;
use stud_diagnostics::{Diagnostic, codes};

use crate::refusal::unwritable;
use crate::rights::Rights;

/// The name of the file below its root.
pub const NAME: &str = "plugins.lock.json";

/// A larger file is not read.
const LARGEST: u64 = 16 * 1024 * 1024;

/// The form of the file that this stud writes.
const FORMAT: u32 = 1;

/// What is installed below one root.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LockFile {
    lock_version: u32,
    plugins: BTreeMap<String, Entry>,
}

/// One installed plugin.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Entry {
    /// Its category.
    pub kind: Kind,
    /// Its own version.
    pub version: String,
    /// The contract version it was built against.
    pub contract_version: String,
    /// Where it came from.
    pub source: Origin,
    /// When it was installed, in UTC.
    pub installed_at: String,
    /// Its library, from the root.
    pub place: PathBuf,
    /// The digest of its library for each platform that the source holds.
    pub platforms: BTreeMap<String, Digest>,
    /// What it declares.
    pub rights: Rights,
}

/// Where a plugin came from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Origin {
    /// `file`, `folder` or `archive`.
    pub kind: String,
    /// The absolute path.
    pub path: PathBuf,
}

/// The digest of a library.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Digest {
    /// SHA-256 in hexadecimal.
    pub sha256: String,
}

impl LockFile {
    /// The file below `root`; empty if there is none.
    pub fn read(root: &Path) -> Result<Self, Diagnostic> {
        let path = root.join(NAME);
        let bytes = match platform::read_file(&path, LARGEST) {
            Ok(bytes) => bytes,
            Err(ReadError::Missing) => return Ok(Self::empty()),
            Err(error) => return Err(misshapen(&path, &error.to_string())),
        };
        let read: Self =
            serde_json::from_slice(&bytes).map_err(|error| misshapen(&path, &error.to_string()))?;
        if read.lock_version > FORMAT {
            return Err(misshapen(
                &path,
                &format!("its format {} is newer than this stud", read.lock_version),
            ));
        }
        Ok(read)
    }

    fn empty() -> Self {
        Self {
            lock_version: FORMAT,
            plugins: BTreeMap::new(),
        }
    }

    /// Writes the file as a whole.
    pub(crate) fn write(&self, root: &Path) -> Result<(), Diagnostic> {
        let path = root.join(NAME);
        let text = serde_json::to_string_pretty(self).map_err(|error| unwritable(&path, &error))?;
        platform::replace_file(
            &path,
            format!("{text}\n").as_bytes(),
            0o600,
            Durability::Synced,
        )
        .map_err(|error| unwritable(&path, &error))
    }

    /// The plugin of this id.
    pub fn get(&self, id: &str) -> Option<&Entry> {
        self.plugins.get(id)
    }

    /// Every plugin by its id.
    pub fn entries(&self) -> impl Iterator<Item = (&str, &Entry)> {
        self.plugins.iter().map(|(id, entry)| (id.as_str(), entry))
    }

    pub(crate) fn set(&mut self, id: &str, entry: Option<Entry>) {
        match entry {
            Some(entry) => self.plugins.insert(id.to_owned(), entry),
            None => self.plugins.remove(id),
        };
    }
}

fn misshapen(path: &Path, why: &str) -> Diagnostic {
    Diagnostic::error(&codes::INSTALL_SOURCE_INVALID, format!("the lock file of installed plugins cannot be used: {why}"))
        .file(path)
        .with("source", path.to_string_lossy())
        .help("restore the file, or move it away: installed plugins keep running, and `stud plugin install` records them again")
}
