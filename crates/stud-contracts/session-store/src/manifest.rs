//! What a session-store plugin adds to its manifest.

use std::ops::Not;

use serde::{Deserialize, Serialize};

/// The members of a manifest that belong to this category.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct SessionStoreMembers {
    /// What the store is called in everything it writes; never changed once released.
    pub store_id: String,
    /// What it can do.
    pub capabilities: StoreCapabilities,
}

/// What a store can do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a capability of its own, and a field of its own in the manifest"
)]
pub struct StoreCapabilities {
    /// Whether it keeps a journal between snapshots: `append` and `readJournal`.
    pub journaling: bool,
    /// How many bytes a snapshot may have.
    pub snapshot_bytes_limit: u64,
    /// Whether a state slot may be larger than fits into one message.
    pub large_slot_streaming: bool,
    /// Whether several processes may read a session while one writes it.
    pub concurrent_readers: bool,
    /// Whether it removes sessions: `remove`; since 1.1.
    #[serde(default, skip_serializing_if = "Not::not")]
    pub removal: bool,
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn members_keep_their_names() {
        let json = json!({
            "storeId": "filesystem",
            "capabilities": {
                "journaling": true,
                "snapshotBytesLimit": 1_048_576,
                "largeSlotStreaming": false,
                "concurrentReaders": true,
            },
        });
        let members: SessionStoreMembers = serde_json::from_value(json.clone()).unwrap();
        assert_eq!(members.capabilities.snapshot_bytes_limit, 1 << 20);
        assert_eq!(serde_json::to_value(members).unwrap(), json);
    }
}
