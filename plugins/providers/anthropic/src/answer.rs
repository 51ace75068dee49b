//! The backend's answer, event by event.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::Arc;

use model_http::{
    CallIds, Calls, Dialect, Event, Failure, Pieces, Progress, Recollection, ToolCall,
};
use serde::Deserialize;
use serde_json::{Value, json};
use stud_sdk::provider::{FinishReason, Usage};

use crate::thoughts::Thoughts;
use crate::turns::{text_block, tool_id};

/// An answer that is coming in.
pub(crate) struct Answer {
    ids: CallIds,
    calls: Calls,
    /// The content as it comes, by its number.
    blocks: BTreeMap<u64, Block>,
    usage: Tally,
    stop: Option<FinishReason>,
    thoughts: Arc<Recollection<Thoughts>>,
}

enum Block {
    Text(String),
    Thinking {
        text: String,
        signature: String,
    },
    Redacted(Value),
    Call {
        id: String,
        name: String,
    },
    /// Of an unknown kind.
    Other,
}

/// What was counted so far.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Tally {
    #[serde(rename = "input_tokens")]
    input: Option<u64>,
    #[serde(rename = "output_tokens")]
    output: Option<u64>,
    #[serde(rename = "cache_creation_input_tokens")]
    written: Option<u64>,
    #[serde(rename = "cache_read_input_tokens")]
    read: Option<u64>,
}

#[derive(Deserialize)]
struct Frame<'a> {
    #[serde(rename = "type", borrow)]
    kind: Cow<'a, str>,
    index: Option<u64>,
    #[serde(borrow)]
    delta: Option<Delta<'a>>,
    content_block: Option<Value>,
    message: Option<Started>,
    usage: Option<Tally>,
    error: Option<Value>,
}

#[derive(Deserialize)]
struct Started {
    usage: Option<Tally>,
}

#[derive(Deserialize)]
struct Delta<'a> {
    #[serde(rename = "type", borrow, default)]
    kind: Cow<'a, str>,
    #[serde(borrow)]
    text: Option<Cow<'a, str>>,
    #[serde(borrow)]
    thinking: Option<Cow<'a, str>>,
    #[serde(borrow)]
    signature: Option<Cow<'a, str>>,
    #[serde(borrow)]
    partial_json: Option<Cow<'a, str>>,
    #[serde(borrow)]
    stop_reason: Option<Cow<'a, str>>,
}

impl Answer {
    pub(crate) fn new(ids: CallIds, thoughts: Arc<Recollection<Thoughts>>) -> Self {
        Self {
            ids,
            calls: Calls::default(),
            blocks: BTreeMap::new(),
            usage: Tally::default(),
            stop: None,
            thoughts,
        }
    }

    fn begin(&mut self, index: u64, block: Value, out: &mut Pieces) {
        let text = |name: &str| block[name].as_str().unwrap_or_default().to_owned();
        let begun = match block["type"].as_str() {
            Some("text") => {
                out.text(&text("text"));
                Block::Text(text("text"))
            }
            Some("thinking") => {
                out.thinking(&text("thinking"));
                Block::Thinking {
                    text: text("thinking"),
                    signature: text("signature"),
                }
            }
            Some("redacted_thinking") => Block::Redacted(block),
            Some("tool_use") => {
                // Some backends send the arguments whole, at once.
                let whole = block["input"].as_object().filter(|input| !input.is_empty());
                let args = whole.map_or_else(String::new, |_| block["input"].to_string());
                let id = self.ids.claim(&text("id"));
                self.calls.add(Some(index), &id, &text("name"), &args);
                Block::Call {
                    id,
                    name: text("name"),
                }
            }
            _ => Block::Other,
        };
        self.blocks.insert(index, begun);
    }

    fn go_on(&mut self, index: u64, delta: &Delta<'_>, out: &mut Pieces) {
        let Some(block) = self.blocks.get_mut(&index) else {
            return;
        };
        match (&*delta.kind, block) {
            ("text_delta", Block::Text(text)) => {
                let more = delta.text.as_deref().unwrap_or_default();
                text.push_str(more);
                out.text(more);
            }
            ("thinking_delta", Block::Thinking { text, .. }) => {
                let more = delta.thinking.as_deref().unwrap_or_default();
                text.push_str(more);
                out.thinking(more);
            }
            ("signature_delta", Block::Thinking { signature, .. }) => {
                signature.push_str(delta.signature.as_deref().unwrap_or_default());
            }
            ("input_json_delta", Block::Call { id, .. }) => {
                let more = delta.partial_json.as_deref().unwrap_or_default();
                self.calls.add(Some(index), id, "", more);
            }
            _ => {}
        }
    }

