//! `COMPOSE_REQUEST`: the conversation, the tools there are and what context providers add, as one request.

use serde_json::{Value, json};
use stud_contract_hook::Slot;
use stud_contract_meta::Result;
use stud_contract_provider::Request;

use super::prior::Prior;
use super::{Work, misshapen};
use crate::context::{self, Base};

/// The request of this moment.
pub(super) async fn compose(work: &Work, iteration: u32) -> Result<Request> {
    let slot = Slot::ComposeRequestPre;
    let prior = || {
        let prior = Prior::of(&context::told(&work.turn));
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
    let base = Base {
        tools: session.toolbox(&work.turn.plugins()).specs(),
        params: session.params().bag().to_object(),
        ..Base::default()
    };
    let mut request = context::compose(&work.turn, &work.model, base).await?;
    if let Some(prior) = prior {
        prior.put(&mut request.messages);
    }
    let slot = Slot::ComposeRequestPost;
    match work.pass(slot, || json!(request)).await? {
        None => Ok(request),
        Some(passed) => serde_json::from_value(passed).map_err(|error| misshapen(slot, &error)),
    }
}
