//! What a tool plugin adds to its manifest.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::coverage::ApprovalCoverage;

/// The members of a manifest that belong to this category.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ToolMembers {
    /// The tools of this plugin, at least one.
    pub tools: Vec<ToolDeclaration>,
}

/// One tool, as the model and the gate see it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ToolDeclaration {
    /// What the model calls it by: see [`is_tool_name`].
    pub name: String,
    /// What the model is told about it.
    pub description: String,
    /// The JSON Schema of its arguments. Core holds every call to it before the plugin sees the call.
    pub input_schema: Value,
    /// The JSON Schema of its value, for the model's benefit. Core does not check values against it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_schema: Option<Value>,
    /// Where the work is done.
    pub executor: Executor,
    /// Whether each call needs approval under the session's security mode.
    pub gated: bool,
    /// How far an approval of one key reaches; `exact` when it is left out.
    #[serde(default, skip_serializing_if = "ApprovalCoverage::is_default")]
    pub approval_coverage: ApprovalCoverage,
}

/// Where the work of a tool is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Executor {
    /// In the plugin.
    Local,
    /// On a server the plugin forwards to. The same contract holds.
    Remote,
}

/// Whether a text can be the name of a tool: one to 64 ASCII letters, digits, `_` or `-`.
///
/// There is no prefix and no scope in a name: a tool of a nearer scope takes the place of its namesake.
pub fn is_tool_name(text: &str) -> bool {
    (1..=64).contains(&text.len())
        && text
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn members_keep_their_names() {
        let json = json!({"tools": [{
            "name": "line_count",
            "description": "Counts the lines of a file.",
            "inputSchema": {"type": "object"},
            "outputSchema": {"type": "integer"},
            "executor": "local",
            "gated": false,
            "approvalCoverage": "path",
        }]});
        let members: ToolMembers = serde_json::from_value(json.clone()).unwrap();
        assert_eq!(members.tools[0].executor, Executor::Local);
        assert_eq!(members.tools[0].approval_coverage, ApprovalCoverage::Path);
        assert_eq!(serde_json::to_value(members).unwrap(), json);
    }

    #[test]
    fn members_of_the_rest_of_the_manifest_are_passed_over() {
        let json = json!({"kind": "Tool", "tools": [{
            "name": "far", "description": "Far away.", "inputSchema": {}, "executor": "remote", "gated": true, "later": 1,
        }]});
        let members: ToolMembers = serde_json::from_value(json).unwrap();
        assert_eq!(members.tools[0].output_schema, None);
        assert_eq!(members.tools[0].executor, Executor::Remote);
    }

    #[test]
    fn a_tool_says_whether_it_is_gated() {
        let json = json!({"tools": [{"name": "x", "description": "X.", "inputSchema": {}, "executor": "local"}]});
        assert!(serde_json::from_value::<ToolMembers>(json).is_err());
    }

    #[test]
    fn an_approval_covers_its_own_key_unless_the_tool_says_more() {
        let json = json!({"tools": [
            {"name": "x", "description": "X.", "inputSchema": {}, "executor": "local", "gated": true},
        ]});
        let members: ToolMembers = serde_json::from_value(json.clone()).unwrap();
        assert_eq!(members.tools[0].approval_coverage, ApprovalCoverage::Exact);
        assert_eq!(serde_json::to_value(members).unwrap(), json);
    }

    #[test]
    fn names_are_flat() {
        for good in ["read", "line_count", "web-fetch", "A1", &"x".repeat(64)] {
            assert!(is_tool_name(good), "{good}");
        }
        for wrong in [
            "",
            "a b",
            "a.b",
            "mcp:server:tool",
            "a/b",
            "é",
            &"x".repeat(65),
        ] {
            assert!(!is_tool_name(wrong), "{wrong}");
        }
    }
}
