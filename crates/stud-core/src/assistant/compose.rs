//! `COMPOSE_REQUEST`: the conversation, the tools there are and what context providers add, as one request.

use std::sync::Arc;

use serde_json::{Value, json};
use stud_contract_hook::Slot;
use stud_contract_meta::Result;

use super::request_tail::Prior;
use super::{Work, misshapen};
use crate::context::{self, Base, Composed};
use crate::request_state::Toolset;

/// The request of this moment.
pub(super) async fn compose(work: &Work, iteration: u32) -> Result<Composed> {
    let slot = Slot::ComposeRequestPre;
    let prior = || {
        let messages = work.messages();
        let prior = Prior::of(&context::told(&work.turn, messages.as_deref()));
        json!({"prior": prior, "iteration": iteration})
    };
    let prior = match work.pass(slot, prior).await? {
        None => None,
        Some(mut passed) => {
            let prior = passed.get_mut("prior").map(Value::take).unwrap_or_default();
            let prior: Prior =
                serde_json::from_value(prior).map_err(|error| misshapen(slot, &error))?;
            Some(prior)
        }
    };
    let session = work.turn.session();
    session.mcp().settled(&work.turn.cancelled()).await;
    let toolbox = session.toolbox(&work.turn.plugins());
    let (system, tools) = match &work.attempt {
        None => (None, session.desk().toolset(toolbox.specs())),
        Some(attempt) => (
            Some(attempt.body().to_owned()),
            Arc::new(Toolset::of(attempt.tools(&toolbox))),
        ),
    };
    let base = Base {
        system,
        tools,
        max_tokens: None,
        temperature: None,
        params: session.params().bag().to_object(),
        messages: work.messages(),
    };
    let mut composed = context::compose(&work.turn, &work.model, base).await?;
    if let Some(prior) = prior {
        let mut request = composed.to_request();
        prior.put(&mut request.messages);
        composed = request.into();
    }
    let composed = work
        .pass_request(Slot::ComposeRequestPost, composed)
        .await?;
    Ok(composed.with_limits())
}
