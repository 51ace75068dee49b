//! A provider that needs no model: it does what the last message says.
//!
//! It stands in for a model where none is configured, and drives tests.
//!
//! | User text | Answer |
//! |---|---|
//! | `!tool NAME JSON` | that tool call |
//! | `!par [[NAME, JSON], …]` | those tool calls together, in that order |
//! | `!seq [[NAME, JSON], …]` | the first call; after its result the next, and so on |
//! | `!slow MS` | pieces of text for that many milliseconds, then `USER !slow MS` |
//! | `!flood N` | N pieces of 8 bytes, as fast as they are taken |
//! | `!think TEXT` | TEXT as reasoning, then `USER !think TEXT` |
//! | `!auth PURPOSE` | asks for a password, then says `AUTH` and how many characters it has |
//! | `!fail CODE` | an error of class `ProviderTransient`, or `ProviderCapability` for a code of that class |
//! | anything else | `USER ` and the text |
//!
//! After the last tool result it says `RESULT ` and that result.
//! A line that begins like one of these and does not fit is anything else.
//! Without a user message, the last line of the system message counts as the user's text.
#![forbid(unsafe_code)]

mod script;
mod transcript;
mod call_id;
mod answer;

use stud_sdk::provider::{FinishReason, Provider, Request, Sink, provider};
use stud_sdk::{Cx, CxExt as _, Result};

use answer::Answer;
use script::Script;
use transcript::{Cue, compact, size};

/// Answers without a model: it does what the last message says.
#[provider(
    id = "echo",
    title = "Echo",
    protocol = "echo",
    streaming = "hard",
    tool_calling = "hard",
    structured_output = "absent",
    multimodal = "absent",
    reasoning = "hard",
    prompt_caching = "absent",
    context_window = 128_000,
    models(model(
        "echo-1",
        streaming = "hard",
        tool_calling = "hard",
        structured_output = "absent",
        multimodal = "absent",
        reasoning = "hard",
        prompt_caching = "absent",
        context_window = 128_000
    )),
    interactions("Auth.Password")
)]
struct Echo;

impl Provider for Echo {
    async fn request(&self, request: Request, out: Sink, cx: &Cx) -> Result<FinishReason> {
        let work = respond(&request, Answer::new(out, cx));
        cx.unless_cancelled(work).await?
    }
}

async fn respond(request: &Request, mut answer: Answer<'_>) -> Result<FinishReason> {
    let cue = Cue::find(request);
    let reason = match (Script::read(&cue.text), cue.results.last()) {
        (Script::Sequence(mut calls), _) if cue.results.len() < calls.len() => {
            let next = calls.swap_remove(cue.results.len());
            answer.propose(vec![next]).await
        }
        (_, Some(result)) => answer.say(format!("RESULT {}", compact(result))).await,
        (script, None) => answer.perform(script, &cue.text).await?,
    };
    answer.close(size(request)).await;
    Ok(reason)
}

#[cfg(test)]
mod tests;
