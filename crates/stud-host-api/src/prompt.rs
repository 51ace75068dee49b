//! The prompt registry, to read.
//!
//! An id says where its prompt comes from: `bundled:…`, `mcp:<server>:…`, `cp:<ext>:…`.
//! They come from stud, from MCP servers and from context providers, and cannot be added through this service.

use serde::{Deserialize, Serialize};
use stud_contract_meta::Result;

use crate::BoxFuture;

/// Reads prompts.
pub trait PromptReader: Send + Sync {
    /// The prompts that fit and that the caller may see, in byte order of their ids.
    fn list(&self, filter: PromptFilter) -> BoxFuture<'_, Result<Vec<PromptRef>>>;

    /// One prompt. Fails with `Validation/PromptMissing`, and with `Validation/PromptUriMalformed` for text that is no
    /// id of a prompt.
    fn read<'a>(&'a self, id: &'a str) -> BoxFuture<'a, Result<Prompt>>;
}

/// Which prompts to list. Every criterion that is given has to hold.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct PromptFilter {
    /// From this part of the id space: `bundled`, `mcp`, `mcp:<server>`, `cp`, `cp:<ext>`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub namespace: Option<String>,
    /// With this text somewhere in the id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub contains: Option<String>,
}

/// A prompt, without its text.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct PromptRef {
    /// Its namespaced id.
    pub id: String,
    /// Who contributed it.
    pub source: PromptSource,
    /// What it is for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Whether its text comes from outside, as every MCP prompt's does.
    pub untrusted: bool,
}

/// A prompt.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Prompt {
    /// Its namespaced id.
    pub id: String,
    /// Who contributed it.
    pub source: PromptSource,
    /// Its text.
    pub body: String,
    /// Whether its text comes from outside, as every MCP prompt's does.
    pub untrusted: bool,
}

/// Who contributed a prompt: the first part of its id.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum PromptSource {
    /// stud itself.
    #[default]
    Bundled,
    /// An MCP server.
    Mcp,
    /// A context provider.
    Cp,
}

impl PromptFilter {
    /// Whether the filter lets this id through.
    pub fn matches(&self, id: &str) -> bool {
        // `mcp:git` must not let `mcp:github:…` through, so the namespace ends at a colon.
        let inside = |namespace: &String| {
            id.strip_prefix(namespace.as_str())
                .is_some_and(|rest| rest.starts_with(':'))
        };
        self.namespace.as_ref().is_none_or(inside)
            && self
                .contains
                .as_ref()
                .is_none_or(|text| id.contains(text.as_str()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn prompts_round_trip() {
        let json = json!({"id": "mcp:git:review", "source": "mcp", "description": "Reviews.", "untrusted": true});
        let reference: PromptRef = serde_json::from_value(json.clone()).unwrap();
        assert_eq!(serde_json::to_value(reference).unwrap(), json);

        let json = json!({"id": "cp:notes:style", "source": "cp", "body": "Be brief.", "untrusted": false});
        let prompt: Prompt = serde_json::from_value(json.clone()).unwrap();
        assert_eq!(serde_json::to_value(prompt).unwrap(), json);
    }

    #[test]
    fn a_namespace_ends_at_a_colon() {
        let matches = |filter, id| {
            serde_json::from_value::<PromptFilter>(filter)
                .unwrap()
                .matches(id)
        };
        assert!(matches(json!({}), "bundled:review"));
        assert!(matches(json!({"namespace": "mcp"}), "mcp:git:review"));
        assert!(matches(
            json!({"namespace": "mcp:git", "contains": "view"}),
            "mcp:git:review"
        ));
        assert!(!matches(
            json!({"namespace": "mcp:git"}),
            "mcp:github:review"
        ));
        assert!(!matches(
            json!({"namespace": "mcp", "contains": "test"}),
            "mcp:git:review"
        ));
    }
}
