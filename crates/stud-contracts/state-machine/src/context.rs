//! What a stage knows.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use stud_contract_interaction::GrantOutcome;

use crate::outcome::AssertOutcome;

/// What a stage knows: what its machine has put in, and what core keeps beside that.
///
/// The machine's own values and core's three members are one object on the wire, so the names `attempts`, `upstream`
/// and `siblings` are taken.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct StageContext {
    /// The attempts at this stage so far, the running one last.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub attempts: Vec<Attempt>,
    /// What the stage before this one handed over.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub upstream: Vec<Value>,
    /// For a join: what each of the parallel stages handed over, by id.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub siblings: Map<String, Value>,
    /// The machine's own values; the body of the stage refers to them as `{{ctx.name}}`.
    #[serde(flatten)]
    pub values: Map<String, Value>,
}

/// One attempt at a stage.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Attempt {
    /// What was said in it, in full once the model has stopped.
    #[serde(default)]
    pub transcript: Vec<Value>,
    /// Whether it ended because the turn cap was reached.
    #[serde(default)]
    pub cap_hit: bool,
    /// What the completion tool was called with, if it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub completion: Option<Value>,
    /// What the person was asked to grant in it.
    #[serde(default)]
    pub grants: Vec<Grant>,
    /// What `assert` made of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<AssertOutcome>,
}

/// A call outside the stage's tools that the person was asked about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Grant {
    /// The tool.
    pub tool: String,
    /// What stands for its arguments; good for comparing and nothing else.
    pub args_digest: String,
    /// What the person said.
    pub outcome: GrantOutcome,
    /// What else they said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

impl StageContext {
    /// The attempt that runs or has just ended.
    pub fn attempt(&self) -> Option<&Attempt> {
        self.attempts.last()
    }

    /// What the person was asked to grant in that attempt.
    pub fn grants(&self) -> &[Grant] {
        self.attempt().map_or(&[], |attempt| &attempt.grants)
    }

    /// What the stage before this one handed over with its completion tool.
    pub fn upstream_completion(&self) -> Option<&Value> {
        self.upstream.first()?.get("completion")
    }

    /// For a join: what one of the parallel stages handed over with its completion tool.
    pub fn sibling_completion(&self, stage: &str) -> Option<&Value> {
        self.siblings.get(stage)?.get("completion")
    }

    /// One of the machine's own values.
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.values.get(name)
    }

    /// Sets one of the machine's own values.
    pub fn set(&mut self, name: impl Into<String>, value: impl Into<Value>) {
        self.values.insert(name.into(), value.into());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_context_keeps_its_names() {
        let json = json!({
            "goal": "ship it",
            "attempts": [
                {"transcript": [], "capHit": true, "grants": [], "outcome": "retry"},
                {
                    "transcript": [{"role": "assistant", "content": "done"}],
                    "capHit": false,
                    "completion": {"files": 2},
                    "grants": [
                        {"tool": "write", "argsDigest": "d1", "outcome": "deny", "note": "not there"},
                        {"tool": "write", "argsDigest": "d2", "outcome": "approve"},
                    ],
                },
            ],
            "upstream": [{"plan": 1}],
            "siblings": {"a": 1, "b": 2},
        });
        let context: StageContext = serde_json::from_value(json.clone()).unwrap();
        assert_eq!(context.get("goal"), Some(&json!("ship it")));
        assert_eq!(context.grants()[0].outcome, GrantOutcome::Deny);
        assert_eq!(serde_json::to_value(context).unwrap(), json);
    }

    #[test]
    fn what_earlier_stages_handed_over_is_at_hand() {
        let json = json!({
            "upstream": [{"id": {"stageId": "plan"}, "completion": {"steps": 2}}],
            "siblings": {"a": {"completion": {"green": true}}, "b": {}},
        });
        let context: StageContext = serde_json::from_value(json).unwrap();
        assert_eq!(context.upstream_completion(), Some(&json!({"steps": 2})));
        assert_eq!(
            context.sibling_completion("a"),
            Some(&json!({"green": true}))
        );
        assert_eq!(context.sibling_completion("b"), None);
    }

    #[test]
    fn a_fresh_context_is_empty() {
        let mut context = StageContext::default();
        assert_eq!(serde_json::to_value(&context).unwrap(), json!({}));
        assert_eq!((context.attempt(), context.grants()), (None, &[][..]));
        context.set("goal", "ship it");
        assert_eq!(
            serde_json::to_value(&context).unwrap(),
            json!({"goal": "ship it"})
        );
    }
}
