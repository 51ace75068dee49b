//! JSON that is passed on as it stands.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;
use serde_json::value::{RawValue, to_raw_value};

/// JSON that is passed on as it stands, and taken apart only by those who want to know what it says.
///
/// A request names every tool with its schema, again and again; code that only forwards a schema need not parse it.
///
/// ```
/// use serde_json::json;
/// use stud_contract_provider::Verbatim;
///
/// let schema = Verbatim::from(json!({"type": "object"}));
/// assert_eq!(schema.as_str(), r#"{"type":"object"}"#);
/// assert_eq!(schema.to_value()["type"], "object");
/// ```
#[derive(Clone)]
pub struct Verbatim(Arc<RawValue>);

impl Verbatim {
    /// The text.
    pub fn as_str(&self) -> &str {
        self.0.get()
    }

    /// What it says.
    pub fn to_value(&self) -> Value {
        // It was read from JSON or written as JSON, so it can be read.
        serde_json::from_str(self.as_str()).unwrap_or_default()
    }
}

impl Default for Verbatim {
    fn default() -> Self {
        Self(Arc::from(RawValue::NULL.to_owned()))
    }
}

impl From<Value> for Verbatim {
    fn from(value: Value) -> Self {
        Self::from(&value)
    }
}

impl From<&Value> for Verbatim {
    fn from(value: &Value) -> Self {
        // A value is made of what JSON has, so it can be written.
        to_raw_value(value).map_or_else(|_| Self::default(), |raw| Self(Arc::from(raw)))
    }
}

impl PartialEq for Verbatim {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0) || self.as_str() == other.as_str()
    }
}

impl fmt::Debug for Verbatim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Serialize for Verbatim {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Verbatim {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = Box::<RawValue>::deserialize(deserializer)?;
        Ok(Self(Arc::from(raw)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn it_stays_as_it_was_written() {
        let text = r#"{"b": 1,  "a":[ ]}"#;
        let read: Verbatim = serde_json::from_str(text).unwrap();
        assert_eq!(read.as_str(), text);
        assert_eq!(serde_json::to_string(&read).unwrap(), text);
        assert_eq!(read.to_value(), json!({"a": [], "b": 1}));
    }

    #[test]
    fn it_goes_through_values_too() {
        let value = json!({"a": 1});
        let read: Verbatim = serde_json::from_value(value.clone()).unwrap();
        assert_eq!(serde_json::to_value(&read).unwrap(), value);
        assert_eq!(read, Verbatim::from(value));
        assert_eq!(Verbatim::default().to_value(), Value::Null);
    }
}