    fn count(&mut self, tally: Tally) {
        let usage = &mut self.usage;
        usage.input = tally.input.or(usage.input);
        usage.output = tally.output.or(usage.output);
        usage.written = tally.written.or(usage.written);
        usage.read = tally.read.or(usage.read);
    }

    fn finish(&mut self, out: &mut Pieces) -> Result<FinishReason, Failure> {
        let Some(reason) = self.stop else {
            return Err(Failure::malformed("the answer ended without a reason"));
        };
        let calls = self.calls.finish(&mut CallIds::default())?;
        self.remember(&calls);
        for call in calls {
            out.call(call);
        }
        if let Some(usage) = self.usage.total() {
            out.usage(usage);
        }
        Ok(reason)
    }

    /// Keeps the content if there is thinking in it that a call came of.
    fn remember(&mut self, calls: &[ToolCall]) {
        let thought = |block: &Block| matches!(block, Block::Thinking { .. } | Block::Redacted(_));
        let blocks = std::mem::take(&mut self.blocks);
        let (Some(first), true) = (calls.first(), blocks.values().any(thought)) else {
            return;
        };
        let content = blocks.into_values().filter_map(|block| match block {
            Block::Text(text) => text_block(&text),
            Block::Thinking { text, signature } => {
                Some(json!({"type": "thinking", "thinking": text, "signature": signature}))
            }
            Block::Redacted(block) => Some(block),
            Block::Call { id, name } => {
                let call = calls.iter().find(|call| call.id == id)?;
                Some(json!({"type": "tool_use", "id": tool_id(&id), "name": name, "input": call.args}))
            }
            Block::Other => None,
        });
        self.thoughts
            .keep(&tool_id(&first.id), Thoughts(content.collect()));
    }
}

impl Dialect for Answer {
    fn event(&mut self, event: Event<'_>, out: &mut Pieces) -> Result<Progress, Failure> {
        let frame: Frame<'_> = serde_json::from_slice(event.data).map_err(|_| {
            Failure::malformed("an event of the answer is not the JSON it should be")
        })?;
        match &*frame.kind {
            "message_start" => {
                let usage = frame.message.and_then(|message| message.usage);
                self.count(usage.unwrap_or_default());
            }
            "content_block_start" => {
                if let (Some(index), Some(block)) = (frame.index, frame.content_block) {
                    self.begin(index, block, out);
                }
            }
            "content_block_delta" => {
                if let (Some(index), Some(delta)) = (frame.index, frame.delta) {
                    self.go_on(index, &delta, out);
                }
            }
            "message_delta" => {
                self.count(frame.usage.unwrap_or_default());
                let reason = frame.delta.and_then(|delta| delta.stop_reason);
                self.stop = reason.as_deref().map(reason_of).or(self.stop);
            }
            "message_stop" => return self.finish(out).map(ControlFlow::Break),
            "error" => return Err(Failure::of_value(&frame.error.unwrap_or_default())),
            // Among others, the end of a block and the sign of life that asks nothing.
            _ => {}
        }
        Ok(ControlFlow::Continue(()))
    }
}

impl Tally {
    /// The sum, in stud's terms: what was remembered is part of what was sent.
    fn total(&self) -> Option<Usage> {
        let remembered = self.read.unwrap_or(0) + self.written.unwrap_or(0);
        Some(Usage {
            input_tokens: self.input? + remembered,
            output_tokens: self.output.unwrap_or(0),
            cached_input_tokens: self.read,
        })
    }
}

fn reason_of(word: &str) -> FinishReason {
    match word {
        "end_turn" | "stop_sequence" => FinishReason::Stop,
        "tool_use" => FinishReason::ToolCalls,
        "max_tokens" | "model_context_window_exceeded" => FinishReason::Length,
        "refusal" => FinishReason::ContentFilter,
        "pause_turn" => FinishReason::Other,
        _ => FinishReason::Error,
    }
}
