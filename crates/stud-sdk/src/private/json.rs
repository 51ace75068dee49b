//! Payloads in and replies out.

use serde::Serialize;
use serde::de::DeserializeOwned;
use stud_contract_meta::{Error, Result};
use stud_diagnostics::codes;

use super::fault::coded;

/// Reads what a handler was called with.
pub(crate) fn parse<T: DeserializeOwned>(handler: &str, payload: &str) -> Result<T> {
    serde_json::from_str(payload)
        .map_err(|error| mismatch(handler, "was called with a payload it cannot read", &error))
}

/// Writes what a handler answers.
pub(crate) fn write<T: Serialize>(handler: &str, reply: &T) -> Result<String> {
    serde_json::to_string(reply)
        .map_err(|error| mismatch(handler, "has an answer that JSON cannot say", &error))
}

/// The contract fixes both shapes, so this is a mistake of one of the two sides and not of a user.
fn mismatch(handler: &str, what: &str, error: &serde_json::Error) -> Error {
    coded(
        &codes::SHAPE_INVALID,
        format!("`{handler}` {what}: {error}"),
    )
}
