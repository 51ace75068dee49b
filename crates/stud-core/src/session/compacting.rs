//! Putting a summary in the place of what was said, on record.

use serde::{Deserialize, Serialize};
use stud_contract_meta::Result;
use stud_contract_session_store::Durability;

use super::Session;
use crate::ledger::{Draft, closed};
use crate::sync::{lock, promise};

/// What took the place of what. This is the payload of the record `compaction`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Compaction {
    /// What the model is told instead.
    pub(crate) summary: String,
    /// The pieces that were summarized, oldest first.
    #[serde(default)]
    pub(crate) segments: Vec<Segment>,
    /// The last message that was replaced, with all before it.
    pub(crate) through: String,
    /// Those before it that stayed.
    #[serde(default)]
    pub(crate) kept: Vec<String>,
    /// What the conversation took up before.
    #[serde(default)]
    pub(crate) original_tokens: u64,
    /// What it takes up since.
    #[serde(default)]
    pub(crate) compacted_tokens: u64,
}

/// A piece of the conversation that was summarized in one go.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Segment {
    /// The turns it is from.
    pub(crate) turn_ids: Vec<String>,
    /// How many messages it has.
    pub(crate) messages: u64,
    /// What they took up.
    pub(crate) tokens: u64,
}

impl Session {
    /// Puts a compaction on record; the conversation is the shorter one as soon as the record is written.
    pub(crate) async fn condense(
        &self,
        compaction: Compaction,
        correlation_id: &str,
    ) -> Result<u64> {
        let session = self.this.upgrade().ok_or_else(closed)?;
        let draft = Draft {
            kind: "compaction",
            correlation_id: Some(correlation_id.to_owned()),
            ext_id: None,
            payload: serde_json::to_value(&compaction).unwrap_or_default(),
        };
        let (done, result) = promise();
        let written = move |written: Result<u64>| {
            if let Ok(seq) = &written {
                lock(&session.conversation).condense(&compaction, *seq);
                // The last snapshot is of another conversation, so the next turn's end is worth one.
                session.forget_saved();
            }
            done.keep(written);
        };
        let ledger = &self.books.ledger;
        ledger.commit(vec![draft], Durability::Written, written);
        result.await.unwrap_or_else(|| Err(closed()))
    }
}
