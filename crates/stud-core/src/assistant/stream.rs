//! `STREAM_RESPONSE`: what the model says, piece by piece.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use stud_contract_hook::{FiringMode, Slot};
use stud_contract_meta::{Capability, Error, Result};
use stud_contract_provider::{FinishReason, StreamEvent, Usage};
use stud_contract_session_store::Durability;
use stud_diagnostics::codes;
use stud_host_api::events::{
    CacheHit, CacheMiss, ProviderReasoningStreamed, ProviderRequestCompleted,
    ProviderTokensStreamed, ToolInvocationProposed,
};
use stud_runtime::clock::Stopwatch;

use super::send::{Answer, Answering, tell_failed, with_model};
use super::{Work, forbidden, millis_since, misshapen};
use crate::executor;
use crate::hooks::{Hooks, Passage};
use crate::ledger::{Draft, closed};
use crate::runtime_snapshot::Spent;
use crate::session::TurnHandle;

/// What the model said.
#[derive(Debug, Default)]
pub(super) struct Said {
    pub(super) text: String,
    /// The tool calls it wants, if it wants to continue with their results.
    pub(super) proposals: Vec<Proposal>,
    output_tokens: u64,
    usage: Option<Usage>,
    finish: Option<FinishReason>,
}

/// A tool call that the model proposes.
pub(super) type Proposal = ToolInvocationProposed;

/// Listens until the model is done, and tells of each piece as it comes.
pub(super) async fn stream(work: &Work, answering: Answering) -> Result<Said> {
    let Answering {
        answer,
        began,
        iteration,
        mut span,
    } = answering;
    let opening = || with_model(work, json!({"iteration": iteration}));
    work.pass(Slot::StreamResponsePre, opening).await?;
    let heard = listen(work, answer).await;
    span.end(heard.is_ok());
    let mut said = match heard {
        Ok(said) => said,
        Err(error) => {
            tell_failed(work, began, &error);
            return Err(error);
        }
    };
    if !said.proposals.is_empty() {
        work.found(Capability::ToolCalling, true);
    }
    // Calls count only where the model waits for their results.
    if said.finish != Some(FinishReason::ToolCalls) {
        said.proposals.clear();
    }
    if said.proposals.is_empty() && work.attempt.is_none() {
        work.turn.answered();
    }
    tell_completed(work, began, &said);
    work.turn.tally(json!(said.finish), said.proposals.len());
    let closing = || {
        json!({
            "assistantText": said.text,
            "toolCalls": said.proposals,
            "finishReason": said.finish,
        })
    };
    work.pass(Slot::StreamResponsePost, closing).await?;
    if !said.proposals.is_empty() {
        remember(work, &said).await?;
    }
    for proposal in &said.proposals {
        work.turn.publish(proposal);
    }
    Ok(said)
}

/// Writes down what the model said on the way to its tools. Its last words are written down when they are shown.
async fn remember(work: &Work, said: &Said) -> Result<()> {
    let payload = json!({"text": said.text, "toolCalls": said.proposals});
    work.record("assistant_message", "assistant", payload)
        .await?;
    Ok(())
}

fn tell_completed(work: &Work, began: Stopwatch, said: &Said) {
    let (model_id, provider_id) = (&work.model.model_id, &work.model.provider_id);
    let done = ProviderRequestCompleted {
        assistant_text: said.text.clone(),
        duration_ms: millis_since(began),
        finish_reason: said.finish.map(|reason| reason.as_str().to_owned()),
        model_id: model_id.clone(),
        output_tokens: said.output_tokens,
        provider_id: provider_id.clone(),
    };
    work.turn.session().metrics().reached_provider(true);
    work.turn.publish(&done);
    let mut done = json!(done);
    if let Some(usage) = &said.usage {
        match usage.cached_input_tokens {
            None => {}
            Some(0) => work.turn.publish(&CacheMiss {
                model_id: model_id.clone(),
                provider_id: provider_id.clone(),
            }),
            Some(cached) => work.turn.publish(&CacheHit {
                cached_input_tokens: cached,
                model_id: model_id.clone(),
                provider_id: provider_id.clone(),
            }),
        }
        done["usage"] = json!(usage);
    }
    done["estimatedOutputTokens"] = said.output_tokens.into();
    // The words are in the transcript; the trail says that they were spoken.
    if let Value::Object(done) = &mut done {
        done.remove("assistantText");
    }
    work.voice
        .audit("ProviderExchange", Some("ProviderResponse"), done);
}

