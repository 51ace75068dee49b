//! A provider that speaks Google's Gemini API.
//!
//! The backend signs the thinking that led to a call and wants the signature back with the call, so it is kept.
#![forbid(unsafe_code)]

mod options;
mod schema;
mod params;
mod contents;
mod compose;
mod answer;

use std::sync::Arc;

use model_http::{Auth, CallIds, Endpoint, Post, Recollection, Roster};
use stud_sdk::provider::{FinishReason, Provider, Request, Sink, provider};
use stud_sdk::{Cx, Host, Result};

use answer::Answer;
use options::Options;

const EXT_ID: &str = "gemini";

/// Asks Gemini, through Google's Gemini API or one like it.
#[provider(
    id = "gemini",
    title = "Gemini",
    protocol = "gemini",
    streaming = "hard",
    tool_calling = "hard",
    structured_output = "preferred",
    multimodal = "hard",
    reasoning = "probed",
    prompt_caching = "probed",
    context_window = "probed",
    params(
        reserved("cachedContent", "threshold"),
        unheeded("structuredOutputs"),
        needs(reasoning("thinkingConfig"))
    ),
    config = Options,
    init = Gemini::new
)]
struct Gemini {
    endpoint: Endpoint,
    roster: Roster,
    options: Options,
    /// Signatures of calls.
    signatures: Arc<Recollection<String>>,
}

impl Gemini {
    /// Reads the config and touches nothing else: neither the key nor the network.
    fn new(_host: Host, mut options: Options) -> Result<Self> {
        Ok(Self {
            endpoint: options.endpoint()?,
            roster: options.roster(EXT_ID),
            options,
            signatures: Arc::default(),
        })
    }
}

impl Provider for Gemini {
    async fn request(&self, request: Request, out: Sink, cx: &Cx) -> Result<FinishReason> {
        let model = self.roster.choose(&request.model_id)?;
        self.roster.check_tools(&model, request.tools.len())?;
        let answer = Answer::new(CallIds::of(&request), self.signatures.clone());
        let post = Post {
            path: compose::path(&model),
            headers: Vec::new(),
            auth: Auth::Header("x-goog-api-key"),
            body: compose::compose(request, &model, &self.options, &self.signatures)?,
            verbatim: Vec::new(),
        };
        self.endpoint.ask(&post, answer, &out, cx).await
    }
}

#[cfg(test)]
mod tests;
