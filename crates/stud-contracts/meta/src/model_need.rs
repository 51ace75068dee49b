//! What an extension needs of the model that a session talks to.

use serde::{Deserialize, Serialize};

/// Something a model may be able to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Capability {
    /// Answers come piece by piece.
    Streaming,
    /// The model can propose tool calls.
    ToolCalling,
    /// Answers can be held to a schema.
    StructuredOutput,
    /// Messages may hold more than text.
    Multimodal,
    /// The model shows its reasoning.
    Reasoning,
    /// So much fits into a request and its answer.
    ContextWindow,
    /// The backend remembers the beginning of a request.
    PromptCaching,
}

impl Capability {
    /// All seven, in the order of the contract.
    pub const ALL: [Self; 7] = [
        Self::Streaming,
        Self::ToolCalling,
        Self::StructuredOutput,
        Self::Multimodal,
        Self::Reasoning,
        Self::ContextWindow,
        Self::PromptCaching,
    ];

    /// Its name on every wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Streaming => "streaming",
            Self::ToolCalling => "toolCalling",
            Self::StructuredOutput => "structuredOutput",
            Self::Multimodal => "multimodal",
            Self::Reasoning => "reasoning",
            Self::ContextWindow => "contextWindow",
            Self::PromptCaching => "promptCaching",
        }
    }

    /// The capability of this name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|known| known.as_str() == name)
    }
}

impl std::fmt::Display for Capability {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}

/// How much an extension needs a capability.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum NeedLevel {
    /// It cannot do without.
    Hard,
    /// Optional: without it the plugin does less, and a warning says so.
    Preferred,
    /// It finds out when it first uses it.
    Probed,
}

/// One thing an extension needs of the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModelNeed {
    /// What is needed.
    pub name: Capability,
    /// How much.
    pub level: NeedLevel,
    /// The smallest window that will do, in tokens; of [`Capability::ContextWindow`] alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub minimum: Option<u64>,
}

impl ModelNeed {
    /// What is wrong with it, if anything.
    pub fn fault(&self) -> Option<&'static str> {
        match (self.name, self.minimum) {
            (Capability::ContextWindow, Some(0)) => Some("`minimum` is at least 1"),
            (Capability::ContextWindow, _) | (_, None) => None,
            (_, Some(_)) => Some("only `contextWindow` has a `minimum`"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    #[test]
    fn names_are_the_same_everywhere() {
        for capability in Capability::ALL {
            assert_eq!(
                serde_json::to_value(capability).unwrap(),
                capability.as_str()
            );
            assert_eq!(Capability::parse(capability.as_str()), Some(capability));
        }
        assert_eq!(Capability::parse("tools"), None);
    }

    #[test]
    fn a_need_has_three_members_and_no_more() {
        let read = |json: Value| serde_json::from_value::<ModelNeed>(json).ok();
        let need = json!({"name": "contextWindow", "level": "hard", "minimum": 8000});
        let typed = read(need.clone()).unwrap();
        assert_eq!(serde_json::to_value(typed).unwrap(), need);
        assert_eq!(typed.fault(), None);
        assert!(read(json!({"name": "vision", "level": "hard"})).is_none());
        assert!(read(json!({"name": "reasoning", "level": "absent"})).is_none());
        assert!(read(json!({"name": "reasoning", "level": "hard", "min": 1})).is_none());
    }

    #[test]
    fn only_a_window_has_a_minimum() {
        let fault = |name, minimum| {
            let need = ModelNeed {
                name,
                level: NeedLevel::Hard,
                minimum,
            };
            need.fault().is_some()
        };
        assert!(fault(Capability::Reasoning, Some(1)));
        assert!(fault(Capability::ContextWindow, Some(0)));
        assert!(!fault(Capability::ContextWindow, None));
    }
}
