//! What is known of a session before it is opened: its last snapshot, and what its journal has since.

use serde::Serialize;
use serde_json::{Map, Value};
use stud_contract_meta::{Error, Result};
use stud_contract_session_store::{Damage, DamagedPart, Page, SlotBlob, SmState, Stored};
use stud_diagnostics::{Diagnostic, codes};
use stud_host_api::session::TranscriptRecord;

use super::attachment::NO_SLOT;
use super::attachment::{ENTERED, WORKFLOW, WorkflowProgress, WorkflowRecord};
use super::config::SessionConfig;
use super::conversation::Conversation;
use super::damage;
use super::inputs::goes_first;
use super::journal_growth::size;
use super::snapshot::{CORE_SLOT, CoreSlot};
use super::{Facts, Input};
use crate::ledger::{OpenRecords, transcript_record};
use crate::platform;
use crate::store::Store;

/// When a session was last known to be written, as far as its store can tell, and why it is not this store's if it is
/// another's. Nothing for one that cannot be read.
pub(crate) fn last_written(id: &str, store: &dyn Store) -> Option<(String, Option<Error>)> {
    match store.read(id) {
        Ok(Stored { manifest, .. }) => {
            let foreign = foreign(&manifest.store_id, store.store_id());
            Some((manifest.updated_at, foreign))
        }
        Err(error) if has_no_snapshot(&error) => {
            let past = ResumedState::of_first_record(id, store).ok()??;
            Some((past.facts.created_at, None))
        }
        Err(error) if error.code() == codes::RESUME_MISMATCH.name => {
            // A store that does not say when counts as having written first.
            let at = error.context().get("updatedAt").and_then(Value::as_str);
            Some((at.unwrap_or_default().to_owned(), Some(error)))
        }
        Err(_) => None,
    }
}

/// `Session/ResumeMismatch`, if a session was written by another store than the active one.
fn foreign(written_by: &str, active: &str) -> Option<Error> {
    if written_by == active {
        return None;
    }
    let code = &codes::RESUME_MISMATCH;
    let message =
        format!("the session was written by the store `{written_by}`, and `{active}` is active");
    let error = Error::new(code.class, code.name, message);
    Some(
        error
            .with("manifestStoreId", written_by)
            .with("activeStoreId", active),
    )
}

/// A session that the store has, at a glance.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SessionSummary {
    pub(crate) id: String,
    pub(crate) created_at: String,
    /// When it was last written, as far as the store can tell.
    pub(crate) updated_at: String,
    /// How the first thing that was said begins.
    pub(crate) first_words: String,
    /// How many messages the conversation has.
    pub(crate) message_count: usize,
}

impl SessionSummary {
    /// Looks at a session without opening it.
    pub(crate) fn of(id: &str, store: &dyn Store) -> Result<Self> {
        /// More would not fit a line.
        const WORDS: usize = 60;
        let snapshot = store.read(id).ok();
        let past = ResumedState::of(id, store)?;
        let messages = past.conversation.messages();
        let said = messages
            .iter()
            .filter(|message| message.get("role").is_some_and(|role| role == "user"))
            .find_map(|message| message.get("content")?.as_str())
            .or_else(|| past.inputs.first().map(|input| input.text.as_str()))
            .unwrap_or_default();
        let mut words: String = said.split_whitespace().collect::<Vec<_>>().join(" ");
        if let Some((cut, _)) = words.char_indices().nth(WORDS) {
            words.truncate(cut);
            words.push('…');
        }
        let created_at = past.facts.created_at;
        Ok(Self {
            id: id.to_owned(),
            updated_at: snapshot.map_or_else(
                || created_at.clone(),
                |snapshot| snapshot.manifest.updated_at,
            ),
            created_at,
            first_words: words,
            message_count: messages.len(),
        })
    }
}

/// What is known of a session before it is opened.
pub(super) struct ResumedState {
    pub(super) facts: Facts,
    /// When something last happened, as far as is known.
    pub(super) updated_at: String,
    pub(super) last_seq: u64,
    pub(super) turn_count: u64,
    pub(super) conversation: Conversation,
    pub(super) inputs: Vec<Input>,
    pub(super) slots: Vec<SlotBlob>,
    pub(super) loose_ends: OpenRecords,
    /// How far the workflow of its state machine has come.
    pub(super) workflow: WorkflowProgress,
    /// The last turn that ended since the last snapshot. Its end may be in the journal and not in the audit trail.
    pub(super) unsaved_turn: Option<String>,
    /// How much of the journal came after the snapshot.
    pub(super) replayed_bytes: u64,
    /// What of the session is not what was written. What is here is the rest.
    pub(super) damage: Vec<Diagnostic>,
}

impl ResumedState {
    /// Of a session that begins now.
    pub(super) fn none(config: &SessionConfig, session_id: String) -> Self {
        Self::blank(Facts {
            session_id,
            project_root: config.project_root.clone(),
            mode: config.mode,
            created_at: platform::rfc3339(platform::now()),
            machine: None,
        })
    }

