//! A provider without a network: it calls a tool or repeats what it was told.
//!
//! | User text | Answer |
//! |---|---|
//! | `note TEXT` | a call of `frozen_note` with that text |
//! | `ask TEXT` | the same, and the tool asks for a title |
//! | anything else | the system prompt's line that begins with `Frozen:`, if there is one, and the text |
//!
//! After a tool result it repeats that result.
#![forbid(unsafe_code)]

use stud_sdk::prelude::*;
use stud_sdk::provider::{FinishReason, Message, Request, Role, Sink, Usage};

/// Calls a tool or repeats what it was told.
#[provider(
    id = "frozen-provider",
    protocol = "frozen",
    streaming = "hard",
    tool_calling = "hard",
    context_window = 64_000,
    models(model(
        "frozen-1",
        streaming = "hard",
        tool_calling = "hard",
        context_window = 64_000
    ))
)]
struct Repeater;

impl Provider for Repeater {
    async fn request(&self, request: Request, out: Sink, cx: &Cx) -> Result<FinishReason> {
        let Some(last) = request.messages.last() else {
            return Err(Error::new(
                Class::ProviderTransient,
                "Overloaded",
                "there is no message",
            ));
        };
        let text = last.content.text();
        if last.role != Role::Tool {
            let words = text.split_once(' ');
            if let Some((verb @ ("note" | "ask"), note)) = words {
                let args = json!({"text": note, "ask": verb == "ask"});
                out.tool_call("call-1", "frozen_note", args).await;
                return Ok(FinishReason::ToolCalls);
            }
        }
        for word in answer(&request, last).split_inclusive(' ') {
            if cx.is_cancelled() {
                return Ok(FinishReason::Other);
            }
            out.text(word).await;
        }
        let usage = Usage {
            input_tokens: 3,
            output_tokens: 2,
            cached_input_tokens: None,
        };
        out.usage(usage).await;
        Ok(FinishReason::Stop)
    }
}

fn answer(request: &Request, last: &Message) -> String {
    let system = request
        .messages
        .iter()
        .filter(|message| message.role == Role::System);
    let mut system: Vec<String> = system.map(|message| message.content.text()).collect();
    system.extend(request.system.clone());
    let lines = system.iter().flat_map(|text| text.lines());
    let frozen: Vec<&str> = lines.filter(|line| line.starts_with("Frozen:")).collect();
    format!("[{}] {}", frozen.join(" "), last.content.text())
}
