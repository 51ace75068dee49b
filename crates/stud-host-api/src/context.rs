//! What the model is told: adds to it in this turn, and shortens what it is told of the past.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use stud_contract_meta::Result;
use stud_diagnostics::codes;

use crate::BoxFuture;
use crate::refusal::refuse;

/// Takes fragments from context providers while the request is put together, and compacts the conversation.
pub trait ContextContributor: Send + Sync {
    /// Hands in a fragment for this turn.
    ///
    /// Core clips it to its budget, labels where it came from and refuses what must not reach a model.
    /// From anything but a `ContextProvider` it is `ExtensionHost/ContextContributionForbidden`, outside that stage
    /// `ExtensionHost/NotReady`.
    fn contribute(&self, fragment: ContextFragment) -> BoxFuture<'_, Result<()>>;

    /// Puts a summary in the place of the oldest part of the conversation.
    ///
    /// The session's own model writes it, so this takes as long as an answer does. A conversation that is short enough
    /// stays as it is, and no segment was compacted then.
    ///
    /// For a `Tool` or a `Command`; from anything else it is `ExtensionHost/ContextContributionForbidden`. Before the
    /// session has asked a model anything it is `ExtensionHost/NotReady`. Fails with `Validation/ContextOverflow` when
    /// the conversation cannot be made as short as that, and with `ProviderTransient/SummarizeFailed`.
    fn compact(&self, how: Compacting) -> BoxFuture<'_, Result<Compacted>>;
}

/// How far to compact.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct Compacting {
    /// How much of the model's window a request may take up afterward.
    pub target_utilization_percent: u32,
    /// How many of the last turns stay word by word, the one that runs among them.
    pub preserve_recent_turns: u32,
}

impl Default for Compacting {
    /// Four fifths of the window, and two turns.
    fn default() -> Self {
        Self {
            target_utilization_percent: 80,
            preserve_recent_turns: 2,
        }
    }
}

/// What a compaction came to.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Compacted {
    /// How many pieces of the conversation were summarized; none if it was short enough.
    pub compacted_segments: u64,
    /// What the conversation took up before, in tokens.
    pub original_tokens: u64,
    /// What it takes up since.
    pub compacted_tokens: u64,
    /// How much of the model's window a request takes up now.
    pub new_utilization_percent: f64,
    /// What the model is told in the place of what was summarized.
    pub summary: String,
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
    /// A place that one fragment at most can have. Of several plugins that claim it, the first by name has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exclusive_slot: Option<String>,
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
        if let Some(slot) = value.get("exclusiveSlot")
            && slot.as_str().is_some_and(|slot| slot.trim().is_empty())
        {
            let message = "`exclusiveSlot` should name a slot, or be left out";
            let error = refuse(&codes::FRAGMENT_SHAPE_INVALID, message);
            return Err(error.with("field", "exclusiveSlot"));
        }
        // The error of serde may quote the content, which is meant for the model alone.
        serde_json::from_value(value).map_err(|_| {
            let message = "a context fragment has `kind`, `content`, `tokenBudget` and `priority`, and may have an \
                           `exclusiveSlot`";
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
    fn a_slot_is_named_or_left_out() {
        let fragment = |slot: Value| {
            let (kind, content) = ("tool-hint", "x");
            ContextFragment::read(json!({
                "kind": kind, "content": content, "tokenBudget": 1, "priority": 0, "exclusiveSlot": slot,
            }))
        };
        let claiming = fragment(json!("persona")).unwrap();
        assert_eq!(claiming.exclusive_slot.as_deref(), Some("persona"));
        let wire = serde_json::to_value(&claiming).unwrap();
        assert_eq!(wire["exclusiveSlot"], "persona");
        for blank in [json!(" "), json!(""), json!(7)] {
            let error = fragment(blank).unwrap_err();
            assert_eq!(error.code(), "FragmentShapeInvalid");
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
