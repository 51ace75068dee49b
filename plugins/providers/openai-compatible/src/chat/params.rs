//! Parameters of a request, under the backend's names.

use model_http::Bag;
use serde_json::{Map, Value};
use stud_sdk::Result;

use crate::system_role::SystemRole;

/// What the parameters of a request say.
#[derive(Debug)]
pub(super) struct Settled {
    /// Members of the request.
    pub(super) members: Map<String, Value>,
    pub(super) system_role: SystemRole,
    /// Whether arguments of tools are held to their schema.
    pub(super) strict: Option<bool>,
}

/// Members that have the same meaning under another name.
const NAMES: &[(&str, &str)] = &[
    ("temperature", "temperature"),
    ("topP", "top_p"),
    ("topK", "top_k"),
    ("stopSequences", "stop"),
    ("seed", "seed"),
    ("reasoningEffort", "reasoning_effort"),
    ("textVerbosity", "verbosity"),
    ("serviceTier", "service_tier"),
    ("safetyIdentifier", "safety_identifier"),
    ("store", "store"),
    ("metadata", "metadata"),
    ("user", "user"),
    ("presencePenalty", "presence_penalty"),
    ("frequencyPenalty", "frequency_penalty"),
    ("logitBias", "logit_bias"),
    ("parallelToolCalls", "parallel_tool_calls"),
    ("maxCompletionTokens", "max_completion_tokens"),
];

/// Parameters of the other API.
const UNHEEDED: &[&str] = &[
    "conversation",
    "include",
    "maxToolCalls",
    "previousResponseId",
    "reasoningSummary",
    "truncation",
];

pub(super) fn settle(mut bag: Bag, model: &str) -> Result<Settled> {
    let mut members = Map::new();
    let reasons = bag.take("forceReasoning") == Some(Value::Bool(true)) || is_reasoning(model);
    let limit = bag.take("maxOutputTokens");
    bag.carry(NAMES, &mut members);
    if let Some(limit) = limit
        && !members.contains_key("max_completion_tokens")
    {
        let name = if reasons {
            "max_completion_tokens"
        } else {
            "max_tokens"
        };
        members.insert(name.to_owned(), limit);
    }
    match bag.take("logprobs") {
        None | Some(Value::Bool(false)) => {}
        Some(count) => {
            members.insert("logprobs".to_owned(), true.into());
            if count.is_u64() {
                members.insert("top_logprobs".to_owned(), count);
            }
        }
    }
    let system_role = SystemRole::take(&mut bag);
    let strict = bag
        .take("strictJsonSchema")
        .and_then(|strict| strict.as_bool());
    bag.finish(UNHEEDED)?;
    Ok(Settled {
        members,
        system_role,
        strict,
    })
}

/// Whether this is one of the models that think first and refuse the older name of the limit.
fn is_reasoning(model: &str) -> bool {
    ["o1", "o3", "o4", "gpt-5"]
        .iter()
        .any(|family| model.starts_with(family))
}
