//! The plugin's own configuration, and the few global facts it may know.

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

/// Reads configuration. Nobody can read another plugin's, and nobody can list the keys.
pub trait ConfigReader: Send + Sync {
    /// The caller's own block, as it passed its `configSchema`.
    fn read_own(&self) -> Result<Map<String, Value>>;

    /// One of [`READ_GLOBAL_KEYS`]. Another key is `Validation/UnknownConfigKey`.
    fn read_global(&self, key: &str) -> Result<Value>;
}
