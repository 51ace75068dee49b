//! The JSON Schemas of the contract.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema, schema_for};

use crate::manifest::ToolMembers;
use crate::output::Envelope;

/// What crosses the boundary under this contract, by name.
pub fn schemas() -> Vec<(&'static str, Schema)> {
    vec![
        ("ToolMembers", schema_for!(ToolMembers)),
        ("Envelope", schema_for!(Envelope)),
    ]
}

impl JsonSchema for Envelope {
    fn schema_name() -> Cow<'static, str> {
        "Envelope".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let error = json_schema!({
            "type": "object",
            "properties": {
                "class": {"type": "string"},
                "code": {"type": "string"},
                "message": {"type": "string"},
                "context": {"type": "object"},
            },
            "required": ["class", "code", "message"],
        });
        json_schema!({
            "description": "The reply of `execute`.",
            "oneOf": [
                {
                    "type": "object",
                    "properties": {
                        "ok": {"const": true},
                        "value": true,
                        "errors": {"type": "array", "items": error},
                    },
                    "required": ["ok", "value"],
                },
                {
                    "type": "object",
                    "properties": {"ok": {"const": false}, "error": error},
                    "required": ["ok", "error"],
                },
            ],
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
}
