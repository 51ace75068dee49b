//! What a command shows, and what it is asked to complete.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What a command has to show.
///
/// ```
/// use stud_contract_command::Rendered;
///
/// let rendered = Rendered::from("2 tools").with_payload(["read", "write"]);
/// assert_eq!(rendered.rendered, "2 tools");
/// ```
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Rendered {
    /// Text to show; it may be empty.
    pub rendered: String,
    /// The same as data, for whoever wants to show it otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub payload: Option<Value>,
}

impl Rendered {
    /// The same with its data.
    #[must_use]
    pub fn with_payload(mut self, payload: impl Into<Value>) -> Self {
        self.payload = Some(payload.into());
        self
    }
}

impl From<String> for Rendered {
    fn from(rendered: String) -> Self {
        Self {
            rendered,
            payload: None,
        }
    }
}

impl From<&str> for Rendered {
    fn from(rendered: &str) -> Self {
        rendered.to_owned().into()
    }
}

/// A line being typed: the payload of `complete`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Draft {
    /// The line so far, slash and name included.
    pub draft: String,
    /// Where the cursor is, as a byte offset.
    pub cursor: usize,
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn payloads_keep_their_names() {
        let rendered = Rendered::from("2 tools").with_payload(2);
        let json = json!({"rendered": "2 tools", "payload": 2});
        assert_eq!(serde_json::to_value(&rendered).unwrap(), json);
        assert_eq!(serde_json::from_value::<Rendered>(json).unwrap(), rendered);
        assert_eq!(
            serde_json::to_value(Rendered::from("")).unwrap(),
            json!({"rendered": ""})
        );

        let draft: Draft =
            serde_json::from_value(json!({"draft": "/model ec", "cursor": 9})).unwrap();
        assert_eq!((draft.draft.as_str(), draft.cursor), ("/model ec", 9));
    }
}
