//! `COMPOSE_REQUEST`: the conversation, the tools there are and what context providers add, as one request.

use serde_json::{Value, json};
use stud_contract_hook::Slot;
use stud_contract_meta::{Kind, Result};
use stud_contract_provider::{Request, ToolSpec};

use super::prior::Prior;
use super::{Work, misshapen};
use crate::context::{self, Base};
use crate::session::Turn;
use crate::validate::Members;

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
    let base = Base {
        tools: tool_specs(&work.turn),
        params: work.turn.session().rules().params.clone(),
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

fn tool_specs(turn: &Turn) -> Vec<ToolSpec> {
    let mut specs = Vec::new();
    let plugins = turn.plugins();
    for plugin in plugins.of_kind(Kind::Tool) {
        let Members::Tool(members) = &*plugin.identity().members else {
            continue;
        };
        specs.extend(members.tools.iter().map(|tool| ToolSpec {
            name: tool.name.clone(),
            description: tool.description.clone(),
            parameters: tool.input_schema.clone(),
        }));
    }
    specs
}
