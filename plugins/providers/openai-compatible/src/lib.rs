//! A provider that speaks one of the two APIs that very many backends have in common: chat completions, or responses.
//!
//! A request carries a key by which the backend finds what it remembers of its beginning. A backend that knows no such
//! member, or none that asks it for the cost, is asked again without, and from then on.
#![forbid(unsafe_code)]

mod options;
mod beginning;
mod system_role;
mod omissions;
mod chat;
mod responses;

use std::sync::Arc;

use model_http::{
    Auth, CallIds, ENDPOINT_NOT_FOUND, Endpoint, Post, REQUEST_REJECTED, Recollection, Roster,
};
use stud_sdk::provider::{FinishReason, Provider, Request, Sink, provider};
use stud_sdk::{Class, Cx, Error, Host, Result, Value};

use beginning::LastBeginning;
use omissions::Omissions;
use options::{ApiShape, Options};

const EXT_ID: &str = "openai-compatible";

/// Asks a model through chat completions or responses, wherever they are served.
#[provider(
    id = "openai-compatible",
    title = "OpenAI-compatible",
    protocol = "openai-compatible",
    streaming = "hard",
    tool_calling = "hard",
    structured_output = "preferred",
    multimodal = "probed",
    reasoning = "probed",
    prompt_caching = "probed",
    context_window = "probed",
    params(
        reserved("promptCacheKey", "promptCacheRetention", "instructions", "prediction"),
        needs(
            reasoning("reasoningEffort", "reasoningSummary", "forceReasoning"),
            tool_calling("parallelToolCalls", "maxToolCalls")
        )
    ),
    config = Options,
    init = OpenAiCompatible::new
)]
struct OpenAiCompatible {
    /// Missing as long as nothing is configured.
    endpoint: Option<Endpoint>,
    /// Whether the address may lack its last part, which most backends have.
    lacks_v1: bool,
    roster: Roster,
    options: Options,
    omissions: Omissions,
    last_beginning: LastBeginning,
    /// Reasoning that came with calls, by call.
    reasoning: Arc<Recollection<Vec<Value>>>,
}

impl OpenAiCompatible {
    /// Reads the config and touches nothing else: neither the key nor the network.
    fn new(_host: Host, mut options: Options) -> Result<Self> {
        let lacks_v1 = options.lacks_v1();
        Ok(Self {
            endpoint: options.endpoint()?,
            lacks_v1,
            roster: options.roster(EXT_ID),
            options,
            omissions: Omissions::default(),
            last_beginning: LastBeginning::default(),
            reasoning: Arc::default(),
        })
    }
}

impl Provider for OpenAiCompatible {
    async fn request(&self, request: Request, out: Sink, cx: &Cx) -> Result<FinishReason> {
        let endpoint = self.endpoint.as_ref().ok_or_else(options::unconfigured)?;
        let model = self.roster.choose(&request.model_id)?;
        self.roster.check_tools(&model, request.tools.len())?;
        let ids = CallIds::of(&request);
        let shape = self.options.api_shape;
        let (path, (body, verbatim)) = match shape {
            ApiShape::ChatCompletions => (
                "/chat/completions",
                chat::compose(&request, model, &self.options, &self.last_beginning)?,
            ),
            ApiShape::Responses => {
                let reasoning = &self.reasoning;
                let body = responses::compose(request, model, &self.options, reasoning)?;
                ("/responses", (body, Vec::new()))
            }
        };
        let mut post = Post {
            path: path.to_owned(),
            headers: Vec::new(),
            auth: Auth::Bearer,
            body,
            verbatim,
        };
        loop {
            self.omissions.apply(&mut post.body);
            let answered = match shape {
                ApiShape::ChatCompletions => {
                    endpoint
                        .ask(&post, chat::Answer::new(ids.clone()), &out, cx)
                        .await
                }
                ApiShape::Responses => {
                    let answer = responses::Answer::new(ids.clone(), self.reasoning.clone());
                    endpoint.ask(&post, answer, &out, cx).await
                }
            };
            match answered {
                Err(error) if self.omissions.learn(&error, &post.body) => {}
                answered => return answered.map_err(|error| self.hinted(error)),
            }
        }
    }
}

impl OpenAiCompatible {
    /// Says what is most often wrong with an address at which nothing is found.
    fn hinted(&self, error: Error) -> Error {
        let not_found = error.code() == ENDPOINT_NOT_FOUND.name;
        if !not_found || !self.lacks_v1 {
            return error;
        }
        let hint = "`baseURL` does not end in `/v1`: append it if the backend expects it";
        let message = format!("{}; {hint}", error.message());
        let hinted = Error::new(Class::ProviderTransient, error.code(), message);
        let facts = error.context().iter();
        facts.fold(hinted, |error, (key, value)| error.with(key, value.clone()))
    }
}

/// A part that a newer contract has and this provider cannot send.
fn unknown_part() -> Error {
    REQUEST_REJECTED.error("the request has a part of a kind this provider does not know")
}

#[cfg(test)]
mod tests;
