//! A question on its way to the interactors.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use stud_contract_meta::Result;

use crate::mismatch::mismatch;
use crate::{InteractionKind, Payload};

/// A question, and where it comes from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Request {
    /// `kind` and `payload`.
    #[serde(flatten)]
    pub payload: Payload,
    /// This prompt and no other. Answers are matched by it.
    pub interaction_id: String,
    /// The turn, shared with everything else that happens in it.
    pub correlation_id: String,
    /// When core raised it.
    pub issued_at: String,
    /// The orchestrator's session, when a child session asks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent_session_id: Option<String>,
    /// The subagent, when a child session asks. The dialog has to show it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subagent_id: Option<String>,
}

impl Request {
    /// A question of the orchestrator's own session.
    pub fn new(
        interaction_id: impl Into<String>,
        correlation_id: impl Into<String>,
        issued_at: impl Into<String>,
        payload: impl Into<Payload>,
    ) -> Self {
        Self {
            payload: payload.into(),
            interaction_id: interaction_id.into(),
            correlation_id: correlation_id.into(),
            issued_at: issued_at.into(),
            parent_session_id: None,
            subagent_id: None,
        }
    }

    /// The same question, asked from inside a child session.
    #[must_use]
    pub fn from_subagent(
        mut self,
        parent_session_id: impl Into<String>,
        subagent_id: impl Into<String>,
    ) -> Self {
        self.parent_session_id = Some(parent_session_id.into());
        self.subagent_id = Some(subagent_id.into());
        self
    }

    /// Reads a request and checks it, with typed errors where plain deserialization would only have text.
    ///
    /// Fails like [`Payload::read`].
    pub fn read(value: Value) -> Result<Self> {
        let kind = value
            .get("kind")
            .and_then(Value::as_str)
            .unwrap_or_default()
            .to_owned();
        let payload = value.get("payload").cloned().unwrap_or_default();
        let payload = Payload::read(&kind, payload)?;
        serde_json::from_value(value).map_err(|error| {
            mismatch(
                payload.kind(),
                "request",
                &format!("of its shape ({error})"),
            )
        })
    }

    /// What is asked for.
    pub const fn kind(&self) -> InteractionKind {
        self.payload.kind()
    }

    /// The question in one line, for interactors that show no more than that.
    pub fn prompt(&self) -> Cow<'_, str> {
        self.payload.prompt()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Ask;
    use serde_json::json;

    #[test]
    fn the_envelope_round_trips() {
        let json = json!({
            "kind": "Ask",
            "payload": {"prompt": "Name?"},
            "interactionId": "i1",
            "correlationId": "t1",
            "issuedAt": "2026-01-01T00:00:00.000Z",
        });
        let request = Request::new(
            "i1",
            "t1",
            "2026-01-01T00:00:00.000Z",
            Ask {
                prompt: "Name?".into(),
                ..Ask::default()
            },
        );
        assert_eq!(serde_json::to_value(&request).unwrap(), json);
        assert_eq!(
            serde_json::from_value::<Request>(json.clone()).unwrap(),
            request
        );
        assert_eq!(Request::read(json).unwrap(), request);
        assert_eq!(
            (request.kind(), &*request.prompt()),
            (InteractionKind::Ask, "Name?")
        );
    }

    #[test]
    fn a_child_session_signs_its_question() {
        let ask = Ask {
            prompt: "Name?".into(),
            ..Ask::default()
        };
        let request =
            Request::new("i1", "t1", "2026-01-01T00:00:00.000Z", ask).from_subagent("s1", "a1");
        let json = serde_json::to_value(&request).unwrap();
        assert_eq!(
            (&json["parentSessionId"], &json["subagentId"]),
            (&json!("s1"), &json!("a1"))
        );
        assert_eq!(Request::read(json).unwrap(), request);
    }

    #[test]
    fn reading_tells_an_unknown_kind_from_a_wrong_shape() {
        let read = |json| Request::read(json).unwrap_err().code().to_owned();
        assert_eq!(
            read(json!({"kind": "trustProject", "payload": {}})),
            "InteractionKindUnknown"
        );
        assert_eq!(read(json!({})), "InteractionKindUnknown");
        assert_eq!(
            read(json!({"kind": "Ask", "payload": {}})),
            "InteractionPayloadMismatch"
        );
        assert_eq!(
            read(json!({"kind": "Ask", "payload": {"prompt": "?"}})),
            "InteractionPayloadMismatch"
        );
    }
}
