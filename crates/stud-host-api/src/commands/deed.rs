//! What stud's own commands have core do.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Something that only core can do, and only for the command that it belongs to.
///
/// A command is a plugin like any other: it reads what was typed, asks the person and shows what came of it. What it
/// cannot do by itself has a name here. The list is closed, so that a reader knows all that commands can change.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(
    tag = "deed",
    rename_all = "camelCase",
    rename_all_fields = "camelCase"
)]
#[non_exhaustive]
pub enum Deed {
    /// Lets another provider or another model answer from the next turn on; with neither, tells what there is.
    ///
    /// For `model` and `provider`.
    SwitchModel {
        /// The provider; the one that answers now when absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        provider: Option<String>,
        /// The model; one that the provider has when absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        model: Option<String>,
    },
    /// Sets parameters of the provider for this session, all or none; with none, tells what they are.
    ///
    /// For `params`.
    Params {
        /// What to set.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        set: Vec<ParamChange>,
    },
    /// Tells which sessions the store has, newest first: `{sessions: [{id, createdAt, updatedAt, firstWords,
    /// messageCount, current}], unreadable: [id]}`.
    ///
    /// For `sessions`. Fails with `Session/StoreUnavailable`.
    ListSessions {},
    /// Tells which projects are trusted, and which MCP servers are known: `{trusted: [{path, grantedAt}], mcp:
    /// [{server, trusted}]}`.
    ///
    /// For `trust`, like the three that follow. Fails with `Session/TrustStoreUnavailable`.
    ListTrust {},
    /// Trusts a project, and keeps the decision: `{granted: true, target}`.
    ///
    /// Fails with `Validation/TrustEntryInvalid` for a path that is not absolute or leads to no project.
    GrantTrust {
        /// The project's folder, or its `.stud` folder.
        path: String,
    },
    /// Takes the trust in a project back, from the next start on: `{revoked, target}`.
    RevokeTrust {
        /// The project's folder, or its `.stud` folder.
        path: String,
    },
    /// Forgets what was decided about an MCP server: `{cleared: true, server}`.
    ///
    /// Fails with `ToolTerminal/NotFound` for an unknown server.
    ClearMcpTrust {
        /// Its name.
        server: String,
    },
    /// Tells which hosts tools may reach: `{allow, deny}`, in order and without what is said twice.
    ///
    /// For `network-policy`, like the two that follow.
    ShowNetworkPolicy {},
    /// Puts a host on the list of allowed ones in the person's own settings: `{added: true, host}`.
    ///
    /// Fails with `Validation/PolicyInvalid` for what is no host, and with `Validation/SettingsShapeInvalid` or
    /// `Session/SettingsUnwritable` if the settings cannot be changed.
    AllowHost {
        /// A name, with `*.` before it or without, or an address.
        host: String,
    },
    /// Puts a host on the list of denied ones. It fails as [`Deed::AllowHost`] does.
    DenyHost {
        /// A name, with `*.` before it or without, or an address.
        host: String,
    },
    /// Waits for what runs, makes everything safe and asks the session to end: `{persisted, sessionPath,
    /// drainedTurns}`.
    ///
    /// For `save-and-close`. A turn that takes too long is left behind: nothing was persisted then, and the session
    /// ends all the same.
    SaveAndClose {
        /// How many milliseconds to wait.
        drain_timeout_ms: u64,
    },
    /// Asks the session to end, once the inputs before it are answered: `{}`.
    ///
    /// For `exit`.
    Leave {},
    /// Calls the running turn off, as the first Ctrl-C does: `{cancelled}`, false where no turn runs.
    ///
    /// For `cancel`.
    CancelTurn {},
    /// Tells which child sessions run: `{agents: [{subagentId, parentSessionId, depth, label, state, awaits, providerId,
    /// modelId, envelope}]}`, oldest first. `awaits` is the kind of the prompt a child waits for, or null.
    ///
    /// For `agents`, like the one that follows.
    ListAgents {},
    /// Cancels a child session and everything below it, and nothing above: `{cancelled: true, subagentId}`.
    ///
    /// Fails with `ToolTerminal/NotFound` for an id, or the beginning of one, that no running child or more than one has.
    CancelAgent {
        /// Its id, or the beginning of it.
        subagent_id: String,
    },
    /// Loads a plugin anew, as its `reloadBehavior` says: `{extId, phase, at}`. Without an id all that can be:
    /// `{loaded, disabled, refused, deferred, revisionId}`.
    ///
    /// For `reload`. Fails with `Validation/ExtensionNotFound`, and with what stops the new build.
    Reload {
        /// Which one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        ext_id: Option<String>,
    },
    /// Attaches a state machine to the session: what [`Deed::MachineStatus`] gives.
    ///
    /// For `sm`, like the two that follow. Fails with `Validation/SMAlreadyAttached` if another one is attached, and with
    /// `Validation/ExtensionNotFound`.
    AttachMachine {
        /// The state machine.
        id: String,
    },
    /// Detaches the state machine: `{detached}`, which is `null` where none was attached.
    DetachMachine {},
    /// Tells how the session stands to its state machine: `{attached, state, currentStage, stack, turnCount, turnCap,
    /// stages, known}`.
    MachineStatus {},
    /// Tells how the session is: `{extensions, activeStore, activeInteractor, mode, sm, mcp, loop, problems}`.
    ///
    /// For `health`.
    Health {
        /// Whether the record of having looked says how many turns there were.
        #[serde(default)]
        turn_count_in_audit: bool,
    },
}

