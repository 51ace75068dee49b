//! Plugins, their hooks and their commands.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::declare::core_events;

core_events! {
    EXTENSION = "Plugins, hooks and commands";

    /// A phase of a plugin's life cycle begins. The `correlationId` is the plugin's id.
    Debug LifecyclePhaseStart {
        /// Always 0.
        duration_ms: u64,
        /// The plugin.
        extension_id: String,
        /// `init`, `activate`, `deactivate` or `dispose`.
        phase: String,
    }

    /// A phase of a plugin's life cycle succeeded. A phase that failed has no end.
    Debug LifecyclePhaseEnd {
        /// How long it took.
        duration_ms: u64,
        /// The plugin.
        extension_id: String,
        /// `init`, `activate`, `deactivate` or `dispose`.
        phase: String,
    }

    /// A hook ran.
    Debug HookFired {
        /// How long it took.
        duration_ms: u64,
        /// The plugin.
        extension_id: String,
        /// Where the hook is attached.
        slot: String,
        /// `guard`, `transform` or `observer`.
        sub_kind: String,
    }

    /// A guard refused.
    Info HookGuardDenied {
        /// The plugin.
        extension_id: String,
        /// Why.
        #[serde(skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
        /// Where the hook is attached.
        slot: String,
    }

    /// Reserved for the audit record of a guard's refusal; published as `HookGuardDenied`.
    Info GuardDeny {
        /// The code the guard gave.
        #[serde(skip_serializing_if = "Option::is_none")]
        code: Option<String>,
        /// The facts the guard gave.
        #[serde(skip_serializing_if = "Option::is_none")]
        context: Option<Map<String, Value>>,
        /// The plugin.
        extension_id: String,
        /// Why.
        #[serde(skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
        /// Where the hook is attached.
        slot: String,
    }

    /// An observer failed, which stops nothing.
    Error HookObserverFailed {
        /// The error.
        error: String,
        /// The plugin.
        extension_id: String,
        /// Where the hook is attached.
        slot: String,
    }

    /// A scope changed the order of hooks that another scope had asked for.
    Info OrderingRewrite {
        /// The order now.
        new_order: Vec<String>,
        /// The order before.
        previous_order: Vec<String>,
        /// The scope that has the last word.
        scope: String,
        /// Where the hooks are attached.
        slot: String,
    }

    /// A command runs.
    Info CommandDispatched {
        /// What asked for it.
        dispatched_by: String,
        /// The plugin that has the command.
        ext_id: String,
        /// The command.
        name: String,
    }

    /// A command has ended.
    Info CommandResulted {
        /// What asked for it.
        dispatched_by: String,
        /// How long it took.
        duration_ms: u64,
        /// The class of the error, if it failed.
        #[serde(skip_serializing_if = "Option::is_none")]
        error_class: Option<String>,
        /// The code of the error, if it failed.
        #[serde(skip_serializing_if = "Option::is_none")]
        error_code: Option<String>,
        /// The plugin that has the command.
        ext_id: String,
        /// The command.
        name: String,
        /// How it ended.
        status: CommandStatus,
    }

    /// A plugin uses something that will be removed.
    Warn Deprecation {
        /// The plugin.
        #[serde(skip_serializing_if = "Option::is_none")]
        ext_id: Option<String>,
        /// What it uses.
        field: String,
        /// The version without it.
        hard_removed_in: String,
        /// What to use instead.
        #[serde(skip_serializing_if = "Option::is_none")]
        replaced_by: Option<String>,
        /// The version that announced the removal.
        soft_introduced_in: String,
    }

    /// A plugin read a value from the environment. Recorded in the audit trail; not published.
    Info EnvResolved {
        /// The plugin.
        ext_id: String,
        /// The name of the value.
        name: String,
        /// The scope that has it.
        scope_layer: String,
        /// Where it was found.
        source: String,
    }
}

/// How a command ended.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum CommandStatus {
    /// It did what it is for.
    #[default]
    Done,
    /// It could not, and said why.
    Blocked,
    /// It was cancelled.
    Cancelled,
    /// It failed.
    Failed,
}
