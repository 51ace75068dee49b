//! Prompts that a tool raises in the middle of its work, and what comes of them.
//!
//! A tool asks with [`CxPrompt::request_interaction`] and says in hooks what an answer means. The SDK drives the loop: it
//! asks, gives the answer to the hook, asks again when the hook wants that, and returns what the tool is to return.
//!
//! ```
//! use stud_sdk::prelude::*;
//! use stud_sdk::tool_prompt::{Outcome, Prompt};
//!
//! /// Asks for a name.
//! #[tool(gated = false, interactions("ToolInput"))]
//! async fn ask_name(cx: &Cx) -> Result<Output> {
//!     let form = json!({"type": "form", "fields": [{"id": "name", "type": "text", "label": "Name", "required": true}]});
//!     let request = Prompt::input("ask_name", form).on_response(|answer| async move {
//!         match answer.value("name") {
//!             None => Outcome::complete(json!({"ok": false, "cancelled": true})),
//!             Some(name) => Outcome::complete(json!({"ok": true, "name": name})),
//!         }
//!     });
//!     Output::json(cx.request_interaction(request).await?)
//! }
//! ```
//!
//! What was written for people who are not there comes back as an error that the tool may catch:
//! `ToolTerminal/InteractionUnavailable`.

use std::future::{Ready, ready};
use std::time::Duration;

use serde::Serialize;
use serde_json::{Map, Value, json};
use stud_contract_interaction::{
    Action, Answer as ContractAnswer, ApprovalScope, CompletedView, Payload, Presentation, Status,
    UserResponse,
};
use stud_contract_meta::{Error, Result};
use stud_diagnostics::codes;
use stud_host_api::Cx;
use stud_host_api::interaction::ToolApprovalKey;

use crate::error::ErrorExt as _;
use crate::ext::CxExt as _;
use crate::private::fault::coded;

/// How often a prompt may be put again without saying what was wrong. The host counts those that do.
const MOST_SILENT_REPROMPTS: u32 = 10;

/// A question of a tool: a form to fill in, or an approval.
///
/// Asking again takes a whole prompt: nothing of the one before is kept but the hooks.
///
/// ```
/// use std::time::Duration;
/// use stud_sdk::interaction::ApprovalScope;
/// use stud_sdk::tool_prompt::Prompt;
///
/// let prompt = Prompt::approval("delete_files")
///     .text("Delete 3 files?")
///     .scopes([ApprovalScope::Once, ApprovalScope::Session])
///     .timeout(Duration::from_secs(60));
/// # drop(prompt);
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Prompt {
    kind: &'static str,
    members: Map<String, Value>,
}

impl Prompt {
    /// Asks for input: `form` is a [`Form`](crate::interaction::Form), or JSON of that shape.
    pub fn input(tool: &str, form: impl Serialize) -> Self {
        Self::new("ToolInput", tool).with("inputSchema", json!(form))
    }

    /// Asks for permission to continue. Without a [text](Self::text) it asks whether to allow the tool.
    pub fn approval(tool: &str) -> Self {
        Self::new("ToolApproval", tool)
    }

    fn new(kind: &'static str, tool: &str) -> Self {
        let members = Map::new();
        Self { kind, members }.with("toolName", tool.into())
    }

    fn with(mut self, member: &str, value: Value) -> Self {
        self.members.insert(member.to_owned(), value);
        self
    }

    /// The question, or what is said above the form.
    #[must_use]
    pub fn text(self, text: impl Into<String>) -> Self {
        self.with("prompt", text.into().into())
    }

    /// For how long the person may approve; once and for the session when left out.
    #[must_use]
    pub fn scopes(self, scopes: impl IntoIterator<Item = ApprovalScope>) -> Self {
        let scopes: Vec<ApprovalScope> = scopes.into_iter().collect();
        self.with("approvalScopes", json!(scopes))
    }

    /// How long to wait; five minutes when left out, unless the person has set something else.
    #[must_use]
    pub fn timeout(self, timeout: Duration) -> Self {
        let millis = u64::try_from(timeout.as_millis()).unwrap_or(u64::MAX);
        self.with("timeoutMs", millis.into())
    }

    /// Waits until it is answered or cancelled.
    #[must_use]
    pub fn without_timeout(self) -> Self {
        self.with("timeoutMs", Value::Null)
    }

    /// Where to show it.
    #[must_use]
    pub fn presentation(self, presentation: Presentation) -> Self {
        self.with("presentation", json!(presentation))
    }

    /// What to show once it is answered.
    #[must_use]
    pub fn completed_view(self, view: CompletedView) -> Self {
        self.with("completedView", json!(view))
    }

    /// What was wrong with the answer before.
    #[must_use]
    pub fn error(self, error: impl Into<String>) -> Self {
        self.with("error", error.into().into())
    }

