//! Snapshots: a session as a whole, written at the end of a turn.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use stud_contract_meta::Result;
use stud_contract_session_store::{Durability, SessionManifest, SlotBlob, Stored};
use stud_host_api::events::BudgetSite;

use super::attachment::WorkflowProgress;
use super::conversation::SNAPSHOT_BUDGET;
use super::message::Kept;
use super::{Facts, Input, Session};
use crate::audit::LIFECYCLE;
use crate::executor;
use crate::fault_injection::{Fault, planted};
use crate::ledger::{OpenRecords, closed};
use crate::platform;
use crate::sync::{lock, promise};

/// The slot in which core keeps what the slim manifest has no place for. No plugin can have this id.
pub(super) const CORE_SLOT: &str = "stud/core";

/// A snapshot is written at every turn's end until it weighs this much. Beyond, the journal has to grow by as much as
/// the snapshot weighs before it is worth another one.
const ALWAYS_BELOW: usize = 256 << 10;

/// What the last snapshot knew.
#[derive(Debug, Default)]
pub(super) struct Saved {
    /// The weight of the conversation.
    bytes: usize,
    /// The last record it knew of.
    through_seq: Option<u64>,
}

/// A session between two records: with every consequence of those before, and with none of those after.
struct Cut {
    /// How much the journal had grown since the snapshot before.
    grown: u64,
    core: CoreSlot,
    slots: Vec<SlotBlob>,
    messages: Vec<Arc<Kept>>,
}

/// What core keeps beside the manifest.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct CoreSlot {
    /// The last record that the snapshot knows of. What came later is in the journal.
    pub(super) through_seq: u64,
    pub(super) turn_count: u64,
    /// What was acknowledged and not taken up.
    pub(super) pending_inputs: Vec<Input>,
    /// What has begun and not ended, in case it never does.
    pub(super) loose_ends: OpenRecords,
    /// How far the workflow of the state machine has come.
    pub(super) workflow: WorkflowProgress,
}

impl Session {
    /// What a snapshot of the whole conversation would weigh.
    pub(super) fn snapshot_bytes(&self) -> usize {
        lock(&self.conversation).full_bytes()
    }

    /// The last snapshot is not worth comparing with any more.
    pub(super) fn forget_saved(&self) {
        lock(&self.saved).bytes = 0;
    }

    /// Writes a snapshot, if it is time for one. Gives whether the store has it.
    pub(super) async fn save(&self, however_small_the_gain: bool) -> Result<bool> {
        let (bytes, full) = {
            let conversation = lock(&self.conversation);
            (conversation.bytes(), conversation.full_bytes())
        };
        let grown = {
            let mut saved = lock(&self.saved);
            let grown = full.saturating_sub(saved.bytes);
            let worth = however_small_the_gain
                || !self.store.journals()
                || bytes < ALWAYS_BELOW
                || grown >= bytes
                || self.growth.is_due();
            if !worth {
                return Ok(false);
            }
            saved.bytes = full;
            grown
        };
        if full > SNAPSHOT_BUDGET && grown > 0 {
            self.over_budget(BudgetSite::PreSave, full);
        }
        let cut = self.cut().await?;
        self.write(cut, self.lifecycle_facts("save"))
    }

    /// Writes a snapshot in the middle of a turn whose records have become so many that replaying them would take long.
    /// What it weighs is told at the end of the turn.
    pub(super) fn save_midway(&self) {
        let Some(session) = self.this.upgrade() else {
            return;
        };
        executor::spawn(move || {
            let saving = async {
                let cut = session.cut().await?;
                session.write(cut, session.lifecycle_facts("save"))
            };
            if let Err(error) = executor::block_on(saving) {
                let reason = "the session could not be saved in the middle of a turn";
                let correlation_id = session.correlation_id();
                session.books.suppress(reason, &correlation_id, &error);
            }
        });
    }

    /// Saves everything on request. The number of turns waited for is recorded.
    pub(crate) async fn save_and_say(&self, drained_turns: u64) -> Result<()> {
        let ledger = &self.books.ledger;
        ledger.append(Vec::new(), Durability::Synced).await?;
        let cut = self.cut().await?;
        let mut facts = self.lifecycle_facts("save");
        facts["drainedTurns"] = drained_turns.into();
        if !self.write(cut, facts.clone())? {
            // The store had all of it, and the record says so.
            facts["written"] = false.into();
            self.audit_lifecycle("save", facts);
        }
        Ok(())
    }

