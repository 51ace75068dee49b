//! What a call gave, and how it travels.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use stud_contract_meta::{Error, Result};
use stud_diagnostics::codes;

/// What a call that worked gave, perhaps with items that did not.
///
/// A text is enough for most tools, and anything that is `Into<Output>` may be returned as one:
///
/// ```
/// use stud_contract_tool::Output;
///
/// assert_eq!(Output::from("12 lines"), Output::text("12 lines"));
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Output {
    value: Value,
    errors: Vec<Error>,
}

impl Output {
    /// A text.
    pub fn text(text: impl Into<String>) -> Self {
        Self::from(Value::String(text.into()))
    }

    /// Anything that serializes.
    ///
    /// Fails with `ToolTerminal/ToolExecutionFailed` for what JSON cannot say, such as a map whose keys are no texts.
    pub fn json(value: impl Serialize) -> Result<Self> {
        serde_json::to_value(value)
            .map(Self::from)
            .map_err(|error| {
                Error::new(
                    codes::TOOL_EXECUTION_FAILED.class,
                    codes::TOOL_EXECUTION_FAILED.name,
                    format!("the result cannot be written as JSON: {error}"),
                )
            })
    }

    /// Adds an item that failed while others did not.
    ///
    /// A tool that reads ten files and misses one returns the nine, and an error for the tenth.
    #[must_use]
    pub fn with_error(mut self, error: Error) -> Self {
        self.errors.push(error);
        self
    }

    /// The value.
    pub fn value(&self) -> &Value {
        &self.value
    }

    /// The items that failed; none when all went well.
    pub fn errors(&self) -> &[Error] {
        &self.errors
    }

    /// The value and the items that failed.
    pub fn into_parts(self) -> (Value, Vec<Error>) {
        (self.value, self.errors)
    }
}

impl From<Value> for Output {
    fn from(value: Value) -> Self {
        Self {
            value,
            errors: Vec::new(),
        }
    }
}

impl From<String> for Output {
    fn from(text: String) -> Self {
        Self::text(text)
    }
}

impl From<&str> for Output {
    fn from(text: &str) -> Self {
        Self::text(text)
    }
}

/// The reply of `execute` as it travels: `{"ok":true,"value":…,"errors"?:[…]}` or `{"ok":false,"error":{…}}`.
///
/// A missing `value` reads as `null`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Wire", into = "Wire")]
pub enum Envelope {
    /// The call worked, as a whole or in part.
    Ok(Output),
    /// The call failed.
    Err(Error),
}

impl Envelope {
    /// Back to what the tool returned.
    pub fn into_result(self) -> Result<Output> {
        match self {
            Self::Ok(output) => Ok(output),
            Self::Err(error) => Err(error),
        }
    }
}

impl From<Result<Output>> for Envelope {
    fn from(result: Result<Output>) -> Self {
        match result {
            Ok(output) => Self::Ok(output),
            Err(error) => Self::Err(error),
        }
    }
}

/// Both forms of the envelope, since serde tags variants with words and not with truth values.
#[derive(Serialize, Deserialize)]
struct Wire {
    ok: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    value: Option<Value>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    errors: Vec<Error>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    error: Option<Error>,
}

impl From<Envelope> for Wire {
    fn from(envelope: Envelope) -> Self {
        let (value, errors, error) = match envelope {
            Envelope::Ok(Output { value, errors }) => (Some(value), errors, None),
            Envelope::Err(error) => (None, Vec::new(), Some(error)),
        };
        Self {
            ok: error.is_none(),
            value,
            errors,
            error,
        }
    }
}

impl TryFrom<Wire> for Envelope {
    type Error = &'static str;

    fn try_from(wire: Wire) -> std::result::Result<Self, Self::Error> {
        match (wire.ok, wire.error) {
            (true, None) => Ok(Self::Ok(Output {
                value: wire.value.unwrap_or_default(),
                errors: wire.errors,
            })),
            (false, Some(error)) => Ok(Self::Err(error)),
            (true, Some(_)) => Err("`ok` is true and there is an `error`"),
            (false, None) => Err("`ok` is false and there is no `error`"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use std::collections::BTreeMap;
    use stud_diagnostics::Class;

    fn check(envelope: Envelope, json: Value) {
        assert_eq!(serde_json::to_value(&envelope).unwrap(), json);
        assert_eq!(serde_json::from_value::<Envelope>(json).unwrap(), envelope);
    }

    fn missing() -> Error {
        Error::new(Class::ToolTerminal, "NotFound", "no such file").with("path", "b.txt")
    }

    fn missing_json() -> Value {
        json!({"class": "ToolTerminal", "code": "NotFound", "message": "no such file", "context": {"path": "b.txt"}})
    }

    #[test]
    fn success_has_a_value_and_no_errors_member() {
        check(
            Ok(Output::text("12 lines")).into(),
            json!({"ok": true, "value": "12 lines"}),
        );
        check(
            Ok(Value::Null.into()).into(),
            json!({"ok": true, "value": null}),
        );
    }

    #[test]
    fn partial_success_has_both() {
        let output = Output::json(["a.txt"]).unwrap().with_error(missing());
        check(
            Ok(output).into(),
            json!({"ok": true, "value": ["a.txt"], "errors": [missing_json()]}),
        );
    }

    #[test]
    fn failure_has_an_error_and_no_value() {
        check(
            Err(missing()).into(),
            json!({"ok": false, "error": missing_json()}),
        );
    }

    #[test]
    fn a_reply_that_says_yes_and_no_is_refused() {
        for json in [
            json!({"ok": false}),
            json!({"ok": true, "error": missing_json()}),
            json!({"value": 1}),
            json!("text"),
        ] {
            assert!(
                serde_json::from_value::<Envelope>(json.clone()).is_err(),
                "{json}"
            );
        }
    }

    #[test]
    fn a_missing_value_reads_as_null() {
        let envelope: Envelope = serde_json::from_value(json!({"ok": true})).unwrap();
        assert_eq!(*envelope.into_result().unwrap().value(), Value::Null);
    }

    #[test]
    fn what_json_cannot_say_is_a_typed_error() {
        let error = Output::json(BTreeMap::from([((1, 2), 3)])).unwrap_err();
        assert!(
            error.is(Class::ToolTerminal, "ToolExecutionFailed"),
            "{error}"
        );
    }
}
