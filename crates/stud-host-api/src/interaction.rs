//! Asks the person, through the Interaction Protocol.

use stud_contract_interaction::{Payload, Response};
use stud_contract_meta::Result;

use crate::BoxFuture;

/// Raises questions that the caller's category owns; see
/// [`InteractionKind::may_be_raised_by`](stud_contract_interaction::InteractionKind::may_be_raised_by).
pub trait InteractionRequester: Send + Sync {
    /// Asks, and waits until someone has answered.
    ///
    /// Core gives the question its ids, sends it to every interactor and returns the response that won, which fits the
    /// question: [`Response::answer`] reads it.
    ///
    /// Fails with
    /// - `Validation/InteractionKindForbidden` when the caller may not raise this kind,
    /// - `Validation/InteractionPayloadMismatch` when the payload contradicts itself,
    /// - `ExtensionHost/NotReady` outside a session, and for a state machine away from a stage boundary,
    /// - an error of class `Session`, or for a tool `ToolTerminal`, when nobody is there to answer,
    /// - an error of class `ToolTransient` when a prompt with a time limit ran out,
    /// - a `Cancellation` code when the work it belongs to was called off.
    fn request(&self, payload: Payload) -> BoxFuture<'_, Result<Response>>;
}
