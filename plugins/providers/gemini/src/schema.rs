//! JSON Schemas in the part of the language that the backend reads.
//!
//! It knows few keywords and refuses a request that has others, so the rest is put in other words or left out. Nothing
//! is lost by that: the host checks arguments against the schema as it was.

use serde_json::{Map, Value, json};

/// References may expand into very many schemas; this is the limit.
const MOST_SCHEMAS: usize = 4096;

/// What is nested deeper has been nested by accident.
const DEEPEST: usize = 64;

/// Keywords that mean the same.
const KEPT: &[&str] = &[
    "description",
    "maxItems",
    "maxLength",
    "maximum",
    "minItems",
    "minLength",
    "minimum",
    "nullable",
    "pattern",
    "title",
];

/// The formats of texts and numbers that the backend knows.
const FORMATS: &[&str] = &["date-time", "double", "enum", "float", "int32", "int64"];

/// The parameters of a tool; nothing if it takes none, which the backend wants left out.
pub(crate) fn parameters(schema: &Value) -> Option<Value> {
    let reduced = Reducer::new(schema).reduce(schema, 0);
    let has_members = reduced["properties"]
        .as_object()
        .is_some_and(|members| !members.is_empty());
    has_members.then_some(reduced)
}

struct Reducer<'a> {
    /// What references begin at.
    root: &'a Value,
    /// The references that lead to where it is now; one that comes again leads in a circle.
    followed: Vec<&'a str>,
    left: usize,
}

impl<'a> Reducer<'a> {
    fn new(root: &'a Value) -> Self {
        Self {
            root,
            followed: Vec::new(),
            left: MOST_SCHEMAS,
        }
    }

    fn reduce(&mut self, schema: &'a Value, depth: usize) -> Value {
        let Value::Object(schema) = schema else {
            // `true` allows everything, and `false` has no other words.
            return json!({});
        };
        if depth > DEEPEST || self.left == 0 {
            return json!({"type": "object"});
        }
        self.left -= 1;
        let mut reduced = Map::new();
        self.join(schema, depth, &mut reduced);
        for name in KEPT {
            if let Some(value) = schema.get(*name) {
                reduced.insert((*name).to_owned(), value.clone());
            }
        }
        if let Some(format) = schema.get("format").filter(|format| is_known(format)) {
            reduced.insert("format".to_owned(), format.clone());
        }
        kinds(schema, &mut reduced);
        words(schema, &mut reduced);
        self.members(schema, depth, &mut reduced);
        self.choices(schema, depth, &mut reduced);
        reduced.into()
    }

    /// The schemas that hold together with this one.
    fn join(
        &mut self,
        schema: &'a Map<String, Value>,
        depth: usize,
        reduced: &mut Map<String, Value>,
    ) {
        let mut add = |part: Value| {
            for (name, value) in part.as_object().into_iter().flatten() {
                merge(reduced, name, value);
            }
        };
        if let Some(reference) = schema.get("$ref").and_then(Value::as_str) {
            let root = self.root;
            let target = reference
                .strip_prefix('#')
                .and_then(|path| root.pointer(path));
            match target {
                Some(_) if self.followed.contains(&reference) => add(json!({"type": "object"})),
                Some(target) => {
                    self.followed.push(reference);
                    add(self.reduce(target, depth + 1));
                    self.followed.pop();
                }
                None => {}
            }
        }
        for part in schema
            .get("allOf")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
        {
            add(self.reduce(part, depth + 1));
        }
    }

    fn members(
        &mut self,
        schema: &'a Map<String, Value>,
        depth: usize,
        reduced: &mut Map<String, Value>,
    ) {
        if let Some(Value::Object(members)) = schema.get("properties") {
            let members = members
                .iter()
                .map(|(name, member)| (name.clone(), self.reduce(member, depth + 1)));
            let members: Map<String, Value> = members.collect();
            if !members.is_empty() {
                merge(reduced, "properties", &members.into());
            }
        }
        if let Some(items) = schema.get("items") {
            reduced.insert("items".to_owned(), self.reduce(items, depth + 1));
        } else if reduced.get("type").is_some_and(|kind| kind == "array") {
            // A list has to say of what.
            reduced.entry("items").or_insert_with(|| json!({}));
        }
        if let Some(required @ Value::Array(_)) = schema.get("required") {
            merge(reduced, "required", required);
        }
        retain_described(reduced);
    }