    fn blank(facts: Facts) -> Self {
        Self {
            updated_at: facts.created_at.clone(),
            facts,
            last_seq: 0,
            turn_count: 0,
            conversation: Conversation::default(),
            inputs: Vec::new(),
            slots: Vec::new(),
            loose_ends: OpenRecords::default(),
            workflow: WorkflowProgress::default(),
            unsaved_turn: None,
            replayed_bytes: 0,
            damage: Vec::new(),
        }
    }

    /// The last snapshot, and what the journal has since.
    pub(super) fn of(id: &str, store: &dyn Store) -> Result<Self> {
        let stored = match store.read(id) {
            Ok(stored) => stored,
            // A session that ended before its first snapshot has only its journal.
            Err(error) if has_no_snapshot(&error) => {
                let mut past = Self::of_first_record(id, store)?.ok_or(error)?;
                past.replay(store)?;
                return Ok(past);
            }
            Err(error) => return Err(error),
        };
        let found = stored.damage.clone();
        let past = Self::of_snapshot(stored, store.store_id())?;
        if !store.journals() {
            return Ok(past);
        }
        damage::check_owner(&past.facts, store)?;
        if found.iter().any(|found| found.part == DamagedPart::State) {
            return past.rebuilt(store);
        }
        let mut past = past;
        let is_told = found.iter().any(|found| found.part == DamagedPart::Journal);
        let lost = past.replay(store)?;
        // The store says more about the same.
        past.damage.extend(lost.filter(|_| !is_told));
        Ok(past)
    }

    /// What a session is without asking what was said in it.
    pub(super) fn facts_of(id: &str, store: &dyn Store) -> Result<Facts> {
        match store.read(id) {
            Ok(stored) => Ok(Self::of_snapshot(stored, store.store_id())?.facts),
            Err(error) if has_no_snapshot(&error) => {
                Ok(Self::of_first_record(id, store)?.ok_or(error)?.facts)
            }
            Err(error) => Err(error),
        }
    }

    /// The same from the journal alone, where the state of the snapshot cannot be used. If the journal does not reach as
    /// far as the conversation of the snapshot, that is the better one.
    fn rebuilt(self, store: &dyn Store) -> Result<Self> {
        let said = self.conversation.messages();
        let newest = said.iter().filter_map(seq_of).max().unwrap_or_default();
        let Some(mut past) = Self::of_first_record(&self.facts.session_id, store)? else {
            let last_seq = newest.max(self.last_seq);
            return Ok(Self { last_seq, ..self });
        };
        let lost = past.replay(store)?;
        past.facts = self.facts;
        past.damage = self.damage;
        past.damage.extend(lost);
        if past.last_seq < newest {
            let id = &past.facts.session_id;
            past.damage
                .push(damage::missing(id, past.last_seq + 1, newest));
            past.conversation = self.conversation;
            past.last_seq = newest;
        }
        Ok(past)
    }

    fn of_snapshot(stored: Stored, store_id: &str) -> Result<Self> {
        let Stored {
            manifest,
            slots,
            damage,
        } = stored;
        if let Some(foreign) = foreign(&manifest.store_id, store_id) {
            return Err(foreign);
        }
        let told = |damage: Damage| damage::told(&manifest.session_id, damage);
        let damage = damage.into_iter().map(told).collect();
        let (core, slots): (Vec<_>, Vec<_>) =
            slots.into_iter().partition(|slot| slot.ext_id == CORE_SLOT);
        let core = core.into_iter().next().map(|slot| slot.payload);
        let core: CoreSlot = core
            .and_then(|core| serde_json::from_value(core).ok())
            .unwrap_or_default();
        Ok(Self {
            facts: Facts {
                session_id: manifest.session_id,
                project_root: manifest.project_root.into(),
                mode: manifest.mode,
                created_at: manifest.created_at,
                machine: manifest.sm_state,
            },
            updated_at: manifest.updated_at,
            last_seq: core.through_seq,
            turn_count: core.turn_count,
            conversation: Conversation::of(manifest.messages),
            inputs: core.pending_inputs,
            slots,
            loose_ends: core.loose_ends,
            workflow: core.workflow,
            unsaved_turn: None,
            replayed_bytes: 0,
            damage,
        })
    }

    pub(super) fn of_first_record(id: &str, store: &dyn Store) -> Result<Option<Self>> {
        if !store.journals() {
            return Ok(None);
        }
        let first = Page {
            after_seq: None,
            limit: Some(1),
        };
        let page = store.read_journal(id, first)?;
        let first = page.records.into_iter().next().map(transcript_record);
        // What begins with another record has lost its beginning, and with it what the session is.
        let Some(start) = first.filter(|first| first.kind == "session_start") else {
            return Ok(None);
        };
        let text = |member: &str| {
            start.payload[member]
                .as_str()
                .unwrap_or_default()
                .to_owned()
        };
        let facts = Facts {
            session_id: id.to_owned(),
            project_root: text("projectRoot").into(),
            mode: serde_json::from_value(start.payload["mode"].clone()).unwrap_or_default(),
            created_at: text("createdAt"),
            machine: None,
        };
        Ok(Some(Self::blank(facts)))
    }

