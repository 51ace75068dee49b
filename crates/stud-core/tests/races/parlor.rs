//! A whole session in a model, and how it looks when it is opened again.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use shuttle::thread::{self, JoinHandle};
use stud_contract_session_store::Durability;
use stud_core::events::Service;
use stud_core::executor::block_on;
use stud_core::interactions::Absence;
use stud_core::limits::Limits;
use stud_core::params::Params;
use stud_core::redact::Redactor;
use stud_core::request_state::Terms;
use stud_core::runtime_snapshot::Collector;
use stud_core::session::{self, Ending, Input, SecurityMode, Session, SessionConfig};
use stud_core::turn_policy::TurnPolicy;
use stud_host_api::metrics::RuntimeSnapshot;
use stud_host_api::session::{Page, TranscriptRecord};

use crate::clock::Clock;
use crate::people::{Move, Person};
use crate::shelf::StoredSessions;
use crate::witness::{Witness, without_gaps};

/// A session, its store, and a subscriber.
pub(crate) struct Parlor {
    pub(crate) session: Arc<Session>,
    pub(crate) shelf: Arc<StoredSessions>,
    pub(crate) witness: Arc<Witness>,
}

fn config(shelf: &Arc<StoredSessions>) -> SessionConfig {
    let clock = Clock::silent();
    SessionConfig {
        mcp: None,
        project_root: PathBuf::from("project/.stud"),
        mode: SecurityMode::default(),
        store: shelf.clone(),
        trails: None,
        index: None,
        redactor: Arc::new(Redactor::new()),
        absence: Absence::default(),
        rules: TurnPolicy::default(),
        provider: None,
        model: None,
        params: Params::default(),
        tool_timeout: Duration::from_secs(300),
        most_reprompts: 10,
        limits: Limits::default(),
        terms: Terms::default(),
        timer: clock.clone(),
        metrics: Collector::new(RuntimeSnapshot::default(), clock, Duration::from_millis(50)),
    }
}

impl Parlor {
    pub(crate) fn new(shelf: &Arc<StoredSessions>) -> Self {
        let session = session::open(config(shelf), None).unwrap();
        let witness = Witness::of(&session.books().bus, "eve", Service::Shared);
        Self {
            session,
            shelf: shelf.clone(),
            witness,
        }
    }

    /// An interactor that is attached from now on.
    pub(crate) fn seat(&self, id: &'static str, moves: &[Move]) -> Arc<Person> {
        let (prompts, bus) = (self.session.prompts(), &self.session.books().bus);
        let person = Person::new(id, moves, prompts, bus, &self.shelf);
        prompts.join(person.clone());
        person
    }

    /// Says something, on a thread of its own. Gives the number it was acknowledged with.
    pub(crate) fn say(&self, text: &'static str) -> JoinHandle<Option<u64>> {
        let (session, shelf) = (self.session.clone(), self.shelf.clone());
        thread::spawn(move || {
            let seq = block_on(session.submit("ui", text.to_owned())).ok()?;
            let journal = shelf.journal(session.id());
            let kept = journal.iter().find(|record| record.seq == seq);
            let kept = kept.expect("what is acknowledged is on record");
            assert_eq!(
                (kept.kind.as_str(), &kept.payload["text"]),
                ("user_input", &json!(text))
            );
            assert!(
                shelf.is_safe(session.id(), seq),
                "what is acknowledged is on the disk"
            );
            Some(seq)
        })
    }

    /// Answers what is said, one turn after the other, until the session ends. Gives the inputs that had their turn.
    pub(crate) fn answer(&self) -> JoinHandle<Vec<u64>> {
        let session = self.session.clone();
        thread::spawn(move || {
            let mut answered = Vec::new();
            while let Some(input) = block_on(session.next_input()) {
                if !turn(&session, &input) {
                    break;
                }
                answered.push(input.seq);
            }
            answered
        })
    }

    /// Opens the session again from what its store has.
    pub(crate) fn reopen(&self) -> Reopened {
        reopen(&self.shelf, self.session.id())
    }

    /// What was heard, once everything has been.
    pub(crate) fn heard(&self) {
        let last = self.session.books().bus.last_seq();
        without_gaps(&self.witness.heard_through(last));
    }
}

