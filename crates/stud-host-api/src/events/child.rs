//! Child sessions.
//!
//! Events from inside a child session have `parentSessionId`, `subagentId` and `depth` as well.

use super::declare::core_events;

core_events! {
    CHILD = "Child sessions";

    /// The person allowed the tools of a child session.
    Info SubagentEnvelopeApproved {
        /// The tools it may use without a prompt.
        approved_envelope: Vec<String>,
        /// How deep it is; a child of the orchestrator is at 1.
        depth: u32,
        /// A name to show.
        #[serde(skip_serializing_if = "Option::is_none")]
        label: Option<String>,
        /// The model.
        model_id: String,
        /// What the person said.
        #[serde(skip_serializing_if = "Option::is_none")]
        note: Option<String>,
        /// The orchestrator's session.
        parent_session_id: String,
        /// The provider.
        provider_id: String,
        /// The tools that were asked for.
        requested_envelope: Vec<String>,
        /// The child session.
        subagent_id: String,
    }

    /// The person did not allow the tools of a child session.
    Info SubagentEnvelopeDenied {
        /// How deep it would be.
        depth: u32,
        /// What the person said.
        #[serde(skip_serializing_if = "Option::is_none")]
        note: Option<String>,
        /// The orchestrator's session.
        parent_session_id: String,
        /// `user-denied` or `interactor-error`.
        #[serde(skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
        /// The tools that were asked for.
        requested_envelope: Vec<String>,
        /// The child session that was not opened.
        subagent_id: String,
    }

    /// A child session was opened.
    Info SubagentSpawned {
        /// The tools it may use without a prompt.
        approved_envelope: Vec<String>,
        /// How deep it is; a child of the orchestrator is at 1.
        depth: u32,
        /// A name to show.
        #[serde(skip_serializing_if = "Option::is_none")]
        label: Option<String>,
        /// The model.
        model_id: String,
        /// What the person said.
        #[serde(skip_serializing_if = "Option::is_none")]
        note: Option<String>,
        /// The orchestrator's session.
        parent_session_id: String,
        /// The provider.
        provider_id: String,
        /// The tools that were asked for.
        requested_envelope: Vec<String>,
        /// The child session.
        subagent_id: String,
    }

    /// A child session was allowed a call outside its tools.
    Info SubagentEscalated {
        /// What the approval covers.
        approval_key: String,
        /// How deep the child session is.
        depth: u32,
        /// The orchestrator's session.
        parent_session_id: String,
        /// The child session.
        subagent_id: String,
        /// The tool.
        tool_name: String,
    }

    /// A child session did its task.
    Info SubagentCompleted {
        /// How deep the child session is.
        depth: u32,
        /// The tokens it has sent to its model, with those of its own children.
        #[serde(skip_serializing_if = "Option::is_none")]
        input_tokens: Option<u64>,
        /// The tokens it has received, with those of its own children.
        #[serde(skip_serializing_if = "Option::is_none")]
        output_tokens: Option<u64>,
        /// The orchestrator's session.
        parent_session_id: String,
        /// The SHA-256 of the result.
        #[serde(skip_serializing_if = "Option::is_none")]
        result_digest: Option<String>,
        /// The child session.
        subagent_id: String,
    }

    /// A child session needed an answer, and no interactor was active.
    Info SubagentHalted {
        /// The turn or request that needed the answer.
        correlation_id: String,
        /// How deep the child session is.
        depth: u32,
        /// The tokens it has sent to its model, with those of its own children.
        #[serde(skip_serializing_if = "Option::is_none")]
        input_tokens: Option<u64>,
        /// The tokens it has received, with those of its own children.
        #[serde(skip_serializing_if = "Option::is_none")]
        output_tokens: Option<u64>,
        /// The orchestrator's session.
        parent_session_id: String,
        /// What was asked for.
        request_kind: String,
        /// The child session.
        subagent_id: String,
    }

    /// A child session did not finish its task, or could not begin.
    Info SubagentAborted {
        /// How deep the child session is.
        depth: u32,
        /// The tokens it has sent to its model, with those of its own children.
        #[serde(skip_serializing_if = "Option::is_none")]
        input_tokens: Option<u64>,
        /// The tokens it has received, with those of its own children.
        #[serde(skip_serializing_if = "Option::is_none")]
        output_tokens: Option<u64>,
        /// The orchestrator's session.
        parent_session_id: String,
        /// Why: a word of [`AbortReason`](crate::session::AbortReason).
        reason: String,
        /// The child session; absent if it failed before it had an id.
        #[serde(skip_serializing_if = "Option::is_none")]
        subagent_id: Option<String>,
    }
}
