//! The JSON Schemas of the contract.

use schemars::{Schema, schema_for};
use stud_host_api::commands::Completion;

use crate::args::RawArgs;
use crate::manifest::CommandMembers;
use crate::payload::{Draft, Rendered};

/// What crosses the boundary under this contract, by name.
pub fn schemas() -> Vec<(&'static str, Schema)> {
    vec![
        ("CommandMembers", schema_for!(CommandMembers)),
        ("RawArgs", schema_for!(RawArgs)),
        ("Rendered", schema_for!(Rendered)),
        ("Draft", schema_for!(Draft)),
        ("Completion", schema_for!(Completion)),
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
