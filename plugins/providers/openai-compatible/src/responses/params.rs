//! Parameters of a request, under the backend's names.

use model_http::Bag;
use serde_json::{Map, Value, json};
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
    ("maxOutputTokens", "max_output_tokens"),
    ("serviceTier", "service_tier"),
    ("safetyIdentifier", "safety_identifier"),
    ("parallelToolCalls", "parallel_tool_calls"),
    ("store", "store"),
    ("maxToolCalls", "max_tool_calls"),
    ("metadata", "metadata"),
    ("conversation", "conversation"),
    ("previousResponseId", "previous_response_id"),
    ("user", "user"),
    ("truncation", "truncation"),
    ("include", "include"),
];

/// Parameters of the other API.
const UNHEEDED: &[&str] = &[
    "forceReasoning",
    "frequencyPenalty",
    "logitBias",
    "maxCompletionTokens",
    "presencePenalty",
    "seed",
    "stopSequences",
    "topK",
];

pub(super) fn settle(mut bag: Bag) -> Result<Settled> {
    let mut members = Map::new();
    bag.carry(NAMES, &mut members);
    let groups: [(&str, &[(&str, &str)]); 2] = [
        (
            "reasoning",
            &[
                ("reasoningEffort", "effort"),
                ("reasoningSummary", "summary"),
            ],
        ),
        ("text", &[("textVerbosity", "verbosity")]),
    ];
    for (group, names) in groups {
        let mut inner = Map::new();
        bag.carry(names, &mut inner);
        if !inner.is_empty() {
            members.insert(group.to_owned(), inner.into());
        }
    }
    match bag.take("logprobs") {
        None | Some(Value::Bool(false)) => {}
        Some(count) => {
            members.insert(
                "top_logprobs".to_owned(),
                json!(count.as_u64().unwrap_or(0)),
            );
            let include = members.entry("include").or_insert_with(|| json!([]));
            if let Value::Array(include) = include {
                include.push("message.output_text.logprobs".into());
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
