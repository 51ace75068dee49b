//! The JSON Schemas of the protocol.

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema, schema_for};

use crate::{
    Answer, ApproveAnswer, AskAnswer, AuthAnswer, ConfirmAnswer, EnvelopeAnswer, GrantAnswer,
    InteractionAnswered, InteractionCancelled, InteractionKind, InteractionRaised, Request,
    Response, Secret, SelectAnswer, UserResponse,
};

/// What goes over a wire under the protocol, by name: the envelopes, the answers by kind, the events.
///
/// The payloads are inside the schema of `Request`, which ties each to its kind.
pub fn schemas() -> Vec<(&'static str, Schema)> {
    vec![
        ("InteractionKind", schema_for!(InteractionKind)),
        ("Request", schema_for!(Request)),
        ("Response", schema_for!(Response)),
        ("Answer", schema_for!(Answer)),
        ("AskAnswer", schema_for!(AskAnswer)),
        ("ApproveAnswer", schema_for!(ApproveAnswer)),
        ("SelectAnswer", schema_for!(SelectAnswer)),
        ("AuthAnswer", schema_for!(AuthAnswer)),
        ("ConfirmAnswer", schema_for!(ConfirmAnswer)),
        ("GrantAnswer", schema_for!(GrantAnswer)),
        ("EnvelopeAnswer", schema_for!(EnvelopeAnswer)),
        ("UserResponse", schema_for!(UserResponse)),
        ("InteractionRaised", schema_for!(InteractionRaised)),
        ("InteractionAnswered", schema_for!(InteractionAnswered)),
        ("InteractionCancelled", schema_for!(InteractionCancelled)),
    ]
}

impl JsonSchema for AuthAnswer {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "AuthAnswer".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let secret = generator.subschema_for::<Secret>();
        json_schema!({
            "description": "How a login ended: with something to hand over, or done elsewhere.",
            "oneOf": [
                {"type": "object", "properties": {"secret": secret}, "required": ["secret"]},
                {"type": "object", "properties": {"completed": {"const": true}}, "required": ["completed"]},
            ],
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_is_in_the_schema_of_the_request() {
        let text = serde_json::to_string(&schema_for!(Request)).unwrap();
        for kind in InteractionKind::ALL {
            assert!(
                text.contains(&format!("\"const\":\"{kind}\"")),
                "{kind} in {text}"
            );
        }
        for field in [
            "interactionId",
            "correlationId",
            "issuedAt",
            "argsDigest",
            "timeoutMs",
            "initialValues",
        ] {
            assert!(text.contains(&format!("\"{field}\"")), "{field}");
        }
    }

    #[test]
    fn names_are_unique_and_every_schema_says_what_it_is() {
        let schemas = schemas();
        let mut names: Vec<_> = schemas.iter().map(|(name, _)| name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), schemas.len());
        for (name, schema) in &schemas {
            assert!(schema.get("description").is_some(), "{name}");
        }
    }
}
