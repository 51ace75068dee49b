//! The JSON Schemas of the contract.

use schemars::{Schema, schema_for};
use stud_host_api::session::Page;

use crate::journal::{JournalBatch, JournalPage};
use crate::manifest::SessionStoreMembers;
use crate::session::Stored;

/// What crosses the boundary under this contract, by name.
pub fn schemas() -> Vec<(&'static str, Schema)> {
    vec![
        ("SessionStoreMembers", schema_for!(SessionStoreMembers)),
        ("Stored", schema_for!(Stored)),
        ("JournalBatch", schema_for!(JournalBatch)),
        ("Page", schema_for!(Page)),
        ("JournalPage", schema_for!(JournalPage)),
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