    /// What was wrong with single fields, by their ids.
    #[must_use]
    pub fn field_errors<I: Into<String>, E: Into<String>>(
        self,
        errors: impl IntoIterator<Item = (I, E)>,
    ) -> Self {
        let errors = errors.into_iter();
        let errors: Map<String, Value> = errors
            .map(|(field, error)| (field.into(), error.into().into()))
            .collect();
        self.with("fieldErrors", errors.into())
    }

    /// What to show filled in, by the ids of the fields: most often what the person typed before.
    #[must_use]
    pub fn initial_values(mut self, values: Map<String, Value>) -> Self {
        if let Some(Value::Object(form)) = self.members.get_mut("inputSchema") {
            form.insert("initialValues".to_owned(), values.into());
        }
        self
    }

    /// A request that is answered by this hook.
    pub fn on_response<R, F>(self, respond: R) -> InteractionRequest<R>
    where
        R: FnMut(Response) -> F + Send,
        F: Future<Output = Result<Outcome>> + Send,
    {
        InteractionRequest {
            prompt: self,
            respond,
            time_out: time_out as fn() -> Ready<Result<Outcome>>,
            cancel: || ready(()),
        }
    }

    /// Whether the host counts this among the prompts that ask again.
    fn says_what_was_wrong(&self) -> bool {
        ["error", "fieldErrors"]
            .iter()
            .any(|member| self.members.contains_key(*member))
    }

    fn payload(&self, cx: &Cx) -> Result<Payload> {
        let mut members = self.members.clone();
        let call = cx.ids().tool_call_id.clone().unwrap_or_default();
        members.insert("toolCallId".to_owned(), call.into());
        Payload::read(self.kind, members.into())
    }
}

fn time_out() -> Ready<Result<Outcome>> {
    ready(Err(Error::transient(
        "ExecutionTimeout",
        "no answer came in time",
    )))
}

/// What the person did.
///
/// ```
/// use stud_sdk::prelude::*;
/// use stud_sdk::tool_prompt::{Outcome, Response};
///
/// fn judge(response: &Response) -> Result<Outcome> {
///     match response.value("email").and_then(|email| email.as_str().map(str::to_owned)) {
///         Some(email) => Outcome::complete(json!({"ok": true, "email": email})),
///         None => Outcome::complete(json!({"ok": false, "cancelled": true})),
///     }
/// }
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Response(UserResponse);

impl Response {
    /// Which button.
    pub fn action(&self) -> Action {
        self.0.action
    }

    /// Whether the person approved, and for how long.
    pub fn approved(&self) -> Option<ApprovalScope> {
        let scope = self.0.approval_scope.unwrap_or(ApprovalScope::Once);
        (self.0.action == Action::Approve).then_some(scope)
    }

    /// Everything that was filled in, if the form was submitted.
    pub fn submitted(&self) -> Option<Map<String, Value>> {
        let input = || self.0.input.clone().unwrap_or_default();
        (self.0.action == Action::Submit).then(input)
    }

    /// What was filled in for a field, if the form was submitted; null for a field that was left out.
    pub fn value(&self, field: &str) -> Option<Value> {
        let submitted = self.submitted()?;
        Some(submitted.get(field).cloned().unwrap_or_default())
    }

    /// Why, in the person's words.
    pub fn reason(&self) -> Option<&str> {
        self.0.reason.as_deref()
    }
}

/// What a hook makes of an answer, or of the lack of one.
///
/// ```
/// use stud_sdk::prelude::*;
/// use stud_sdk::tool_prompt::Outcome;
///
/// assert_eq!(Outcome::complete(json!({"ok": true})).unwrap(), Outcome::Complete(json!({"ok": true})));
/// let later = Outcome::queued("the answer may come later");
/// assert!(matches!(later, Outcome::Pending { queued: true, .. }));
/// ```
#[derive(Debug, Clone, PartialEq)]
pub enum Outcome {
    /// The request is done, with this result.
    Complete(Value),
    /// The person is asked again.
    Reprompt(Prompt),
    /// The call ends now, without an answer.
    Pending {
        /// What the model is told.
        message: String,
        /// Whether the prompt stays open. An answer that comes later is then said to the model in a turn of its own.
        queued: bool,
    },
}

impl Outcome {
    /// The request is done, with this result.
    pub fn complete(result: impl Serialize) -> Result<Self> {
        let result = serde_json::to_value(result).map_err(Error::failed)?;
        Ok(Self::Complete(result))
    }

    /// The call ends now, and the prompt takes no answer any more.
    pub fn pending(message: impl Into<String>) -> Self {
        Self::Pending {
            message: message.into(),
            queued: false,
        }
    }