/// Opens a session from what a store has, and compares it with what the journal tells.
pub(crate) fn reopen(shelf: &Arc<StoredSessions>, id: &str) -> Reopened {
    let again = session::open(config(shelf), Some(id)).unwrap();
    // What the last process left open is tied up first.
    block_on(again.books().ledger.append(Vec::new(), Durability::Written)).unwrap();
    let journal = shelf.journal(id);
    let turns = of_kind(&journal, "turn_start");
    let facts = Page {
        after_seq: None,
        limit: Some(0),
    };
    let view = again.view("ui", facts).unwrap();
    assert_eq!(
        view.turn_count,
        turns.count() as u64,
        "every turn is counted once"
    );
    let said: Vec<(Value, Value)> = again
        .conversation()
        .into_iter()
        .map(|mut message| (message["role"].take(), message["content"].take()))
        .collect();
    assert_eq!(said, conversation(&journal), "every message is there once");
    for (begin, end, name) in [
        (
            "interaction_request",
            "interaction_response",
            "interactionId",
        ),
        ("tool_call", "tool_result", "toolCallId"),
    ] {
        let ids = |kind| of_kind(&journal, kind).map(|record| record.payload[name].to_string());
        let begun: BTreeSet<String> = ids(begin).collect();
        let ended: Vec<String> = ids(end).collect();
        assert_eq!(ended.len(), begun.len(), "{begun:?} ended as {ended:?}");
        assert!(ended.iter().all(|id| begun.contains(id)));
    }
    again.end_of_input();
    let mut waiting = Vec::new();
    while let Some(input) = block_on(again.next_input()) {
        waiting.push(input.seq);
    }
    assert_eq!(
        waiting,
        unanswered(&journal),
        "what had no turn waits for one"
    );
    Reopened { waiting, journal }
}

fn of_kind<'a>(
    journal: &'a [TranscriptRecord],
    kind: &'a str,
) -> impl Iterator<Item = &'a TranscriptRecord> {
    journal.iter().filter(move |record| record.kind == kind)
}

/// A session after it was opened again.
pub(crate) struct Reopened {
    /// The inputs that wait for a turn.
    pub(crate) waiting: Vec<u64>,
    pub(crate) journal: Vec<TranscriptRecord>,
}

impl Reopened {
    /// Every input that was acknowledged is on record once, and had a turn or waits for one.
    pub(crate) fn has_all_of(&self, acknowledged: &[u64], answered: &[u64]) {
        for seq in acknowledged {
            let records = self.journal.iter().filter(|record| record.seq == *seq);
            assert_eq!(records.count(), 1, "input {seq} is on record once");
            let begun = self.begun(*seq);
            let waits = self.waiting.contains(seq);
            assert_eq!(
                begun + usize::from(waits),
                1,
                "input {seq} is neither lost nor doubled"
            );
        }
        for seq in answered {
            assert_eq!(self.begun(*seq), 1, "input {seq} was answered once");
        }
    }

    fn begun(&self, seq: u64) -> usize {
        let turns = of_kind(&self.journal, "turn_start");
        turns.filter(|turn| turn.payload["inputSeq"] == seq).count()
    }
}

/// Answers one input. Gives whether the session continues.
fn turn(session: &Session, input: &Input) -> bool {
    let Ok(turn) = session.begin_turn(input) else {
        return false;
    };
    let said = turn.record(
        "assistant_message",
        Some("assistant"),
        json!({"text": input.text}),
    );
    let ending = match block_on(said) {
        Ok(_) => Ending::Completed,
        Err(error) => Ending::of(error),
    };
    let _ = block_on(turn.end(&ending, false));
    true
}

/// The conversation that a journal tells of.
fn conversation(journal: &[TranscriptRecord]) -> Vec<(Value, Value)> {
    let input = |seq: &Value| {
        let said = journal.iter().find(|record| record.seq == *seq);
        said.expect("a turn answers an input on record").payload["text"].clone()
    };
    let said = journal
        .iter()
        .filter_map(|record| match record.kind.as_str() {
            "turn_start" => Some((json!("user"), input(&record.payload["inputSeq"]))),
            "assistant_message" => Some((json!("assistant"), record.payload.clone())),
            "tool_result" => Some((json!("tool"), record.payload.clone())),
            _ => None,
        });
    said.collect()
}

/// The inputs without a turn that a journal tells of.
fn unanswered(journal: &[TranscriptRecord]) -> Vec<u64> {
    let begun =
        |seq: u64| of_kind(journal, "turn_start").any(|turn| turn.payload["inputSeq"] == seq);
    let inputs = of_kind(journal, "user_input").map(|record| record.seq);
    inputs.filter(|seq| !begun(*seq)).collect()
}
