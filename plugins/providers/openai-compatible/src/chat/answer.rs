//! The backend's answer, chunk by chunk.

use std::borrow::Cow;
use std::ops::ControlFlow;

use model_http::{CallIds, Calls, Dialect, Event, Failure, Pieces, Progress};
use serde::Deserialize;
use serde_json::Value;
use stud_sdk::provider::{FinishReason, Usage};

/// An answer that is coming in.
pub(crate) struct Answer {
    ids: CallIds,
    calls: Calls,
    usage: Option<Usage>,
    finish: Option<FinishReason>,
}

#[derive(Deserialize)]
struct Chunk<'a> {
    #[serde(borrow, default)]
    choices: Option<Vec<Choice<'a>>>,
    usage: Option<Tally>,
    error: Option<Value>,
}

#[derive(Deserialize)]
struct Choice<'a> {
    index: Option<u64>,
    #[serde(borrow)]
    delta: Option<Delta<'a>>,
    #[serde(borrow)]
    finish_reason: Option<Cow<'a, str>>,
}

#[derive(Deserialize)]
struct Delta<'a> {
    #[serde(borrow)]
    content: Option<Cow<'a, str>>,
    #[serde(borrow)]
    refusal: Option<Cow<'a, str>>,
    /// Backends call it one or the other.
    #[serde(borrow)]
    reasoning_content: Option<Cow<'a, str>>,
    #[serde(borrow)]
    reasoning: Option<Cow<'a, str>>,
    #[serde(borrow)]
    tool_calls: Option<Vec<CallDelta<'a>>>,
}

#[derive(Deserialize)]
struct CallDelta<'a> {
    index: Option<u64>,
    #[serde(borrow)]
    id: Option<Cow<'a, str>>,
    #[serde(borrow)]
    function: Option<FunctionDelta<'a>>,
}

#[derive(Deserialize)]
struct FunctionDelta<'a> {
    #[serde(borrow)]
    name: Option<Cow<'a, str>>,
    #[serde(borrow)]
    arguments: Option<Cow<'a, str>>,
}

#[derive(Deserialize)]
struct Tally {
    prompt_tokens: Option<u64>,
    completion_tokens: Option<u64>,
    prompt_tokens_details: Option<Details>,
    /// What another backend calls `cached_tokens`.
    prompt_cache_hit_tokens: Option<u64>,
}

#[derive(Deserialize)]
struct Details {
    cached_tokens: Option<u64>,
}

impl Answer {
    pub(crate) fn new(ids: CallIds) -> Self {
        Self {
            ids,
            calls: Calls::default(),
            usage: None,
            finish: None,
        }
    }

    fn take(&mut self, choice: Choice<'_>, out: &mut Pieces) {
        if let Some(delta) = choice.delta {
            let reasoning = delta.reasoning_content.or(delta.reasoning);
            out.thinking(reasoning.as_deref().unwrap_or_default());
            out.text(delta.content.as_deref().unwrap_or_default());
            out.text(delta.refusal.as_deref().unwrap_or_default());
            for call in delta.tool_calls.unwrap_or_default() {
                let id = call.id.as_deref().unwrap_or_default();
                let function = call.function.as_ref();
                let name = function.and_then(|function| function.name.as_deref());
                let arguments = function.and_then(|function| function.arguments.as_deref());
                self.calls.add(
                    call.index,
                    id,
                    name.unwrap_or_default(),
                    arguments.unwrap_or_default(),
                );
            }
        }
        if let Some(reason) = choice.finish_reason.filter(|reason| !reason.is_empty()) {
            self.finish = Some(FinishReason::from_backend(&reason));
        }
    }

    fn finish(&mut self, out: &mut Pieces) -> Result<FinishReason, Failure> {
        let Some(reason) = self.finish else {
            return Err(Failure::malformed(
                "the answer ended before the model was done",
            ));
        };
        let calls = self.calls.finish(&mut self.ids)?;
        // Some backends propose calls and say that the model was done.
        let reason = match reason {
            FinishReason::Stop if !calls.is_empty() => FinishReason::ToolCalls,
            reason => reason,
        };
        for call in calls {
            out.call(call);
        }
        if let Some(usage) = self.usage {
            out.usage(usage);
        }
        Ok(reason)
    }
}

impl Dialect for Answer {
    fn event(&mut self, event: Event<'_>, out: &mut Pieces) -> Result<Progress, Failure> {
        if event.data.trim_ascii() == b"[DONE]" {
            return self.finish(out).map(ControlFlow::Break);
        }
        let malformed =
            |_| Failure::malformed("an event of the answer is not the JSON it should be");
        if event.name == "error" {
            let complaint: Value = serde_json::from_slice(event.data).map_err(malformed)?;
            return Err(Failure::of_value(&complaint));
        }
        let chunk: Chunk<'_> = serde_json::from_slice(event.data).map_err(malformed)?;
        if let Some(complaint) = chunk.error {
            return Err(Failure::of_value(&complaint));
        }
        for choice in chunk.choices.unwrap_or_default() {
            // One answer was asked for.
            if choice.index.unwrap_or(0) == 0 {
                self.take(choice, out);
            }
        }
        if let Some(tally) = chunk.usage {
            self.usage = tally.total().or(self.usage);
        }
        Ok(ControlFlow::Continue(()))
    }

    /// Not every backend says that it is done after it has said why.
    fn end(&mut self, out: &mut Pieces) -> Result<FinishReason, Failure> {
        self.finish(out)
    }
}

impl Tally {
    fn total(self) -> Option<Usage> {
        let details = self.prompt_tokens_details;
        let cached = details.and_then(|details| details.cached_tokens);
        Some(Usage {
            input_tokens: self.prompt_tokens?,
            output_tokens: self.completion_tokens.unwrap_or(0),
            cached_input_tokens: cached.or(self.prompt_cache_hit_tokens),
        })
    }
}