    fn choices(
        &mut self,
        schema: &'a Map<String, Value>,
        depth: usize,
        reduced: &mut Map<String, Value>,
    ) {
        for keyword in ["anyOf", "oneOf"] {
            let Some(Value::Array(choices)) = schema.get(keyword) else {
                continue;
            };
            let is_null = |choice: &&Value| choice["type"] == "null";
            if choices.iter().any(|choice| is_null(&choice)) {
                reduced.insert("nullable".to_owned(), true.into());
            }
            let others = choices.iter().filter(|choice| !is_null(choice));
            let others: Vec<Value> = others
                .map(|choice| self.reduce(choice, depth + 1))
                .collect();
            match <[Value; 1]>::try_from(others) {
                Ok([only]) => {
                    for (name, value) in only.as_object().into_iter().flatten() {
                        reduced.entry(name).or_insert_with(|| value.clone());
                    }
                }
                Err(others) if others.is_empty() => {}
                Err(others) => {
                    reduced.insert("anyOf".to_owned(), others.into());
                }
            }
        }
    }
}

/// The type. Null is no type here but may stand beside one.
fn kinds(schema: &Map<String, Value>, reduced: &mut Map<String, Value>) {
    let kinds: Vec<&Value> = match schema.get("type") {
        Some(Value::Array(kinds)) => kinds.iter().collect(),
        Some(kind) => vec![kind],
        None => return,
    };
    if kinds.len() > 1 && kinds.iter().any(|kind| *kind == "null") {
        reduced.insert("nullable".to_owned(), true.into());
    }
    let kinds: Vec<&Value> = kinds.into_iter().filter(|kind| *kind != "null").collect();
    match kinds.as_slice() {
        [] => {}
        [kind] => {
            reduced.insert("type".to_owned(), (*kind).clone());
        }
        several => {
            let choices = several.iter().map(|kind| json!({"type": kind}));
            reduced.insert("anyOf".to_owned(), choices.collect());
        }
    }
}

fn is_known(format: &Value) -> bool {
    format
        .as_str()
        .is_some_and(|format| FORMATS.contains(&format))
}

/// The values there are. The backend takes texts alone, and none that is empty.
fn words(schema: &Map<String, Value>, reduced: &mut Map<String, Value>) {
    let values = match (schema.get("enum"), schema.get("const")) {
        (Some(Value::Array(values)), _) => values.clone(),
        (_, Some(value)) => vec![value.clone()],
        _ => return,
    };
    if values.iter().any(Value::is_null) {
        reduced.insert("nullable".to_owned(), true.into());
    }
    let is_word = |value: &Value| value.as_str().is_some_and(|word| !word.is_empty());
    let is_text = |value: &&Value| !value.is_null();
    if values.iter().filter(is_text).all(Value::is_string) {
        let words: Vec<Value> = values.into_iter().filter(is_word).collect();
        if !words.is_empty() {
            reduced.insert("type".to_owned(), "string".into());
            reduced.insert("enum".to_owned(), words.into());
        }
    }
}

/// Adds a keyword of one more schema that holds at the same time.
fn merge(reduced: &mut Map<String, Value>, name: &str, value: &Value) {
    match (reduced.get_mut(name), value) {
        (Some(Value::Object(members)), Value::Object(more)) => members.extend(more.clone()),
        (Some(Value::Array(list)), Value::Array(more)) if name == "required" => {
            for item in more {
                if !list.contains(item) {
                    list.push(item.clone());
                }
            }
        }
        _ => {
            reduced.insert(name.to_owned(), value.clone());
        }
    }
}

