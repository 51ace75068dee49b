//! What each kind of request carries.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use stud_contract_meta::{Error, Result};
use stud_diagnostics::codes;

use crate::mismatch::mismatch;
use crate::tool_prompt::offered;
use crate::{ApprovalScope, InteractionKind, ToolApproval, ToolInput};

/// A question, with its kind.
///
/// On the wire it is the pair of members `kind` and `payload`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "kind", content = "payload")]
#[non_exhaustive]
pub enum Payload {
    /// Free text.
    Ask(Ask),
    /// Leave for one gated tool call.
    Approve(Approve),
    /// One entry of a list.
    Select(Select),
    /// A login that the person finishes on another page.
    #[serde(rename = "Auth.DeviceCode")]
    AuthDeviceCode(AuthDeviceCode),
    /// A password or another secret.
    #[serde(rename = "Auth.Password")]
    AuthPassword(AuthPassword),
    /// Yes or no.
    Confirm(Confirm),
    /// Leave for one tool call that the current stage's envelope does not cover.
    #[serde(rename = "grantStageTool")]
    GrantStageTool(GrantStageTool),
    /// Leave to open a child session with a set of tools.
    #[serde(rename = "approveSubagentEnvelope")]
    ApproveSubagentEnvelope(ApproveSubagentEnvelope),
    /// A form that a running tool needs filled in. Boxed, since it is far larger than the others.
    ToolInput(Box<ToolInput>),
    /// Leave for a running tool to go on.
    ToolApproval(ToolApproval),
}

/// Asks for free text.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Ask {
    /// The question.
    pub prompt: String,
    /// Gray text in the empty input.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub placeholder: Option<String>,
    /// Text the input starts with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default_value: Option<String>,
}

/// Asks whether a gated tool call may run.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Approve {
    /// The tool.
    pub tool_id: String,
    /// What a remembered yes would cover: the key that the tool derived from the arguments.
    pub approval_key: String,
    /// What the call would do, for a person.
    pub description: String,
    /// For how long the person may say yes; see [`Approve::offered`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approval_scopes: Option<Vec<ApprovalScope>>,
    /// The call; since 1.3.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_call_id: Option<String>,
    /// The exact arguments of the call, never cut; since 1.3.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub args: Option<Value>,
    /// The folder in which the call would run; since 1.3.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// What the call would change, as a unified diff or similar text; since 1.3.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preview: Option<String>,
    /// Why the person is asked although something similar is allowed; since 1.3.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// What a yes covers in each scope that is offered; since 1.3.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub scopes: Vec<ScopeOffer>,
}

/// One scope of an approval, explained to a person.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ScopeOffer {
    /// The scope.
    pub scope: ApprovalScope,
    /// What a yes in this scope covers, in words.
    pub covers: String,
    /// Where such a yes is kept, in words.
    pub kept: String,
}

/// Asks for one entry of a list.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Select {
    /// The question.
    pub prompt: String,
    /// What can be chosen; not empty. The answer is an index into it.
    pub options: Vec<String>,
}

/// Asks the person to finish a login on another page.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct AuthDeviceCode {
    /// The page to open.
    pub url: String,
    /// The code to type there.
    pub code: String,
    /// When the code stops working.
    pub expires_at: String,
}

/// Asks for a secret, through an input that does not echo.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct AuthPassword {
    /// What the secret is for. It says nothing about the secret itself.
    pub prompt: String,
}

/// Asks for a yes or a no.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Confirm {
    /// The question.
    pub prompt: String,
    /// Which answer the dialog starts on. It is never given by itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default: Option<bool>,
}

/// Asks for one tool call outside the envelope of the stage that runs.
///
/// A yes holds for the proposal with all five of `stageExecutionId`, `attempt`, `proposalId`, `tool` and `argsDigest`,
/// once.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct GrantStageTool {
    /// This run of the stage; another run has another id.
    pub stage_execution_id: String,
    /// Index of the attempt within the run, from 0.
    pub attempt: u32,
    /// The model's proposal.
    pub proposal_id: String,
    /// The tool's flat name.
    pub tool: String,
    /// Stands for the arguments. Good for comparing and for nothing else.
    pub args_digest: String,
    /// The arguments for a person, with secrets taken out. The arguments themselves stay in core.
    pub args_summary: String,
    /// Why the stage's author expects such a call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// Asks whether a child session may open, with a set of tools it may use unasked as long as it lives.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ApproveSubagentEnvelope {
    /// The child.
    pub subagent_id: String,
    /// The session that would open it.
    pub parent_session_id: String,
    /// How deep the child would be; a child of the orchestrator is at 1.
    pub depth: u32,
    /// Flat names of the tools, all of them known to the parent.
    pub requested_envelope: Vec<String>,
    /// The child's task for a person, with secrets taken out. The task itself stays in core.
    pub prompt_summary: String,
    /// What the child would run on. Shown, not to be changed here.
    pub model: ModelRef,
    /// The name the parent gave the child.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
}

/// A model of a provider.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ModelRef {
    /// The provider.
    pub provider_id: String,
    /// The model, in the provider's own words.
    pub model_id: String,
}

