//! The JSON Schemas of the contract.

use schemars::{Schema, schema_for};

use crate::manifest::StateMachineMembers;
use crate::outcome::{AssertOutcome, GateResult, NextResult};
use crate::phase::PhaseInput;

/// What crosses the boundary under this contract, by name.
pub fn schemas() -> Vec<(&'static str, Schema)> {
    vec![
        ("StateMachineMembers", schema_for!(StateMachineMembers)),
        ("PhaseInput", schema_for!(PhaseInput)),
        ("GateResult", schema_for!(GateResult)),
        ("AssertOutcome", schema_for!(AssertOutcome)),
        ("NextResult", schema_for!(NextResult)),
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