    /// The call ends now, and the prompt stays open for a late answer.
    pub fn queued(message: impl Into<String>) -> Self {
        Self::Pending {
            message: message.into(),
            queued: true,
        }
    }
}

/// A prompt with the hooks that say what becomes of it. [`Prompt::on_response`] makes one.
///
/// ```
/// use std::time::Duration;
/// use stud_sdk::prelude::*;
/// use stud_sdk::tool_prompt::{Outcome, Prompt};
///
/// /// Deletes files after the user has confirmed it.
/// #[tool(interactions("ToolApproval"))]
/// async fn delete_all(cx: &Cx) -> Result<Output> {
///     let request = Prompt::approval("delete_all")
///         .text("Delete everything?")
///         .timeout(Duration::from_secs(60))
///         .on_response(|answer| async move { Outcome::complete(json!({"ok": answer.approved().is_some()})) })
///         .on_timeout(|| async { Outcome::complete(json!({"ok": false, "error": "Approval timed out"})) });
///     Output::json(cx.request_interaction(request).await?)
/// }
/// ```
#[derive(Debug)]
pub struct InteractionRequest<R, T = fn() -> Ready<Result<Outcome>>, C = fn() -> Ready<()>> {
    prompt: Prompt,
    respond: R,
    time_out: T,
    cancel: C,
}

impl<R, T, C> InteractionRequest<R, T, C> {
    /// What happens when no answer comes in time. Without this the request fails with
    /// `ToolTransient/ExecutionTimeout`.
    pub fn on_timeout<N, F>(self, time_out: N) -> InteractionRequest<R, N, C>
    where
        N: FnMut() -> F + Send,
        F: Future<Output = Result<Outcome>> + Send,
    {
        InteractionRequest {
            prompt: self.prompt,
            respond: self.respond,
            time_out,
            cancel: self.cancel,
        }
    }

    /// What is done when the call is cancelled while it waits. A person who presses Cancel has answered, and this is not
    /// called.
    pub fn on_cancel<N, F>(self, cancel: N) -> InteractionRequest<R, T, N>
    where
        N: FnMut() -> F + Send,
        F: Future<Output = ()> + Send,
    {
        InteractionRequest {
            prompt: self.prompt,
            respond: self.respond,
            time_out: self.time_out,
            cancel,
        }
    }
}

pub use stud_host_api::interaction::Availability;

/// The approvals that a tool keeps under keys of its own. [`CxPrompt::approvals`] gives them.
///
/// They are visible to this tool alone, and have nothing to do with the approvals that stud keeps: those let a call
/// begin, these are looked up by the tool in the middle of its work.
///
/// ```
/// use stud_sdk::interaction::ApprovalScope;
/// use stud_sdk::prelude::*;
/// use stud_sdk::tool_prompt::{Outcome, Prompt};
///
/// /// Publishes a release after the user has approved it.
/// #[tool(gated = false)]
/// async fn publish_release(cx: &Cx) -> Result<Output> {
///     if cx.approvals().get("publish").await?.is_some() {
///         return Ok(Output::text("published"));
///     }
///     let request = Prompt::approval("publish_release").text("Publish?").on_response(|answer| async move {
///         let Some(scope) = answer.approved() else {
///             return Outcome::complete("kept back");
///         };
///         if scope != ApprovalScope::Once {
///             cx.approvals().set("publish", scope).await?;
///         }
///         Outcome::complete("published")
///     });
///     Output::json(cx.request_interaction(request).await?)
/// }
/// ```
#[derive(Debug, Clone, Copy)]
pub struct ToolApprovals<'a>(&'a Cx);

impl ToolApprovals<'_> {
    /// For how long `key` is approved, in this session or for always. An approval for once is used up by this.
    pub async fn get(&self, key: &str) -> Result<Option<ApprovalScope>> {
        let session = self.0.ids().session_id.clone();
        self.0
            .host()
            .interaction()
            .approval(self.of(key, session))
            .await
    }

    /// Whether `key` is approved for always. What is approved for the session does not count.
    pub async fn is_always(&self, key: &str) -> Result<bool> {
        let found = self
            .0
            .host()
            .interaction()
            .approval(self.of(key, None))
            .await?;
        Ok(found == Some(ApprovalScope::Always))
    }

    /// Keeps an approval: until the next [`get`](Self::get), for this session, or for always.
    pub async fn set(&self, key: &str, scope: ApprovalScope) -> Result<()> {
        let session = self.0.ids().session_id.clone();
        let of = self.of(key, session);
        self.0.host().interaction().approve(of, scope).await
    }

    /// Forgets what this plugin's tools have kept for this session and for once.
    pub async fn clear_session(&self) -> Result<()> {
        let session = self.0.host().workspace().session_id()?;
        self.0.host().interaction().clear_approvals(session).await
    }

    fn of(self, key: &str, session_id: Option<String>) -> ToolApprovalKey {
        ToolApprovalKey {
            key: key.to_owned(),
            session_id,
            tool_call_id: self.0.ids().tool_call_id.clone(),
        }
    }
}