    /// Takes in what the journal has since the snapshot, and says what it should have and does not.
    fn replay(&mut self, store: &dyn Store) -> Result<Option<Diagnostic>> {
        // The last record of the snapshot is read again, to see that it is there.
        let through = self.last_seq;
        let mut expected = through.max(1);
        let mut lost = None;
        let mut after = Some(through.saturating_sub(1));
        while let Some(after_seq) = after {
            let page = store.read_journal(
                &self.facts.session_id,
                Page {
                    after_seq: Some(after_seq),
                    limit: Some(1000),
                },
            )?;
            for record in page.records {
                if record.seq > expected {
                    let id = &self.facts.session_id;
                    lost.get_or_insert_with(|| damage::missing(id, expected, record.seq - 1));
                }
                expected = record.seq + 1;
                if record.seq > through {
                    self.replayed_bytes += size(&record.record);
                    self.take(transcript_record(record));
                }
            }
            after = page.next_after_seq;
        }
        if through > 0 && expected <= through {
            let id = &self.facts.session_id;
            lost.get_or_insert_with(|| damage::missing(id, expected, through));
        }
        Ok(lost)
    }

    /// What one record adds to what is known.
    pub(super) fn take(&mut self, record: TranscriptRecord) {
        self.last_seq = record.seq;
        self.updated_at.clone_from(&record.timestamp);
        let ext_id = record.ext_id.as_deref();
        self.loose_ends.take(&record.kind, ext_id, &record.payload);
        let TranscriptRecord { seq, payload, .. } = record;
        let turn_id = record.correlation_id.as_deref();
        let text = |member: &str| payload[member].as_str().unwrap_or_default().to_owned();
        match record.kind.as_str() {
            "user_input" if self.inputs.iter().all(|input| input.seq != seq) => {
                let input = Input {
                    seq,
                    ext_id: record.ext_id.unwrap_or_default(),
                    text: text("text"),
                    caused_by: payload["origin"]["interactionId"]
                        .as_str()
                        .map(str::to_owned),
                };
                if goes_first(&payload) {
                    self.inputs.insert(0, input);
                } else {
                    self.inputs.push(input);
                }
            }
            "turn_start" => self.take_turn(payload["inputSeq"].as_u64(), turn_id),
            "turn_end" => self.unsaved_turn = turn_id.map(str::to_owned),
            WORKFLOW => {
                // One that cannot be read was written by a later version, and the one before it holds.
                if let Ok(record) = serde_json::from_value::<WorkflowRecord>(payload) {
                    self.facts.machine = record.sm_id.map(|id| SmState {
                        sm_ext_id: id,
                        state_slot_ref: NO_SLOT.to_owned(),
                    });
                    self.workflow = record.progress;
                }
            }
            ENTERED => {
                if let WorkflowProgress::Running(walk) = &mut self.workflow {
                    let entered = payload.get("stages").cloned().unwrap_or_default();
                    walk.entered = serde_json::from_value(entered).unwrap_or_default();
                }
            }
            "workflow_message" => {
                let content = payload.get("content").cloned().unwrap_or_default();
                self.conversation.say(&text("role"), content, seq, turn_id);
            }
            // What is said in a stage of a state machine is not part of the conversation.
            "assistant_message" | "tool_result" if payload.get("stage").is_some() => {}
            "user_message" => {
                let (input, text) = (payload["inputSeq"].as_u64(), payload["text"].as_str());
                self.conversation.revise(input.unwrap_or_default(), text);
            }
            "assistant_message" => self.conversation.say("assistant", payload, seq, turn_id),
            "tool_result" => self.conversation.say("tool", payload, seq, turn_id),
            "compaction" => {
                // One that cannot be read replaced nothing, and the conversation is whole.
                if let Ok(compaction) = serde_json::from_value(payload) {
                    self.conversation.condense(&compaction, seq);
                }
            }
            "slot" => {
                let blob = SlotBlob {
                    ext_id: record.ext_id.unwrap_or_default(),
                    slot_version: text("slotVersion"),
                    payload: payload.get("data").cloned().unwrap_or(Value::Null),
                };
                self.slots.retain(|slot| slot.ext_id != blob.ext_id);
                self.slots.push(blob);
            }
            _ => {}
        }
    }

    fn take_turn(&mut self, input: Option<u64>, turn_id: Option<&str>) {
        self.turn_count += 1;
        let place = self
            .inputs
            .iter()
            .position(|waiting| Some(waiting.seq) == input);
        if let Some(place) = place {
            let input = self.inputs.remove(place);
            self.conversation
                .say("user", input.text.into(), input.seq, turn_id);
        }
    }
}

/// The record that a message was said in.
fn seq_of(message: &Map<String, Value>) -> Option<u64> {
    message.get("monotonicTs")?.as_str()?.parse().ok()
}

/// Whether the store has no snapshot, rather than one that cannot be used.
fn has_no_snapshot(error: &Error) -> bool {
    error.code() == codes::STORE_UNAVAILABLE.name
        || error.context().get("missing") == Some(&true.into())
}
