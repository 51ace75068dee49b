//! A tool call that failed, on record and for subscribers.

use serde::Serialize;
use serde_json::json;
use stud_contract_meta::Error;
use stud_host_api::events::ToolInvocationFailed;

use super::stream::Proposal;
use crate::runtime_snapshot::ToolOutcome;
use crate::session::TurnHandle;

/// Why a tool call failed, as the audit trail says it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum FailureReason {
    /// No active plugin has the tool.
    ToolNotAvailable,
    /// The arguments do not fit the schema.
    SchemaViolation,
    /// The tool could not say what an approval would cover.
    ApprovalKeyFailed,
    /// The arguments lead where the tool does not go.
    NormalizeFailed,
    /// The tool refused the call before an approval was asked for.
    PreflightDenied,
    /// The call was not allowed.
    ApprovalDenied,
    /// The tool ran and failed.
    ExecutionFailed,
    /// A hook failed after the tool had run.
    HookFailed,
    /// The turn ended first.
    SessionCancelled,
}

/// A tool call that failed.
#[derive(Debug, Clone, Copy)]
pub(super) struct ToolFailure<'a> {
    reason: FailureReason,
    error: &'a Error,
    duration_ms: u64,
}

impl<'a> ToolFailure<'a> {
    /// The failure of a call that had not started.
    pub(super) fn before_start(reason: FailureReason, error: &'a Error) -> Self {
        Self::after(0, reason, error)
    }

    /// The failure of a call that had run for `duration_ms`.
    pub(super) fn after(duration_ms: u64, reason: FailureReason, error: &'a Error) -> Self {
        Self {
            reason,
            error,
            duration_ms,
        }
    }

    /// Tells subscribers, counts the failure, and puts it on record.
    pub(super) fn publish(self, voice: &TurnHandle, call: &Proposal) {
        let metrics = voice.session().metrics();
        metrics.tool_invoked(&call.tool_name, ToolOutcome::Failed);
        voice.publish(&self.event(call));
        self.record(voice, call);
    }

    /// Only puts it on record, for a call that subscribers are told was cancelled.
    pub(super) fn record(self, voice: &TurnHandle, call: &Proposal) {
        let mut payload = json!(self.event(call));
        payload["reason"] = json!(self.reason);
        voice.audit("ToolInvocation", Some("ToolCallFailed"), payload);
    }

    fn event(self, call: &Proposal) -> ToolInvocationFailed {
        ToolInvocationFailed {
            duration_ms: self.duration_ms,
            error_class: self.error.class().to_owned(),
            error_code: self.error.code().to_owned(),
            message: self.error.message().to_owned(),
            tool_call_id: call.tool_call_id.clone(),
            tool_name: call.tool_name.clone(),
        }
    }
}
