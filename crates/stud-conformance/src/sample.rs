//! Values that a JSON Schema accepts, for calls whose arguments only the plugin knows.

use serde_json::{Map, Value, json};

/// The text that stands for any text.
pub const TEXT: &str = "conformance";

/// Nested schemas are followed no deeper.
const DEEPEST: usize = 16;

/// A small value that the schema accepts, with its required members alone.
///
/// It follows what schemas of plugins use: types, required members, enumerations, constants, lengths and bounds. A
/// schema with patterns may refuse the value.
pub fn of(schema: &Value) -> Value {
    value(schema, schema, 0)
}

/// The same with other texts and numbers wherever the schema leaves a choice.
pub fn another(schema: &Value) -> Value {
    changed(schema, schema, of(schema), 0)
}

fn value(root: &Value, schema: &Value, depth: usize) -> Value {
    let schema = resolved(root, schema);
    for member in ["const", "default"] {
        if let Some(value) = schema.get(member) {
            return value.clone();
        }
    }
    let first = |member: &str| schema.get(member).and_then(|list| list.get(0));
    if let Some(value) = first("enum").or_else(|| first("examples")) {
        return value.clone();
    }
    if depth > DEEPEST {
        return Value::Null;
    }
    for member in ["anyOf", "oneOf", "allOf"] {
        if let Some(schema) = first(member) {
            return value(root, schema, depth + 1);
        }
    }
    let number = |member: &str| schema.get(member).and_then(Value::as_i64);
    match kind(schema) {
        "object" => {
            let required = schema.get("required").and_then(Value::as_array);
            let names = required.into_iter().flatten().filter_map(Value::as_str);
            let members = names.map(|name| {
                let schema = schema.pointer(&format!("/properties/{name}"));
                (
                    name.to_owned(),
                    value(root, schema.unwrap_or(&Value::Null), depth + 1),
                )
            });
            Value::Object(members.collect::<Map<_, _>>())
        }
        "array" => {
            let item = value(root, schema.get("items").unwrap_or(&Value::Null), depth + 1);
            let count = usize::try_from(number("minItems").unwrap_or(0)).unwrap_or(0);
            Value::Array(vec![item; count.min(64)])
        }
        "integer" | "number" => json!(number("minimum").unwrap_or(1)),
        "boolean" => json!(false),
        "null" => Value::Null,
        _ => json!(text(schema, TEXT)),
    }
}

/// Changes every text and number of a sample that the schema leaves open.
fn changed(root: &Value, schema: &Value, sample: Value, depth: usize) -> Value {
    let schema = resolved(root, schema);
    if schema.get("const").is_some() || schema.get("enum").is_some() || depth > DEEPEST {
        return sample;
    }
    for member in ["anyOf", "oneOf", "allOf"] {
        if let Some(schema) = schema.get(member).and_then(|list| list.get(0)) {
            return changed(root, schema, sample, depth + 1);
        }
    }
    match sample {
        Value::Object(members) => {
            let members = members.into_iter().map(|(name, value)| {
                let schema = schema.pointer(&format!("/properties/{name}"));
                let value = changed(root, schema.unwrap_or(&Value::Null), value, depth + 1);
                (name, value)
            });
            Value::Object(members.collect())
        }
        Value::String(_) => json!(text(schema, "another")),
        other => other,
    }
}

/// A text of a length that the schema allows.
fn text(schema: &Value, word: &str) -> String {
    let length = |member: &str| {
        let length = schema.get(member).and_then(Value::as_u64);
        length.and_then(|length| usize::try_from(length).ok())
    };
    let least = length("minLength").unwrap_or(0).min(4096);
    let most = length("maxLength").unwrap_or(usize::MAX);
    let text: String = word.chars().cycle().take(word.len().max(least)).collect();
    text.chars().take(most).collect()
}

fn kind(schema: &Value) -> &str {
    let kind = schema.get("type");
    let listed = kind
        .and_then(Value::as_array)
        .and_then(|kinds| kinds.first());
    let word = listed.or(kind).and_then(Value::as_str);
    word.unwrap_or(if schema.get("properties").is_some() {
        "object"
    } else {
        "string"
    })
}

fn resolved<'a>(root: &'a Value, schema: &'a Value) -> &'a Value {
    let reference = schema.get("$ref").and_then(Value::as_str);
    let pointer = reference.and_then(|reference| reference.strip_prefix('#'));
    pointer
        .and_then(|pointer| root.pointer(pointer))
        .unwrap_or(schema)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_are_accepted_by_their_schemas() {
        for schema in [
            json!({"type": "object", "required": ["path"], "properties": {"path": {"type": "string", "minLength": 20}}}),
            json!({"type": "object", "required": ["n", "m"], "properties": {
                "n": {"type": "integer", "minimum": 3}, "m": {"enum": ["fast", "slow"]}}}),
            json!({"$ref": "#/$defs/list", "$defs": {"list": {"type": "array", "minItems": 2, "items": {"type": "boolean"}}}}),
            json!({"anyOf": [{"type": "string", "maxLength": 3}, {"type": "null"}]}),
        ] {
            let validator = crate::configs::validator(&schema).unwrap();
            for sample in [of(&schema), another(&schema)] {
                assert!(validator.is_valid(&sample), "{sample} for {schema}");
            }
        }
    }

    #[test]
    fn another_sample_differs_where_it_may() {
        let schema = json!({"type": "object", "required": ["a", "b"], "properties": {
            "a": {"type": "string"}, "b": {"const": "fixed"}}});
        assert_eq!(of(&schema), json!({"a": TEXT, "b": "fixed"}));
        assert_eq!(another(&schema), json!({"a": "another", "b": "fixed"}));
    }

    #[test]
    fn a_schema_that_contains_itself_ends() {
        let schema = json!({"$ref": "#/$defs/a", "$defs": {"a": {"type": "object", "required": ["a"],
            "properties": {"a": {"$ref": "#/$defs/a"}}}}});
        assert!(of(&schema).is_object());
    }
}
