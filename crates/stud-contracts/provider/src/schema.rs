//! The JSON Schemas of the contract.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema, schema_for};

use crate::event::StreamEvent;
use crate::manifest::{Capabilities, ContextWindow, ProviderMembers};
use crate::request::Request;

/// What crosses the boundary under this contract, by name.
pub fn schemas() -> Vec<(&'static str, Schema)> {
    vec![
        ("ProviderMembers", schema_for!(ProviderMembers)),
        ("Request", schema_for!(Request)),
        ("StreamEvent", schema_for!(StreamEvent)),
    ]
}

/// The claims about one model, any of which may be left out.
pub(crate) fn some_claims(generator: &mut SchemaGenerator) -> Schema {
    let mut schema = Capabilities::json_schema(generator);
    schema.remove("required");
    schema
}

impl JsonSchema for ContextWindow {
    fn schema_name() -> Cow<'static, str> {
        "ContextWindow".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "How much fits into a request and its answer: a number of tokens, or `probed`.",
            "oneOf": [{"type": "integer", "minimum": 0}, {"const": "probed"}],
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_schema_says_what_it_is() {
        for (name, schema) in schemas() {
            assert!(schema.get("description").is_some(), "{name}");
        }
    }

    #[test]
    fn only_the_provider_has_to_make_every_claim() {
        let schema = serde_json::to_value(schema_for!(ProviderMembers)).unwrap();
        let claims = &schema["$defs"]["Capabilities"]["required"];
        assert_eq!(claims.as_array().map(Vec::len), Some(7), "{schema:#}");
        let of_model = &schema["$defs"]["ModelDeclaration"]["properties"]["capabilities"];
        assert!(of_model["properties"].is_object(), "{schema:#}");
        assert!(of_model.get("required").is_none(), "{schema:#}");
    }

    #[test]
    fn every_event_is_in_the_schema() {
        let text = serde_json::to_string(&schema_for!(StreamEvent)).unwrap();
        for word in [
            "text-delta",
            "thinking-delta",
            "tool-call",
            "usage",
            "finish",
        ] {
            assert!(text.contains(&format!("\"{word}\"")), "{word} in {text}");
        }
    }
}
