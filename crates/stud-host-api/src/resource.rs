//! The resource registry, to read.
//!
//! What is registered is a reference with limits; the content is fetched when it is read, and is never trusted.

use serde::{Deserialize, Serialize};
use stud_contract_meta::Result;

use crate::{BoxFuture, base64};

/// Reads resources.
pub trait ResourceReader: Send + Sync {
    /// The resources that fit and that the caller may see, in byte order of their ids.
    fn list(&self, filter: ResourceFilter) -> BoxFuture<'_, Result<Vec<ResourceRef>>>;

    /// One resource's content.
    ///
    /// Fails with `Validation/ResourceMissing`, with `ToolTerminal/ResourceOverBytesCap` when the content is larger
    /// than `byteCap`, and with `ToolTransient/ResourceFetchFailed` when it cannot be fetched now.
    fn read<'a>(&'a self, id: &'a str) -> BoxFuture<'a, Result<Resource>>;
}

/// Which resources to list. Every criterion that is given has to hold.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ResourceFilter {
    /// From this source.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<ResourceSource>,
    /// With this text somewhere in the id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub contains: Option<String>,
}

/// A resource, without its content.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ResourceRef {
    /// Its namespaced id.
    pub id: String,
    /// Where it is.
    pub source: ResourceSource,
    /// Its address there.
    pub uri: String,
    /// The most bytes a read may give.
    pub byte_cap: u64,
    /// The most tokens it may take up in a request to a model.
    pub token_cap: u64,
}

/// Where a resource is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum ResourceSource {
    /// In stud itself.
    Bundled,
    /// On an MCP server.
    Mcp,
    /// In the project.
    Project,
    /// On the web.
    Http,
}

/// A resource's content.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Resource {
    /// Its namespaced id.
    pub id: String,
    /// The content; base64 on the wire.
    #[serde(with = "base64")]
    #[cfg_attr(feature = "schema", schemars(with = "String", extend("contentEncoding" = "base64")))]
    pub bytes: Vec<u8>,
    /// Its media type.
    pub mime: String,
    /// Always true, wherever it came from.
    pub untrusted: bool,
    /// When it was fetched.
    pub fetched_at: String,
}

impl ResourceFilter {
    /// Whether the filter lets this resource through.
    pub fn matches(&self, resource: &ResourceRef) -> bool {
        self.source.is_none_or(|source| source == resource.source)
            && self
                .contains
                .as_ref()
                .is_none_or(|text| resource.id.contains(text.as_str()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_reference_round_trips_and_is_found() {
        let json = json!({
            "id": "mcp:git:log",
            "source": "mcp",
            "uri": "git://log",
            "byteCap": 65536,
            "tokenCap": 2000,
        });
        let reference: ResourceRef = serde_json::from_value(json.clone()).unwrap();
        assert_eq!(serde_json::to_value(&reference).unwrap(), json);

        let matches = |filter| {
            serde_json::from_value::<ResourceFilter>(filter)
                .unwrap()
                .matches(&reference)
        };
        assert!(matches(json!({})) && matches(json!({"source": "mcp", "contains": "log"})));
        assert!(!matches(json!({"source": "http"})) && !matches(json!({"contains": "tree"})));
    }

    #[test]
    fn content_crosses_as_base64() {
        let json = json!({
            "id": "mcp:git:log",
            "bytes": "aGVsbG8=",
            "mime": "text/plain",
            "untrusted": true,
            "fetchedAt": "2026-01-01T00:00:00.000Z",
        });
        let resource: Resource = serde_json::from_value(json.clone()).unwrap();
        assert_eq!(resource.bytes, b"hello");
        assert_eq!(serde_json::to_value(resource).unwrap(), json);
    }
}
