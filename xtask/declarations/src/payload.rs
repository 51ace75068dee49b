//! The members of a payload, as a table of Markdown.

use std::fmt::Write as _;

use serde_json::Value;

/// The table of an object's members; for anything else, its type in one line.
pub(crate) fn table(schema: &Value) -> String {
    let mut text = String::new();
    let Some(properties) = schema["properties"].as_object() else {
        // Writing to a string does not fail.
        let _ = writeln!(text, "{}", kind(schema));
        return text;
    };
    if properties.is_empty() {
        text.push_str("No members.\n");
        return text;
    }
    text.push_str("| Member | Type | Description |\n|---|---|---|\n");
    let required: Vec<&str> = schema["required"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    for (name, member) in properties {
        let optional = if required.contains(&name.as_str()) {
            ""
        } else {
            ", optional"
        };
        let doc = cell(member["description"].as_str().unwrap_or_default());
        let _ = writeln!(text, "| `{name}` | {}{optional} | {doc} |", kind(member));
    }
    text
}

/// The type of a value in a few words.
pub(crate) fn kind(schema: &Value) -> String {
    if let Some(name) = schema["$ref"].as_str() {
        return format!("`{}`", name.rsplit('/').next().unwrap_or(name));
    }
    if let Some(word) = schema.get("const") {
        return format!("`{word}`");
    }
    if let Some(words) = schema["enum"].as_array() {
        let words: Vec<String> = words.iter().map(|word| format!("`{word}`")).collect();
        return words.join(", ");
    }
    for member in ["oneOf", "anyOf", "allOf"] {
        if let Some(choices) = schema[member].as_array() {
            let is_null = |choice: &&Value| choice["type"] == "null";
            let mut choices: Vec<String> = choices
                .iter()
                .filter(|choice| !is_null(choice))
                .map(kind)
                .collect();
            choices.dedup();
            return choices.join(" or ");
        }
    }
    match &schema["type"] {
        Value::String(word) => one(word, schema),
        Value::Array(words) => {
            let words = words.iter().filter_map(Value::as_str);
            let words: Vec<String> = words
                .filter(|word| *word != "null")
                .map(|word| one(word, schema))
                .collect();
            words.join(" or ")
        }
        _ => "any value".to_owned(),
    }
}

fn one(word: &str, schema: &Value) -> String {
    match (word, &schema["items"], schema["properties"].as_object()) {
        ("array", Value::Null, _) => "list".to_owned(),
        ("array", items, _) => format!("list of {}", kind(items)),
        ("object", _, Some(members)) if !members.is_empty() => {
            let members: Vec<String> = members.keys().map(|name| format!("`{name}`")).collect();
            format!("object of {}", members.join(", "))
        }
        _ => word.to_owned(),
    }
}

/// A text as one cell of a table.
pub(crate) fn cell(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    words.join(" ").replace('|', "\\|")
}
