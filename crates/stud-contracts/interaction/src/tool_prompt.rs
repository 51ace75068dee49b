//! The two prompts a running tool raises by itself: for input and for permission to continue.
//!
//! They are the tool's own business. An answer to [`ToolApproval`] never feeds core's approval cache and never stands
//! in for core's [`Approve`](crate::Approve).

use std::collections::BTreeMap;
use std::num::NonZeroU64;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::Form;

/// How long a tool's prompt waits when neither the prompt nor the settings say: five minutes.
pub const DEFAULT_TIMEOUT_MS: u64 = 300_000;

/// A tool needs a form filled in.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ToolInput {
    /// The call that asks. It stays the same when the tool asks again, so that the new form replaces the old one.
    pub tool_call_id: String,
    /// The tool that asks.
    pub tool_name: String,
    /// Text above the form.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompt: Option<String>,
    /// The form.
    pub input_schema: Form,
    /// How long to wait; the host's default when absent, without end when null.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "present"
    )]
    pub timeout_ms: Option<Timeout>,
    /// Where to show it.
    #[serde(default, skip_serializing_if = "is_default")]
    pub presentation: Presentation,
    /// What to show once it is answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub completed_view: Option<CompletedView>,
    /// What was wrong with the previous answer, when the tool asks again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// The same for a form with `fieldErrors`: the sentence above it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error_summary: Option<String>,
    /// What was wrong with each field, by field id.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub field_errors: BTreeMap<String, String>,
}

/// A tool asks whether it may go on.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ToolApproval {
    /// The call that asks.
    pub tool_call_id: String,
    /// The tool that asks.
    pub tool_name: String,
    /// The question; when absent, whether to allow the tool by name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompt: Option<String>,
    /// For how long the person may say yes; see [`ToolApproval::offered`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approval_scopes: Option<Vec<ApprovalScope>>,
    /// How long to wait; the host's default when absent, without end when null.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "present"
    )]
    pub timeout_ms: Option<Timeout>,
    /// Where to show it.
    #[serde(default, skip_serializing_if = "is_default")]
    pub presentation: Presentation,
    /// What to show once it is answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub completed_view: Option<CompletedView>,
    /// Why the tool asks again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// The same as one sentence, for clients that show `errorSummary` above every prompt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error_summary: Option<String>,
}

impl ToolApproval {
    /// The scopes the person may choose from. An answer with another one is refused.
    pub fn offered(&self) -> &[ApprovalScope] {
        offered(self.approval_scopes.as_deref())
    }
}

/// What a prompt offers: its own list, or once and for the session. `always` has to be offered in so many words.
pub(crate) fn offered(scopes: Option<&[ApprovalScope]>) -> &[ApprovalScope] {
    scopes.unwrap_or(&[ApprovalScope::Once, ApprovalScope::Session])
}

/// For how long a yes holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum ApprovalScope {
    /// For this call alone.
    Once,
    /// Until the session ends.
    Session,
    /// In this project from now on. `project`, the approval cache's own word, is read as the same.
    #[serde(alias = "project")]
    Always,
}

impl ApprovalScope {
    /// The word on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Once => "once",
            Self::Session => "session",
            Self::Always => "always",
        }
    }
}

/// How long a prompt waits: a positive number of milliseconds, or null.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Timeout {
    /// Until it is answered or cancelled.
    Never,
    /// This many milliseconds.
    After(NonZeroU64),
}

impl Timeout {
    /// So many milliseconds; nothing for zero, which the protocol refuses.
    pub fn millis(millis: u64) -> Option<Self> {
        NonZeroU64::new(millis).map(Self::After)
    }

    /// The limit in milliseconds, if there is one.
    pub fn as_millis(self) -> Option<u64> {
        match self {
            Self::Never => None,
            Self::After(millis) => Some(millis.get()),
        }
    }
}

impl Serialize for Timeout {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.as_millis().serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Timeout {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let millis = Option::<NonZeroU64>::deserialize(deserializer)?;
        Ok(millis.map_or(Self::Never, Self::After))
    }
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for Timeout {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Timeout".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "description": "How long a prompt waits: a positive number of milliseconds, or null for no limit.",
            "type": ["integer", "null"],
            "minimum": 1,
        })
    }
}

/// Where a client shows a tool's prompt.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Presentation {
    /// Inside the block of the tool call.
    #[default]
    Tool,
    /// As a block of its own, without the tool call.
    Questionnaire,
    /// Docked above the input box.
    Composer,
}

/// What a client shows of a prompt that has been answered.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct CompletedView {
    /// Whether to show the values that were submitted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub show_inputs: Option<bool>,
    /// A line with `{{name}}` placeholders: the field ids, and `{{action}}`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary_template: Option<String>,
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// Keeps a null apart from an absent member.
fn present<'de, D, T>(deserializer: D) -> Result<Option<T>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    T::deserialize(deserializer).map(Some)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    #[test]
    fn input_round_trips() {
        let json = json!({
            "toolCallId": "c1",
            "toolName": "ask_user",
            "prompt": "One more thing",
            "inputSchema": {"type": "form", "fields": [{"id": "answer", "type": "text", "label": "Name?"}]},
            "timeoutMs": 60000,
            "presentation": "questionnaire",
            "completedView": {"showInputs": true, "summaryTemplate": "You said {{answer}}"},
            "error": "Too short",
            "errorSummary": "Please look again",
            "fieldErrors": {"answer": "Too short"},
        });
        let input: ToolInput = serde_json::from_value(json.clone()).unwrap();
        assert_eq!(input.timeout_ms.and_then(Timeout::as_millis), Some(60_000));
        assert_eq!(serde_json::to_value(input).unwrap(), json);
    }

    #[test]
    fn approval_round_trips() {
        let json = json!({
            "toolCallId": "c1",
            "toolName": "fx_gate",
            "prompt": "Run x?",
            "approvalScopes": ["once", "session", "always"],
            "timeoutMs": null,
            "presentation": "composer",
            "completedView": {},
            "error": "no",
            "errorSummary": "no",
        });
        let approval: ToolApproval = serde_json::from_value(json.clone()).unwrap();
        assert_eq!(approval.timeout_ms, Some(Timeout::Never));
        assert_eq!(serde_json::to_value(approval).unwrap(), json);
    }

    #[test]
    fn the_least_approval_offers_once_and_session() {
        let json = json!({"toolCallId": "c1", "toolName": "fx_gate"});
        let approval: ToolApproval = serde_json::from_value(json.clone()).unwrap();
        assert_eq!(approval.timeout_ms, None);
        assert_eq!(
            approval.offered(),
            [ApprovalScope::Once, ApprovalScope::Session]
        );
        assert_eq!(serde_json::to_value(approval).unwrap(), json);
    }

    #[test]
    fn a_timeout_is_positive_or_null() {
        let read = |value: Value| serde_json::from_value::<Timeout>(value).ok();
        assert_eq!(read(json!(null)), Some(Timeout::Never));
        assert_eq!(read(json!(1)), Timeout::millis(1));
        for value in [json!(0), json!(-1), json!(1.5), json!("1")] {
            assert_eq!(read(value), None);
        }
    }

    #[test]
    fn the_cache_word_for_always_is_read() {
        assert_eq!(
            serde_json::from_value::<ApprovalScope>(json!("project")).unwrap(),
            ApprovalScope::Always
        );
        assert_eq!(
            serde_json::to_value(ApprovalScope::Always).unwrap(),
            "always"
        );
    }
}
