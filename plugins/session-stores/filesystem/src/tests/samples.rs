//! Sessions to store.

use stud_sdk::host::session::SecurityMode;
use stud_sdk::session_store::{
    Durability, JournalBatch, JournalRecord, Page, SessionManifest, SlotBlob, SmState, Stored,
};
use stud_sdk::{Value, json};

use crate::STORE_ID;
use crate::store::Store;

pub(crate) const SESSION: &str = "0198c0de-0000-7000-8000-000000000001";

/// The record with this number; some are long.
pub(crate) fn record(seq: u64) -> Value {
    let length = usize::try_from(seq * 37 % 90).unwrap();
    let length = if seq % 11 == 5 { 400 } else { length };
    let ratio = 0.1 + 1.0 / f64::from(u32::try_from(seq).unwrap() + 3);
    json!({"kind": "note", "text": "é\n".repeat(length / 3), "seq": seq, "ratio": ratio})
}

pub(crate) fn batch(seqs: impl IntoIterator<Item = u64>, durability: Durability) -> JournalBatch {
    let records = seqs.into_iter().map(|seq| JournalRecord {
        seq,
        record: record(seq),
    });
    JournalBatch {
        records: records.collect(),
        durability,
    }
}

pub(crate) fn written(seqs: impl IntoIterator<Item = u64>) -> JournalBatch {
    batch(seqs, Durability::Written)
}

pub(crate) fn synced(seqs: impl IntoIterator<Item = u64>) -> JournalBatch {
    batch(seqs, Durability::Synced)
}

/// One of many snapshots. Two in a row differ in their slots alone.
pub(crate) fn snapshot(number: u64) -> Stored {
    let turn = number / 2;
    let message = |index: u64| {
        let content = json!({"role": "user", "content": format!("message {index}"), "at": 1.5});
        content.as_object().cloned().unwrap_or_default()
    };
    let slot = |index: u64| SlotBlob {
        ext_id: format!("plugin-{index}"),
        slot_version: "1.0.0".to_owned(),
        payload: json!({"snapshot": number, "z": null, "a": [index]}),
    };
    Stored {
        manifest: SessionManifest {
            session_id: SESSION.to_owned(),
            project_root: "project/.stud".to_owned(),
            mode: SecurityMode::Ask,
            messages: (0..turn).map(message).collect(),
            sm_state: (turn % 2 == 1).then(|| SmState {
                sm_ext_id: "plugin-0".to_owned(),
                state_slot_ref: "plugin-0".to_owned(),
            }),
            store_id: STORE_ID.to_owned(),
            created_at: "2026-01-01T00:00:00.000Z".to_owned(),
            updated_at: format!("2026-01-01T00:00:{turn:02}.000Z"),
        },
        slots: (0..number % 3).map(slot).collect(),
        damage: Vec::new(),
    }
}

/// All records, a few at a time; every one is what was written under its number.
pub(crate) fn read_all(store: &Store) -> stud_sdk::Result<Vec<u64>> {
    let mut seqs = Vec::new();
    let mut page = Page {
        after_seq: None,
        limit: Some(3),
    };
    loop {
        let reply = store.read_journal(SESSION, page)?;
        assert!(reply.records.len() <= 3);
        for read in reply.records {
            assert!(
                seqs.last().is_none_or(|last| *last < read.seq),
                "{seqs:?} {}",
                read.seq
            );
            assert_eq!(read.record, record(read.seq));
            seqs.push(read.seq);
        }
        if reply.next_after_seq.is_none() {
            return Ok(seqs);
        }
        assert_eq!(reply.next_after_seq, seqs.last().copied());
        page.after_seq = reply.next_after_seq;
    }
}
