//! The JSON Schemas of the contract.

use schemars::{Schema, schema_for};

use crate::canvas::{Canvas, Line};
use crate::manifest::UiMembers;

/// What crosses the boundary under this contract, by name.
///
/// Requests and responses are described by the Interaction Protocol, payloads of events by their publishers.
pub fn schemas() -> Vec<(&'static str, Schema)> {
    vec![
        ("UiMembers", schema_for!(UiMembers)),
        ("Canvas", schema_for!(Canvas)),
        ("Line", schema_for!(Line)),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_schema_says_what_it_is() {
        for (name, schema) in schemas() {
            assert!(schema.get("description").is_some(), "{name}");
        }
    }
}
