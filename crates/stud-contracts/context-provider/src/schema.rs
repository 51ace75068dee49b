//! The JSON Schemas of the contract.

use schemars::{Schema, schema_for};
use stud_host_api::context::ContextFragment;

use crate::manifest::ContextProviderMembers;

/// What crosses the boundary under this contract, by name.
pub fn schemas() -> Vec<(&'static str, Schema)> {
    vec![
        (
            "ContextProviderMembers",
            schema_for!(ContextProviderMembers),
        ),
        ("ContextFragment", schema_for!(ContextFragment)),
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
