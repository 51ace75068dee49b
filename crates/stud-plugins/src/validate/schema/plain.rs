//! What fits at a glance.
//!
//! To compile a schema costs far more than a look at a small value does, and most values fit most schemas. So a value is
//! first held to the few keywords that nearly all schemas are made of.

use serde_json::{Map, Value};

/// Whether a value surely fits. If not, it may still: only a compiled schema knows.
pub fn plainly_fits(schema: &Value, value: &Value) -> bool {
    match schema {
        Value::Bool(anything) => *anything,
        Value::Object(keywords) => {
            let mut keywords_hold = keywords.iter();
            keywords_hold.all(|(keyword, rule)| holds(keyword, rule, keywords, value))
        }
        _ => false,
    }
}

fn holds(keyword: &str, rule: &Value, schema: &Map<String, Value>, value: &Value) -> bool {
    match keyword {
        "title" | "description" | "default" | "examples" => true,
        "type" => match rule {
            Value::String(kind) => is_a(kind, value),
            Value::Array(kinds) => {
                let mut kinds = kinds.iter().filter_map(Value::as_str);
                kinds.any(|kind| is_a(kind, value))
            }
            _ => false,
        },
        "enum" => rule
            .as_array()
            .is_some_and(|allowed| allowed.contains(value)),
        "const" => rule == value,
        "anyOf" => {
            let mut others = rule.as_array().into_iter().flatten();
            others.any(|other| plainly_fits(other, value))
        }
        "required" => match value {
            Value::Object(members) => {
                let mut names = rule.as_array().into_iter().flatten();
                names.all(|name| name.as_str().is_some_and(|name| members.contains_key(name)))
            }
            _ => true,
        },
        "properties" => match (rule, value) {
            (Value::Object(rules), Value::Object(members)) => {
                members.iter().all(|(name, member)| {
                    let rule = rules.get(name);
                    rule.is_none_or(|rule| plainly_fits(rule, member))
                })
            }
            (Value::Object(_), _) => true,
            _ => false,
        },
        "additionalProperties" => match value {
            Value::Object(members) => {
                let named = schema.get("properties").and_then(Value::as_object);
                let is_named = |name: &String| named.is_some_and(|named| named.contains_key(name));
                let mut others = members.iter().filter(|(name, _)| !is_named(name));
                others.all(|(_, member)| plainly_fits(rule, member))
            }
            _ => true,
        },
        "items" => match value {
            Value::Array(items) => items.iter().all(|item| plainly_fits(rule, item)),
            _ => true,
        },
        "pattern" => match (rule, value) {
            (Value::String(pattern), Value::String(text)) => plainly_begins(pattern, text),
            (Value::String(_), _) => true,
            _ => false,
        },
        "minLength" => {
            length(value).is_none_or(|length| rule.as_u64().is_some_and(|least| length >= least))
        }
        "maxLength" => {
            length(value).is_none_or(|length| rule.as_u64().is_some_and(|most| length <= most))
        }
        "minItems" => {
            count(value).is_none_or(|count| rule.as_u64().is_some_and(|least| count >= least))
        }
        "maxItems" => {
            count(value).is_none_or(|count| rule.as_u64().is_some_and(|most| count <= most))
        }
        "minimum" => {
            is_no_number(value) || both(rule, value).is_some_and(|(least, number)| number >= least)
        }
        "maximum" => {
            is_no_number(value) || both(rule, value).is_some_and(|(most, number)| number <= most)
        }
        _ => false,
    }
}