    /// Whether a snapshot was written.
    pub(super) fn is_saved(&self) -> bool {
        lock(&self.saved).through_seq.is_some()
    }

    /// Cuts where the ledger is, on its writer's thread: what records bring about happens there and nowhere else.
    async fn cut(&self) -> Result<Cut> {
        let session = self.this.upgrade().ok_or_else(closed)?;
        let (done, cut) = promise();
        let then = move |written: Result<u64>| done.keep(written.map(|seq| session.at(seq)));
        let ledger = &self.books.ledger;
        ledger.commit(Vec::new(), Durability::Written, then);
        cut.await.unwrap_or_else(|| Err(closed()))
    }

    fn at(&self, through_seq: u64) -> Cut {
        let ahead = planted(Fault::SnapshotAhead).then(|| self.books.ledger.last_seq());
        Cut {
            grown: self.growth.since_snapshot(),
            core: CoreSlot {
                through_seq: ahead.unwrap_or(through_seq),
                turn_count: lock(&self.progress).turn_count,
                pending_inputs: self.inputs.waiting(),
                loose_ends: self.books.ledger.loose_ends(),
                workflow: self.attachment.record().progress,
            },
            slots: self.slots.all(),
            messages: lock(&self.conversation).history(),
        }
    }

    /// Hands a snapshot to the store, unless this one or a later one is there. Gives whether it did.
    ///
    /// The facts are on record before it does, and once more if the store does not take it.
    fn write(&self, cut: Cut, facts: Value) -> Result<bool> {
        let mut saved = lock(&self.saved);
        let through_seq = Some(cut.core.through_seq);
        if through_seq <= saved.through_seq {
            return Ok(false);
        }
        self.audit_lifecycle("save", facts.clone());
        let grown = cut.grown;
        if let Err(error) = self.store.write(&self.stored(cut)) {
            let correlation_id = self.correlation_id();
            let books = &self.books;
            books.audit_failed(LIFECYCLE, Some("save"), &correlation_id, facts, &error);
            return Err(error);
        }
        saved.through_seq = through_seq;
        self.growth.covered(grown);
        Ok(true)
    }

    fn stored(&self, cut: Cut) -> Stored {
        let Cut {
            core,
            slots,
            messages,
            ..
        } = cut;
        let mut messages: Vec<_> = messages.iter().map(|kept| kept.message().clone()).collect();
        for message in &mut messages {
            for value in message.values_mut() {
                self.books.redactor.redact(value);
            }
        }
        let facts = Facts {
            machine: self.machine_on_record(),
            ..self.facts.clone()
        };
        let mut stored = stored(&facts, self.store.store_id(), core, slots, messages);
        // Inputs that wait have secrets as messages do. What plugins keep was looked through when they kept it.
        let own = stored
            .slots
            .iter_mut()
            .filter(|slot| slot.ext_id == CORE_SLOT);
        for slot in own {
            self.books.redactor.redact(&mut slot.payload);
        }
        stored
    }
}

/// A session as a store keeps it.
pub(super) fn stored(
    facts: &Facts,
    store_id: &str,
    core: CoreSlot,
    mut slots: Vec<SlotBlob>,
    messages: Vec<Map<String, Value>>,
) -> Stored {
    slots.push(SlotBlob {
        ext_id: CORE_SLOT.to_owned(),
        slot_version: "1.0.0".to_owned(),
        payload: serde_json::to_value(core).unwrap_or_default(),
    });
    let manifest = SessionManifest {
        session_id: facts.session_id.clone(),
        project_root: facts.project_root.display().to_string(),
        mode: facts.mode,
        messages,
        sm_state: facts.machine.clone(),
        store_id: store_id.to_owned(),
        created_at: facts.created_at.clone(),
        updated_at: platform::rfc3339(platform::now()),
    };
    Stored {
        manifest,
        slots,
        damage: Vec::new(),
    }
}
