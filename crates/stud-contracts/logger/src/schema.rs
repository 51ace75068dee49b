//! The JSON Schemas of the contract.

use schemars::{Schema, schema_for};

use crate::manifest::LoggerMembers;
use crate::record::Record;

/// What crosses the boundary under this contract, by name.
pub fn schemas() -> Vec<(&'static str, Schema)> {
    vec![
        ("LoggerMembers", schema_for!(LoggerMembers)),
        ("Record", schema_for!(Record)),
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
