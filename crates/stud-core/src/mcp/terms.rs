//! What the operator set for servers: the numbers in `mcp` of the settings.

use std::time::Duration;

use crate::settings::{McpSettings, Settings};

use super::reconnect::Policy;

/// What holds for every server.
#[derive(Debug, Clone)]
pub struct McpDefaults {
    /// How long a server may take to answer when it is connected to; `mcp.connectTimeoutMs`.
    pub connect: Duration,
    /// How long a call of one of its tools may take; `mcp.callTimeoutMs`.
    pub call: Duration,
    /// How long after the launch a turn waits for servers that are still starting; `mcp.startupGraceMs`.
    pub grace: Duration,
    /// The most text a model is told of one result; `mcp.maxResultBytes`.
    pub max_result: usize,
    /// The most bytes of a resource that is not bound otherwise; `mcp.resourceMaxBytes`.
    pub resource_bytes: u64,
    /// The most tokens it may take up in a request; `mcp.resourceMaxTokens`.
    pub resource_tokens: u64,
    /// When a connection that broke is tried again.
    pub reconnect: Policy,
}

impl Default for McpDefaults {
    fn default() -> Self {
        Self::of(&McpSettings::default())
    }
}

impl McpDefaults {
    /// As the settings say.
    pub fn read(settings: &Settings) -> Self {
        Self::of(&McpSettings::of(settings))
    }

    fn of(set: &McpSettings<'_>) -> Self {
        Self {
            connect: set.connect_timeout.value,
            call: set.call_timeout.value,
            grace: set.startup_grace.value,
            max_result: usize::try_from(set.max_result_bytes.value).unwrap_or(usize::MAX),
            resource_bytes: set.resource_max_bytes.value,
            resource_tokens: set.resource_max_tokens.value,
            reconnect: Policy::default(),
        }
    }
}
