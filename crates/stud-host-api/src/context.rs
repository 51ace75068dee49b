//! Adds to what the model is told in this turn.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use stud_contract_meta::Result;
use stud_diagnostics::codes;

use crate::BoxFuture;
use crate::refusal::refuse;

/// Takes fragments from context providers, while the request is put together.
pub trait ContextContributor: Send + Sync {
    /// Hands in a fragment for this turn.
    ///
    /// Core clips it to its budget, labels where it came from and refuses what must not reach a model.
    /// From anything but a `ContextProvider` it is `ExtensionHost/ContextContributionForbidden`, outside that stage
    /// `ExtensionHost/NotReady`.
    fn contribute(&self, fragment: ContextFragment) -> BoxFuture<'_, Result<()>>;
}

/// A piece of context.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ContextFragment {
    /// What it is.
    pub kind: FragmentKind,
    /// The text; for a resource, its id.
    pub content: String,
    /// The most it may take up. What is longer is cut.
    pub token_budget: u64,
    /// Higher comes first.
    pub priority: i64,
}

/// What a fragment is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum FragmentKind {
    /// Said to the model as the system.
    SystemMessage,
    /// A part of the prompt.
    #[default]
    PromptFragment,
    /// A registered resource, by id.
    ResourceBinding,
    /// How or when to use a tool.
    ToolHint,
}

impl FragmentKind {
    /// All four.
    pub const ALL: [Self; 4] = [
        Self::SystemMessage,
        Self::PromptFragment,
        Self::ResourceBinding,
        Self::ToolHint,
    ];

    /// The word on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::SystemMessage => "system-message",
            Self::PromptFragment => "prompt-fragment",
            Self::ResourceBinding => "resource-binding",
            Self::ToolHint => "tool-hint",
        }
    }
}

impl ContextFragment {
    /// Reads a fragment, with typed errors where plain deserialization would only have text.
    ///
    /// Fails with `Validation/FragmentKindInvalid`, `Validation/FragmentBudgetNegative` or
    /// `Validation/FragmentShapeInvalid`.
    pub fn read(value: Value) -> Result<Self> {
        if let Some(kind) = value.get("kind").and_then(Value::as_str)
            && !FragmentKind::ALL.iter().any(|known| known.as_str() == kind)
        {
            let message = format!("`{kind}` is not a kind of context fragment");
            return Err(refuse(&codes::FRAGMENT_KIND_INVALID, message).with("kind", kind));
        }
        if let Some(budget) = value.get("tokenBudget").and_then(Value::as_i64)
            && budget < 0
        {
            let message = "`tokenBudget` should not be negative";
            let error = refuse(&codes::FRAGMENT_BUDGET_NEGATIVE, message);
            return Err(error.with("tokenBudget", budget));
        }
        // The error of serde may quote the content, which is nobody's business but the model's.
        serde_json::from_value(value).map_err(|_| {
            let message = "a context fragment has `kind`, `content`, `tokenBudget` and `priority`";
            refuse(&codes::FRAGMENT_SHAPE_INVALID, message)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_fragment_round_trips_in_each_kind() {
        for kind in FragmentKind::ALL {
            let json =
                json!({"kind": kind.as_str(), "content": "x", "tokenBudget": 100, "priority": -1});
            let fragment = ContextFragment::read(json.clone()).unwrap();
            assert_eq!(fragment.kind, kind);
            assert_eq!(serde_json::to_value(fragment).unwrap(), json);
        }
    }

    #[test]
    fn each_fault_has_its_code() {
        let code = |json| ContextFragment::read(json).unwrap_err().code().to_owned();
        assert_eq!(
            code(json!({"kind": "env", "content": "x", "tokenBudget": 1, "priority": 0})),
            "FragmentKindInvalid",
        );
        assert_eq!(
            code(json!({"kind": "tool-hint", "content": "x", "tokenBudget": -1, "priority": 0})),
            "FragmentBudgetNegative",
        );
        assert_eq!(
            code(json!({"kind": "tool-hint", "content": "x", "priority": 0})),
            "FragmentShapeInvalid"
        );
        assert_eq!(code(json!("text")), "FragmentShapeInvalid");
    }
}
