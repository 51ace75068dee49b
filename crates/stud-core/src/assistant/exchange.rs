//! One request to the model and what streams back.

use std::sync::Arc;
use std::time::Instant;

use serde_json::{Value, json};
use stud_abi::CallContext;
use stud_contract_meta::{Error, Result};
use stud_contract_provider::{FinishReason, Request, StreamEvent};

use super::{Model, millis_since, unless_cancelled};
use crate::activate::{Active, Running};
use crate::ledger::closed;
use crate::metrics::Spent;
use crate::session::{Turn, Voice};
use crate::work;

/// What the model said.
#[derive(Debug, Default)]
pub(super) struct Exchange {
    pub(super) text: String,
    pub(super) proposals: Vec<Proposal>,
    output_tokens: u64,
    finish: Option<FinishReason>,
}

/// A tool call that the model proposes.
#[derive(Debug, Clone)]
pub(super) struct Proposal {
    pub(super) tool_call_id: String,
    pub(super) tool_name: String,
    pub(super) args: Value,
}

impl Proposal {
    pub(super) fn to_value(&self) -> Value {
        json!({
            "toolCallId": self.tool_call_id,
            "toolName": self.tool_name,
            "args": self.args,
        })
    }
}

/// Sends the request, and tells of each piece as it comes.
pub(super) async fn exchange(
    turn: &Turn,
    provider: &Arc<Active>,
    model: &Model,
    request: Request,
    iteration: u32,
) -> Result<Exchange> {
    let began = Instant::now();
    let who = json!({"providerId": model.provider_id, "modelId": model.model_id});
    turn.publish(
        "ProviderRequestStarted",
        &with(&who, json!({"iteration": iteration})),
    );
    match listen(turn, provider, request).await {
        Ok(said) => {
            let finish = said.finish.unwrap_or(FinishReason::Other);
            let done = json!({
                "finishReason": finish,
                "assistantText": said.text,
                "outputTokens": said.output_tokens,
                "durationMs": millis_since(began),
            });
            turn.publish("ProviderRequestCompleted", &with(&who, done));
            Ok(said)
        }
        Err(error) => {
            let failed = json!({
                "errorClass": error.class(),
                "errorCode": error.code(),
                "message": error.message(),
                "durationMs": millis_since(began),
            });
            turn.publish("ProviderRequestFailed", &with(&who, failed));
            Err(error)
        }
    }
}

fn with(base: &Value, more: Value) -> Value {
    let mut all = base.clone();
    if let (Value::Object(all), Value::Object(more)) = (&mut all, more) {
        all.extend(more);
    }
    all
}

/// Listens on a thread of its own, because a provider's code may block or never come back.
async fn listen(turn: &Turn, provider: &Arc<Active>, request: Request) -> Result<Exchange> {
    let cancelled = turn.cancelled();
    let cx = turn.call(cancelled.clone(), None);
    let payload = serde_json::to_string(&request).unwrap_or_default();
    let (voice, provider) = (turn.voice(), provider.clone());
    let heard = work::elsewhere(async move { hear(&voice, &provider, payload, cx).await });
    let heard = async { heard.await.unwrap_or_else(|| Err(closed())) };
    unless_cancelled(&cancelled, heard).await
}

async fn hear(
    voice: &Voice,
    provider: &Arc<Active>,
    payload: String,
    cx: CallContext,
) -> Result<Exchange> {
    let Running::Provider(instance) = provider.running() else {
        return Err(provider.lacks("request"));
    };
    let cancelled = cx.cancellation().clone();
    let blame = |fault| provider.blame("request", fault);
    let mut stream = instance.request(payload, cx).await.map_err(blame)?;
    let mut said = Exchange::default();
    while let Some(item) = stream.next().await.map_err(blame)? {
        if cancelled.is_cancelled() {
            break;
        }
        take(voice, &mut said, StreamEvent::read(item)?);
    }
    Ok(said)
}

fn take(turn: &Voice, said: &mut Exchange, event: StreamEvent) {
    let metrics = turn.session().metrics();
    match event {
        StreamEvent::TextDelta { delta } => {
            // Until the provider says what it used, a delta counts as one token.
            said.output_tokens += 1;
            metrics.tokens(Spent {
                input: 0,
                output: 1,
                text: &delta,
            });
            let payload = json!({"delta": delta, "cumulativeOutputTokens": said.output_tokens});
            turn.publish("ProviderTokensStreamed", &payload);
            said.text.push_str(&delta);
        }
        StreamEvent::ThinkingDelta { delta } => {
            turn.publish("ProviderReasoningStreamed", &json!({"delta": delta}));
        }
        StreamEvent::ToolCall {
            tool_call_id,
            tool_name,
            args,
        } => {
            let proposal = Proposal {
                tool_call_id,
                tool_name,
                args,
            };
            turn.publish("ToolInvocationProposed", &proposal.to_value());
            said.proposals.push(proposal);
        }
        StreamEvent::Usage(usage) => {
            metrics.tokens(Spent {
                input: usage.input_tokens,
                output: usage.output_tokens.saturating_sub(said.output_tokens),
                text: "",
            });
            said.output_tokens = usage.output_tokens;
        }
        StreamEvent::Finish { reason } => said.finish = Some(reason),
        // A piece that a newer provider sends and this core does not know changes nothing.
        _ => {}
    }
}

/// The words of an error for the model.
pub(super) fn told(error: &Error) -> Value {
    json!({
        "class": error.class(),
        "code": error.code(),
        "message": error.message(),
    })
}
