//! The three configs of a plugin: one that is valid, one that is not, and a hostile one.

use std::path::Path;

use jsonschema::Validator;
use serde_json::{Map, Value, json};

use crate::sample;

/// The config fixtures that come with a plugin. Those that are missing are made from the config schema.
#[derive(Debug, Clone, Default)]
pub struct Configs {
    /// The smallest config that must be accepted.
    pub valid: Option<Value>,
    /// A config with one fault.
    pub invalid: Option<Value>,
    /// A hostile config.
    pub worst_plausible: Option<Value>,
}

impl Configs {
    /// The files `valid.json`, `invalid.json` and `worst-plausible.json` of a folder, as far as they exist.
    ///
    /// # Errors
    ///
    /// The name of a file that is not JSON, and why.
    pub fn read(folder: &Path) -> Result<Self, String> {
        let file = |name: &str| {
            let path = folder.join(name);
            if !path.is_file() {
                return Ok(None);
            }
            let text = std::fs::read_to_string(&path)
                .map_err(|error| format!("{}: {error}", path.display()))?;
            let value = serde_json::from_str(&text)
                .map_err(|error| format!("{}: {error}", path.display()))?;
            Ok::<Option<Value>, String>(Some(value))
        };
        Ok(Self {
            valid: file("valid.json")?,
            invalid: file("invalid.json")?,
            worst_plausible: file("worst-plausible.json")?,
        })
    }

    /// A config that the schema accepts: the fixture, nothing at all, or a sample.
    pub(crate) fn valid_for(&self, schema: &Value) -> Value {
        if let Some(valid) = &self.valid {
            return valid.clone();
        }
        let accepts =
            |config: &Value| validator(schema).is_ok_and(|validator| validator.is_valid(config));
        let (empty, sample) = (json!({}), sample::of(schema));
        if !accepts(&empty) && accepts(&sample) {
            sample
        } else {
            empty
        }
    }

    /// A config that the schema must refuse: the fixture, or a valid one with a member that is not declared.
    pub(crate) fn invalid_for(&self, schema: &Value) -> Value {
        self.invalid.clone().unwrap_or_else(|| {
            let mut config = self.valid_for(schema);
            config["noSuchMember"] = json!(1);
            config
        })
    }

    /// Names that steer parsers of other languages, a text of a megabyte, and deep nesting.
    pub(crate) fn worst_plausible_for(&self) -> Value {
        self.worst_plausible.clone().unwrap_or_else(|| {
            let mut config = Map::new();
            for name in ["__proto__", "constructor", "\u{0}", "../../etc/passwd"] {
                config.insert(name.to_owned(), json!({"polluted": true}));
            }
            config.insert("long".to_owned(), Value::from("x".repeat(1 << 20)));
            let deep = (0..64).fold(json!(null), |inner, _| json!([inner]));
            config.insert("deep".to_owned(), deep);
            Value::Object(config)
        })
    }
}

/// The validator of a config schema.
pub(crate) fn validator(schema: &Value) -> Result<Validator, String> {
    jsonschema::draft202012::new(schema).map_err(|error| error.to_string())
}
