//! The backend's answer, event by event.

use std::borrow::Cow;
use std::ops::ControlFlow;
use std::sync::Arc;

use model_http::{
    CallIds, Calls, Dialect, Event, Failure, Pieces, Progress, Recollection, ToolCall,
};
use serde::Deserialize;
use serde_json::Value;
use stud_sdk::provider::{FinishReason, Usage};

/// An answer that is coming in.
pub(crate) struct Answer {
    ids: CallIds,
    calls: Calls,
    /// Reasoning that only the backend can read.
    sealed: Vec<Value>,
    reasoning: Arc<Recollection<Vec<Value>>>,
}

#[derive(Deserialize)]
struct Kind<'a> {
    #[serde(rename = "type", borrow)]
    kind: Cow<'a, str>,
}

#[derive(Deserialize)]
struct Delta<'a> {
    #[serde(borrow)]
    delta: Cow<'a, str>,
    output_index: Option<u64>,
}

#[derive(Deserialize)]
struct SummaryPart {
    summary_index: Option<u64>,
}

#[derive(Deserialize)]
struct Item {
    output_index: Option<u64>,
    item: Value,
}

#[derive(Deserialize)]
struct Ended {
    response: Response,
}

#[derive(Deserialize)]
struct Response {
    usage: Option<Tally>,
    incomplete_details: Option<Incomplete>,
    error: Option<Value>,
}

#[derive(Deserialize)]
struct Incomplete {
    reason: Option<String>,
}

#[derive(Deserialize)]
struct Tally {
    input_tokens: u64,
    output_tokens: u64,
    input_tokens_details: Option<Details>,
}

#[derive(Deserialize)]
struct Details {
    cached_tokens: Option<u64>,
}

impl Answer {
    pub(crate) fn new(ids: CallIds, reasoning: Arc<Recollection<Vec<Value>>>) -> Self {
        Self {
            ids,
            calls: Calls::default(),
            sealed: Vec::new(),
            reasoning,
        }
    }

    fn item(&mut self, item: Item, is_done: bool) {
        let Item { output_index, item } = item;
        let text = |name: &str| item[name].as_str().unwrap_or_default();
        match text("type") {
            "function_call" if is_done => {
                self.calls.settle(
                    output_index,
                    text("call_id"),
                    text("name"),
                    text("arguments"),
                );
            }
            "function_call" => {
                self.calls.add(
                    output_index,
                    text("call_id"),
                    text("name"),
                    text("arguments"),
                );
            }
            "reasoning" if is_done && item["encrypted_content"].is_string() => {
                self.sealed.push(item);
            }
            _ => {}
        }
    }

    fn finish(&mut self, ended: Response, out: &mut Pieces) -> Result<FinishReason, Failure> {
        let calls = self.calls.finish(&mut self.ids)?;
        self.remember(&calls);
        let reason = ended.incomplete_details.and_then(|why| why.reason);
        let reason = match reason.as_deref() {
            Some("max_output_tokens") => FinishReason::Length,
            Some("content_filter") => FinishReason::ContentFilter,
            Some(_) => FinishReason::Other,
            None if calls.is_empty() => FinishReason::Stop,
            None => FinishReason::ToolCalls,
        };
        for call in calls {
            out.call(call);
        }
        if let Some(usage) = ended.usage {
            out.usage(usage.into());
        }
        Ok(reason)
    }

    fn remember(&mut self, calls: &[ToolCall]) {
        let sealed = std::mem::take(&mut self.sealed);
        if let (Some(first), false) = (calls.first(), sealed.is_empty()) {
            self.reasoning.keep(&first.id, sealed);
        }
    }
}

impl Dialect for Answer {
    fn event(&mut self, event: Event<'_>, out: &mut Pieces) -> Result<Progress, Failure> {
        let Kind { kind } = read(event)?;
        match &*kind {
            "response.output_text.delta" | "response.refusal.delta" => {
                out.text(&read::<Delta<'_>>(event)?.delta);
            }
            "response.reasoning_summary_text.delta" | "response.reasoning_text.delta" => {
                out.thinking(&read::<Delta<'_>>(event)?.delta);
            }
            "response.reasoning_summary_part.added" => {
                let SummaryPart { summary_index } = read(event)?;
                if summary_index.unwrap_or(0) > 0 {
                    out.thinking("\n\n");
                }
            }
            "response.function_call_arguments.delta" => {
                let Delta {
                    delta,
                    output_index,
                } = read(event)?;
                self.calls.add(output_index, "", "", &delta);
            }
            "response.output_item.added" => self.item(read(event)?, false),
            "response.output_item.done" => self.item(read(event)?, true),
            "response.completed" | "response.incomplete" => {
                let Ended { response } = read(event)?;
                return self.finish(response, out).map(ControlFlow::Break);
            }
            "response.failed" => {
                let Ended { response } = read(event)?;
                return Err(Failure::of_value(&response.error.unwrap_or_default()));
            }
            "error" => return Err(Failure::of_value(&read(event)?)),
            // Among others, the same content once more when it is whole.
            _ => {}
        }
        Ok(ControlFlow::Continue(()))
    }
}

fn read<'a, T: Deserialize<'a>>(event: Event<'a>) -> Result<T, Failure> {
    serde_json::from_slice(event.data)
        .map_err(|_| Failure::malformed("an event of the answer is not the JSON it should be"))
}

impl From<Tally> for Usage {
    fn from(tally: Tally) -> Self {
        let details = tally.input_tokens_details;
        Self {
            input_tokens: tally.input_tokens,
            output_tokens: tally.output_tokens,
            cached_input_tokens: details.and_then(|details| details.cached_tokens),
        }
    }
}
