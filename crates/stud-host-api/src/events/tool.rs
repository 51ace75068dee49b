//! Tool calls.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::declare::core_events;

core_events! {
    TOOL = "Tools";

    /// The model wants a tool to run.
    Info ToolInvocationProposed {
        /// The arguments.
        args: Value,
        /// The call.
        tool_call_id: String,
        /// The tool.
        tool_name: String,
    }

    /// A tool runs.
    Info ToolInvocationStarted {
        /// The arguments in one line.
        args_summary: String,
        /// The call.
        tool_call_id: String,
        /// The tool.
        tool_name: String,
    }

    /// A tool call succeeded.
    Info ToolInvocationSucceeded {
        /// How long it took.
        duration_ms: u64,
        /// The call.
        tool_call_id: String,
        /// The tool.
        tool_name: String,
    }

    /// A tool call failed. A call whose arguments do not fit the schema fails without having started.
    Error ToolInvocationFailed {
        /// How long it took.
        duration_ms: u64,
        /// The class of the error.
        error_class: String,
        /// The code of the error.
        error_code: String,
        /// The error for a person.
        message: String,
        /// The call.
        tool_call_id: String,
        /// The tool.
        tool_name: String,
    }

    /// A tool call does not run, or ended with its turn.
    Info ToolInvocationCancelled {
        /// Why.
        reason: ToolCancelReason,
        /// The call.
        tool_call_id: String,
        /// The tool.
        tool_name: String,
    }
}

/// Why a tool call does not run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum ToolCancelReason {
    /// It was not allowed.
    #[default]
    ApprovalDenied,
    /// No active plugin has the tool.
    ToolNotAvailable,
    /// The turn ended first: it was cancelled, or a prompt had no interactor.
    SessionCancelled,
}

impl ToolCancelReason {
    /// The word on every wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::ApprovalDenied => "approval-denied",
            Self::ToolNotAvailable => "tool-not-available",
            Self::SessionCancelled => "session-cancelled",
        }
    }
}
