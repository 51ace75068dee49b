//! The JSON Schemas of the contract.

use schemars::{Schema, schema_for};

use crate::manifest::HookMembers;
use crate::verdict::Verdict;

/// What crosses the boundary under this contract, by name.
pub fn schemas() -> Vec<(&'static str, Schema)> {
    vec![
        ("HookMembers", schema_for!(HookMembers)),
        ("Verdict", schema_for!(Verdict)),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Slot;

    #[test]
    fn every_slot_is_in_the_schema_of_the_members() {
        let text = serde_json::to_string(&schema_for!(HookMembers)).unwrap();
        for slot in Slot::ALL {
            assert!(text.contains(&format!("\"{slot}\"")), "{slot}");
        }
    }

    #[test]
    fn every_schema_says_what_it_is() {
        for (name, schema) in schemas() {
            assert!(schema.get("description").is_some(), "{name}");
        }
    }
}