/// What the SDK adds to [`Cx`] for prompts.
///
/// ```
/// use stud_sdk::prelude::*;
/// use stud_sdk::tool_prompt::{Outcome, Prompt};
///
/// /// Asks, or does without.
/// #[tool(gated = false, interactions("ToolApproval"))]
/// async fn polite(cx: &Cx) -> Result<Output> {
///     if !cx.interaction()?.available {
///         return Ok(Output::text("no user interface can answer"));
///     }
///     let request = Prompt::approval("polite")
///         .on_response(|answer| async move { Outcome::complete(answer.approved().is_some()) });
///     Output::json(cx.request_interaction(request).await?)
/// }
/// ```
pub trait CxPrompt {
    /// Puts a prompt to the person, and drives it to its end: the value that a hook completed it with.
    ///
    /// `ToolTerminal/InteractionUnavailable` without an interactor, `ToolTerminal/RepromptLimit` if the person was asked too
    /// often, `Cancellation/ToolCancelled` if the call was cancelled, and the error of a hook that failed.
    fn request_interaction<R, RF, T, TF, C, CF>(
        &self,
        request: InteractionRequest<R, T, C>,
    ) -> impl Future<Output = Result<Value>> + Send
    where
        R: FnMut(Response) -> RF + Send,
        RF: Future<Output = Result<Outcome>> + Send,
        T: FnMut() -> TF + Send,
        TF: Future<Output = Result<Outcome>> + Send,
        C: FnMut() -> CF + Send,
        CF: Future<Output = ()> + Send;

    /// Which screens could answer a prompt now.
    fn interaction(&self) -> Result<Availability>;

    /// The approvals that this tool keeps.
    fn approvals(&self) -> ToolApprovals<'_>;
}

impl CxPrompt for Cx {
    async fn request_interaction<R, RF, T, TF, C, CF>(
        &self,
        request: InteractionRequest<R, T, C>,
    ) -> Result<Value>
    where
        R: FnMut(Response) -> RF + Send,
        RF: Future<Output = Result<Outcome>> + Send,
        T: FnMut() -> TF + Send,
        TF: Future<Output = Result<Outcome>> + Send,
        C: FnMut() -> CF + Send,
        CF: Future<Output = ()> + Send,
    {
        let InteractionRequest {
            mut prompt,
            mut respond,
            mut time_out,
            mut cancel,
        } = request;
        let mut silent = 0;
        loop {
            let outcome = match ask(self, &prompt).await {
                Ok(Some(response)) => respond(response).await?,
                Ok(None) => time_out().await?,
                Err(error) => {
                    if error.class() == "Cancellation" {
                        cancel().await;
                    }
                    return Err(error);
                }
            };
            prompt = match outcome {
                Outcome::Complete(result) => return Ok(result),
                Outcome::Pending { message, queued } => {
                    let mut pending = json!({"pending": true, "message": message});
                    if queued {
                        pending["queued"] = true.into();
                    }
                    return Ok(pending);
                }
                Outcome::Reprompt(prompt) => prompt,
            };
            if !prompt.says_what_was_wrong() {
                silent += 1;
                if silent > MOST_SILENT_REPROMPTS {
                    let message = format!("asked {MOST_SILENT_REPROMPTS} times again, in vain");
                    return Err(
                        coded(&codes::REPROMPT_LIMIT, message).with("limit", MOST_SILENT_REPROMPTS)
                    );
                }
            }
        }
    }

    fn interaction(&self) -> Result<Availability> {
        self.host().interaction().availability()
    }

    fn approvals(&self) -> ToolApprovals<'_> {
        ToolApprovals(self)
    }
}

/// Asks once: what the person did, or nothing if no answer came in time.
async fn ask(cx: &Cx, prompt: &Prompt) -> Result<Option<Response>> {
    let payload = prompt.payload(cx)?;
    let asked = cx.host().interaction().request(payload.clone());
    let response = match cx.unless_cancelled(asked).await.flatten() {
        Ok(response) => response,
        Err(error) if error.class() == "ToolTransient" => return Ok(None),
        Err(error) => return Err(error),
    };
    let answer = response.answer(&payload)?;
    Ok(match (response.status, answer) {
        (_, Some(ContractAnswer::ToolInput(answer) | ContractAnswer::ToolApproval(answer))) => {
            Some(Response(answer))
        }
        (Status::Timeout, _) => None,
        // A refusal to answer is the button that every prompt has.
        _ => Some(Response(UserResponse {
            reason: response.reason,
            ..UserResponse::new(Action::Cancel)
        })),
    })
}
