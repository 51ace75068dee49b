//! The things a snapshot lists.
//!
//! A newer host may use words this version does not know; they read as `Unknown`, so that an older plugin still gets
//! the rest of the snapshot.

use serde::{Deserialize, Serialize};

/// A provider with a model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ProviderInfo {
    /// The provider.
    pub id: String,
    /// Its name for people.
    pub label: String,
    /// The model.
    pub model_id: String,
    /// What it can do.
    pub capabilities: Capabilities,
}

impl Default for ProviderInfo {
    fn default() -> Self {
        Self {
            id: "unknown".to_owned(),
            label: "unknown".to_owned(),
            model_id: "unknown".to_owned(),
            capabilities: Capabilities::default(),
        }
    }
}

/// What a model can do.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Capabilities {
    /// Answers piece by piece.
    pub streaming: bool,
    /// Calls tools.
    pub tool_calling: bool,
    /// Shows its reasoning.
    pub thinking: bool,
    /// How many tokens it takes, where known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context_window: Option<u64>,
}

/// A tool.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ToolInfo {
    /// Which tool.
    pub id: String,
    /// The name the model calls it by.
    pub name: String,
    /// What it does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The layer it comes from.
    pub source: Source,
    /// Whether calls are gated.
    pub sensitivity: Sensitivity,
    /// Whether the gate would let it run now without asking.
    pub allowed_now: bool,
    /// What a remembered approval covers, where that is the same for every call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approval_key: Option<String>,
    /// How often it was called.
    pub invocations: Invocations,
}

/// How often a tool was called.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Invocations {
    /// In all.
    pub total: u64,
    /// With a result.
    pub succeeded: u64,
    /// With an error.
    pub failed: u64,
}

/// Where something comes from.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Source {
    /// stud itself.
    #[default]
    Bundled,
    /// The user's own folder.
    Global,
    /// The project's folder.
    Project,
    /// An MCP server.
    Mcp,
    /// Somewhere this version has no word for.
    #[serde(other)]
    Unknown,
}

/// Whether a tool's calls are gated.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Sensitivity {
    /// They are not.
    Safe,
    /// They are.
    #[default]
    Guarded,
    /// In a way this version has no word for.
    #[serde(other)]
    Unknown,
}

/// An MCP server.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct McpServerInfo {
    /// Which server.
    pub id: String,
    /// How it is reached.
    pub transport: String,
    /// How that goes.
    pub status: McpStatus,
    /// How many prompts it has.
    pub prompt_count: u64,
    /// How many resources it has.
    pub resource_count: u64,
    /// How many tools it has.
    pub tool_count: u64,
    /// What last went wrong.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_error: Option<String>,
}

/// How the connection to an MCP server goes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum McpStatus {
    /// It stands.
    Connected,
    /// It is being made.
    Connecting,
    /// There is none.
    #[default]
    Disconnected,
    /// It failed.
    Error,
    /// In a way this version has no word for.
    #[serde(other)]
    Unknown,
}

/// Where a stage of a state machine led.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct NextResult {
    /// `sequential` or `parallel`.
    pub execution: String,
    /// The stages that follow.
    pub stages: Vec<String>,
}

/// A UI.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct UiInfo {
    /// Which UI.
    pub id: String,
    /// `subscriber`, `interactor`, `region`.
    pub roles: Vec<String>,
    /// The UI whose regions it draws in.
    #[serde(rename = "targetUI", default, skip_serializing_if = "Option::is_none")]
    pub target_ui: Option<String>,
    /// What it draws there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub region_contributions: Option<Vec<RegionInfo>>,
    /// Whether it takes part now.
    pub active: bool,
}

/// A contribution to a region of a UI.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct RegionInfo {
    /// The region, in the words of the UI that owns it.
    pub region: String,
    /// `replace`, `append` or `decorate`.
    pub mode: String,
    /// Its place among the others; the higher one comes first.
    pub priority: f64,
    /// Which contribution.
    pub id: String,
}

/// Something that went wrong, in words fit for people.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct DiagnosticItem {
    /// When.
    pub at: String,
    /// How bad it is.
    pub level: Level,
    /// The plugin it is about, or `core`.
    pub source: String,
    /// Its `Class/Code`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    /// The text the person was shown, with secrets taken out.
    pub message: String,
}

/// How bad something is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// Worth knowing.
    #[default]
    Info,
    /// Worth a look.
    Warn,
    /// Something does not work.
    Error,
    /// In a way this version has no word for.
    #[serde(other)]
    Unknown,
}

/// A hook.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct HookInfo {
    /// Which hook.
    pub id: String,
    /// The stage of the message loop it sits on.
    pub stage: String,
    /// On which side of it.
    pub point: HookPoint,
    /// What it does there.
    pub kind: HookKind,
}

/// A side of a stage.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum HookPoint {
    /// Before.
    Pre,
    /// After.
    Post,
}

/// What a hook does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum HookKind {
    /// Changes what passes.
    Transform,
    /// Decides whether it passes.
    Guard,
    /// Looks on.
    Observer,
    /// Something this version has no word for.
    #[serde(other)]
    Unknown,
}

/// A plugin.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ExtensionInfo {
    /// Which plugin.
    pub id: String,
    /// Its category, in the manifest's word.
    pub kind: String,
    /// The version of the contract it was built for.
    pub contract_version: String,
    /// The layer it comes from.
    pub source: Source,
    /// Whether it takes part now.
    pub active: bool,
}
