//! The plugin's own configuration, and the few global facts it may know.

use std::net::IpAddr;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use stud_contract_meta::Result;

/// The keys that [`ConfigReader::read_global`] knows.
pub const READ_GLOBAL_KEYS: [&str; 6] = [
    "securityMode",
    "projectRoot",
    "globalRoot",
    "coreVersion",
    "headless",
    "loggingLevel",
];

/// Reads configuration. A plugin cannot read another's, and cannot list the keys.
pub trait ConfigReader: Send + Sync {
    /// The caller's own block, as it passed its `configSchema`.
    fn read_own(&self) -> Result<Map<String, Value>>;

    /// One of [`READ_GLOBAL_KEYS`]. Another key is `Validation/UnknownConfigKey`.
    fn read_global(&self, key: &str) -> Result<Value>;

    /// Whether the network policy lets a host be reached. A tool asks before it connects, once for each host.
    ///
    /// What may not be reached is `ToolTerminal/NetworkDenied`, with `host`, `port` and `url`.
    fn may_reach(&self, to: &Destination) -> Result<()>;
}

/// Where a tool is about to connect to.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Destination {
    /// The host, as the address says it: a name or an address.
    pub host: String,
    /// The port, with that of the scheme where the address has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub port: Option<u16>,
    /// The whole address as it may be shown, without credentials.
    pub url: String,
    /// What the host's name stands for, once it was looked up. It is held against the list of denied hosts alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub address: Option<IpAddr>,
}
