//! Parameters of a request, in stud's names.

use serde_json::{Map, Value};
use stud_sdk::provider::Request;
use stud_sdk::{Error, Result};

use crate::code::violation;

const LIMIT: &str = "maxOutputTokens";

/// The parameters of one request, each taken out once.
#[derive(Debug, Clone, Default)]
pub struct Bag(Map<String, Value>);

impl Bag {
    /// The parameters of a request, and those of the config that the request does not have.
    ///
    /// Core lays the layers over one another leaf by leaf. What it sends is whole, so a member it sends is not mixed
    /// with the one below. The request's own limit and temperature stand above all, the config's limit below.
    pub fn new(defaults: &Map<String, Value>, max_tokens: Option<u64>, request: &Request) -> Self {
        let mut all = Map::new();
        let mut put = |name: &str, value: Option<Value>| {
            if let Some(value) = value {
                all.insert(name.to_owned(), value);
            }
        };
        put(LIMIT, max_tokens.map(Value::from));
        for layer in [defaults, &request.params] {
            for (name, value) in layer {
                put(name, Some(value.clone()));
            }
        }
        put(LIMIT, request.max_tokens.map(Value::from));
        // A backend gets the number as it was written: `1` stays `1`.
        let own = request.temperature;
        let written = request.params.get("temperature").and_then(Value::as_f64);
        put(
            "temperature",
            own.filter(|own| written != Some(*own)).map(Value::from),
        );
        Self(all)
    }

    /// Takes a parameter out; null counts as none.
    pub fn take(&mut self, name: &str) -> Option<Value> {
        self.0.remove(name).filter(|value| !value.is_null())
    }

    /// Takes parameters out and puts them into `body` under the backend's names.
    pub fn carry(&mut self, names: &[(&str, &str)], body: &mut Map<String, Value>) {
        for (ours, theirs) in names {
            if let Some(value) = self.take(ours) {
                body.insert((*theirs).to_owned(), value);
            }
        }
    }

    /// Looks for an unused parameter. Those in `unheeded` are known, and mean nothing here.
    pub fn finish(mut self, unheeded: &[&str]) -> Result<()> {
        for name in unheeded {
            self.0.remove(*name);
        }
        self.0
            .keys()
            .next()
            .map_or(Ok(()), |name| Err(unknown(name)))
    }
}

fn unknown(name: &str) -> Error {
    let why = format!(
        "this provider has no parameter `{name}`; names are in camelCase, and keys and headers are none"
    );
    violation(&format!("/defaultParams/{name}"), why).with("param", name)
}

/// The same with every member's name as backends write it: `budgetTokens` becomes `budget_tokens`.
pub fn snake_case(value: Value) -> Value {
    match value {
        Value::Object(members) => {
            let renamed = members
                .into_iter()
                .map(|(name, value)| (snake_name(&name), snake_case(value)));
            Value::Object(renamed.collect())
        }
        Value::Array(list) => list.into_iter().map(snake_case).collect(),
        other => other,
    }
}

fn snake_name(name: &str) -> String {
    let mut snake = String::with_capacity(name.len() + 4);
    for letter in name.chars() {
        if letter.is_ascii_uppercase() {
            snake.push('_');
        }
        snake.push(letter.to_ascii_lowercase());
    }
    snake
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn map(value: Value) -> Map<String, Value> {
        value.as_object().unwrap().clone()
    }

    #[test]
    fn what_a_request_says_stands_above_the_config() {
        let defaults = map(json!({"seed": 1, "thinking": {"type": "enabled", "budgetTokens": 1}}));
        let request = Request {
            params: map(json!({"thinking": {"type": "adaptive"}, "topP": null})),
            ..Request::default()
        };
        let mut bag = Bag::new(&defaults, None, &request);
        assert_eq!(bag.take("seed"), Some(json!(1)));
        assert_eq!(bag.take("thinking"), Some(json!({"type": "adaptive"})));
        assert_eq!(bag.take("topP"), None);
        assert_eq!(bag.finish(&[]), Ok(()));
    }

    #[test]
    fn a_limit_has_four_places() {
        let limit = |config, default: Value, param: Value, own| {
            let request = Request {
                params: map(param),
                max_tokens: own,
                ..Request::default()
            };
            Bag::new(&map(default), config, &request).take(LIMIT)
        };
        let (two, three) = (json!({LIMIT: 2}), json!({LIMIT: 3}));
        assert_eq!(limit(None, json!({}), json!({}), None), None);
        assert_eq!(limit(Some(1), json!({}), json!({}), None), Some(json!(1)));
        assert_eq!(limit(Some(1), two.clone(), json!({}), None), Some(json!(2)));
        assert_eq!(
            limit(Some(1), two.clone(), three.clone(), None),
            Some(json!(3))
        );
        assert_eq!(limit(Some(1), two, three, Some(4)), Some(json!(4)));
    }

    #[test]
    fn a_temperature_is_sent_as_it_was_written() {
        let temperature = |param: Value, own| {
            let request = Request {
                params: map(param),
                temperature: own,
                ..Request::default()
            };
            let bag = Bag::new(&Map::new(), None, &request).take("temperature");
            bag.map(|number| number.to_string())
        };
        let one = json!({"temperature": 1});
        assert_eq!(temperature(one.clone(), Some(1.0)).as_deref(), Some("1"));
        assert_eq!(temperature(one, Some(0.5)).as_deref(), Some("0.5"));
        assert_eq!(temperature(json!({}), Some(1.0)).as_deref(), Some("1.0"));
    }

    #[test]
    fn what_nobody_takes_is_refused_by_name() {
        let defaults = map(json!({"known": 1, "top_p": 1}));
        let bag = Bag::new(&defaults, None, &Request::default());
        let error = bag.finish(&["known"]).unwrap_err();
        assert_eq!(error.code(), "ConfigSchemaViolation");
        assert_eq!(error.context()["fieldPath"], "/defaultParams/top_p");
    }

    #[test]
    fn names_of_backends() {
        let ours = json!({"budgetTokens": 1, "edits": [{"type": "a", "keepAll": {"toolUses": 3}}]});
        let theirs =
            json!({"budget_tokens": 1, "edits": [{"type": "a", "keep_all": {"tool_uses": 3}}]});
        assert_eq!(snake_case(ours), theirs);
    }
}
