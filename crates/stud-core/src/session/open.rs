//! Opening a session: a new one, or one that was left.

use std::path::PathBuf;
use std::sync::{Arc, Weak};
use std::time::Duration;

use serde_json::{Value, json};
use stud_contract_meta::{Error, Result};
use stud_contract_session_store::{Durability, Page, SlotBlob, Stored};
use stud_diagnostics::codes;
use stud_host_api::metrics::{DiagnosticItem, Level};
use stud_host_api::session::{SecurityMode, TranscriptRecord};

use super::inputs::Inputs;
use super::memory::{Conversation, SNAPSHOT_BUDGET};
use super::scopes::Scopes;
use super::slots::Slots;
use super::snapshot::{CORE_SLOT, CoreSlot};
use super::state::Progress;
use super::{Facts, Input, Session, State, Trigger};
use crate::audit::Trail;
use crate::books::Books;
use crate::commands::Commands;
use crate::desk::{Desk, Terms};
use crate::events::{Bus, Trouble};
use crate::ids;
use crate::ledger::{Draft, Ledger, LooseEnds, transcript_record};
use crate::limits::Limits;
use crate::metrics::Collector;
use crate::platform;
use crate::prompts::{Absence, Prompts};
use crate::redact::Redactor;
use crate::registry::Registry;
use crate::rules::Rules;
use crate::store::Store;
use crate::sync::{Mutex, lock};
use crate::timer::Timer;

/// What a session stands on.
pub struct Founding {
    /// Its project's `.stud` folder.
    pub project_root: PathBuf,
    /// How tool calls are gated; one that is resumed keeps its own.
    pub mode: SecurityMode,
    /// Where it is kept.
    pub store: Arc<dyn Store>,
    /// Where audit trails are kept, one folder for each session; none keeps none.
    pub trails: Option<PathBuf>,
    /// What must not be written down.
    pub redactor: Arc<Redactor>,
    /// What happens when nobody is there to ask.
    pub absence: Absence,
    /// How long a tool's prompt waits unless the tool says otherwise.
    pub tool_timeout: Duration,
    /// What holds in every turn.
    pub rules: Rules,
    /// How long plugins may take.
    pub limits: Limits,
    /// What the operator set for putting requests together.
    pub terms: Terms,
    /// The clock.
    pub timer: Arc<dyn Timer>,
    /// What it looks like from inside.
    pub metrics: Arc<Collector>,
}

/// Opens the session `resume`, or a new one.
pub fn open(founding: Founding, resume: Option<&str>) -> Result<Arc<Session>> {
    let past = match resume {
        Some(id) => Past::of(id, &*founding.store)?,
        None => Past::none(&founding),
    };
    let session = found(founding, past, resume.is_some())?;
    if resume.is_some() {
        session.resumed();
    }
    Ok(session)
}

/// When a session was last known to be written, as far as its store can tell.
pub(crate) fn last_written(id: &str, store: &dyn Store) -> Option<String> {
    match store.read(id) {
        Ok(stored) => Some(stored.manifest.updated_at),
        Err(error) if has_no_snapshot(&error) => {
            let past = Past::of_first_record(id, store).ok()??;
            Some(past.facts.created_at)
        }
        Err(_) => None,
    }
}