fn is_a(kind: &str, value: &Value) -> bool {
    match kind {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "string" => value.is_string(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        "number" => value.is_number(),
        // A number with a point may be one too, which is not plain.
        "integer" => value.is_i64() || value.is_u64(),
        _ => false,
    }
}

/// Whether a text surely matches a pattern that only says how it begins, such as `^[Hh]ttps?://`: characters that
/// mean themselves, or sets of them, each of which may be left out.
fn plainly_begins(pattern: &str, text: &str) -> bool {
    let means_itself = |c: char| c.is_ascii_alphanumeric() || matches!(c, '/' | ':' | '_' | ' ');
    let Some(mut pattern) = pattern.strip_prefix('^') else {
        return false;
    };
    let mut text = text.chars().peekable();
    while let Some(first) = pattern.chars().next() {
        let step = match pattern.strip_prefix('[') {
            Some(set) => set.split_once(']'),
            None => Some(pattern.split_at(first.len_utf8())),
        };
        let Some((set, rest)) = step else {
            return false;
        };
        if set.is_empty() || !set.chars().all(means_itself) {
            return false;
        }
        let is_there = text.next_if(|c| set.contains(*c)).is_some();
        pattern = match rest.strip_prefix('?') {
            Some(rest) => rest,
            None if is_there => rest,
            None => return false,
        };
    }
    true
}

fn length(value: &Value) -> Option<u64> {
    value.as_str().map(|text| text.chars().count() as u64)
}

fn count(value: &Value) -> Option<u64> {
    value.as_array().map(|items| items.len() as u64)
}

fn is_no_number(value: &Value) -> bool {
    !value.is_number()
}

/// Both as whole numbers; anything else is not plain.
fn both(rule: &Value, value: &Value) -> Option<(i64, i64)> {
    rule.as_i64().zip(value.as_i64())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::validate::schema::build;
    use serde_json::json;

    /// Schemas and values in all pairs: what fits at a glance fits.
    #[test]
    fn what_fits_plainly_fits() {
        let schemas = [
            json!(true),
            json!(false),
            json!({}),
            json!({"type": "integer", "minimum": 0, "maximum": 10}),
            json!({"type": ["string", "null"], "minLength": 1, "maxLength": 3}),
            json!({"enum": ["a", 1, null]}),
            json!({"const": {"a": 1}}),
            json!({"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "number"}, "minItems": 1, "maxItems": 2}]}),
            json!({"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"], "additionalProperties": false}),
            json!({"type": "object", "properties": {"a": true}, "additionalProperties": {"type": "string"}}),
            json!({"properties": {"a": {"minimum": 2}}, "items": false}),
            json!({"pattern": "^a"}),
            json!({"pattern": "^[Hh]ttps?://"}),
            json!({"pattern": "^ab*[a-c]?"}),
            json!({"pattern": "a$"}),
            json!({"not": {}}),
            json!({"patternProperties": {"^b": false}, "additionalProperties": true}),
            json!({"oneOf": [true, true]}),
            json!({"exclusiveMinimum": 1}),
        ];
        let values = [
            json!(null),
            json!(true),
            json!(0),
            json!(1),
            json!(11),
            json!(-1),
            json!(1.0),
            json!(1.5),
            json!(u64::MAX),
            json!(""),
            json!("a"),
            json!("\u{1F980}\u{1F980}\u{1F980}"),
            json!("abcd"),
            json!([]),
            json!([1]),
            json!([1, 2.5, 3]),
            json!(["a"]),
            json!({}),
            json!({"a": 1}),
            json!({"a": "x"}),
            json!({"a": 1, "b": "x"}),
            json!({"b": 1}),
        ];
        let mut plain = 0;
        for schema in &schemas {
            let validator = build(schema).unwrap();
            for value in &values {
                if plainly_fits(schema, value) {
                    plain += 1;
                    assert!(validator.is_valid(value), "{schema} {value}");
                }
            }
        }
        assert!(plain >= 80, "only {plain} are plain");
    }

    #[test]
    fn what_an_object_with_rules_takes_is_plain() {
        let schema = json!({
            "type": "object",
            "properties": {"path": {"type": "string", "description": "Which."}, "limit": {"type": "integer", "minimum": 1}},
            "required": ["path"],
            "additionalProperties": false,
        });
        assert!(plainly_fits(&schema, &json!({"path": "a", "limit": 5})));
        for odd in [
            json!({}),
            json!({"path": 1}),
            json!({"path": "a", "limit": 0}),
            json!({"path": "a", "more": 1}),
        ] {
            assert!(!plainly_fits(&schema, &odd), "{odd}");
        }
    }
}
