//! The three traits, one for each role.

use std::future::Future;

use stud_contract_interaction::{Request, Response};
use stud_contract_meta::Result;
use stud_host_api::Cx;

use crate::canvas::{Canvas, Line};
use crate::event::Event;

/// Hears events: the role `subscriber`.
///
/// Every subscriber gets every event, in the same order, from the moment it is active.
/// What came before is in the transcript, which the host's session service can read.
///
/// # Obligations
///
/// - **Show, do not steer.** An event says what happened and carries no authority. A plugin that cancels, approves or
///   starts something because an event came, or came late, does not conform: use a command or answer a prompt.
/// - **Return soon.** The call is not asynchronous. Put what takes time into a queue of your own; a subscriber that
///   is slow falls behind, and only it.
/// - **Take what you know.** New events and new members come with minor versions; pass over them.
///
/// An error is recorded as suppressed, and the next event comes all the same.
///
/// # Example
///
/// ```
/// use std::sync::Mutex;
///
/// use serde::Deserialize;
/// use stud_contract_meta::Result;
/// use stud_contract_ui::{Event, Subscriber};
///
/// /// Shows how large the index is, as another plugin reports it.
/// #[derive(Default)]
/// struct IndexSize(Mutex<u64>);
///
/// #[derive(Deserialize)]
/// struct IndexBuilt {
///     files: u64,
/// }
///
/// impl Subscriber for IndexSize {
///     fn on_event(&self, event: &Event<'_>) -> Result<()> {
///         if event.name == "IndexBuilt" {
///             let IndexBuilt { files } = event.parse()?;
///             *self.0.lock().unwrap() = files;
///         }
///         Ok(())
///     }
/// }
///
/// let size = IndexSize::default();
/// size.on_event(&Event { seq: 1, name: "IndexBuilt", correlation_id: "t1", payload: r#"{"files":3}"# })?;
/// assert_eq!(*size.0.lock().unwrap(), 3);
/// # Ok::<(), stud_contract_meta::Error>(())
/// ```
pub trait Subscriber: Send + Sync + 'static {
    /// Takes one event.
    fn on_event(&self, event: &Event<'_>) -> Result<()>;
}

/// Answers prompts: the role `interactor`.
///
/// Core sends a prompt to every active interactor at the same time, and the first `accepted` or `rejected` settles it.
/// The other interactors are told by cancellation of their call.
///
/// # Obligations
///
/// - **Answer for a person.** Never approve by yourself, by default or on a timeout. Without a user,
///   return [`Response::dismissed`]; after a time limit of the request, [`Response::timeout`]. Both leave the prompt
///   open for everyone else.
/// - **Close when told.** When `cx` is cancelled the prompt was settled elsewhere or cancelled: close the dialog
///   and return. What is returned then is not used, and the error that a late answer gets is not a failure. Every interactor is
///   asked, so `cx` is cancelled from the start where another interactor was very quick.
/// - **One at a time.** The next prompt comes after this call has returned.
/// - **Name the subagent.** When the request has a `subagent_id`, the dialog shows it.
/// - **Forget secrets.** What answers an `Auth.*` prompt goes into the response and nowhere else.
/// - **Mind completion.** Do not offer names or values from the environment as completions unless the person asks.
///
/// A response of the wrong shape comes back as `Validation/InteractionPayloadMismatch`, and the prompt stays open.
///
/// # Two ways to answer
///
/// Most interactors return their response and need not know what became of it.
/// One that does, or whose answer comes from another place than this call, gives it to
/// `cx.host().interaction().respond(…)` instead, which returns once the answer has won and fails with
/// `Session/InteractionAlreadyAnswered` when another interactor was faster.
/// What the call returns after that is not used.
///
/// # Example
///
/// ```
/// use stud_contract_interaction::{ConfirmAnswer, Payload, Request, Response};
/// use stud_contract_meta::Result;
/// use stud_contract_ui::Interactor;
/// use stud_host_api::Cx;
///
/// /// Forwards questions to a pager, and returns the yes or no.
/// struct Pager;
///
/// impl Pager {
///     async fn ring(&self, _question: &str) -> Option<bool> {
///         None // No pager is attached.
///     }
/// }
///
/// impl Interactor for Pager {
///     async fn on_interaction(&self, request: Request, _cx: &Cx) -> Result<Response> {
///         let Payload::Confirm(_) = &request.payload else {
///             return Ok(Response::dismissed(&request));
///         };
///         Ok(match self.ring(&request.prompt()).await {
///             Some(confirmed) => Response::accepted(&request, ConfirmAnswer { confirmed }),
///             None => Response::dismissed(&request),
///         })
///     }
/// }
/// ```
pub trait Interactor: Send + Sync + 'static {
    /// Puts the question to a person and brings back what they say.
    fn on_interaction(
        &self,
        request: Request,
        cx: &Cx,
    ) -> impl Future<Output = Result<Response>> + Send;
}

/// Draws in another UI: the role `region`.
///
/// A region returns lines; the UI that owns the region clips them to the canvas, makes control characters visible and
/// puts them together with what others drew. Which regions there are is the owning UI's business.
///
/// # Obligations
///
/// - **Draw from what you have.** `render` is called on every frame and answered at once: no waiting, no files.
/// - **Do without.** When the target is not loaded nothing is drawn, and nothing else may break.
/// - **Have no hands.** A region acts by dispatching a command or through a callback of the owning UI. It is no way
///   around approval, and it is given no environment and no state but its own.
///
/// An error leaves the region as the owning UI would show it without this plugin.
///
/// # Example
///
/// ```
/// use stud_contract_meta::Result;
/// use stud_contract_ui::{Canvas, Color, Line, Modifier, Region, Span};
///
/// struct ModeBadge;
///
/// impl Region for ModeBadge {
///     fn render(&self, _contribution: &str, canvas: &Canvas) -> Result<Vec<Line>> {
///         let mode = canvas.snapshot.as_ref().and_then(|snapshot| snapshot["mode"].as_str());
///         Ok(match mode {
///             Some("yolo") => vec![Span::plain("YOLO").fg(Color::Red).with(Modifier::Bold).into()],
///             Some(mode) => vec![Line::from(mode)],
///             None => vec![],
///         })
///     }
/// }
///
/// let canvas = Canvas { width: 20, height: 1, ..Canvas::default() };
/// assert_eq!(ModeBadge.render("badge", &canvas)?, []);
/// # Ok::<(), stud_contract_meta::Error>(())
/// ```
pub trait Region: Send + Sync + 'static {
    /// Draws one contribution, known by its `id` in the manifest.
    fn render(&self, contribution: &str, canvas: &Canvas) -> Result<Vec<Line>>;
}
