//! The prompts of a session: texts with an id, contributed by stud, MCP servers and context providers.
//!
//! They cannot be changed through the Host API. [`PromptId`] defines the form of an id; that text from a
//! server is untrusted, whatever its registration says, is enforced here.

use std::collections::BTreeMap;
use std::sync::Arc;

use stud_contract_meta::{Error, Result};
use stud_diagnostics::codes;
use stud_host_api::prompt::{Prompt, PromptFilter, PromptRef, PromptSource};
use stud_host_api::{BoxFuture, refusal};

use crate::sync::{Mutex, lock};
use crate::visibility::Visibility;

mod id;

pub use id::PromptId;

/// A prompt to be registered.
#[derive(Debug, Clone, Default)]
pub struct PromptEntry {
    /// Its id.
    pub id: String,
    /// Where it comes from; the first part of its id says the same.
    pub source: PromptSource,
    /// What it is for.
    pub description: Option<String>,
    /// Its text.
    pub body: PromptBody,
    /// Whether its text comes from outside. Always for a server's prompts, and never for stud's own.
    pub untrusted: bool,
    /// Who may see it.
    pub audience: Visibility,
}

/// The text of a prompt.
#[derive(Clone)]
pub enum PromptBody {
    /// This one.
    Text(String),
    /// Whatever its source says when it is read.
    Fetched(Arc<dyn PromptDriver>),
}

/// Gets the text of a prompt from where it is.
pub trait PromptDriver: Send + Sync {
    /// The text, as of now.
    fn fetch<'a>(&'a self, id: &'a PromptId) -> BoxFuture<'a, Result<String>>;
}

/// The prompts of a session.
#[derive(Default)]
pub struct PromptRegistry(Mutex<BTreeMap<PromptId, Arc<PromptEntry>>>);

impl PromptRegistry {
    /// Registers a prompt, in the place of the one with its id.
    ///
    /// # Errors
    ///
    /// `Validation/PromptUriMalformed` if its id is none, `Validation/PromptSourceMismatch` if its id speaks of
    /// another source.
    pub fn register(&self, entry: PromptEntry) -> Result<()> {
        let id = PromptId::parse(&entry.id)?;
        if id.source() != entry.source {
            return Err(mismatch(&id, entry.source));
        }
        let untrusted = match id.source() {
            PromptSource::Mcp => true,
            PromptSource::Bundled => false,
            PromptSource::Cp => entry.untrusted,
        };
        let entry = PromptEntry {
            id: id.as_str().to_owned(),
            untrusted,
            ..entry
        };
        lock(&self.0).insert(id, Arc::new(entry));
        Ok(())
    }

    /// Takes back everything in a namespace, such as `mcp:git` when that server is gone. Gives how many there were.
    pub fn withdraw(&self, namespace: &str) -> usize {
        let inside = PromptFilter {
            namespace: Some(namespace.to_owned()),
            contains: None,
        };
        let mut entries = lock(&self.0);
        let before = entries.len();
        entries.retain(|id, _| !inside.matches(id.as_str()));
        before - entries.len()
    }

    /// The prompts that fit and that this plugin may see, in byte order of their ids.
    pub fn list(&self, viewer: &str, filter: &PromptFilter) -> Vec<PromptRef> {
        let entries = lock(&self.0);
        let seen = entries
            .values()
            .filter(|entry| entry.audience.includes(viewer) && filter.matches(&entry.id));
        seen.map(|entry| PromptRef {
            id: entry.id.clone(),
            source: entry.source,
            description: entry.description.clone(),
            untrusted: entry.untrusted,
        })
        .collect()
    }

    /// One prompt with its text.
    ///
    /// # Errors
    ///
    /// `Validation/PromptUriMalformed` for text that is no id, and `Validation/PromptMissing` if there is none that
    /// this plugin may see, or if its source no longer has it.
    pub async fn read(&self, viewer: &str, id: &str) -> Result<Prompt> {
        let id = PromptId::parse(id)?;
        let found = lock(&self.0).get(&id).cloned();
        let entry = found
            .filter(|entry| entry.audience.includes(viewer))
            .ok_or_else(|| refusal::prompt_missing(id.as_str()))?;
        let body = match &entry.body {
            PromptBody::Text(text) => text.clone(),
            PromptBody::Fetched(driver) => {
                let fetched = driver.fetch(&id).await;
                fetched.map_err(|error| gone(&id, error))?
            }
        };
        Ok(Prompt {
            id: entry.id.clone(),
            source: entry.source,
            body,
            untrusted: entry.untrusted,
        })
    }
}

/// Why a source gave no text. A refusal by the session is passed to the caller; any other error means it has none.
fn gone(id: &PromptId, error: Error) -> Error {
    if matches!(error.class(), "Session" | "Cancellation") {
        return error;
    }
    let cause = format!("{}/{}", error.class(), error.code());
    refusal::prompt_missing(id.as_str()).with("cause", cause)
}

fn mismatch(id: &PromptId, declared: PromptSource) -> Error {
    let code = &codes::PROMPT_SOURCE_MISMATCH;
    let (of_id, declared) = (id::word(id.source()), id::word(declared));
    let message =
        format!("`{id}` is an id for `{of_id}` prompts, and this one comes from `{declared}`");
    Error::new(code.class, code.name, message)
        .with("id", id.as_str())
        .with("source", declared)
        .with("expected", of_id)
}

impl Default for PromptBody {
    fn default() -> Self {
        Self::Text(String::new())
    }
}

impl From<&str> for PromptBody {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl std::fmt::Debug for PromptBody {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Text(_) => "Text",
            Self::Fetched(_) => "Fetched",
        })
    }
}

impl std::fmt::Debug for PromptRegistry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_set().entries(lock(&self.0).keys()).finish()
    }
}

#[cfg(test)]
mod tests;
