//! What a guard says.

use serde::{Deserialize, Serialize};

/// Whether what passes may go on: `{"decision":"allow"}` or `{"decision":"deny","reason"?}`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "decision", rename_all = "lowercase")]
pub enum Verdict {
    /// It may.
    Allow,
    /// It may not.
    Deny {
        /// Why, for the person and, on a tool call, for the model. Left out when empty.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        reason: String,
    },
}

impl Verdict {
    /// A no with its reason.
    pub fn deny(reason: impl Into<String>) -> Self {
        Self::Deny {
            reason: reason.into(),
        }
    }

    /// Whether this is a yes.
    pub const fn is_allow(&self) -> bool {
        matches!(self, Self::Allow)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn check(verdict: &Verdict, json: Value) {
        assert_eq!(serde_json::to_value(verdict).unwrap(), json);
        assert_eq!(serde_json::from_value::<Verdict>(json).unwrap(), *verdict);
    }

    #[test]
    fn verdicts_keep_their_names() {
        check(&Verdict::Allow, json!({"decision": "allow"}));
        check(
            &Verdict::deny("outside the project"),
            json!({"decision": "deny", "reason": "outside the project"}),
        );
        check(&Verdict::deny(""), json!({"decision": "deny"}));
    }

    #[test]
    fn nothing_but_allow_is_a_yes() {
        assert!(Verdict::Allow.is_allow());
        assert!(!Verdict::deny("").is_allow());
        for json in [
            json!({}),
            json!({"decision": "ALLOW"}),
            json!("allow"),
            json!(null),
        ] {
            assert!(
                serde_json::from_value::<Verdict>(json.clone()).is_err(),
                "{json}"
            );
        }
    }
}
