//! The assistant: answers inputs, one turn after another.
//!
//! A turn asks the model, runs the tools it proposes, and asks again with their results, until the model has nothing
//! more to propose.

use std::sync::Arc;
use std::time::Instant;

use serde_json::json;
use stud_abi::CancellationToken;
use stud_contract_meta::{Error, Kind, Result};
use stud_contract_provider::ToolSpec;
use stud_diagnostics::codes;

use crate::context::{Base, compose};
use crate::session::{Ending, Input, Session, Turn};
use crate::validate::Members;

mod exchange;
mod tools;

use exchange::{Exchange, Proposal, exchange};

/// How often a turn may go back to the model.
const CONTINUATIONS: u32 = 50;

pub use crate::model::Model;

/// What a turn came to.
#[derive(Debug, Clone)]
pub struct Answered {
    /// The model's last words.
    pub text: String,
    /// How the turn ended.
    pub ending: Ending,
}

/// Answers inputs until there are no more.
pub async fn converse(session: &Arc<Session>, model: &Model) -> Result<Option<Answered>> {
    let mut last = None;
    while let Some(input) = session.next_input().await {
        last = Some(answer(session, model, &input).await?);
    }
    Ok(last)
}

/// Answers one input, in a turn of its own.
pub async fn answer(session: &Arc<Session>, model: &Model, input: &Input) -> Result<Answered> {
    let turn = session.begin_turn(input)?;
    let worked = work(&turn, model).await;
    let (text, ending, cap_hit) = match worked {
        Ok(Some(text)) => (text, Ending::Completed, false),
        Ok(None) => (String::new(), Ending::Completed, true),
        Err(error) => (String::new(), Ending::of(error), false),
    };
    turn.end(&ending, cap_hit).await?;
    Ok(Answered { text, ending })
}

/// Goes back and forth between model and tools. Nothing if that does not come to an end by itself.
async fn work(turn: &Turn, model: &Model) -> Result<Option<String>> {
    let provider = model.provider(turn.plugins())?;
    for iteration in 0..=CONTINUATIONS {
        let base = Base {
            tools: tool_specs(turn),
            ..Base::default()
        };
        let request = compose(turn, model, base).await?;
        let said = exchange(turn, &provider, model, request, iteration).await?;
        remember(turn, &said).await?;
        if said.proposals.is_empty() {
            return Ok(Some(said.text));
        }
        let mut proposals = said.proposals.into_iter();
        while let Some(proposal) = proposals.next() {
            if let Err(end) = tools::serve(turn, proposal).await {
                for left in proposals {
                    tools::leave_out(turn, left, &end).await?;
                }
                return Err(end);
            }
        }
    }
    Ok(None)
}

fn tool_specs(turn: &Turn) -> Vec<ToolSpec> {
    let mut specs = Vec::new();
    for plugin in turn.plugins().of_kind(Kind::Tool) {
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

/// Writes down what the model said.
async fn remember(turn: &Turn, said: &Exchange) -> Result<()> {
    let mut payload = json!({"text": said.text});
    if !said.proposals.is_empty() {
        let calls = said.proposals.iter().map(Proposal::to_value);
        payload["toolCalls"] = calls.collect();
    }
    turn.record("assistant_message", Some("assistant"), payload)
        .await?;
    Ok(())
}

/// Waits for `work`, but not longer than the turn wants it.
async fn unless_cancelled<T>(
    cancelled: &CancellationToken,
    work: impl Future<Output = Result<T>>,
) -> Result<T> {
    let done = crate::work::unless(cancelled, work).await;
    done.unwrap_or_else(|| {
        let code = &codes::TURN_CANCELLED;
        let message = "the turn was called off";
        Err(Error::new(code.class, code.name, message).with("reason", "user"))
    })
}

fn millis_since(began: Instant) -> u64 {
    u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX)
}
