//! Parameters of a request, under the backend's names.

use model_http::{Bag, snake_case, violation};
use serde_json::{Map, Value, json};
use stud_sdk::Result;

/// The default limit of an answer.
const DEFAULT_MAX_TOKENS: u64 = 4096;

/// What the parameters of a request say.
#[derive(Debug, Default)]
pub(crate) struct Settled {
    /// Members of the request.
    pub(crate) members: Map<String, Value>,
    /// Features that have to be asked for in a header.
    pub(crate) betas: Vec<&'static str>,
    /// `thinking`, as it is sent.
    pub(crate) thinking: Option<Value>,
    /// Whether thinking is sent back with the calls it led to.
    pub(crate) sends_thoughts: bool,
    pub(crate) forbids_parallel_calls: bool,
    pub(crate) streams_arguments: bool,
}

/// Reads the bag.
pub(crate) fn settle(mut bag: Bag) -> Result<Settled> {
    let mut settled = Settled {
        sends_thoughts: bag.take("sendReasoning") != Some(Value::Bool(false)),
        forbids_parallel_calls: bag.take("disableParallelToolUse") == Some(Value::Bool(true)),
        streams_arguments: bag.take("toolStreaming") == Some(Value::Bool(true)),
        thinking: bag.take("thinking").map(snake_case),
        ..Settled::default()
    };
    let limit = bag.take("maxOutputTokens").and_then(|limit| limit.as_u64());
    let members = &mut settled.members;
    members.insert(
        "max_tokens".to_owned(),
        most(limit, settled.thinking.as_ref())?.into(),
    );
    let plain = [
        ("temperature", "temperature"),
        ("topP", "top_p"),
        ("topK", "top_k"),
        ("stopSequences", "stop_sequences"),
        ("inferenceGeo", "inference_geo"),
    ];
    bag.carry(&plain, members);
    if let Some(metadata) = bag.take("metadata") {
        members.insert("metadata".to_owned(), snake_case(metadata));
    }
    let mut output = Map::new();
    if let Some(effort) = bag.take("effort") {
        output.insert("effort".to_owned(), effort);
        settled.betas.push("effort-2025-11-24");
    }
    if let Some(budget) = bag.take("taskBudget") {
        output.insert("task_budget".to_owned(), snake_case(budget));
        settled.betas.push("task-budgets-2026-03-13");
    }
    if !output.is_empty() {
        members.insert("output_config".to_owned(), output.into());
    }
    if let Some(speed) = bag.take("speed") {
        // The usual speed needs no feature.
        if speed == "fast" {
            settled.betas.push("fast-mode-2026-02-01");
        }
        members.insert("speed".to_owned(), speed);
    }
    if let Some(management) = bag.take("contextManagement") {
        members.insert("context_management".to_owned(), snake_case(management));
        settled.betas.push("context-management-2025-06-27");
    }
    if settled.disables_thinking() {
        settled.sends_thoughts = false;
    }
    bag.finish(&["seed", "structuredOutputMode"])?;
    Ok(settled)
}

impl Settled {
    fn disables_thinking(&self) -> bool {
        self.thinking
            .as_ref()
            .is_some_and(|thinking| thinking["type"] == "disabled")
    }

    /// Whether the backend insists on seeing the thinking that led to a call.
    pub(crate) fn needs_thoughts(&self) -> bool {
        self.thinking
            .as_ref()
            .is_some_and(|thinking| thinking["type"] == "enabled")
    }

    pub(crate) fn tool_choice(&self) -> Option<Value> {
        self.forbids_parallel_calls
            .then(|| json!({"type": "auto", "disable_parallel_tool_use": true}))
    }
}

/// The limit of an answer, which thinking is part of.
fn most(limit: Option<u64>, thinking: Option<&Value>) -> Result<u64> {
    let budget = thinking
        .filter(|thinking| thinking["type"] == "enabled")
        .and_then(|thinking| thinking["budget_tokens"].as_u64());
    match (limit, budget) {
        (Some(limit), Some(budget)) if budget >= limit => {
            let why = format!(
                "`thinking.budgetTokens` is {budget} and must be below `maxOutputTokens`, which is {limit}"
            );
            Err(violation("/defaultParams/thinking/budgetTokens", why))
        }
        (Some(limit), _) => Ok(limit),
        (None, budget) => Ok(DEFAULT_MAX_TOKENS.saturating_add(budget.unwrap_or(0))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use stud_sdk::provider::Request;

    fn settled(params: Value, max_tokens: Option<u64>) -> Result<Settled> {
        let request = Request {
            max_tokens,
            ..Request::default()
        };
        settle(Bag::new(params.as_object().unwrap(), None, &request))
    }

    #[test]
    fn every_parameter_has_its_place() {
        let settled = settled(
            json!({
                "temperature": 0.5, "topP": 0.9, "topK": 40, "maxOutputTokens": 9000, "stopSequences": ["END"], "seed": 7,
                "effort": "high", "thinking": {"type": "enabled", "budgetTokens": 2048, "display": "summarized"},
                "speed": "fast", "inferenceGeo": "eu", "taskBudget": {"type": "tokens", "total": 64000},
                "toolStreaming": true, "structuredOutputMode": "auto", "disableParallelToolUse": true,
                "metadata": {"userId": "u"}, "contextManagement": {"edits": [{"type": "x", "clearAtLeast": 1}]},
            }),
            None,
        )
        .unwrap();
        let members = json!({
            "temperature": 0.5, "top_p": 0.9, "top_k": 40, "max_tokens": 9000, "stop_sequences": ["END"],
            "output_config": {"effort": "high", "task_budget": {"type": "tokens", "total": 64000}},
            "speed": "fast", "inference_geo": "eu", "metadata": {"user_id": "u"},
            "context_management": {"edits": [{"type": "x", "clear_at_least": 1}]},
        });
        assert_eq!(Value::Object(settled.members), members);
        let thinking = json!({"type": "enabled", "budget_tokens": 2048, "display": "summarized"});
        assert_eq!(settled.thinking, Some(thinking));
        let betas = [
            "effort-2025-11-24",
            "task-budgets-2026-03-13",
            "fast-mode-2026-02-01",
            "context-management-2025-06-27",
        ];
        assert_eq!(settled.betas, betas);
        assert!(
            settled.forbids_parallel_calls && settled.streams_arguments && settled.sends_thoughts
        );
    }

    #[test]
    fn a_limit_leaves_room_for_thinking() {
        let most = |params, limit| settled(params, limit).unwrap().members["max_tokens"].clone();
        let thinking = json!({"thinking": {"type": "enabled", "budgetTokens": 8000}});
        assert_eq!(most(json!({}), None), 4096);
        assert_eq!(most(json!({}), Some(10)), 10);
        assert_eq!(most(json!({"maxOutputTokens": 20}), Some(10)), 10);
        assert_eq!(most(thinking.clone(), None), 12_096);
        let error = settled(thinking, Some(8000)).unwrap_err();
        assert_eq!(
            error.context()["fieldPath"],
            "/defaultParams/thinking/budgetTokens"
        );
    }

    #[test]
    fn what_is_no_parameter_is_refused() {
        for name in ["cacheControl", "max_tokens", "apiKey", "reasoningEffort"] {
            let error = settled(json!({name: 1}), None).unwrap_err();
            assert_eq!(error.context()["param"], name);
        }
    }
}
