//! What a command plugin adds to its manifest.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The members of a manifest that belong to this category.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct CommandMembers {
    /// The commands of this plugin, at least one.
    pub commands: Vec<CommandDeclaration>,
}

/// One command, as palettes and help show it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct CommandDeclaration {
    /// What it is called, without the slash: see [`is_command_name`].
    pub name: String,
    /// What it does; not blank.
    pub description: String,
    /// The JSON Schema of its arguments.
    pub args_schema: Value,
    /// What to type after the name, for display.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub argument_hint: Option<String>,
    /// The heading to list it under, for display.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub category: Option<String>,
    /// Whether it may run while a turn does; not if it is left out.
    #[serde(default)]
    pub turn_safe: bool,
}

/// Whether a text can be the name or an alias of a command: ASCII letters, digits, `_` and `-`, at least one, and no
/// slash.
pub fn is_command_name(text: &str) -> bool {
    !text.is_empty()
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
        let json = json!({"commands": [
            {
                "name": "model",
                "description": "Shows or changes the model.",
                "argsSchema": {"type": "object"},
                "argumentHint": "[name]",
                "category": "model",
                "turnSafe": false,
            },
            {"name": "help", "description": "Lists commands.", "argsSchema": {}, "turnSafe": true},
        ]});
        let members: CommandMembers = serde_json::from_value(json.clone()).unwrap();
        assert_eq!(members.commands[1].argument_hint, None);
        assert_eq!(serde_json::to_value(members).unwrap(), json);
    }

    #[test]
    fn a_command_is_safe_beside_a_turn_only_if_it_says_so() {
        let json = json!({"name": "help", "description": "Lists commands.", "argsSchema": {}});
        let declared: CommandDeclaration = serde_json::from_value(json).unwrap();
        assert!(!declared.turn_safe);
    }

    #[test]
    fn names_have_no_slash() {
        for good in ["model", "save-and-close", "mcp__x", "A1", "-"] {
            assert!(is_command_name(good), "{good}");
        }
        for wrong in ["", "/model", "sm attach", "a.b", "é", "a\n"] {
            assert!(!is_command_name(wrong), "{wrong:?}");
        }
    }
}
