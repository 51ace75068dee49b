//! A provider that speaks Anthropic's Messages API.
//!
//! System texts, and the conversation up to its last message, carry markers by which the backend remembers them.
//! Thinking that came with a tool call is sent back with it, unchanged, because the backend wants to see it again.
#![forbid(unsafe_code)]

mod options;
mod thoughts;
mod params;
mod turns;
mod compose;
mod answer;

use std::sync::Arc;

use model_http::{Auth, CallIds, Endpoint, Post, Recollection, Roster};
use stud_sdk::provider::{FinishReason, Provider, Request, Sink, provider};
use stud_sdk::{Cx, Host, Result};

use answer::Answer;
use compose::Composed;
use options::Options;
use thoughts::Thoughts;

const EXT_ID: &str = "anthropic";

/// Asks Claude, through Anthropic's Messages API or one like it.
#[provider(
    id = "anthropic",
    title = "Anthropic",
    protocol = "anthropic",
    streaming = "hard",
    tool_calling = "hard",
    structured_output = "preferred",
    multimodal = "preferred",
    reasoning = "preferred",
    prompt_caching = "probed",
    context_window = "probed",
    params(
        reserved("cacheControl", "mcpServers", "anthropicBeta", "container"),
        unheeded("seed", "structuredOutputMode"),
        needs(reasoning("effort", "thinking", "sendReasoning")),
        below("thinking.budgetTokens < maxOutputTokens")
    ),
    config = Options,
    init = Anthropic::new
)]
struct Anthropic {
    endpoint: Endpoint,
    roster: Roster,
    options: Options,
    thoughts: Arc<Recollection<Thoughts>>,
}

impl Anthropic {
    /// Reads the config and touches nothing else: neither the key nor the network.
    fn new(_host: Host, mut options: Options) -> Result<Self> {
        Ok(Self {
            endpoint: options.endpoint()?,
            roster: options.roster(EXT_ID),
            options,
            thoughts: Arc::default(),
        })
    }
}

impl Provider for Anthropic {
    async fn request(&self, request: Request, out: Sink, cx: &Cx) -> Result<FinishReason> {
        let model = self.roster.choose(&request.model_id)?;
        self.roster.check_tools(&model, request.tools.len())?;
        let ids = CallIds::of(&request);
        let Composed { body, betas } =
            compose::compose(request, model, &self.options, &self.thoughts)?;
        let mut headers = vec![("anthropic-version", "2023-06-01".to_owned())];
        if !betas.is_empty() {
            headers.push(("anthropic-beta", betas.join(",")));
        }
        let post = Post {
            path: "/v1/messages".to_owned(),
            headers,
            auth: Auth::Header("x-api-key"),
            body,
            verbatim: Vec::new(),
        };
        let answer = Answer::new(ids, self.thoughts.clone());
        self.endpoint.ask(&post, answer, &out, cx).await
    }
}

#[cfg(test)]
mod tests;
