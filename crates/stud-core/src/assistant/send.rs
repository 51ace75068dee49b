//! `SEND_REQUEST`: to the provider, and again if it fails for the moment.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use stud_abi::Stream;
use stud_contract_hook::Slot;
use stud_contract_meta::{Capability, Error, Result};
use stud_contract_provider::StreamEvent;
use stud_diagnostics::Class;
use stud_host_api::events::{ProviderRequestFailed, ProviderRequestStarted};
use stud_runtime::clock::Stopwatch;
use tracing::Instrument as _;

use super::{Work, millis_since};
use crate::activate::{Active, Running};
use crate::context::Composed;
use crate::executor;
use crate::ledger::closed;
use crate::recorder;
use crate::span::Span;
use crate::timeout::sleep;

/// An answer on its way.
pub(super) struct Answer {
    pub(super) provider: Arc<Active>,
    pub(super) stream: Stream,
    /// What came first. It is waited for here, because only then is it known that the request was taken.
    pub(super) first: Option<StreamEvent>,
}

/// A provider that has begun to answer.
pub(super) struct Answering {
    pub(super) answer: Answer,
    pub(super) began: Stopwatch,
    pub(super) iteration: u32,
    /// Lasts until the answer is there.
    pub(super) span: Span,
}

/// The span of a request, from its first try to the end of the answer.
const SPAN: &str = "provider-request";

/// Sends the request.
pub(super) async fn send(work: &Work, request: Composed, iteration: u32) -> Result<Answering> {
    if work.voice.cancelled().is_cancelled() {
        return Err(work.voice.called_off());
    }
    let provider = work.model.provider(&work.turn.plugins())?;
    let request = work.pass_request(Slot::SendRequestPre, request).await?;
    tell_started(work, &request, iteration);
    let span = Span::begin(work.turn.session().books(), SPAN, work.turn.id())?;
    let began = Stopwatch::start();
    let (stream, first) = match persist(work, &provider, &request).await {
        Ok(answering) => answering,
        Err(error) => {
            drop(span);
            tell_failed(work, began, &error);
            return Err(error);
        }
    };
    let sent = || with_model(work, json!({"iteration": iteration}));
    work.pass(Slot::SendRequestPost, sent).await?;
    Ok(Answering {
        answer: Answer {
            provider,
            stream,
            first,
        },
        began,
        iteration,
        span,
    })
}

type Begun = (Stream, Option<StreamEvent>);

/// Tries until the provider begins to answer, or until trying again makes no sense.
async fn persist(work: &Work, provider: &Arc<Active>, request: &Composed) -> Result<Begun> {
    let session = work.turn.session();
    let retry = session.rules().retry;
    let mut number = 0;
    loop {
        let error = match begin(work, provider, request.to_text()).await {
            Ok(begun) => return Ok(begun),
            Err(error) => error,
        };
        if number == retry.attempts || !is_momentary(&error) {
            return Err(error);
        }
        let pause = retry.pause(number, asked_for(&error));
        number += 1;
        let reason = format!(
            "the request is sent again in {} ms (try {} of {})",
            pause.as_millis(),
            number + 1,
            retry.attempts + 1
        );
        session.books().suppress(&reason, work.turn.id(), &error);
        let rested = sleep(&**session.timer(), pause);
        if executor::or_cancelled(work.voice.cancelled(), rested)
            .await
            .is_none()
        {
            return Err(work.voice.called_off());
        }
    }
}

/// Whether the same request may well succeed later. A wrong key or a wrong address stays wrong.
fn is_momentary(error: &Error) -> bool {
    let lasting = ["Unauthorized", "EndpointNotFound", "SummarizeFailed"];
    error.class() == Class::ProviderTransient.as_str() && !lasting.contains(&error.code())
}

fn asked_for(error: &Error) -> Option<Duration> {
    let asked_for = error.context().get("retryAfterMs")?.as_u64()?;
    Some(Duration::from_millis(asked_for))
}

/// Waits for the first piece; a stranger's on a thread of its own, because its code may block or never come back.
async fn begin(work: &Work, provider: &Arc<Active>, payload: String) -> Result<Begun> {
    let cancelled = work.voice.cancelled();
    let cx = work.voice.call(cancelled.clone(), None);
    let (code_origin, provider) = (provider.identity().code_origin(), provider.clone());
    let begun = code_origin.drive(work.voice.session().within(None, async move {
        let Running::Provider(instance) = provider.running() else {
            return Err(provider.lacks("request"));
        };
        let blame = |fault| provider.blame("request", fault);
        let request = instance.request(payload, cx);
        let request = request.instrument(provider.call_span("request"));
        let mut stream = request.await.map_err(blame)?;
        let first = stream.next().await.map_err(blame)?;
        let first = first.map(StreamEvent::read).transpose()?;
        Ok((stream, first))
    }));
    let begun = executor::or_cancelled(cancelled, begun).await;
    match begun {
        Some(begun) => begun.unwrap_or_else(|| Err(closed())),
        None => Err(work.voice.called_off()),
    }
}

fn tell_started(work: &Work, request: &Composed, iteration: u32) {
    work.turn.publish(&ProviderRequestStarted {
        iteration,
        model_id: work.model.model_id.clone(),
        provider_id: work.model.provider_id.clone(),
    });
    let record = with_model(
        work,
        json!({
            "iteration": iteration,
            "messages": request.message_count(),
            "tools": request.tool_count(),
        }),
    );
    work.voice
        .audit("ProviderExchange", Some("ProviderRequest"), record);
}

/// Tells that the exchange came to nothing.
pub(super) fn tell_failed(work: &Work, began: Stopwatch, error: &Error) {
    let failed = ProviderRequestFailed {
        duration_ms: millis_since(began),
        error_class: error.class().to_owned(),
        error_code: error.code().to_owned(),
        message: error.message().to_owned(),
        model_id: work.model.model_id.clone(),
        provider_id: work.model.provider_id.clone(),
    };
    match error.code() {
        "MissingToolCalling" => work.found(Capability::ToolCalling, false),
        "MissingStreaming" => work.found(Capability::Streaming, false),
        _ => {}
    }
    // A cancellation says nothing about the provider, and one that answers nonsense was reached.
    if error.class() == Class::ProviderTransient.as_str() {
        work.turn.session().metrics().reached_provider(false);
    }
    work.turn.publish(&failed);
    let mut failed = json!(failed);
    failed["finishReason"] = "error".into();
    failed["error"] = recorder::told(error);
    work.voice
        .audit("ProviderExchange", Some("ProviderResponse"), failed);
}

/// Adds which model it is about.
pub(super) fn with_model(work: &Work, mut more: Value) -> Value {
    more["providerId"] = work.model.provider_id.as_str().into();
    more["modelId"] = work.model.model_id.as_str().into();
    more
}