/// A parameter and its new value.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ParamChange {
    /// Its place, with dots between the steps, such as `thinking.type`.
    pub path: String,
    /// What it is from now on.
    pub value: Value,
}

impl Deed {
    /// The word on the wire.
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::SwitchModel { .. } => "switchModel",
            Self::Params { .. } => "params",
            Self::ListSessions {} => "listSessions",
            Self::ListTrust {} => "listTrust",
            Self::GrantTrust { .. } => "grantTrust",
            Self::RevokeTrust { .. } => "revokeTrust",
            Self::ClearMcpTrust { .. } => "clearMcpTrust",
            Self::ShowNetworkPolicy {} => "showNetworkPolicy",
            Self::AllowHost { .. } => "allowHost",
            Self::DenyHost { .. } => "denyHost",
            Self::SaveAndClose { .. } => "saveAndClose",
            Self::Leave {} => "leave",
            Self::CancelTurn {} => "cancelTurn",
            Self::ListAgents {} => "listAgents",
            Self::CancelAgent { .. } => "cancelAgent",
            Self::Reload { .. } => "reload",
            Self::AttachMachine { .. } => "attachMachine",
            Self::DetachMachine {} => "detachMachine",
            Self::MachineStatus {} => "machineStatus",
            Self::Health { .. } => "health",
        }
    }

    /// The ids of the commands it belongs to. A plugin of a nearer scope with such an id stands for the bundled one.
    pub const fn owners(&self) -> &'static [&'static str] {
        match self {
            Self::SwitchModel { .. } => &["model", "provider"],
            Self::Params { .. } => &["params"],
            Self::ListSessions {} => &["sessions"],
            Self::ListTrust {}
            | Self::GrantTrust { .. }
            | Self::RevokeTrust { .. }
            | Self::ClearMcpTrust { .. } => &["trust"],
            Self::ShowNetworkPolicy {} | Self::AllowHost { .. } | Self::DenyHost { .. } => {
                &["network-policy"]
            }
            Self::SaveAndClose { .. } => &["save-and-close"],
            Self::Leave {} => &["exit"],
            Self::CancelTurn {} => &["cancel"],
            Self::ListAgents {} | Self::CancelAgent { .. } => &["agents"],
            Self::Reload { .. } => &["reload"],
            Self::AttachMachine { .. } | Self::DetachMachine {} | Self::MachineStatus {} => &["sm"],
            Self::Health { .. } => &["health"],
        }
    }

    /// Whether a plugin of this category and id may have it done.
    pub fn belongs_to(&self, category: &str, ext_id: &str) -> bool {
        category == "Command" && self.owners().contains(&ext_id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn each_deed_has_its_word_and_its_owners() {
        let cases = [
            (
                json!({"deed": "switchModel", "provider": "echo", "model": "echo-2"}),
                "model",
            ),
            (json!({"deed": "switchModel"}), "provider"),
            (
                json!({"deed": "params", "set": [{"path": "topP", "value": 0.5}]}),
                "params",
            ),
            (json!({"deed": "params"}), "params"),
            (json!({"deed": "listSessions"}), "sessions"),
            (json!({"deed": "listTrust"}), "trust"),
            (json!({"deed": "grantTrust", "path": "/a"}), "trust"),
            (json!({"deed": "revokeTrust", "path": "/a"}), "trust"),
            (json!({"deed": "clearMcpTrust", "server": "a"}), "trust"),
            (json!({"deed": "showNetworkPolicy"}), "network-policy"),
            (
                json!({"deed": "allowHost", "host": "a.org"}),
                "network-policy",
            ),
            (
                json!({"deed": "denyHost", "host": "a.org"}),
                "network-policy",
            ),
            (
                json!({"deed": "saveAndClose", "drainTimeoutMs": 5}),
                "save-and-close",
            ),
            (json!({"deed": "leave"}), "exit"),
            (json!({"deed": "cancelTurn"}), "cancel"),
            (json!({"deed": "listAgents"}), "agents"),
            (
                json!({"deed": "cancelAgent", "subagentId": "0192"}),
                "agents",
            ),
            (json!({"deed": "reload", "extId": "a"}), "reload"),
            (json!({"deed": "reload"}), "reload"),
            (json!({"deed": "attachMachine", "id": "a"}), "sm"),
            (json!({"deed": "detachMachine"}), "sm"),
            (json!({"deed": "machineStatus"}), "sm"),
            (
                json!({"deed": "health", "turnCountInAudit": true}),
                "health",
            ),
        ];
        for (json, owner) in cases {
            let deed: Deed = serde_json::from_value(json.clone()).unwrap();
            assert_eq!(serde_json::to_value(&deed).unwrap(), json);
            assert_eq!(json["deed"], deed.as_str());
            assert!(deed.belongs_to("Command", owner), "{json}");
            assert!(!deed.belongs_to("Tool", owner), "{json}");
            assert!(!deed.belongs_to("Command", "help"), "{json}");
        }
    }
}