/// Listens; to a stranger on a thread of its own, because its code may block or never come back.
async fn listen(work: &Work, answer: Answer) -> Result<Said> {
    let ear = Ear {
        voice: work.voice.clone(),
        hooks: work.hooks(),
        said: Said::default(),
        spoken: Pieces::of("assistant_delta"),
        thought: String::new(),
        reasoned: Pieces::of("assistant_thinking"),
    };
    let code_origin = answer.provider.identity().code_origin();
    let heard = code_origin.drive(ear.hear(answer));
    match executor::or_cancelled(work.voice.cancelled(), heard).await {
        Some(heard) => heard.unwrap_or_else(|| Err(closed())),
        None => Err(work.voice.called_off()),
    }
}

/// Takes in what a provider streams.
struct Ear {
    voice: TurnHandle,
    hooks: Arc<Hooks>,
    said: Said,
    /// How much of the text is in the journal.
    spoken: Pieces,
    /// What the model thought, which is in no message.
    thought: String,
    reasoned: Pieces,
}

/// A text that is written down piece by piece while it comes, so that one that is cut short is not lost with the process.
struct Pieces {
    /// The kind of its records.
    kind: &'static str,
    /// How much of it is in the journal, and since when.
    written: usize,
    at: Stopwatch,
}

impl Pieces {
    fn of(kind: &'static str) -> Self {
        Self {
            kind,
            written: 0,
            at: Stopwatch::start(),
        }
    }

    /// Writes down what has come of `text`, unless that is too little to be worth a record.
    fn write(&mut self, text: &str, voice: &TurnHandle) {
        const OFTEN_ENOUGH: Duration = Duration::from_millis(50);
        const LARGE_ENOUGH: usize = 64 << 10;
        let text = &text[self.written..];
        if self.at.elapsed() < OFTEN_ENOUGH && text.len() < LARGE_ENOUGH {
            return;
        }
        // A piece ends with a word where it can, and never inside what may be a secret that the redactor knows.
        let whole = voice.session().books().redactor.whole_until(text);
        let end = text[..whole].rfind(char::is_whitespace).unwrap_or(whole);
        self.put(&text[..end], voice);
    }

    /// Writes down the rest of `text`.
    fn write_rest(&mut self, text: &str, voice: &TurnHandle) {
        self.put(&text[self.written..], voice);
    }

    fn put(&mut self, piece: &str, voice: &TurnHandle) {
        if piece.is_empty() {
            return;
        }
        let draft = Draft {
            kind: self.kind,
            correlation_id: Some(voice.turn_id().to_owned()),
            ext_id: None,
            payload: json!({"text": piece}),
        };
        self.written += piece.len();
        self.at = Stopwatch::start();
        let ledger = &voice.session().books().ledger;
        ledger.commit(vec![draft], Durability::Written, |_| {});
    }
}

impl Ear {
    async fn hear(mut self, answer: Answer) -> Result<Said> {
        let Answer {
            provider,
            mut stream,
            first,
        } = answer;
        let mut next = first;
        while let Some(event) = next {
            if self.voice.cancelled().is_cancelled() {
                return Err(self.voice.called_off());
            }
            if self.said.finish.is_some() {
                return Err(violation("continues after its finish"));
            }
            self.take(event).await?;
            let item = stream.next().await;
            let item = item.map_err(|fault| provider.blame("request", fault))?;
            next = item.map(StreamEvent::read).transpose()?;
        }
        match self.said.finish {
            Some(_) => Ok(self.said),
            None => Err(violation("ends without a finish")),
        }
    }

