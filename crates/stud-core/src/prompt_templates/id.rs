//! What a prompt is called.

use std::fmt;

use stud_contract_meta::{ExtId, Result};
use stud_host_api::prompt::PromptSource;
use stud_host_api::refusal;

/// The id of a prompt: `bundled:<name>`, `mcp:<server>:<name>` or `cp:<ext>:<name>`.
///
/// A name may have anything in it but control characters. The form `prompt://mcp/<server>/<name>` is read too, and
/// means the same.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct PromptId {
    text: String,
    /// Where the name begins.
    name: usize,
}

const SOURCES: [PromptSource; 3] = [PromptSource::Bundled, PromptSource::Mcp, PromptSource::Cp];

impl PromptId {
    /// Reads an id.
    ///
    /// # Errors
    ///
    /// `Validation/PromptUriMalformed` if it is none.
    pub fn parse(text: &str) -> Result<Self> {
        let read = match text.strip_prefix("prompt://") {
            Some(path) => Self::read(path, '/'),
            None => Self::read(text, ':'),
        };
        read.ok_or_else(|| refusal::prompt_uri_malformed(text))
    }

    fn read(text: &str, between: char) -> Option<Self> {
        let (first, rest) = text.split_once(between)?;
        let source = SOURCES.into_iter().find(|source| word(*source) == first)?;
        let (owner, name) = match source {
            PromptSource::Bundled => (None, rest),
            PromptSource::Mcp | PromptSource::Cp => {
                let (owner, name) = rest.split_once(between)?;
                (Some(owner), name)
            }
        };
        let is_owner = |owner: &str| match source {
            PromptSource::Cp => ExtId::parse(owner).is_ok(),
            // A colon in it would make it another server in the other form.
            PromptSource::Bundled | PromptSource::Mcp => !owner.is_empty() && !owner.contains(':'),
        };
        let is_whole = !name.is_empty() && !text.contains(char::is_control);
        if !is_whole || !owner.is_none_or(is_owner) {
            return None;
        }
        let prefix = match owner {
            Some(owner) => format!("{first}:{owner}:"),
            None => format!("{first}:"),
        };
        Some(Self {
            name: prefix.len(),
            text: prefix + name,
        })
    }

    /// The whole id.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Where it comes from.
    pub fn source(&self) -> PromptSource {
        let named = SOURCES.into_iter().find(|source| {
            let rest = self.text.strip_prefix(word(*source));
            rest.is_some_and(|rest| rest.starts_with(':'))
        });
        named.unwrap_or_default()
    }

    /// The server or the plugin it belongs to, unless it is stud's own.
    pub fn owner(&self) -> Option<&str> {
        let prefix = self.text[..self.name].trim_end_matches(':');
        prefix.split_once(':').map(|(_, owner)| owner)
    }

    /// What its owner calls it.
    pub fn name(&self) -> &str {
        &self.text[self.name..]
    }
}

impl fmt::Display for PromptId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// The word for a source on every wire.
pub(super) fn word(source: PromptSource) -> &'static str {
    match source {
        PromptSource::Bundled => "bundled",
        PromptSource::Mcp => "mcp",
        PromptSource::Cp => "cp",
    }
}