fn found(founding: Founding, past: Past, resumed: bool) -> Result<Arc<Session>> {
    let bus = Bus::new(founding.timer.clone(), founding.limits.clone());
    let facts = past.facts;
    let first = Draft {
        kind: "session_start",
        payload: json!({
            "projectRoot": facts.project_root,
            "mode": facts.mode,
            "createdAt": facts.created_at,
            "storeId": founding.store.store_id(),
        }),
        ..Draft::default()
    };
    let ledger = Ledger::new(
        &facts.session_id,
        past.last_seq,
        first,
        founding.store.clone(),
        founding.redactor.clone(),
        founding.timer.clone(),
    );
    let (trail, torn) = match &founding.trails {
        Some(trails) => {
            let folder = trails.join(&facts.session_id).join("audit");
            let opened = Trail::open(&folder, &facts.session_id, founding.redactor.clone())?;
            (Some(opened.trail), opened.dropped)
        }
        None => (None, None),
    };
    let books = Books::new(
        facts.session_id.clone(),
        ledger,
        bus,
        trail,
        founding.redactor,
    );
    let books = Arc::new(books);
    let commands = Commands::new(books.clone(), &founding.limits);
    let state = if resumed { State::Resumed } else { State::Idle };
    let session = Arc::new_cyclic(|this: &Weak<Session>| Session {
        facts,
        books,
        store: founding.store,
        desk: Desk::new(founding.terms),
        prompts: Prompts::new(founding.timer.clone(), founding.absence),
        timer: founding.timer,
        rules: founding.rules,
        metrics: founding.metrics,
        progress: Mutex::new(Progress {
            state,
            turn: None,
            turn_count: past.turn_count,
        }),
        inputs: Inputs::holding(past.inputs),
        slots: Slots::holding(past.slots),
        saved: Mutex::default(),
        conversation: Mutex::new(past.conversation),
        scopes: Scopes::new(),
        plugins: Mutex::new(Registry::default()),
        model: Mutex::default(),
        commands,
        prompt_registry: Arc::default(),
        resource_registry: Arc::default(),
        readers: Mutex::default(),
        tool_timeout: founding.tool_timeout,
        limits: founding.limits,
        loose_ends: past.loose_ends,
        this: this.clone(),
    });
    let troubled = Arc::downgrade(&session);
    session.books.bus.on_trouble(move |trouble| {
        if let Some(session) = troubled.upgrade() {
            session.troubled(trouble);
        }
    });
    if let Some(torn) = torn {
        session.report(&torn.warning());
    }
    if !resumed {
        session.lifecycle("start");
    }
    Ok(session)
}

impl Session {
    /// A subscriber fails or falls behind, which is known to everyone who looks.
    fn troubled(&self, trouble: &Trouble) {
        let payload = json!({"reason": trouble.message, "extId": trouble.ext_id});
        let correlation_id = &trouble.correlation_id;
        self.books
            .audit("SuppressedError", None, correlation_id, payload);
        self.diagnose(DiagnosticItem {
            at: platform::rfc3339(platform::now()),
            level: Level::Warn,
            source: trouble.ext_id.clone(),
            code: None,
            message: trouble.message.clone(),
        });
    }

    /// Ties up what the last process left, and tells that the session is back.
    fn resumed(&self) {
        let mut drafts = Vec::new();
        for id in &self.loose_ends.prompts {
            drafts.push(Draft {
                kind: "interaction_response",
                payload: json!({"interactionId": id, "outcome": "cancelled", "reason": "restarted"}),
                ..Draft::default()
            });
        }
        for (id, name) in &self.loose_ends.tool_calls {
            // It may have run or not. Nobody runs it again without asking.
            let content = json!({"ok": false, "unknown": true, "reason": "restarted"});
            let payload = json!({
                "toolCallId": id,
                "toolName": name,
                "content": content.to_string(),
                "unknown": true,
            });
            let last = self.books.ledger.last_seq();
            lock(&self.conversation).say("tool", payload.clone(), last, None);
            drafts.push(Draft {
                kind: "tool_result",
                payload,
                ..Draft::default()
            });
        }
        if !drafts.is_empty() {
            self.books
                .ledger
                .commit(drafts, Durability::Written, |_| {});
        }
        if self.snapshot_bytes() > SNAPSHOT_BUDGET {
            let payload = json!({
                "site": "pre-hydration",
                "actualBytes": self.snapshot_bytes(),
                "thresholdBytes": SNAPSHOT_BUDGET,
                "recommendation": "/compact",
            });
            self.publish_state("ManifestSizeBudgetExceeded", &payload);
        }
        self.lifecycle("resume");
    }

    /// Tells subscribers that the session is back; they join after it is opened.
    pub fn announce_resume(&self) {
        let payload = json!({
            "from": State::Closed.as_str(),
            "to": State::Resumed.as_str(),
            "trigger": Trigger::Resume.as_str(),
        });
        self.publish_state("SessionResumed", &payload);
    }
}

