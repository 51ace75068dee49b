//! What a state-machine plugin adds to its manifest.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::policy::{ResolutionPolicy, RetryPolicy};

/// The members of a manifest that belong to this category.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct StateMachineMembers {
    /// The stages, at least one, each with an id of its own.
    pub stages: Vec<Stage>,
    /// Where it begins.
    pub entry_stage: String,
}

/// One stage: what the model is told, what it may use, and when the stage is done.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Stage {
    /// What it is called, in kebab-case.
    pub id: String,
    /// Its name for a person.
    pub name: String,
    /// What the model is told, with `{{ctx.name}}` where the context goes.
    pub body: String,
    /// The tools it may use. The list can only take away from those of the session.
    pub allowed_tools: Vec<String>,
    /// The tool whose call ends the stage.
    pub completion_tool: String,
    /// The JSON Schema of what that call hands over. It checks the form; whether the work is right is for `assert`.
    pub completion_schema: Value,
    /// How often it may be tried.
    pub retry_policy: RetryPolicy,
    /// How many answers of the model an attempt may take, at least one.
    pub turn_cap: i64,
    /// What to do when its gate is shut.
    pub resolution_policy: ResolutionPolicy,
    /// The names the body may refer to.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub context: Vec<String>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::Backoff;
    use serde_json::json;

    #[test]
    fn members_keep_their_names() {
        let json = json!({
            "stages": [{
                "id": "plan",
                "name": "Plan",
                "body": "Plan {{ctx.goal}}.",
                "allowedTools": ["read"],
                "completionTool": "submit_plan",
                "completionSchema": {"type": "object"},
                "retryPolicy": {"maxAttempts": 2, "backoff": "none"},
                "turnCap": 10,
                "resolutionPolicy": "retry-later",
                "context": ["goal"],
            }],
            "entryStage": "plan",
        });
        let members: StateMachineMembers = serde_json::from_value(json.clone()).unwrap();
        assert_eq!(members.stages[0].retry_policy.backoff, Backoff::None);
        assert_eq!(serde_json::to_value(members).unwrap(), json);
    }

    #[test]
    fn a_cap_below_one_can_be_read_and_so_be_reported() {
        let stage = |cap: i64| {
            let json = json!({
                "id": "a", "name": "A", "body": "", "allowedTools": [], "completionTool": "done",
                "completionSchema": {}, "retryPolicy": {"maxAttempts": 1, "backoff": "none"},
                "turnCap": cap, "resolutionPolicy": "fail",
            });
            serde_json::from_value::<Stage>(json).unwrap()
        };
        assert_eq!([0, -1].map(|cap| stage(cap).turn_cap), [0, -1]);
        assert_eq!(stage(1).context, Vec::<String>::new());
    }
}
