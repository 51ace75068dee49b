//! The session: reading it, adding to it, the plugin's own slot in it, and children of it.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use stud_contract_interaction::InteractionKind;
use stud_contract_meta::Result;
use stud_diagnostics::Class;

use crate::{BoxFuture, refusal};

/// Reads and extends the session. Changes of all callers are put in one order.
pub trait SessionAccessor: Send + Sync {
    /// The session's facts and one page of the records that the caller may see.
    fn read(&self, page: Page) -> BoxFuture<'_, Result<SessionView>>;

    /// Adds a record in the caller's name.
    ///
    /// When this returns, the record survives the end of the process.
    /// `userInput` from anything but a `UI` is `ExtensionHost/UserInputForbidden`.
    fn append(&self, record: SessionRecord) -> BoxFuture<'_, Result<Appended>>;

    /// The caller's own slot, by its own id.
    ///
    /// Another id is `ExtensionHost/SlotAccessDenied`; without a session it is `ExtensionHost/NotReady`.
    fn state_slot(&self, ext_id: &str) -> Result<Box<dyn StateSlot>>;

    /// Opens a child session and waits for its end.
    ///
    /// Only the bundled `delegate` tool may: `Validation/OpenChildForbidden`.
    /// Core checks depth, model and envelope, asks the person, and only then opens it. None of what can go wrong after
    /// that is an error of this call; it is an [outcome](ChildOutcome).
    fn open_child(&self, child: OpenChild) -> BoxFuture<'_, Result<ChildOutcome>>;
}

/// What a plugin keeps with the session, from one run to the next.
pub trait StateSlot: Send + Sync {
    /// What was last written; nothing before the first write.
    ///
    /// Fails when what is stored cannot be delivered: with `Validation/SlotVersionMissing`, or when it has another
    /// version and the plugin's policy is to reject that. One that migrates brings it to its own version with
    /// [`SlotValue::migrated`].
    fn read(&self) -> BoxFuture<'_, Result<Option<SlotValue>>>;

    /// Replaces the content. No resolved secrets in it.
    fn write(&self, value: SlotValue) -> BoxFuture<'_, Result<()>>;
}

/// The content of a state slot.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct SlotValue {
    /// The version of the data's shape; its own, not the contract's.
    pub slot_version: String,
    /// The data, in the shape of the slot's schema.
    pub data: Value,
}

impl SlotValue {
    /// The value in the version that the plugin `ext_id` declares. One that has another is brought there by `migrate`,
    /// which is given the data and its version and gives the data of the new one.
    ///
    /// What `migrate` fails with is `Session/SlotMigrationFailed`, unless its class is `Session` already.
    ///
    /// ```
    /// use serde_json::json;
    /// use stud_host_api::session::SlotValue;
    ///
    /// let kept = SlotValue { slot_version: "1.0.0".into(), data: json!(6) };
    /// let kept = kept.migrated("call-tally", "2.0.0", |data, _version| Ok(json!({ "calls": data })))?;
    /// assert_eq!(kept, SlotValue { slot_version: "2.0.0".into(), data: json!({ "calls": 6 }) });
    /// # Ok::<(), stud_contract_meta::Error>(())
    /// ```
    pub fn migrated(
        self,
        ext_id: &str,
        version: &str,
        migrate: impl FnOnce(Value, &str) -> Result<Value>,
    ) -> Result<Self> {
        if self.slot_version == version {
            return Ok(self);
        }
        match migrate(self.data, &self.slot_version) {
            Ok(data) => Ok(Self {
                slot_version: version.to_owned(),
                data,
            }),
            Err(error) if error.class() == Class::Session.as_str() => Err(error),
            Err(error) => Err(refusal::slot_migration_failed(
                ext_id,
                &self.slot_version,
                version,
                &error,
            )),
        }
    }
}

/// Which records to read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Page {
    /// Only records after this one; from the first when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after_seq: Option<u64>,
    /// At most this many. The host has a limit of its own, and 0 asks for the facts alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
}

/// The session as the caller may see it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct SessionView {
    /// Which session.
    pub session_id: String,
    /// How tool calls are gated, from its start to its end.
    pub mode: SecurityMode,
    /// When it began.
    pub created_at: String,
    /// How many turns have begun.
    pub turn_count: u64,
    /// The number of the newest record, whether the caller may see it or not.
    pub last_seq: u64,
    /// The page.
    #[serde(default)]
    pub records: Vec<TranscriptRecord>,
    /// Where the next page begins (its `afterSeq`); absent on the last one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_after_seq: Option<u64>,
}

/// One record of the session.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct TranscriptRecord {
    /// Its place; strictly increasing, with gaps where others may not look.
    pub seq: u64,
    /// When it was written.
    pub timestamp: String,
    /// What it is.
    pub kind: String,
    /// The turn it belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub correlation_id: Option<String>,
    /// The plugin that added it; absent for core's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ext_id: Option<String>,
    /// The content, in the shape of its kind.
    #[serde(default)]
    pub payload: Value,
}

/// How tool calls are gated.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum SecurityMode {
    /// The person is asked.
    #[default]
    Ask,
    /// Nobody is asked. Guards still run.
    Yolo,
    /// What is on the list runs, the rest does not.
    Allowlist,
}

