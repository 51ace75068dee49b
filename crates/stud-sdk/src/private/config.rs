//! A plugin's config, without what core alone reads.

use serde_json::{Map, Value};
use stud_contract_meta::{Error, Result};
use stud_diagnostics::codes;

use super::fault::coded;
use crate::schema::Config;

/// Reads the members that `C` describes out of a config block.
///
/// The rest are those every plugin of the category accepts; core has checked the whole block before.
pub(crate) fn read<C: Config>(block: Map<String, Value>) -> Result<C> {
    serde_json::from_value(own(block, C::NAMES)).map_err(refused)
}

/// Reads a config block as `init` is given it.
pub fn parse<C: Config>(text: &str) -> Result<C> {
    read(block(text)?)
}

fn block(text: &str) -> Result<Map<String, Value>> {
    if text.is_empty() {
        return Ok(Map::new());
    }
    serde_json::from_str::<Option<Map<String, Value>>>(text)
        .map(Option::unwrap_or_default)
        .map_err(refused)
}

fn own(mut block: Map<String, Value>, names: &[&str]) -> Value {
    block.retain(|name, _| names.contains(&name.as_str()));
    Value::Object(block)
}

fn refused(error: serde_json::Error) -> Error {
    let message = format!("the config does not fit: {error}");
    coded(&codes::CONFIG_SCHEMA_VIOLATION, message)
}
