//! `STREAM_RESPONSE`: what the model says, piece by piece.

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use stud_contract_hook::{FiringMode, Slot};
use stud_contract_meta::{Capability, Error, Result};
use stud_contract_provider::{FinishReason, StreamEvent, Usage};
use stud_contract_session_store::Durability;
use stud_diagnostics::codes;

use super::send::{Answer, Answering, tell_failed, with_model};
use super::{Work, forbidden, millis_since, misshapen};
use crate::executor;
use crate::hooks::{Hooks, Passage};
use crate::ledger::{Draft, closed};
use crate::runtime_snapshot::Spent;
use crate::session::Voice;

/// What the model said.
#[derive(Debug, Default)]
pub(super) struct Said {
    pub(super) text: String,
    /// The tool calls it wants, if it wants to go on with their results.
    pub(super) proposals: Vec<Proposal>,
    output_tokens: u64,
    usage: Option<Usage>,
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
    if said.proposals.is_empty() {
        work.turn.answered();
    }
    tell_completed(work, began, &said);
    work.turn.tally(json!(said.finish), said.proposals.len());
    let closing = || {
        json!({
            "assistantText": said.text,
            "toolCalls": said.proposals.iter().map(Proposal::to_value).collect::<Value>(),
            "finishReason": said.finish,
        })
    };
    work.pass(Slot::StreamResponsePost, closing).await?;
    if !said.proposals.is_empty() {
        remember(work, &said).await?;
    }
    for proposal in &said.proposals {
        work.turn
            .publish("ToolInvocationProposed", &proposal.to_value());
    }
    Ok(said)
}

/// Writes down what the model said on the way to its tools. Its last words are written down when they are shown.
async fn remember(work: &Work, said: &Said) -> Result<()> {
    let calls = said.proposals.iter().map(Proposal::to_value);
    let payload = json!({"text": said.text, "toolCalls": calls.collect::<Value>()});
    work.turn
        .record("assistant_message", Some("assistant"), payload)
        .await?;
    Ok(())
}

fn tell_completed(work: &Work, began: Instant, said: &Said) {
    let mut done = with_model(
        work,
        json!({
            "finishReason": said.finish,
            "assistantText": said.text,
            "outputTokens": said.output_tokens,
            "durationMs": millis_since(began),
        }),
    );
    work.turn.session().metrics().reached_provider(true);
    work.turn.publish("ProviderRequestCompleted", &done);
    if let Some(usage) = &said.usage {
        match usage.cached_input_tokens {
            None => {}
            Some(0) => work.turn.publish("CacheMiss", &with_model(work, json!({}))),
            Some(cached) => {
                let hit = with_model(work, json!({"cachedInputTokens": cached}));
                work.turn.publish("CacheHit", &hit);
            }
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
        journaled: 0,
        journaled_at: Instant::now(),
    };
    let whose = answer.provider.identity().whose();
    let heard = whose.drive(ear.hear(answer));
    match executor::unless(work.voice.cancelled(), heard).await {
        Some(heard) => heard.unwrap_or_else(|| Err(closed())),
        None => Err(work.voice.called_off()),
    }
}

/// Takes in what a provider streams.
struct Ear {
    voice: Voice,
    hooks: Arc<Hooks>,
    said: Said,
    /// How much of the text is in the journal, and since when.
    journaled: usize,
    journaled_at: Instant,
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
                return Err(violation("goes on after its finish"));
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
                self.voice
                    .publish("ProviderReasoningStreamed", &json!({"delta": delta}));
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
            StreamEvent::Finish { reason } => self.said.finish = Some(reason),
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
        let payload = json!({"delta": delta, "cumulativeOutputTokens": said.output_tokens});
        self.voice.publish("ProviderTokensStreamed", &payload);
        said.text.push_str(&delta);
        self.journal();
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

    /// Writes the text down in pieces, so that an answer that is cut short is not lost with the process.
    fn journal(&mut self) {
        const OFTEN_ENOUGH: Duration = Duration::from_millis(50);
        const LARGE_ENOUGH: usize = 64 << 10;
        let unwritten = self.said.text.len() - self.journaled;
        if self.journaled_at.elapsed() < OFTEN_ENOUGH && unwritten < LARGE_ENOUGH {
            return;
        }
        // A piece ends with a word, so that a secret the redactor knows is not cut in two.
        let text = &self.said.text[self.journaled..];
        let Some(end) = text.rfind(char::is_whitespace) else {
            return;
        };
        let draft = Draft {
            kind: "assistant_delta",
            correlation_id: Some(self.voice.turn_id().to_owned()),
            ext_id: None,
            payload: json!({"text": text[..end]}),
        };
        self.journaled += end;
        self.journaled_at = Instant::now();
        let ledger = &self.voice.session().books().ledger;
        ledger.commit(vec![draft], Durability::Written, |_| {});
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
