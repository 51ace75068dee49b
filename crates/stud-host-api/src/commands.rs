//! Slash commands: which there are, how to complete one, how to run one.
//!
//! Every plugin may look; only a `UI` or a `Command` may run. Names are given without the slash.
//! What stud's own commands have core do is a [`Deed`].

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use stud_contract_meta::Result;

use crate::BoxFuture;

mod deed;

pub use deed::{Deed, ParamChange};

/// The command registry.
pub trait CommandSurface: Send + Sync {
    /// Every command that can be run, in byte order of their names. Runs nothing.
    fn list(&self) -> Result<Vec<CommandRef>>;

    /// What the draft `input`, slash included, could become; `cursor` is a byte offset into it. Runs nothing.
    fn complete(&self, input: &str, cursor: usize) -> Result<Vec<Completion>>;

    /// Runs a command, and waits for its result. A command may run another.
    ///
    /// Fails with `ExtensionHost/CommandDispatchForbidden`, with `Validation/CommandUnknown`, with
    /// `ToolTerminal/InputInvalid` for arguments that do not fit, and with what the command itself fails with: its
    /// own error if that has class `Validation` or `ExtensionHost`, otherwise `ExtensionHost/CommandExecFailed`.
    /// Commands run one after the other; one that a command runs runs inside it.
    /// Being blocked by a running turn is a [result](CommandResult::Blocked), not a failure; the end of a turn that has
    /// its answer is waited for.
    fn dispatch<'a>(
        &'a self,
        name: &'a str,
        args: CommandArgs,
    ) -> BoxFuture<'a, Result<CommandResult>>;

    /// Has core do what only one of stud's own commands may have done, and gives what came of it as JSON.
    ///
    /// Only the `Command` that a [deed](Deed) belongs to may, by its id: from any other plugin it is
    /// `ExtensionHost/DeedForbidden`. What else it fails with stands with each deed.
    fn perform(&self, deed: Deed) -> BoxFuture<'_, Result<Value>>;
}

/// A command, for palettes and help.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct CommandRef {
    /// Without the slash.
    pub name: String,
    /// Other names for it, without the slash.
    #[serde(default)]
    pub aliases: Vec<String>,
    /// What it does.
    pub description: String,
    /// What to type after it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub argument_hint: Option<String>,
    /// The heading to list it under.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub category: Option<String>,
    /// The plugin it comes from.
    pub source: String,
    /// Whether it may run while a turn does.
    pub turn_safe: bool,
}

/// One way to complete a draft.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Completion {
    /// What to show.
    pub label: String,
    /// What takes the place of everything before the cursor.
    pub replacement: String,
    /// A word about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
}

/// What follows a command's name.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum CommandArgs {
    /// As typed; core takes it apart.
    Text(String),
    /// Taken apart already, in the shape of the command's `argsSchema`.
    Parsed(Map<String, Value>),
}

/// What came of running a command.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "status", rename_all = "camelCase")]
pub enum CommandResult {
    /// It ran.
    Done {
        /// Text to show.
        rendered: String,
        /// The same as data.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        payload: Option<Value>,
    },
    /// It did not run, because a turn does and the command is not safe beside one.
    Blocked {
        /// Text to show.
        reason: String,
    },
}

impl Default for CommandArgs {
    fn default() -> Self {
        Self::Text(String::new())
    }
}

impl From<&str> for CommandArgs {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_catalog_entry_round_trips() {
        let json = json!({
            "name": "model",
            "aliases": ["m"],
            "description": "Shows or changes the model.",
            "argumentHint": "[name]",
            "category": "model",
            "source": "model-command",
            "turnSafe": false,
        });
        let command: CommandRef = serde_json::from_value(json.clone()).unwrap();
        assert_eq!(serde_json::to_value(command).unwrap(), json);
    }

    #[test]
    fn a_completion_round_trips() {
        let json =
            json!({"label": "/model", "replacement": "/model ", "description": "Shows the model."});
        let completion: Completion = serde_json::from_value(json.clone()).unwrap();
        assert_eq!(serde_json::to_value(completion).unwrap(), json);
    }

    #[test]
    fn arguments_are_text_or_an_object() {
        let read = |json| serde_json::from_value::<CommandArgs>(json).ok();
        assert_eq!(read(json!("echo-2")), Some("echo-2".into()));
        assert!(matches!(
            read(json!({"name": "echo-2"})),
            Some(CommandArgs::Parsed(_))
        ));
        assert_eq!(read(json!(["echo-2"])), None);
    }

    #[test]
    fn results_are_told_apart_by_status() {
        for json in [
            json!({"status": "done", "rendered": "echo-2", "payload": {"modelId": "echo-2"}}),
            json!({"status": "done", "rendered": ""}),
            json!({"status": "blocked", "reason": "a turn is running"}),
        ] {
            let result: CommandResult = serde_json::from_value(json.clone()).unwrap();
            assert_eq!(serde_json::to_value(result).unwrap(), json);
        }
    }
}
