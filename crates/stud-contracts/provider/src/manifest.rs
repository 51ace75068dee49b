//! What a provider plugin adds to its manifest.

use std::collections::BTreeMap;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

/// The members of a manifest that belong to this category.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ProviderMembers {
    /// The API the plugin speaks to its backend. An entry of the settings may ask for it by this name.
    pub protocol: String,
    /// What models of this provider can do unless `models` says otherwise.
    pub capabilities: Capabilities,
    /// What is known of single models.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub models: Vec<ModelDeclaration>,
    /// What holds for the parameters of a request, besides the schema of `defaultParams`.
    #[serde(default, skip_serializing_if = "ParamRules::is_empty")]
    pub params: ParamRules,
}

/// What holds for parameters. A path is names joined by dots, such as `thinking.budgetTokens`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct ParamRules {
    /// Names that the provider sets itself and nobody else may.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub reserved: Vec<String>,
    /// Names that it takes and has no use for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unheeded: Vec<String>,
    /// Names that mean something only to a model with this capability.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub needs: BTreeMap<String, String>,
    /// Pairs of paths: the number at the first has to be below the one at the second.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub below: Vec<(String, String)>,
}

impl ParamRules {
    /// Whether there is no rule.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// What one model can do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ModelDeclaration {
    /// The model, by the name the backend has for it.
    pub model_id: String,
    /// What it can do. A claim that is left out is that of a model nobody has declared.
    #[serde(deserialize_with = "with_defaults")]
    #[cfg_attr(
        feature = "schema",
        schemars(schema_with = "crate::schema::some_claims")
    )]
    pub capabilities: Capabilities,
}

/// Reads the claims that are made, and puts the others beside them.
fn with_defaults<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Capabilities, D::Error> {
    let made = Map::<String, Value>::deserialize(deserializer)?;
    let all = serde_json::to_value(Capabilities::default());
    let mut all = all.map_err(D::Error::custom)?;
    for (name, claim) in made {
        all[name] = claim;
    }
    serde_json::from_value(all).map_err(D::Error::custom)
}

/// Seven claims, all of which have to be made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Capabilities {
    /// Answers come piece by piece.
    pub streaming: Level,
    /// The model can propose tool calls.
    pub tool_calling: Level,
    /// Answers can be held to a schema.
    pub structured_output: Level,
    /// Messages may hold more than text.
    pub multimodal: Level,
    /// The model shows its reasoning.
    pub reasoning: Level,
    /// The backend remembers the beginning of a request.
    pub prompt_caching: Level,
    /// How much fits into a request and its answer.
    pub context_window: ContextWindow,
}

/// How sure a claim is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// Guaranteed.
    Hard,
    /// Expected; where it is missing the session goes on with less.
    Preferred,
    /// Not known before it is tried.
    Probed,
    /// Not there.
    Absent,
}

/// How much fits into a request and its answer: a number of tokens, or `"probed"`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Value", into = "Value")]
pub enum ContextWindow {
    /// This many tokens.
    Tokens(u64),
    /// Not known before it is tried.
    Probed,
}

impl Default for Capabilities {
    /// The capabilities assumed of an undeclared model: it streams, and the rest has to be tried.
    fn default() -> Self {
        Self {
            streaming: Level::Hard,
            tool_calling: Level::Probed,
            structured_output: Level::Probed,
            multimodal: Level::Probed,
            reasoning: Level::Probed,
            prompt_caching: Level::Probed,
            context_window: ContextWindow::Probed,
        }
    }
}

impl From<ContextWindow> for Value {
    fn from(window: ContextWindow) -> Self {
        match window {
            ContextWindow::Tokens(tokens) => tokens.into(),
            ContextWindow::Probed => "probed".into(),
        }
    }
}

impl TryFrom<Value> for ContextWindow {
    type Error = &'static str;

    fn try_from(value: Value) -> Result<Self, Self::Error> {
        match value.as_u64() {
            Some(tokens) => Ok(Self::Tokens(tokens)),
            None if value == "probed" => Ok(Self::Probed),
            None => Err("expected a number of tokens or `probed`"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn members_keep_their_names() {
        let json = json!({
            "protocol": "openai-compatible",
            "capabilities": {
                "streaming": "hard",
                "toolCalling": "preferred",
                "structuredOutput": "probed",
                "multimodal": "absent",
                "reasoning": "probed",
                "promptCaching": "probed",
                "contextWindow": "probed",
            },
            "models": [{
                "modelId": "small",
                "capabilities": {
                    "streaming": "hard",
                    "toolCalling": "hard",
                    "structuredOutput": "hard",
                    "multimodal": "absent",
                    "reasoning": "absent",
                    "promptCaching": "absent",
                    "contextWindow": 128_000,
                },
            }],
        });
        let members: ProviderMembers = serde_json::from_value(json.clone()).unwrap();
        let window = members.models[0].capabilities.context_window;
        assert_eq!(window, ContextWindow::Tokens(128_000));
        assert_eq!(serde_json::to_value(members).unwrap(), json);
    }

    #[test]
    fn rules_for_parameters_may_be_left_out() {
        let rules = json!({
            "reserved": ["cacheControl"],
            "unheeded": ["seed"],
            "needs": {"effort": "reasoning"},
            "below": [["thinking.budgetTokens", "maxOutputTokens"]],
        });
        let read: ParamRules = serde_json::from_value(rules.clone()).unwrap();
        assert_eq!(serde_json::to_value(read).unwrap(), rules);
        let none: ParamRules = serde_json::from_value(json!({})).unwrap();
        assert!(none.is_empty());
    }

    #[test]
    fn every_claim_has_to_be_made() {
        let json = serde_json::to_value(Capabilities::default()).unwrap();
        assert_eq!(json.as_object().unwrap().len(), 7);
        for claim in json.as_object().unwrap().keys() {
            let mut without = json.clone();
            without.as_object_mut().unwrap().remove(claim);
            assert!(
                serde_json::from_value::<Capabilities>(without).is_err(),
                "{claim}"
            );
        }
    }

    #[test]
    fn a_model_may_leave_claims_out() {
        let read = |capabilities: Value| {
            let json = json!({"modelId": "small", "capabilities": capabilities});
            serde_json::from_value::<ModelDeclaration>(json)
        };
        let partial = read(json!({"toolCalling": "hard", "contextWindow": 8})).unwrap();
        let expected = Capabilities {
            tool_calling: Level::Hard,
            context_window: ContextWindow::Tokens(8),
            ..Capabilities::default()
        };
        assert_eq!(partial.capabilities, expected);
        assert_eq!(
            read(json!({})).unwrap().capabilities,
            Capabilities::default()
        );
        assert!(read(json!({"toolCalling": "sure"})).is_err());
        assert!(read(json!("all")).is_err());
    }

    #[test]
    fn a_window_is_a_count_or_probed() {
        for wrong in [
            json!(-1),
            json!(1.5),
            json!("hard"),
            json!(null),
            json!("128000"),
        ] {
            assert!(
                serde_json::from_value::<ContextWindow>(wrong.clone()).is_err(),
                "{wrong}"
            );
        }
    }
}