/// What is known of a session before it is opened.
struct Past {
    facts: Facts,
    last_seq: u64,
    turn_count: u64,
    conversation: Conversation,
    inputs: Vec<Input>,
    slots: Vec<SlotBlob>,
    loose_ends: LooseEnds,
}

impl Past {
    fn none(founding: &Founding) -> Self {
        Self::blank(Facts {
            session_id: ids::fresh(),
            project_root: founding.project_root.clone(),
            mode: founding.mode,
            created_at: platform::rfc3339(platform::now()),
        })
    }

    fn blank(facts: Facts) -> Self {
        Self {
            facts,
            last_seq: 0,
            turn_count: 0,
            conversation: Conversation::default(),
            inputs: Vec::new(),
            slots: Vec::new(),
            loose_ends: LooseEnds::default(),
        }
    }

    /// The last snapshot, and what the journal has since.
    fn of(id: &str, store: &dyn Store) -> Result<Self> {
        let mut past = match store.read(id) {
            Ok(stored) => Self::of_snapshot(stored, store.store_id())?,
            // A session that ended before its first snapshot has only its journal.
            Err(error) if has_no_snapshot(&error) => {
                Self::of_first_record(id, store)?.ok_or(error)?
            }
            Err(error) => return Err(error),
        };
        if store.journals() {
            past.replay(store)?;
        }
        Ok(past)
    }

    fn of_snapshot(stored: Stored, store_id: &str) -> Result<Self> {
        let Stored { manifest, slots } = stored;
        if manifest.store_id != store_id {
            let code = &codes::RESUME_MISMATCH;
            let message = format!(
                "the session was written by the store `{}`, and `{store_id}` is active",
                manifest.store_id
            );
            return Err(Error::new(code.class, code.name, message)
                .with("manifestStoreId", manifest.store_id)
                .with("activeStoreId", store_id));
        }
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
            },
            last_seq: core.through_seq,
            turn_count: core.turn_count,
            conversation: Conversation::of(manifest.messages),
            inputs: core.pending_inputs,
            slots,
            loose_ends: core.loose_ends,
        })
    }

    fn of_first_record(id: &str, store: &dyn Store) -> Result<Option<Self>> {
        if !store.journals() {
            return Ok(None);
        }
        let first = Page {
            after_seq: None,
            limit: Some(1),
        };
        let page = store.read_journal(id, first)?;
        let Some(start) = page.records.into_iter().next().map(transcript_record) else {
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
        };
        Ok(Some(Self::blank(facts)))
    }

    fn replay(&mut self, store: &dyn Store) -> Result<()> {
        let mut after = Some(self.last_seq);
        while let Some(after_seq) = after {
            let page = store.read_journal(
                &self.facts.session_id,
                Page {
                    after_seq: Some(after_seq),
                    limit: Some(1000),
                },
            )?;
            for record in page.records {
                self.take(transcript_record(record));
            }
            after = page.next_after_seq;
        }
        Ok(())
    }

    /// What one record adds to what is known.
    fn take(&mut self, record: TranscriptRecord) {
        self.last_seq = record.seq;
        self.loose_ends.take(&record.kind, &record.payload);
        let TranscriptRecord { seq, payload, .. } = record;
        let turn_id = record.correlation_id.as_deref();
        let text = |member: &str| payload[member].as_str().unwrap_or_default().to_owned();
        match record.kind.as_str() {
            "user_input" if self.inputs.iter().all(|input| input.seq != seq) => {
                self.inputs.push(Input {
                    seq,
                    ext_id: record.ext_id.unwrap_or_default(),
                    text: text("text"),
                });
            }
            "turn_start" => self.take_turn(payload["inputSeq"].as_u64(), turn_id),
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

/// Whether the store has no snapshot, rather than one that cannot be used.
fn has_no_snapshot(error: &Error) -> bool {
    error.code() == codes::STORE_UNAVAILABLE.name
        || error.context().get("missing") == Some(&true.into())
}

impl std::fmt::Debug for Founding {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Founding")
            .field("project_root", &self.project_root)
            .finish_non_exhaustive()
    }
}