impl Approve {
    /// The scopes the person may choose from. An answer with another one is refused.
    pub fn offered(&self) -> &[ApprovalScope] {
        offered(self.approval_scopes.as_deref())
    }
}

impl Payload {
    /// The kind this payload belongs to.
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

    /// The call that asks, for the prompts of a running tool.
    pub fn tool_call_id(&self) -> Option<&str> {
        match self {
            Self::ToolInput(input) => Some(&input.tool_call_id),
            Self::ToolApproval(approval) => Some(&approval.tool_call_id),
            _ => None,
        }
    }

    /// Reads the payload of a kind and checks it.
    ///
    /// Fails with `Validation/InteractionKindUnknown`, `Validation/TimeoutMsInvalid` or
    /// `Validation/InteractionPayloadMismatch`.
    pub fn read(kind: &str, payload: Value) -> Result<Self> {
        let kind: InteractionKind = kind.parse()?;
        // A sender may repeat the kind inside; that is harmless as long as both agree.
        if payload
            .get("kind")
            .is_some_and(|inner| inner != kind.as_str())
        {
            return Err(mismatch(kind, "kind", kind.as_str()));
        }
        if let Some(millis) = payload.get("timeoutMs").and_then(Value::as_f64)
            && millis <= 0.0
        {
            return Err(timeout_invalid(&payload["timeoutMs"]));
        }
        let payload: Self = serde_json::from_value(json!({"kind": kind, "payload": payload}))
            .map_err(|error| mismatch(kind, "payload", &format!("of its shape ({error})")))?;
        payload.check()?;
        Ok(payload)
    }

    /// Checks what the types cannot say: a list that must not be empty, a form that contradicts itself.
    ///
    /// Fails with `Validation/InteractionPayloadMismatch`.
    pub fn check(&self) -> Result<()> {
        let no_scopes = |scopes: &Option<Vec<_>>| scopes.as_ref().is_some_and(Vec::is_empty);
        match self {
            Self::Select(select) if select.options.is_empty() => {
                Err(mismatch(self.kind(), "options", "a non-empty list"))
            }
            Self::Approve(Approve {
                approval_scopes, ..
            })
            | Self::ToolApproval(ToolApproval {
                approval_scopes, ..
            }) if no_scopes(approval_scopes) => {
                Err(mismatch(self.kind(), "approvalScopes", "a non-empty list"))
            }
            Self::ToolInput(input) => match input.input_schema.flaw() {
                Some((field, expected)) => Err(mismatch(self.kind(), &field, expected)),
                None => Ok(()),
            },
            Self::Ask(_)
            | Self::Approve(_)
            | Self::Select(_)
            | Self::AuthDeviceCode(_)
            | Self::AuthPassword(_)
            | Self::Confirm(_)
            | Self::GrantStageTool(_)
            | Self::ApproveSubagentEnvelope(_)
            | Self::ToolApproval(_) => Ok(()),
        }
    }

    /// The question in one line, for interactors that show no more than that.
    pub fn prompt(&self) -> Cow<'_, str> {
        match self {
            Self::Ask(Ask { prompt, .. })
            | Self::Select(Select { prompt, .. })
            | Self::AuthPassword(AuthPassword { prompt })
            | Self::Confirm(Confirm { prompt, .. })
            | Self::ToolApproval(ToolApproval {
                prompt: Some(prompt),
                ..
            }) => prompt.into(),
            Self::Approve(approve) => (&approve.description).into(),
            Self::AuthDeviceCode(auth) => {
                format!("Open {} and enter the code {}", auth.url, auth.code).into()
            }
            Self::GrantStageTool(grant) => format!(
                "Allow `{}` in this stage, once? {}",
                grant.tool, grant.args_summary
            )
            .into(),
            Self::ApproveSubagentEnvelope(envelope) => {
                let tools = envelope.requested_envelope.join(", ");
                format!(
                    "Open a subagent that may use [{tools}]? {}",
                    envelope.prompt_summary
                )
                .into()
            }
            Self::ToolInput(input) => match &input.prompt {
                Some(prompt) => prompt.into(),
                None => format!("`{}` needs your input", input.tool_name).into(),
            },
            Self::ToolApproval(approval) => format!("Allow `{}`?", approval.tool_name).into(),
        }
    }
}

fn timeout_invalid(given: &Value) -> Error {
    Error::new(
        codes::TIMEOUT_MS_INVALID.class,
        codes::TIMEOUT_MS_INVALID.name,
        "`timeoutMs` should be a positive number, or null for no limit",
    )
    .with("timeoutMs", given.clone())
}

macro_rules! into_payload {
    ($($kind:ident),*) => {$(
        impl From<$kind> for Payload {
            fn from(payload: $kind) -> Self {
                Self::$kind(payload.into())
            }
        }
    )*};
}

into_payload!(
    Ask,
    Approve,
    Select,
    AuthDeviceCode,
    AuthPassword,
    Confirm,
    GrantStageTool,
    ApproveSubagentEnvelope,
    ToolInput,
    ToolApproval
);

#[cfg(test)]
mod tests;
