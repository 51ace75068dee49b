//! What happened since the last snapshot, record by record.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// One record of a session.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct JournalRecord {
    /// Its place. Core numbers the records of a session, and every one is above the one before.
    pub seq: u64,
    /// What it says; no store looks into it.
    pub record: Value,
}

/// Records to add, all or none.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct JournalBatch {
    /// In order, each above the last one stored.
    pub records: Vec<JournalRecord>,
    /// How safe they have to be when the call returns.
    #[serde(default)]
    pub durability: Durability,
}

/// How safe a record is.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Durability {
    /// Out of the process: it survives the end of stud, however sudden.
    #[default]
    Written,
    /// On the disk: it survives the loss of power.
    Synced,
}

/// Some records of a session, in order.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct JournalPage {
    /// The records.
    pub records: Vec<JournalRecord>,
    /// Where the next page begins (its `afterSeq`); absent on the last one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_after_seq: Option<u64>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn batches_and_pages_keep_their_names() {
        let records = json!([{"seq": 4, "record": {"kind": "note"}}, {"seq": 7, "record": null}]);
        let json = json!({"records": records, "durability": "synced"});
        let batch: JournalBatch = serde_json::from_value(json.clone()).unwrap();
        assert_eq!(batch.durability, Durability::Synced);
        assert_eq!(serde_json::to_value(batch).unwrap(), json);

        let json = json!({"records": records, "nextAfterSeq": 7});
        let page: JournalPage = serde_json::from_value(json.clone()).unwrap();
        assert_eq!(serde_json::to_value(page).unwrap(), json);
        assert_eq!(
            serde_json::to_value(JournalPage::default()).unwrap(),
            json!({"records": []})
        );
    }

    #[test]
    fn records_are_written_unless_they_have_to_be_synced() {
        let batch: JournalBatch = serde_json::from_value(json!({"records": []})).unwrap();
        assert_eq!(batch.durability, Durability::Written);
        assert_eq!(
            serde_json::to_value(Durability::Written).unwrap(),
            "written"
        );
        assert!(Durability::Written < Durability::Synced);
    }
}
