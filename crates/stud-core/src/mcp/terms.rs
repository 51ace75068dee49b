//! What the operator set for servers: the numbers in `mcp` of the settings.

use std::time::Duration;

use crate::settings::Settings;

use super::reconnect::Policy;

/// What holds for every server.
#[derive(Debug, Clone)]
pub struct Terms {
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

impl Default for Terms {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(30),
            call: Duration::from_secs(600),
            grace: Duration::from_secs(5),
            max_result: 256 << 10,
            resource_bytes: 256 << 10,
            resource_tokens: 16 << 10,
            reconnect: Policy::default(),
        }
    }
}

impl Terms {
    /// As the settings say.
    pub fn read(settings: &Settings) -> Self {
        let otherwise = Self::default();
        let number = |member| settings.get("mcp", member)?.value.as_u64();
        let positive = |member| number(member).filter(|number| *number > 0);
        let millis = |member, otherwise| number(member).map_or(otherwise, Duration::from_millis);
        let bytes = positive("maxResultBytes").and_then(|bytes| usize::try_from(bytes).ok());
        Self {
            connect: millis("connectTimeoutMs", otherwise.connect),
            call: millis("callTimeoutMs", otherwise.call),
            grace: millis("startupGraceMs", otherwise.grace),
            max_result: bytes.unwrap_or(otherwise.max_result),
            resource_bytes: positive("resourceMaxBytes").unwrap_or(otherwise.resource_bytes),
            resource_tokens: positive("resourceMaxTokens").unwrap_or(otherwise.resource_tokens),
            reconnect: otherwise.reconnect,
        }
    }
}
