//! Asks the person, or answers for them, through the Interaction Protocol; and the approvals that tools keep.

use serde::{Deserialize, Serialize};
use stud_contract_interaction::{ApprovalScope, Payload, Response};
use stud_contract_meta::Result;

use crate::BoxFuture;
use crate::refusal::{self, Phase};

/// Which screens could answer a prompt now.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct Availability {
    /// Whether a prompt that is raised now can be answered.
    pub available: bool,
    /// How many screens can show prompts.
    pub supported_count: usize,
    /// How many of them do.
    pub enabled_count: usize,
}

/// An approval that a tool keeps, under a key that the tool derives from what it is about to do.
///
/// Keys of one tool are not visible to another one. They have nothing to do with the approvals that core keeps: an
/// approval of a tool does not let a call pass the gate.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct ToolApprovalKey {
    /// What is approved: one line of at most 1,024 bytes.
    pub key: String,
    /// The session that asks. Without it only approvals for always are found.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    /// The running call that asks. It says which tool of the plugin the approval belongs to; without it the approval
    /// belongs to the plugin.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_call_id: Option<String>,
}

/// Raises questions that the caller's category owns, and takes the answers of interactors.
///
/// Who may raise what says
/// [`InteractionKind::may_be_raised_by`](stud_contract_interaction::InteractionKind::may_be_raised_by).
pub trait InteractionRequester: Send + Sync {
    /// Asks, and waits until someone has answered.
    ///
    /// Core gives the question its ids, sends it to every interactor and returns the response that won, which fits the
    /// question: [`Response::answer`] reads it. A prompt that ran out of time gives a response with the status
    /// `timeout`.
    ///
    /// Fails with
    /// - `Validation/InteractionKindForbidden` when the caller may not raise this kind,
    /// - `Validation/InteractionPayloadMismatch` when the payload contradicts itself,
    /// - `ExtensionHost/NotReady` outside a session, and for a state machine away from a stage boundary,
    /// - `Validation/HeadlessInteractionRequired`, or for a tool's own kinds `ToolTerminal/InteractionUnavailable`,
    ///   when no interactor is attached,
    /// - a `Cancellation` code when the work it belongs to was cancelled.
    fn request(&self, payload: Payload) -> BoxFuture<'_, Result<Response>>;

    /// Answers a prompt that core has shown to this plugin, and waits until the answer has won.
    ///
    /// For UIs with the role `interactor`. What `onInteraction` returns is an answer too; this one tells the plugin
    /// what became of it, and may come from another place than the call that brought the prompt. Once it has won, what
    /// that call returns is not used. A `timeout` or a `dismissed` wins nothing: it is noted at once, and the prompt
    /// stays open for everyone else.
    ///
    /// Fails with
    /// - `Session/InteractionAlreadyAnswered` when the prompt was settled or cancelled before, which is a normal
    ///   outcome: another interactor was faster,
    /// - another error of class `Session` for a prompt that this session never had,
    /// - `Validation/InteractionPayloadMismatch` when the answer does not have the shape of its kind; the prompt stays
    ///   open for a better one,
    /// - `ExtensionHost/NotReady` outside a session, and for everyone but an active interactor.
    fn respond(&self, response: Response) -> BoxFuture<'_, Result<()>>;

    /// Says which screens could answer a prompt now. Outside a session there are none.
    fn availability(&self) -> Result<Availability> {
        Ok(Availability::default())
    }

    /// Looks for an approval that the tool has kept: for always before for the session before once. One for once is
    /// gone after it was found.
    ///
    /// Fails with
    /// - `Validation/InteractionKindForbidden` for everything but a tool,
    /// - `Validation/ApprovalKeyInvalid` for a key that is empty, too long or has control characters,
    /// - `Session/ApprovalCacheUnavailable` when the file of approvals cannot be read,
    /// - `ExtensionHost/NotReady` outside a session, and from a host that keeps none.
    fn approval(&self, of: ToolApprovalKey) -> BoxFuture<'_, Result<Option<ApprovalScope>>> {
        drop(of);
        keeps_none()
    }

    /// Keeps an approval: for one more look, for this session, or for always.
    ///
    /// Approvals for always are kept in the project's `.stud/tool-approvals.json` if the project is trusted, and for
    /// its folder in stud's home otherwise. Fails like [`approval`](Self::approval), and with
    /// `ExtensionHost/NotReady` when the key names another session than the caller's.
    fn approve(&self, of: ToolApprovalKey, scope: ApprovalScope) -> BoxFuture<'_, Result<()>> {
        drop((of, scope));
        keeps_none()
    }

    /// Forgets what the plugin's tools have kept for a session and for once. Another session than the caller's has
    /// nothing that this plugin could see, so nothing happens.
    fn clear_approvals(&self, session_id: String) -> BoxFuture<'_, Result<()>> {
        drop(session_id);
        keeps_none()
    }
}

fn keeps_none<T: Send + 'static>() -> BoxFuture<'static, Result<T>> {
    let refused = refusal::not_ready("interaction", Phase::Active);
    Box::pin(std::future::ready(Err(refused)))
}
