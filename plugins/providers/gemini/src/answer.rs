//! The backend's answer, chunk by chunk.

use std::borrow::Cow;
use std::ops::ControlFlow;
use std::sync::Arc;

use model_http::{CallIds, Dialect, Event, Failure, Pieces, Progress, Recollection, ToolCall};
use serde::Deserialize;
use serde_json::{Value, json};
use stud_sdk::provider::{FinishReason, Usage};

/// An answer that is coming in.
pub(crate) struct Answer {
    ids: CallIds,
    calls: Vec<ToolCall>,
    usage: Option<Usage>,
    finish: Option<FinishReason>,
    signatures: Arc<Recollection<String>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Chunk<'a> {
    #[serde(borrow, default)]
    candidates: Vec<Candidate<'a>>,
    usage_metadata: Option<Tally>,
    prompt_feedback: Option<Feedback>,
    error: Option<Value>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Candidate<'a> {
    index: Option<u64>,
    #[serde(borrow)]
    content: Option<Contents<'a>>,
    #[serde(borrow)]
    finish_reason: Option<Cow<'a, str>>,
}

#[derive(Deserialize)]
struct Contents<'a> {
    #[serde(borrow, default)]
    parts: Vec<Part<'a>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Part<'a> {
    #[serde(borrow)]
    text: Option<Cow<'a, str>>,
    thought: Option<bool>,
    thought_signature: Option<String>,
    function_call: Option<FunctionCall>,
}

#[derive(Deserialize)]
struct FunctionCall {
    #[serde(default)]
    id: String,
    #[serde(default)]
    name: String,
    args: Option<Value>,
}

#[derive(Deserialize)]
struct Tally {
    #[serde(rename = "promptTokenCount")]
    prompt: Option<u64>,
    #[serde(rename = "candidatesTokenCount")]
    spoken: Option<u64>,
    #[serde(rename = "thoughtsTokenCount")]
    thought: Option<u64>,
    #[serde(rename = "cachedContentTokenCount")]
    cached: Option<u64>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Feedback {
    block_reason: Option<String>,
}

impl Answer {
    pub(crate) fn new(ids: CallIds, signatures: Arc<Recollection<String>>) -> Self {
        Self {
            ids,
            calls: Vec::new(),
            usage: None,
            finish: None,
            signatures,
        }
    }

    fn take(&mut self, candidate: Candidate<'_>, out: &mut Pieces) -> Result<(), Failure> {
        for part in candidate
            .content
            .map(|content| content.parts)
            .unwrap_or_default()
        {
            let text = part.text.as_deref().unwrap_or_default();
            match part.thought {
                Some(true) => out.thinking(text),
                _ => out.text(text),
            }
            if let Some(call) = part.function_call {
                self.propose(call, part.thought_signature)?;
            }
        }
        if let Some(reason) = candidate.finish_reason {
            self.finish = Some(reason_of(&reason)?);
        }
        Ok(())
    }

    fn propose(&mut self, call: FunctionCall, signature: Option<String>) -> Result<(), Failure> {
        let id = self.ids.claim(&call.id);
        if call.name.is_empty() {
            let why = "the model proposes a call and does not name the tool";
            return Err(Failure::malformed(why).of_call(&id));
        }
        if let Some(signature) = signature {
            self.signatures.keep(&id, signature);
        }
        self.calls.push(ToolCall {
            id,
            name: call.name,
            args: call
                .args
                .filter(|args| !args.is_null())
                .unwrap_or_else(|| json!({})),
        });
        Ok(())
    }
}

impl Dialect for Answer {
    fn event(&mut self, event: Event<'_>, out: &mut Pieces) -> Result<Progress, Failure> {
        let chunk: Chunk<'_> = serde_json::from_slice(event.data).map_err(|_| {
            Failure::malformed("an event of the answer is not the JSON it should be")
        })?;
        if let Some(complaint) = chunk.error {
            return Err(Failure::of_value(&complaint));
        }
        if let Some(tally) = chunk.usage_metadata {
            self.usage = tally.total().or(self.usage);
        }
        for candidate in chunk.candidates {
            // One answer was asked for.
            if candidate.index.unwrap_or(0) == 0 {
                self.take(candidate, out)?;
            }
        }
        let blocked = chunk
            .prompt_feedback
            .and_then(|feedback| feedback.block_reason);
        if blocked.is_some() {
            self.finish = Some(FinishReason::ContentFilter);
        }
        Ok(ControlFlow::Continue(()))
    }

    /// Nothing but the end of the stream says that there is no more.
    fn end(&mut self, out: &mut Pieces) -> Result<FinishReason, Failure> {
        let Some(reason) = self.finish else {
            return Err(Failure::malformed(
                "the answer ended before the model was done",
            ));
        };
        let reason = match reason {
            FinishReason::Stop if !self.calls.is_empty() => FinishReason::ToolCalls,
            reason => reason,
        };
        for call in self.calls.drain(..) {
            out.call(call);
        }
        if let Some(usage) = self.usage {
            out.usage(usage);
        }
        Ok(reason)
    }
}

impl Tally {
    fn total(&self) -> Option<Usage> {
        Some(Usage {
            input_tokens: self.prompt?,
            output_tokens: self.spoken.unwrap_or(0) + self.thought.unwrap_or(0),
            cached_input_tokens: self.cached,
        })
    }
}

fn reason_of(word: &str) -> Result<FinishReason, Failure> {
    Ok(match word {
        "STOP" => FinishReason::Stop,
        "MAX_TOKENS" => FinishReason::Length,
        "SAFETY"
        | "RECITATION"
        | "LANGUAGE"
        | "BLOCKLIST"
        | "PROHIBITED_CONTENT"
        | "SPII"
        | "MODEL_ARMOR"
        | "IMAGE_SAFETY"
        | "IMAGE_PROHIBITED_CONTENT"
        | "IMAGE_RECITATION" => FinishReason::ContentFilter,
        "MALFORMED_FUNCTION_CALL" | "UNEXPECTED_TOOL_CALL" => {
            return Err(Failure::malformed(
                "the model proposes a call that cannot be read",
            ));
        }
        "OTHER" | "FINISH_REASON_UNSPECIFIED" => FinishReason::Other,
        _ => FinishReason::Error,
    })
}