/// A member that is required has to be described.
fn retain_described(reduced: &mut Map<String, Value>) {
    let described = reduced.get("properties").cloned().unwrap_or_default();
    if let Some(Value::Array(required)) = reduced.get_mut("required") {
        required.retain(|name| name.as_str().is_some_and(|name| !described[name].is_null()));
        if required.is_empty() {
            reduced.remove("required");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reduced(schema: &Value) -> Value {
        Reducer::new(schema).reduce(schema, 0)
    }

    #[test]
    fn what_the_backend_reads_stays() {
        let schema = json!({
            "type": "object",
            "description": "d",
            "properties": {
                "path": {"type": "string", "description": "Where.", "minLength": 1, "pattern": "^/"},
                "lines": {"type": "array", "items": {"type": "integer", "minimum": 0}, "maxItems": 3},
                "order": {"type": "string", "enum": ["newest", "oldest"]},
            },
            "required": ["path"],
        });
        assert_eq!(parameters(&schema), Some(schema));
    }

    #[test]
    fn what_it_refuses_is_left_out() {
        let schema = json!({
            "$schema": "x", "$id": "y", "type": "object", "additionalProperties": false, "default": {},
            "properties": {"a": {
                "type": "number", "exclusiveMinimum": 0, "multipleOf": 2, "examples": [2], "default": 4,
                "format": "percent", "$comment": "c", "deprecated": true,
            }, "b": {"type": "string", "format": "date-time"}, "c": {"type": "string", "format": "uri"}},
            "required": ["a", "ghost"], "patternProperties": {}, "propertyNames": {}, "if": {}, "not": {},
        });
        let expected = json!({
            "type": "object",
            "properties": {
                "a": {"type": "number"},
                "b": {"type": "string", "format": "date-time"},
                "c": {"type": "string"},
            },
            "required": ["a"],
        });
        assert_eq!(reduced(&schema), expected);
    }

    #[test]
    fn null_becomes_nullable() {
        let text = json!({"type": "string", "nullable": true});
        for schema in [
            json!({"type": ["string", "null"]}),
            json!({"anyOf": [{"type": "string"}, {"type": "null"}]}),
            json!({"oneOf": [{"type": "null"}, {"type": "string"}]}),
        ] {
            assert_eq!(reduced(&schema), text, "{schema}");
        }
    }

    #[test]
    fn choices_become_any_of() {
        let both = json!({"anyOf": [{"type": "string"}, {"type": "integer"}]});
        for schema in [
            json!({"type": ["string", "integer"]}),
            json!({"oneOf": [{"type": "string"}, {"type": "integer", "multipleOf": 2}]}),
            json!({"anyOf": [{"type": "string"}, {"type": "integer"}]}),
        ] {
            assert_eq!(reduced(&schema), both, "{schema}");
        }
    }

    #[test]
    fn values_are_words_or_left_out() {
        let word = json!({"type": "string", "enum": ["a"]});
        assert_eq!(reduced(&json!({"const": "a"})), word);
        assert_eq!(reduced(&json!({"enum": ["a", ""]})), word);
        assert_eq!(
            reduced(&json!({"type": "integer", "enum": [1, 2]})),
            json!({"type": "integer"})
        );
        let maybe = json!({"type": "string", "enum": ["a"], "nullable": true});
        assert_eq!(reduced(&json!({"enum": ["a", null]})), maybe);
    }

    #[test]
    fn references_are_followed_and_circles_end() {
        let schema = json!({
            "type": "object",
            "properties": {"at": {"$ref": "#/$defs/place", "description": "Here."}},
            "$defs": {"place": {"type": "object", "properties": {"line": {"type": "integer"}}, "required": ["line"]}},
        });
        let place = json!({
            "type": "object", "description": "Here.",
            "properties": {"line": {"type": "integer"}}, "required": ["line"],
        });
        assert_eq!(reduced(&schema)["properties"]["at"], place);
        let circle = json!({"type": "object", "properties": {"left": {"$ref": "#"}, "right": {"$ref": "#"}}});
        let once = json!({"left": {"type": "object"}, "right": {"type": "object"}});
        assert_eq!(reduced(&circle)["properties"]["left"]["properties"], once);
        assert_eq!(reduced(&json!({"$ref": "#/nowhere"})), json!({}));
    }

    #[test]
    fn what_unfolds_without_end_is_cut() {
        let mut schema =
            json!({"type": "object", "properties": {"a": {"$ref": "#/$defs/0"}}, "$defs": {}});
        for level in 0..40 {
            let next = format!("#/$defs/{}", level + 1);
            let members = json!({"x": {"$ref": next}, "y": {"$ref": next}, "z": {"$ref": next}});
            schema["$defs"][level.to_string()] = json!({"type": "object", "properties": members});
        }
        assert!(reduced(&schema).to_string().len() < 1_000_000);
        let mut deep = json!({"type": "string"});
        for _ in 0..100 {
            deep = json!({"type": "array", "items": deep});
        }
        assert!(!reduced(&deep).to_string().contains("string"));
    }

    #[test]
    fn what_holds_together_is_joined() {
        let schema = json!({"allOf": [
            {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]},
            {"properties": {"b": {"type": "string"}}, "required": ["b", "a"]},
        ]});
        let joined = json!({
            "type": "object",
            "properties": {"a": {"type": "string"}, "b": {"type": "string"}},
            "required": ["a", "b"],
        });
        assert_eq!(reduced(&schema), joined);
    }

    #[test]
    fn a_tool_without_parameters_has_none() {
        for schema in [
            json!({}),
            json!({"type": "object", "properties": {}}),
            json!(true),
        ] {
            assert_eq!(parameters(&schema), None, "{schema}");
        }
        assert_eq!(
            reduced(&json!({"type": "array"})),
            json!({"type": "array", "items": {}})
        );
    }
}