    async fn take(&mut self, event: StreamEvent) -> Result<()> {
        match event {
            StreamEvent::TextDelta { delta } => self.take_text(delta).await?,
            StreamEvent::ThinkingDelta { delta } => {
                self.thought.push_str(&delta);
                self.reasoned.write(&self.thought, &self.voice);
                self.voice.publish(&ProviderReasoningStreamed { delta });
            }
            StreamEvent::ToolCall {
                tool_call_id,
                tool_name,
                args,
            } => {
                if tool_call_id.is_empty() || tool_name.is_empty() {
                    return Err(nameless(&tool_call_id));
                }
                self.said.proposals.push(Proposal {
                    tool_call_id,
                    tool_name,
                    args,
                });
            }
            StreamEvent::Usage(usage) => {
                let said = &mut self.said;
                self.voice.session().metrics().tokens(Spent {
                    input: usage.input_tokens,
                    output: usage.output_tokens.saturating_sub(said.output_tokens),
                    text: "",
                });
                said.output_tokens = usage.output_tokens;
                said.usage = Some(usage);
            }
            StreamEvent::Finish { reason } => {
                self.reasoned.write_rest(&self.thought, &self.voice);
                self.said.finish = Some(reason);
            }
            // A piece that a newer provider sends and this core does not know changes nothing.
            _ => {}
        }
        Ok(())
    }

    async fn take_text(&mut self, delta: String) -> Result<()> {
        let delta = self.filter(delta).await?;
        let said = &mut self.said;
        // Until the provider says what it used, a delta counts as one token.
        said.output_tokens += 1;
        self.voice.session().metrics().tokens(Spent {
            input: 0,
            output: 1,
            text: &delta,
        });
        let streamed = ProviderTokensStreamed {
            cumulative_output_tokens: said.output_tokens,
            delta,
        };
        self.voice.publish(&streamed);
        let delta = streamed.delta;
        said.text.push_str(&delta);
        // What was thought comes before what is said about it.
        self.reasoned.write_rest(&self.thought, &self.voice);
        self.spoken.write(&self.said.text, &self.voice);
        self.look(&delta).await
    }

    /// Lets the hooks that want every piece have their say before it counts.
    async fn filter(&self, delta: String) -> Result<String> {
        let slot = Slot::StreamResponsePre;
        if !self.hooks.any(slot, FiringMode::PerToken) {
            return Ok(delta);
        }
        let passed = self
            .hooks
            .pass(self.passage(slot), json!({"delta": delta}))
            .await?;
        let mut passed = passed.map_err(|denial| forbidden(slot, &denial))?;
        let changed = passed.get_mut("delta").map(Value::take);
        serde_json::from_value(changed.unwrap_or_default()).map_err(|error| misshapen(slot, &error))
    }

    async fn look(&self, delta: &str) -> Result<()> {
        let slot = Slot::StreamResponsePost;
        if !self.hooks.any(slot, FiringMode::PerToken) {
            return Ok(());
        }
        let payload = json!({"delta": delta});
        self.hooks.observe(self.passage(slot), &payload).await
    }

    fn passage(&self, slot: Slot) -> Passage<'_> {
        Passage {
            voice: &self.voice,
            slot,
            mode: FiringMode::PerToken,
        }
    }
}

fn nameless(call_id: &str) -> Error {
    let code = &codes::PROVIDER_OUTPUT_MALFORMED;
    let message = "the model proposes a tool call without an id or without a name";
    Error::new(code.class, code.name, message).with("callId", call_id)
}

fn violation(how: &str) -> Error {
    let code = &codes::PROVIDER_PROTOCOL_VIOLATION;
    let message = format!("the provider's stream {how}");
    Error::new(code.class, code.name, message)
}