/// What a plugin may add to the session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "kind", rename_all = "camelCase")]
#[non_exhaustive]
pub enum SessionRecord {
    /// What the person said; it goes into the input queue. Only a `UI` speaks for the person.
    UserInput {
        /// As typed.
        text: String,
    },
    /// A remark to show in the transcript. No model ever sees it.
    Note {
        /// The remark.
        text: String,
    },
}

/// A record was added.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Appended {
    /// Its place in the session.
    pub seq: u64,
}

/// A child session to open.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct OpenChild {
    /// The child's task. It is all the child knows of its parent.
    pub prompt: String,
    /// Flat names of the tools it may use unasked; each has to be active in the parent.
    pub requested_envelope: Vec<String>,
    /// A name to show.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// How deep the child would be; a child of the orchestrator is at 1.
    pub depth: u32,
    /// What to run it on; what the parent runs on when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<ModelChoice>,
}

/// Another model than the parent's.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ModelChoice {
    /// The provider; the parent's when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider_id: Option<String>,
    /// The model.
    pub model_id: String,
}

/// How a child session ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "state", rename_all_fields = "camelCase")]
pub enum ChildOutcome {
    /// It did its task.
    Completed {
        /// The child.
        subagent_id: String,
        /// Its last words.
        result: String,
        /// Where to find what it did.
        transcript_ref: String,
    },
    /// It needed an answer, and no interactor was attached.
    Halted {
        /// The child.
        subagent_id: String,
        /// What it needed.
        request_kind: InteractionKind,
        /// The turn or request in which it did.
        correlation_id: String,
        /// Why no answer came.
        reason: String,
    },
    /// It did not get to its end, or could not begin.
    Aborted {
        /// The child; absent when it failed before it got an id.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        subagent_id: Option<String>,
        /// Why.
        reason: AbortReason,
        /// What exactly, safe to show a model.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        detail: Option<String>,
    },
    /// The person said no to its envelope.
    Rejected {
        /// The child that would have been.
        subagent_id: String,
        /// What the person had to say.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        note: Option<String>,
    },
}

impl ChildOutcome {
    /// The result that the bundled `delegate` tool gives the model of the parent.
    ///
    /// ```
    /// use serde_json::json;
    /// use stud_host_api::session::{AbortReason, ChildOutcome};
    ///
    /// let outcome = ChildOutcome::Aborted {
    ///     subagent_id: None,
    ///     reason: AbortReason::DepthExceeded,
    ///     detail: None,
    /// };
    /// let aborted = json!({"reason": "depthExceeded", "subagentId": "", "code": "Subagent/DepthExceeded"});
    /// assert_eq!(outcome.result(), json!({ "aborted": aborted }));
    /// ```
    pub fn result(&self) -> Value {
        match self {
            Self::Completed {
                subagent_id,
                result,
                transcript_ref,
            } => json!({
                "result": result,
                "subagentId": subagent_id,
                "transcriptRef": transcript_ref,
            }),
            Self::Halted {
                subagent_id,
                request_kind,
                correlation_id,
                reason,
            } => json!({
                "haltStatus": {
                    "requestKind": request_kind,
                    "correlationId": correlation_id,
                    "subagentId": subagent_id,
                    "decision": "halt",
                    "reason": reason,
                }
            }),
            Self::Aborted {
                subagent_id,
                reason,
                detail,
            } => aborted(
                subagent_id.as_deref().unwrap_or_default(),
                json!(reason),
                reason.code(),
                detail.as_deref(),
            ),
            Self::Rejected { subagent_id, note } => aborted(
                subagent_id,
                "envelopeDenied".into(),
                "EnvelopeDenied",
                note.as_deref(),
            ),
        }
    }
}

fn aborted(subagent_id: &str, reason: Value, code: &str, detail: Option<&str>) -> Value {
    let mut aborted = json!({
        "reason": reason,
        "subagentId": subagent_id,
        "code": format!("Subagent/{code}"),
    });
    if let Some(detail) = detail {
        aborted["detail"] = detail.into();
    }
    json!({ "aborted": aborted })
}

impl AbortReason {
    /// The code of class `Subagent` behind it.
    pub const fn code(self) -> &'static str {
        match self {
            Self::DepthExceeded => "DepthExceeded",
            Self::EnvelopeInvalid => "EnvelopeInvalid",
            Self::ModelInvalid => "ModelInvalid",
            Self::ModelCapabilityMismatch => "ModelCapabilityMismatch",
            Self::ParentCancel | Self::Crash | Self::ProviderFailure => "Aborted",
        }
    }
}

/// Why a child session was aborted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub enum AbortReason {
    /// The parent was cancelled.
    ParentCancel,
    /// It would have been too deep.
    DepthExceeded,
    /// A tool of the envelope is not active in the parent.
    EnvelopeInvalid,
    /// There is no such model.
    ModelInvalid,
    /// The model lacks something the child needs.
    ModelCapabilityMismatch,
    /// The process ended before the child did.
    Crash,
    /// The provider failed.
    ProviderFailure,
}

#[cfg(test)]
mod tests;
