//! What each kind is answered with.

use serde::ser::{SerializeMap, Serializer};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{ApprovalScope, InteractionKind, Secret};

mod read;

/// An answer that fits its kind.
///
/// It serializes to the response's `value`. Reading one back takes the question too, see
/// [`Response::answer`](crate::Response::answer).
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
#[non_exhaustive]
pub enum Answer {
    /// To `Ask`.
    Ask(AskAnswer),
    /// To `Approve`.
    Approve(ApproveAnswer),
    /// To `Select`.
    Select(SelectAnswer),
    /// To `Auth.DeviceCode`.
    AuthDeviceCode(AuthAnswer),
    /// To `Auth.Password`.
    AuthPassword(AuthAnswer),
    /// To `Confirm`.
    Confirm(ConfirmAnswer),
    /// To `grantStageTool`.
    GrantStageTool(GrantAnswer),
    /// To `approveSubagentEnvelope`.
    ApproveSubagentEnvelope(EnvelopeAnswer),
    /// To `ToolInput`.
    ToolInput(UserResponse),
    /// To `ToolApproval`.
    ToolApproval(UserResponse),
}

/// The text that was asked for.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct AskAnswer {
    /// As typed; it may be empty.
    pub text: String,
}

/// Whether a gated tool call may run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ApproveAnswer {
    /// Yes or no.
    pub decision: Decision,
    /// Whether the yes is for this call alone and must not be remembered. It beats `scope`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub allow_once: Option<bool>,
    /// For how long the yes holds; one of those offered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scope: Option<ApprovalScope>,
}

/// Yes or no to a tool call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Decision {
    /// It may run.
    Approve,
    /// It may not.
    Deny,
}

/// The entry that was chosen.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct SelectAnswer {
    /// Index into the request's `options`.
    pub index: usize,
}

/// How a login ended: with something to hand over, or done elsewhere. Exactly one of `{secret}` and `{completed: true}`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AuthAnswer {
    /// A password, or the token that a device login gave.
    Secret(Secret),
    /// The login is complete and there is nothing to hand over.
    Completed,
}

/// Yes or no.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ConfirmAnswer {
    /// Whether it was a yes.
    pub confirmed: bool,
}

/// Whether one call outside a stage's envelope may run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct GrantAnswer {
    /// Yes, no, or not now.
    pub outcome: GrantOutcome,
    /// What the person wants the stage to know.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// Yes, no, or not now.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum GrantOutcome {
    /// This call may run, once.
    Approve,
    /// It may not.
    Deny,
    /// It may not in this attempt; the next one may ask again.
    Defer,
}

/// Whether a child session may open.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct EnvelopeAnswer {
    /// Yes or no. There is no later: the child opens now or never.
    pub outcome: EnvelopeOutcome,
    /// A remark for the audit record.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// Yes or no to a child session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum EnvelopeOutcome {
    /// It may open, with the tools it asked for.
    Approve,
    /// It may not.
    Deny,
}

/// What the person did with a tool's prompt.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct UserResponse {
    /// Which button.
    pub action: Action,
    /// For how long an approval holds; `once` when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approval_scope: Option<ApprovalScope>,
    /// The form's values by field id. Nobody has checked them yet: that is the tool's part.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<Map<String, Value>>,
    /// Why, in the person's words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// A button under a tool's prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Action {
    /// Go on; for `ToolApproval`.
    Approve,
    /// Do not; for `ToolApproval`.
    Deny,
    /// Here are the values; for `ToolInput`.
    Submit,
    /// Leave me alone; for both.
    Cancel,
}

impl ApproveAnswer {
    /// How long core may remember this answer.
    ///
    /// A yes without a scope holds for the session, and a no is never remembered.
    pub fn remembered(&self) -> ApprovalScope {
        match self.decision {
            Decision::Deny => ApprovalScope::Once,
            Decision::Approve if self.allow_once == Some(true) => ApprovalScope::Once,
            Decision::Approve => self.scope.unwrap_or(ApprovalScope::Session),
        }
    }
}

impl UserResponse {
    /// An action with nothing else to say.
    pub const fn new(action: Action) -> Self {
        Self {
            action,
            approval_scope: None,
            input: None,
            reason: None,
        }
    }
}

impl Answer {
    /// The kind this answers.
    pub const fn kind(&self) -> InteractionKind {
        match self {
            Self::Ask(_) => InteractionKind::Ask,
            Self::Approve(_) => InteractionKind::Approve,
            Self::Select(_) => InteractionKind::Select,
            Self::AuthDeviceCode(_) => InteractionKind::AuthDeviceCode,
            Self::AuthPassword(_) => InteractionKind::AuthPassword,
            Self::Confirm(_) => InteractionKind::Confirm,
            Self::GrantStageTool(_) => InteractionKind::GrantStageTool,
            Self::ApproveSubagentEnvelope(_) => InteractionKind::ApproveSubagentEnvelope,
            Self::ToolInput(_) => InteractionKind::ToolInput,
            Self::ToolApproval(_) => InteractionKind::ToolApproval,
        }
    }

    /// Whether this answer is a no. A deferred grant is one, and so is a canceled form.
    pub fn denies(&self) -> bool {
        match self {
            Self::Ask(_) | Self::Select(_) | Self::AuthDeviceCode(_) | Self::AuthPassword(_) => {
                false
            }
            Self::Approve(answer) => answer.decision == Decision::Deny,
            Self::Confirm(answer) => !answer.confirmed,
            Self::GrantStageTool(answer) => answer.outcome != GrantOutcome::Approve,
            Self::ApproveSubagentEnvelope(answer) => answer.outcome == EnvelopeOutcome::Deny,
            Self::ToolInput(response) | Self::ToolApproval(response) => {
                matches!(response.action, Action::Deny | Action::Cancel)
            }
        }
    }

    /// The response's `value`. For `Auth.*` it holds the secret in the clear.
    pub fn to_value(&self) -> Value {
        // Maps with text keys cannot fail to become JSON.
        serde_json::to_value(self).unwrap_or_default()
    }
}

impl Serialize for AuthAnswer {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(1))?;
        match self {
            Self::Secret(secret) => map.serialize_entry("secret", secret)?,
            Self::Completed => map.serialize_entry("completed", &true)?,
        }
        map.end()
    }
}

macro_rules! into_answer {
    ($($kind:ident($answer:ident)),*) => {$(
        impl From<$answer> for Answer {
            fn from(answer: $answer) -> Self {
                Self::$kind(answer)
            }
        }
    )*};
}

// Where one type answers two kinds, the kind has to be named.
into_answer!(
    Ask(AskAnswer),
    Approve(ApproveAnswer),
    Select(SelectAnswer),
    Confirm(ConfirmAnswer),
    GrantStageTool(GrantAnswer),
    ApproveSubagentEnvelope(EnvelopeAnswer)
);

#[cfg(test)]
mod tests;
