//! The trait a provider implements.

use std::future::Future;

use stud_contract_meta::Result;
use stud_host_api::Cx;

use crate::event::FinishReason;
use crate::request::Request;
use crate::sink::Sink;

/// Talks to a model.
///
/// # Obligations
///
/// - **Send what is asked.** The request is complete: add no context of your own, drop none. What the backend cannot
///   take is an error of class `ProviderCapability`.
/// - **Pass on at once.** Each piece goes into `out` as it comes. Waiting there is right: it means that the host has
///   enough to show.
/// - **Whole calls.** A tool call is put in when its arguments are complete and read as JSON.
/// - **End once.** The reason returned becomes the one finish event, after every piece. Nothing else may end an answer.
/// - **Stop when told.** When `cx` is cancelled, close the connection and return; the host no longer reads, and the
///   future may be dropped at any point that waits.
/// - **Fail in types.** Class `ProviderTransient` for what may pass (no network, too many requests, a failure of the
///   backend): core tries again. Class `ProviderCapability` for what the model cannot do: core looks for another.
///   Pieces put in before an error were shown, so fail early where you can.
/// - **Keep the key to yourself.** The config has a reference to it, never the key; no message and no error has it.
///
/// # Example
///
/// ```
/// use stud_contract_meta::Result;
/// use stud_contract_provider::{FinishReason, Provider, Request, Sink, Usage};
/// use stud_host_api::Cx;
///
/// /// Says what it was told.
/// struct Parrot;
///
/// impl Provider for Parrot {
///     async fn request(&self, request: Request, out: Sink, cx: &Cx) -> Result<FinishReason> {
///         let said = request.messages.last().map(|message| message.content.text()).unwrap_or_default();
///         for word in said.split_inclusive(' ') {
///             if cx.is_cancelled() {
///                 return Ok(FinishReason::Other);
///             }
///             out.text(word).await;
///         }
///         out.usage(Usage { output_tokens: 1, ..Usage::default() }).await;
///         Ok(FinishReason::Stop)
///     }
/// }
/// ```
pub trait Provider: Send + Sync + 'static {
    /// Sends one request, puts the answer into `out`, and says why the answer ended.
    fn request(
        &self,
        request: Request,
        out: Sink,
        cx: &Cx,
    ) -> impl Future<Output = Result<FinishReason>> + Send;
}
