//! From what was typed after a command's name to what the command is given.

use std::collections::{BTreeMap, VecDeque};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// What was typed after a command's name, taken apart.
///
/// Words are set apart by white space, and there is no quoting.
/// `--key=value` is a flag with a text, `--key` a flag that is true; the last of several flags of one name counts.
/// After a bare `--` every word is positional.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct RawArgs {
    /// As typed, without white space around it.
    pub raw: String,
    /// The words that are no flags.
    #[serde(default)]
    pub positional: Vec<String>,
    /// The flags: a text, or true.
    #[serde(default)]
    pub flags: BTreeMap<String, Value>,
}

impl RawArgs {
    /// Takes a line apart.
    ///
    /// ```
    /// use stud_contract_command::RawArgs;
    ///
    /// let args = RawArgs::parse("attach review --depth=2 --quiet");
    /// assert_eq!(args.positional, ["attach", "review"]);
    /// assert_eq!(args.flags["depth"], "2");
    /// assert_eq!(args.flags["quiet"], true);
    /// ```
    pub fn parse(line: &str) -> Self {
        let mut args = Self {
            raw: line.trim().to_owned(),
            ..Self::default()
        };
        let mut words = line.split_whitespace();
        for word in words.by_ref() {
            let Some(flag) = word.strip_prefix("--") else {
                args.positional.push(word.to_owned());
                continue;
            };
            match flag.split_once('=') {
                None if flag.is_empty() => break,
                None => args.flags.insert(flag.to_owned(), Value::Bool(true)),
                // There is no flag without a name.
                Some(("", _)) => {
                    args.positional.push(word.to_owned());
                    None
                }
                Some((key, value)) => args.flags.insert(key.to_owned(), value.into()),
            };
        }
        args.positional.extend(words.map(str::to_owned));
        args
    }

    /// What a command with this `argsSchema` is given.
    ///
    /// A schema with the property `positional`, or with none, gets the three members as they are.
    /// Any other names its own properties, and gets those: flags by their names, then positional words for the
    /// properties that no flag gave, the `required` ones first and in that order. A property of type `array` takes all
    /// words that are left.
    /// A text becomes a number or a truth value where the property's `type` is one and the text reads as one.
    /// Words without a property stay under `positional`, where a closed schema refuses them.
    ///
    /// ```
    /// use serde_json::json;
    /// use stud_contract_command::RawArgs;
    ///
    /// let schema = json!({
    ///     "type": "object",
    ///     "properties": {"name": {"type": "string"}, "depth": {"type": "integer"}},
    ///     "required": ["name"],
    /// });
    /// assert_eq!(RawArgs::parse("review --depth=2").fit(&schema), json!({"name": "review", "depth": 2}));
    /// ```
    pub fn fit(self, args_schema: &Value) -> Value {
        let properties = args_schema.get("properties").and_then(Value::as_object);
        let named =
            properties.filter(|named| !named.is_empty() && !named.contains_key("positional"));
        let Some(properties) = named else {
            return serde_json::to_value(self).unwrap_or_default();
        };

        let mut given: Map<String, Value> = self
            .flags
            .into_iter()
            .map(|(name, value)| {
                let value = typed(value, properties.get(&name));
                (name, value)
            })
            .collect();
        let mut words = VecDeque::from(self.positional);
        for name in required_first(args_schema, properties) {
            if words.is_empty() || given.contains_key(name) {
                continue;
            }
            let property = &properties[name];
            let value = if has_type(property, "array") {
                let item = property.get("items");
                Value::Array(
                    words
                        .drain(..)
                        .map(|word| typed(word.into(), item))
                        .collect(),
                )
            } else {
                typed(words.pop_front().into(), Some(property))
            };
            given.insert(name.to_owned(), value);
        }
        if !words.is_empty() {
            given.insert("positional".to_owned(), Vec::from(words).into());
        }
        Value::Object(given)
    }
}

/// The names of a schema's properties in the order positional words fill them.
fn required_first<'a>(schema: &'a Value, properties: &'a Map<String, Value>) -> Vec<&'a str> {
    let required = schema.get("required").and_then(Value::as_array);
    let mut names: Vec<&str> = required
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .filter(|name| properties.contains_key(*name))
        .collect();
    for name in properties.keys() {
        if !names.contains(&name.as_str()) {
            names.push(name);
        }
    }
    names
}

/// A text as the property's type wants it, or as it stands when it does not read as one: the schema says why, later.
fn typed(value: Value, property: Option<&Value>) -> Value {
    let (Value::String(text), Some(property)) = (&value, property) else {
        return value;
    };
    let wants = |name| has_type(property, name);
    if wants("string") {
        return value;
    }
    match serde_json::from_str(text) {
        Ok(read @ Value::Number(_)) if wants("integer") || wants("number") => read,
        Ok(read @ Value::Bool(_)) if wants("boolean") => read,
        _ => value,
    }
}

/// Whether a schema's `type` is this one or has it among several.
fn has_type(schema: &Value, name: &str) -> bool {
    match schema.get("type") {
        Some(Value::String(one)) => one == name,
        Some(Value::Array(several)) => several.iter().any(|one| one == name),
        _ => false,
    }
}

#[cfg(test)]
mod tests;
