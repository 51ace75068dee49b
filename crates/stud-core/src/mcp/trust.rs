//! Which servers a person has decided to trust: `mcp-trust.json` of the global and of the project scope.
//!
//! A decision is bound to how the server is started or reached, and to its tools as they were first seen. An entry
//! without the first was written by hand, and holds for whatever is configured under its id.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use serde::{Deserialize, Serialize};
use stud_contract_meta::{Error, Result};
use stud_diagnostics::codes;

use crate::environment::Environment;
use crate::platform::{self, Durability, ReadError};
use crate::plugin_scope::Scope;

const LARGEST_LIST: u64 = 4 << 20;

/// One decision. There is no entry for a server that is not trusted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct TrustEntry {
    pub(super) server_id: String,
    decision: Decision,
    /// Milliseconds since 1970.
    granted_at: u64,
    /// How the server was started or reached.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) fingerprint: Option<String>,
    /// Its tools, each with what it was when it was first seen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) tools: Option<BTreeMap<String, String>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Decision {
    Trusted,
}

impl TrustEntry {
    pub(super) fn new(server_id: &str, fingerprint: String, now: SystemTime) -> Self {
        let since = now.duration_since(SystemTime::UNIX_EPOCH);
        let granted_at = since.unwrap_or_default().as_millis();
        Self {
            server_id: server_id.to_owned(),
            decision: Decision::Trusted,
            granted_at: u64::try_from(granted_at).unwrap_or(u64::MAX),
            fingerprint: Some(fingerprint),
            tools: None,
        }
    }
}

/// What the lists say of a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum TrustStanding {
    /// Undecided.
    Unknown,
    /// It was trusted when it was started or reached in another way.
    Changed,
    /// It is trusted, by the list of this scope.
    Trusted(Scope, TrustEntry),
}

/// The lists of a session.
#[derive(Debug, Clone)]
pub(super) struct TrustLists {
    global: PathBuf,
    /// Only of a project that is trusted itself.
    project: Option<PathBuf>,
}

impl TrustLists {
    pub(super) fn of(ground: &Environment) -> Self {
        let project = ground.project();
        Self {
            global: ground.places.global_root.join("mcp-trust.json"),
            project: project.map(|project| project.root().join("mcp-trust.json")),
        }
    }

    /// What is known of a server that is started or reached like this.
    pub(super) fn standing(&self, server_id: &str, fingerprint: &str) -> Result<TrustStanding> {
        let mut standing = TrustStanding::Unknown;
        for (scope, path) in self.paths() {
            let entries = read(path)?.into_iter();
            for entry in entries.filter(|entry| entry.server_id == server_id) {
                let bound = entry.fingerprint.as_deref();
                if bound.is_none_or(|bound| bound == fingerprint) {
                    return Ok(TrustStanding::Trusted(scope, entry));
                }
                standing = TrustStanding::Changed;
            }
        }
        Ok(standing)
    }

    /// Writes a decision down, in the place of the one about the same server.
    ///
    /// # Errors
    ///
    /// `Session/ProjectTrustRequired` for the list of a project that is not trusted, `Session/MCPTrustUnavailable`.
    pub(super) fn put(&self, scope: Scope, entry: TrustEntry) -> Result<()> {
        let path = match scope {
            Scope::Project => self.project.as_ref().ok_or_else(|| {
                let code = &codes::PROJECT_TRUST_REQUIRED;
                let message = "a project's MCP servers can be trusted only once the project is";
                Error::new(code.class, code.name, message).with("serverId", &*entry.server_id)
            })?,
            Scope::Bundled | Scope::Global => &self.global,
        };
        change(path, |entries| {
            entries.retain(|old| old.server_id != entry.server_id);
            entries.push(entry);
        })
        .map(drop)
    }

    /// Forgets a server in every list. Gives whether it was in one.
    pub(super) fn forget(&self, server_id: &str) -> Result<bool> {
        let mut any = false;
        for (_, path) in self.paths() {
            any |= change(path, |entries| {
                entries.retain(|entry| entry.server_id != server_id);
            })?;
        }
        Ok(any)
    }

    fn paths(&self) -> impl Iterator<Item = (Scope, &Path)> {
        let project = self.project.as_deref();
        let project = project.map(|path| (Scope::Project, path));
        project.into_iter().chain([(Scope::Global, &*self.global)])
    }
}

fn read(path: &Path) -> Result<Vec<TrustEntry>> {
    let bytes = match platform::read_file(path, LARGEST_LIST) {
        Ok(bytes) => bytes,
        Err(ReadError::Missing) => return Ok(Vec::new()),
        Err(error) => return Err(unavailable(path, &format!("cannot be read: {error}"))),
    };
    serde_json::from_slice(&bytes)
        .map_err(|error| unavailable(path, &format!("is not what it must be: {error}")))
}

/// Changes a list while no other process does. Gives whether it is another one now.
fn change(path: &Path, change: impl FnOnce(&mut Vec<TrustEntry>)) -> Result<bool> {
    let changed = platform::alone(&path.with_extension("lock"), || {
        let before = read(path)?;
        let mut entries = before.clone();
        change(&mut entries);
        if entries == before {
            return Ok(false);
        }
        entries.sort_by(|one, other| one.server_id.cmp(&other.server_id));
        let text = serde_json::to_string_pretty(&entries).unwrap_or_default() + "\n";
        platform::replace_file(path, text.as_bytes(), 0o600, Durability::Synced)
            .map_err(|error| unavailable(path, &format!("cannot be written: {error}")))?;
        Ok(true)
    });
    changed.unwrap_or_else(|error| Err(unavailable(path, &format!("cannot be locked: {error}"))))
}

fn unavailable(path: &Path, what: &str) -> Error {
    let code = &codes::MCP_TRUST_UNAVAILABLE;
    let path = path.display().to_string();
    let message = format!("the list of trusted MCP servers `{path}` {what}");
    Error::new(code.class, code.name, message).with("path", path)
}

#[cfg(test)]
mod tests;
