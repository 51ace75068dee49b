//! What the phases of a stage come to.

use serde::{Deserialize, Serialize};

/// Whether a stage may begin.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum GateResult {
    /// It may.
    #[default]
    Proceed,
    /// Not yet.
    Retry,
    /// It need not.
    Skip,
}

/// What an attempt was worth.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum AssertOutcome {
    /// The stage is done.
    Ok,
    /// Once more, if the retry policy allows.
    Retry,
    /// Go on without it.
    Skip,
    /// The machine has failed.
    Fail,
}

/// Where to go from a stage.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct NextResult {
    /// The stages to run; none ends the machine.
    pub next_stages: Vec<String>,
    /// How to run them.
    pub execution: Execution,
    /// For parallel stages: the stage to run when all of them are done. It is a declared one, and none of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub join: Option<String>,
}

/// How several stages are run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Execution {
    /// One after another.
    Sequential,
    /// At the same time; the first failure stops the others.
    Parallel,
}

impl NextResult {
    /// Nowhere: the machine is done.
    pub const fn end() -> Self {
        Self {
            next_stages: Vec::new(),
            execution: Execution::Sequential,
            join: None,
        }
    }

    /// To one stage.
    pub fn to(stage: impl Into<String>) -> Self {
        Self::sequence([stage])
    }

    /// Through several stages in turn.
    pub fn sequence(stages: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self {
            next_stages: stages.into_iter().map(Into::into).collect(),
            ..Self::end()
        }
    }

    /// To several stages at once, at least two.
    pub fn parallel(stages: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self {
            execution: Execution::Parallel,
            ..Self::sequence(stages)
        }
    }

    /// The same, with a stage to run when the parallel ones are done.
    #[must_use]
    pub fn join(mut self, stage: impl Into<String>) -> Self {
        self.join = Some(stage.into());
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn check(next: &NextResult, json: Value) {
        assert_eq!(serde_json::to_value(next).unwrap(), json);
        assert_eq!(serde_json::from_value::<NextResult>(json).unwrap(), *next);
    }

    #[test]
    fn ways_to_go_on_keep_their_names() {
        check(
            &NextResult::end(),
            json!({"nextStages": [], "execution": "sequential"}),
        );
        check(
            &NextResult::to("build"),
            json!({"nextStages": ["build"], "execution": "sequential"}),
        );
        check(
            &NextResult::sequence(["a", "b"]),
            json!({"nextStages": ["a", "b"], "execution": "sequential"}),
        );
        check(
            &NextResult::parallel(["a", "b"]).join("merge"),
            json!({"nextStages": ["a", "b"], "execution": "parallel", "join": "merge"}),
        );
    }

    #[test]
    fn words_of_gates_and_outcomes() {
        use GateResult::{Proceed, Retry, Skip};
        assert_eq!(
            serde_json::to_value([Proceed, Retry, Skip]).unwrap(),
            json!(["proceed", "retry", "skip"])
        );
        let outcomes = [
            AssertOutcome::Ok,
            AssertOutcome::Retry,
            AssertOutcome::Skip,
            AssertOutcome::Fail,
        ];
        assert_eq!(
            serde_json::to_value(outcomes).unwrap(),
            json!(["ok", "retry", "skip", "fail"])
        );
    }
}
