//! What a provider's config says to core itself: which models there are, and what goes with every request.

use serde_json::{Map, Value};
use stud_contract_meta::Capability;
use stud_contract_provider::Level;

/// The members that core reads.
const MEMBERS: [&str; 4] = ["protocol", "model", "models", "defaultParams"];

/// Takes out what core reads and the provider's own schema has no place for, so that no provider has to know it.
pub(super) fn split_off(
    config: &mut Map<String, Value>,
    accepts: impl Fn(&str) -> bool,
) -> Map<String, Value> {
    let strange = MEMBERS.into_iter().filter(|member| !accepts(member));
    strange
        .filter_map(|member| config.remove_entry(member))
        .collect()
}

/// Where what was kept back is not what core can read, and why.
pub(super) fn fault(core_config: &Map<String, Value>) -> Option<(String, &'static str)> {
    core_config
        .iter()
        .find_map(|(member, value)| match &**member {
            "defaultParams" if !value.is_object() => {
                Some(("/defaultParams".to_owned(), "it is not an object"))
            }
            "models" => fault_of_models(value),
            "protocol" | "model" if value.as_str().is_none_or(str::is_empty) => {
                Some((format!("/{member}"), "it is not a name"))
            }
            _ => None,
        })
}

fn fault_of_models(models: &Value) -> Option<(String, &'static str)> {
    let Some(models) = models.as_array().filter(|models| !models.is_empty()) else {
        return Some((
            "/models".to_owned(),
            "it is not a list of at least one model",
        ));
    };
    models.iter().enumerate().find_map(|(place, model)| {
        let problem = fault_of_model(model)?;
        Some((format!("/models/{place}"), problem))
    })
}

fn fault_of_model(model: &Value) -> Option<&'static str> {
    let id = model.as_str().or_else(|| model["id"].as_str());
    if id.is_none_or(str::is_empty) {
        return Some("it is neither a name nor an object with an `id`");
    }
    let members = model.as_object()?;
    members.iter().find_map(|(member, value)| {
        let is_right = match (member.as_str(), Capability::parse(member)) {
            ("id", _) => true,
            (_, Some(Capability::ContextWindow)) => value.as_u64().is_some_and(|tokens| tokens > 0),
            (_, Some(_)) => serde_json::from_value::<Level>(value.clone()).is_ok(),
            (_, None) => false,
        };
        (!is_right).then_some("it says something that is not known of models")
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn only_what_a_schema_does_not_know_is_kept_back() {
        let config = json!({"model": "a", "models": ["a"], "baseURL": "x", "defaultParams": {}});
        let mut config = config.as_object().unwrap().clone();
        let kept = split_off(&mut config, |member| member == "model");
        assert_eq!(Value::Object(config), json!({"model": "a", "baseURL": "x"}));
        assert_eq!(
            Value::Object(kept),
            json!({"models": ["a"], "defaultParams": {}})
        );
    }

    #[test]
    fn what_is_kept_back_is_checked() {
        let place = |config: Value| fault(config.as_object().unwrap()).map(|(place, _)| place);
        assert_eq!(
            place(
                json!({"models": ["a", {"id": "b", "toolCalling": "absent", "contextWindow": 9}]})
            ),
            None
        );
        for (kept, expected) in [
            (json!({"models": []}), "/models"),
            (json!({"models": "a"}), "/models"),
            (json!({"models": ["a", {"name": "b"}]}), "/models/1"),
            (
                json!({"models": [{"id": "a", "toolCalling": "no"}]}),
                "/models/0",
            ),
            (
                json!({"models": [{"id": "a", "contextWindow": 0}]}),
                "/models/0",
            ),
            (json!({"model": ""}), "/model"),
            (json!({"protocol": 1}), "/protocol"),
            (json!({"defaultParams": []}), "/defaultParams"),
        ] {
            assert_eq!(place(kept.clone()).as_deref(), Some(expected), "{kept}");
        }
    }
}
