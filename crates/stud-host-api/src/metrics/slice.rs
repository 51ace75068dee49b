//! The snapshot and its slices.

use serde::{Deserialize, Serialize};

use super::item::{
    DiagnosticItem, ExtensionInfo, HookInfo, McpServerInfo, NextResult, ProviderInfo, ToolInfo,
    UiInfo,
};
use crate::session::SecurityMode;

/// The state of one session's runtime. Before anything is known it is [`RuntimeSnapshot::default`].
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct RuntimeSnapshot {
    /// The session.
    pub session: SessionSlice,
    /// Providers and models.
    pub provider: ProviderSlice,
    /// Tokens spent.
    pub tokens: TokensSlice,
    /// How full the model's window is.
    pub context: ContextSlice,
    /// Tools.
    pub tools: ToolsSlice,
    /// MCP servers.
    pub mcp: McpSlice,
    /// The state machine, if one is loaded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state_machine: Option<StateMachineSlice>,
    /// What went wrong lately.
    pub diagnostics: DiagnosticsSlice,
    /// UIs.
    pub ui: UiSlice,
    /// Hooks.
    pub hooks: HooksSlice,
    /// Everything that is loaded.
    pub extensions: ExtensionsSlice,
}

/// The session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct SessionSlice {
    /// Which session.
    pub id: String,
    /// When it began, or was taken up again.
    pub started_at: String,
    /// When a turn last began or ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_turn_at: Option<String>,
    /// How many turns have begun.
    pub turn_count: u64,
    /// Where it runs.
    pub cwd: String,
    /// Whether the project's own plugins and settings count.
    pub project_trust: ProjectTrust,
    /// How tool calls are gated.
    pub mode: SecurityMode,
    /// Whether the provider answered when it was last tried.
    pub online: bool,
}

impl Default for SessionSlice {
    fn default() -> Self {
        Self {
            id: String::new(),
            started_at: String::new(),
            last_turn_at: None,
            turn_count: 0,
            cwd: String::new(),
            project_trust: ProjectTrust::default(),
            mode: SecurityMode::default(),
            // Nothing has failed yet.
            online: true,
        }
    }
}

/// Whether the project's own plugins and settings count.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum ProjectTrust {
    /// They do.
    Granted,
    /// They do not; only bundled and global ones count.
    #[default]
    GlobalOnly,
}

/// Providers and models.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ProviderSlice {
    /// The one in use.
    pub current: ProviderInfo,
    /// Those that could be.
    pub available: Vec<ProviderInfo>,
}

/// Tokens spent.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct TokensSlice {
    /// Sent in this session.
    pub input_total: u64,
    /// Received in this session.
    pub output_total: u64,
    /// Sent in the newest turn.
    pub last_turn_input: u64,
    /// Received in the newest turn.
    pub last_turn_output: u64,
}

/// How full the model's window is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ContextSlice {
    /// Tokens of the last request.
    pub used_tokens: u64,
    /// Tokens the model can take, where known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub window_tokens: Option<u64>,
    /// The one in percent of the other.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub percent: Option<f64>,
    /// How many fragments of context providers the last request had.
    pub assembled_fragments: u64,
}

/// Tools.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ToolsSlice {
    /// All of them.
    pub items: Vec<ToolInfo>,
    /// How many could run now without asking.
    pub active_count: u64,
    /// How many there are.
    pub total_count: u64,
}

/// MCP servers.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct McpSlice {
    /// All that are configured.
    pub servers: Vec<McpServerInfo>,
    /// How many are connected.
    pub connected_count: u64,
    /// How many are configured.
    pub configured_count: u64,
}

/// The state machine.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct StateMachineSlice {
    /// Which one.
    pub id: String,
    /// Whether it drives the session.
    pub attached: bool,
    /// The stage that runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub current_stage: Option<String>,
    /// The stages that led here, outermost first.
    pub stack: Vec<String>,
    /// How many turns the stage may take.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn_cap: Option<u64>,
    /// How many it has taken.
    pub turn_count: u64,
    /// Where the last stage led.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_next_result: Option<NextResult>,
}

/// What went wrong lately.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct DiagnosticsSlice {
    /// Errors since the session began, also those no longer in `recent`.
    pub error: u64,
    /// Warnings, likewise.
    pub warning: u64,
    /// Remarks, likewise.
    pub info: u64,
    /// The newest, oldest first.
    pub recent: Vec<DiagnosticItem>,
}

/// UIs.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct UiSlice {
    /// All that are loaded.
    pub items: Vec<UiInfo>,
}

/// Hooks.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct HooksSlice {
    /// All that are loaded.
    pub items: Vec<HookInfo>,
}

/// Everything that was found.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ExtensionsSlice {
    /// What takes part or could, across all categories.
    pub loaded: Vec<ExtensionInfo>,
    /// What was switched off or refused, as far as its category is known.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub disabled: Vec<ExtensionInfo>,
}
