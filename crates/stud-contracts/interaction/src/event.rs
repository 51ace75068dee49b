//! What subscribers get to know about interactions.
//!
//! Core emits all three. None carries the question, and none carries a secret.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{Answer, InteractionKind, Request, Status};

/// Somebody is being asked. Emitted before any interactor is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct InteractionRaised {
    /// The turn.
    pub correlation_id: String,
    /// The prompt.
    pub interaction_id: String,
    /// What is asked for.
    pub kind: InteractionKind,
    /// The plugin that asks; absent when core asks on its own account.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ext_id: Option<String>,
    /// The subagent that asks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subagent_id: Option<String>,
    /// The orchestrator's session, when a subagent asks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent_session_id: Option<String>,
}

/// An interactor settled a prompt; all others close their dialogs. Not emitted for answers that core gave by itself.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct InteractionAnswered {
    /// The turn.
    pub correlation_id: String,
    /// The prompt.
    pub interaction_id: String,
    /// `accepted` or `rejected`.
    pub status: Status,
    /// What was answered; absent for `Auth.*` and for a rejection.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<Value>,
    /// The interactor that won.
    pub ext_id: String,
}

/// A prompt was called off; displays close it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct InteractionCancelled {
    /// The turn.
    pub correlation_id: String,
    /// The prompt.
    pub interaction_id: String,
}

impl InteractionRaised {
    /// The event's name on the bus.
    pub const NAME: &str = "InteractionRaised";

    /// The event of `request`, raised by core itself or for the plugin `ext_id`.
    pub fn new(request: &Request, ext_id: Option<String>) -> Self {
        Self {
            correlation_id: request.correlation_id.clone(),
            interaction_id: request.interaction_id.clone(),
            kind: request.kind(),
            ext_id,
            subagent_id: request.subagent_id.clone(),
            parent_session_id: request.parent_session_id.clone(),
        }
    }
}

impl InteractionAnswered {
    /// The event's name on the bus.
    pub const NAME: &str = "InteractionAnswered";

    /// `ext_id` won with `answer`, which is left out where it may be a secret.
    pub fn accepted(request: &Request, answer: &Answer, ext_id: impl Into<String>) -> Self {
        let secret = request.kind().is_secret() || answer.kind().is_secret();
        Self {
            status: Status::Accepted,
            value: (!secret).then(|| answer.to_value()),
            ..Self::rejected(request, ext_id)
        }
    }

    /// `ext_id` won with a no.
    pub fn rejected(request: &Request, ext_id: impl Into<String>) -> Self {
        Self {
            correlation_id: request.correlation_id.clone(),
            interaction_id: request.interaction_id.clone(),
            status: Status::Rejected,
            value: None,
            ext_id: ext_id.into(),
        }
    }
}

impl InteractionCancelled {
    /// The event's name on the bus.
    pub const NAME: &str = "InteractionCancelled";

    /// `request` was cancelled.
    pub fn new(request: &Request) -> Self {
        Self {
            correlation_id: request.correlation_id.clone(),
            interaction_id: request.interaction_id.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Ask, AskAnswer, AuthAnswer, AuthPassword, Payload, Secret};
    use serde_json::json;

    fn request(payload: impl Into<Payload>) -> Request {
        Request::new("i1", "t1", "2026-01-01T00:00:00.000Z", payload)
    }

    #[test]
    fn raised_tells_the_kind_and_not_the_question() {
        let request = request(Ask {
            prompt: "Name?".into(),
            ..Ask::default()
        });
        let event = InteractionRaised::new(&request, None);
        assert_eq!(
            serde_json::to_value(event).unwrap(),
            json!({"correlationId": "t1", "interactionId": "i1", "kind": "Ask"}),
        );
        let event =
            InteractionRaised::new(&request.from_subagent("s1", "a1"), Some("ask-user".into()));
        let json = json!({
            "correlationId": "t1",
            "interactionId": "i1",
            "kind": "Ask",
            "extId": "ask-user",
            "subagentId": "a1",
            "parentSessionId": "s1",
        });
        assert_eq!(serde_json::to_value(&event).unwrap(), json);
        assert_eq!(
            serde_json::from_value::<InteractionRaised>(json).unwrap(),
            event
        );
    }

    #[test]
    fn answered_carries_the_value() {
        let answer = Answer::from(AskAnswer { text: "Ada".into() });
        let event = InteractionAnswered::accepted(&request(Ask::default()), &answer, "default-tui");
        let json = json!({
            "correlationId": "t1",
            "interactionId": "i1",
            "status": "accepted",
            "value": {"text": "Ada"},
            "extId": "default-tui",
        });
        assert_eq!(serde_json::to_value(&event).unwrap(), json);
        assert_eq!(
            serde_json::from_value::<InteractionAnswered>(json).unwrap(),
            event
        );
    }

    #[test]
    fn answered_drops_a_secret() {
        let answer = Answer::AuthPassword(AuthAnswer::Secret(Secret::new("hunter2")));
        for payload in [
            Payload::from(AuthPassword::default()),
            Payload::from(Ask::default()),
        ] {
            let event = InteractionAnswered::accepted(&request(payload), &answer, "default-tui");
            assert_eq!(
                serde_json::to_value(event).unwrap(),
                json!({"correlationId": "t1", "interactionId": "i1", "status": "accepted", "extId": "default-tui"}),
            );
        }
    }

    #[test]
    fn a_rejection_and_a_cancellation_have_no_value() {
        let request = request(Ask::default());
        assert_eq!(
            serde_json::to_value(InteractionAnswered::rejected(&request, "web")).unwrap(),
            json!({"correlationId": "t1", "interactionId": "i1", "status": "rejected", "extId": "web"}),
        );
        assert_eq!(
            serde_json::to_value(InteractionCancelled::new(&request)).unwrap(),
            json!({"correlationId": "t1", "interactionId": "i1"}),
        );
    }
}
