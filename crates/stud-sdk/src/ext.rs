//! Short ways to host services, in the plugin's own types.

use std::future::poll_fn;
use std::pin::pin;
use std::task::Poll;

use serde::Serialize;
use stud_contract_interaction::{Answer, Confirm, Payload};
use stud_contract_meta::Result;
use stud_diagnostics::codes;
use stud_host_api::events::Event;
use stud_host_api::{Cx, Host};

use crate::private::config;
use crate::private::fault::coded;
use crate::schema::Config;

/// What the SDK adds to [`Cx`].
///
/// ```
/// use stud_sdk::prelude::*;
///
/// /// How to greet.
/// #[derive(Config)]
/// struct Options {
///     /// The word to greet with.
///     #[stud(default = "Hello")]
///     greeting: String,
/// }
///
/// /// Greets the reader.
/// #[tool(config = Options)]
/// fn greet_as_configured(cx: &Cx) -> Result<String> {
///     let options: Options = cx.config()?;
///     Ok(format!("{}, reader", options.greeting))
/// }
/// ```
pub trait CxExt {
    /// The plugin's own config, in its type.
    fn config<C: Config>(&self) -> Result<C>;

    /// Does the work, unless the call is cancelled first: then `Cancellation/ToolCancelled` in a tool call, and
    /// `Cancellation/TurnCancelled` elsewhere.
    ///
    /// ```
    /// use stud_sdk::prelude::*;
    ///
    /// async fn patient(cx: &Cx) -> Result<()> {
    ///     cx.unless_cancelled(std::future::pending()).await
    /// }
    /// ```
    fn unless_cancelled<T>(
        &self,
        work: impl Future<Output = T> + Send,
    ) -> impl Future<Output = Result<T>> + Send;

    /// Asks a yes-or-no question: whether the person said yes. The manifest has to declare `Confirm`.
    ///
    /// ```
    /// use stud_sdk::prelude::*;
    ///
    /// /// Forgets everything.
    /// #[command(interactions("Confirm"))]
    /// async fn forget(cx: &Cx) -> Result<&'static str> {
    ///     Ok(if cx.confirm("Forget everything?").await? { "forgotten" } else { "nothing was changed" })
    /// }
    /// ```
    fn confirm(&self, prompt: &str) -> impl Future<Output = Result<bool>> + Send;
}

impl CxExt for Cx {
    fn config<C: Config>(&self) -> Result<C> {
        config::read(self.host().config().read_own()?)
    }

    async fn unless_cancelled<T>(&self, work: impl Future<Output = T> + Send) -> Result<T> {
        let mut stop = pin!(self.cancellation().cancelled());
        let mut work = pin!(work);
        poll_fn(|task| {
            if stop.as_mut().poll(task).is_ready() {
                let code = match self.ids().tool_call_id {
                    Some(_) => &codes::TOOL_CANCELLED,
                    None => &codes::TURN_CANCELLED,
                };
                return Poll::Ready(Err(coded(code, "the call was cancelled")));
            }
            work.as_mut().poll(task).map(Ok)
        })
        .await
    }

    async fn confirm(&self, prompt: &str) -> Result<bool> {
        let question = Payload::from(Confirm {
            prompt: prompt.to_owned(),
            default: Some(false),
        });
        let response = self.host().interaction().request(question.clone()).await?;
        let answer = response.answer(&question)?;
        Ok(matches!(answer, Some(Answer::Confirm(answer)) if answer.confirmed))
    }
}

/// What the SDK adds to [`Host`] and [`Cx`].
///
/// ```
/// use stud_sdk::prelude::*;
///
/// /// Someone was greeted.
/// #[derive(Schema)]
/// struct Greeted {
///     /// Who.
///     name: String,
/// }
///
/// /// Greets the reader.
/// #[tool(events(Greeted))]
/// fn greet_aloud(cx: &Cx) -> Result<&'static str> {
///     cx.publish("Greeted", &Greeted { name: "reader".to_owned() })?;
///     Ok("Hello, reader")
/// }
/// ```
pub trait HostExt {
    /// Publishes an event that the manifest declares.
    fn publish<T: Serialize + ?Sized>(&self, name: &str, payload: &T) -> Result<()>;
}

impl HostExt for Host {
    fn publish<T: Serialize + ?Sized>(&self, name: &str, payload: &T) -> Result<()> {
        let payload = serde_json::to_value(payload).map_err(|error| {
            let message = format!("the payload of `{name}` cannot be written as JSON: {error}");
            coded(&codes::EVENT_PAYLOAD_INVALID, message).with("name", name)
        })?;
        self.events().publish(Event {
            name: name.to_owned(),
            payload,
        })
    }
}

impl HostExt for Cx {
    fn publish<T: Serialize + ?Sized>(&self, name: &str, payload: &T) -> Result<()> {
        self.host().publish(name, payload)
    }
}
