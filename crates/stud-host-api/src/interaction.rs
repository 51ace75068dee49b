//! Asks the person, or answers for them, through the Interaction Protocol.

use stud_contract_interaction::{Payload, Response};
use stud_contract_meta::Result;

use crate::BoxFuture;

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
}
