//! A registry of prompts with its books, those who answer, and what has to be true of them in the end.

use std::sync::Arc;
use std::time::Duration;

use shuttle::sync::Mutex;
use shuttle::thread::{self, JoinHandle};
use stud_abi::CancellationToken;
use stud_contract_interaction::{Ask, Response, Status};
use stud_contract_meta::Result;
use stud_contract_session_store::Durability;
use stud_core::events::{Bus, Service};
use stud_core::executor::block_on;
use stud_core::interactions::{Absence, Asker, Interactor, Prompts};
use stud_core::ledger::{Draft, Ledger};
use stud_core::limits::Limits;
use stud_core::recorder::{Parentage, Recorder};
use stud_core::redact::Redactor;
use stud_diagnostics::codes;

use crate::clock::Clock;
use crate::people::{Call, Move, Person};
use crate::shelf::StoredSessions;
use crate::witness::{Heard, Witness, without_gaps};

/// How long an interactor may be away.
pub(crate) const GRACE: Duration = Duration::from_secs(30);

/// How long an interactor may keep a settled prompt.
pub(crate) const LETTING_GO: Duration = Duration::from_secs(2);

/// How long a subscriber may hold up a prompt.
pub(crate) const HELD_UP: Duration = Duration::from_millis(20);

/// How long a prompt with a limit waits.
pub(crate) const PATIENCE: Duration = Duration::from_secs(300);

/// The prompt registry with its recorder and all interactors.
pub(crate) struct Room {
    pub(crate) prompts: Arc<Prompts>,
    pub(crate) books: Arc<Recorder>,
    pub(crate) shelf: Arc<StoredSessions>,
    clock: Arc<Clock>,
    witnesses: [Arc<Witness>; 2],
    people: Mutex<Vec<Arc<Person>>>,
    others: Mutex<Vec<Arc<Recorder>>>,
}

/// A prompt, and what its asker got.
#[derive(Debug)]
pub(crate) struct Asked {
    pub(crate) id: String,
    /// Nothing if the asker did not wait for it.
    pub(crate) got: Option<Result<Response>>,
}

impl Room {
    /// A room in which no time passes and nothing fails.
    pub(crate) fn new() -> Arc<Self> {
        Self::with(Clock::silent(), StoredSessions::new())
    }

    pub(crate) fn with(clock: Arc<Clock>, shelf: Arc<StoredSessions>) -> Arc<Self> {
        let absence = Absence {
            grace: GRACE,
            letting_go: LETTING_GO,
            ..Absence::default()
        };
        let bus = Bus::new(clock.clone(), Limits::default());
        let witnesses = [
            Witness::of(&bus, "eve", Service::Shared),
            Witness::of(&bus, "log", Service::Apart),
        ];
        Arc::new(Self {
            prompts: Prompts::new(clock.clone(), absence),
            books: books("s1", bus, &shelf, &clock),
            shelf,
            clock,
            witnesses,
            people: Mutex::default(),
            others: Mutex::default(),
        })
    }

    /// The books of a child of this room's session. Its prompts go through the same registry.
    pub(crate) fn child(&self, subagent_id: &str) -> Arc<Recorder> {
        let books = books(
            subagent_id,
            self.books.bus.clone(),
            &self.shelf,
            &self.clock,
        );
        let mut books = Arc::into_inner(books).expect("nobody else has them yet");
        books.parentage = Some(Parentage {
            parent_session_id: self.books.session_id.clone(),
            subagent_id: subagent_id.to_owned(),
            depth: 1,
        });
        let books = Arc::new(books);
        self.others.lock().unwrap().push(books.clone());
        books
    }

    /// An interactor that is not attached yet.
    pub(crate) fn person(&self, id: &'static str, moves: &[Move]) -> Arc<Person> {
        let person = Person::new(id, moves, &self.prompts, &self.books.bus, &self.shelf);
        self.people.lock().unwrap().push(person.clone());
        person
    }

    /// An interactor that is attached from now on.
    pub(crate) fn seat(&self, id: &'static str, moves: &[Move]) -> Arc<Person> {
        let person = self.person(id, moves);
        self.prompts.join(person.clone());
        person
    }

    pub(crate) fn asker(&self) -> Asker {
        Asker {
            ext_id: Some("asker".to_owned()),
            correlation_id: "t1".to_owned(),
            books: self.books.clone(),
            cancelled: CancellationToken::never(),
            timeout: None,
            spawned_at: None,
            tool_call_id: None,
        }
    }

    /// Asks on a thread of its own, and waits there.
    pub(crate) fn ask(self: &Arc<Self>) -> JoinHandle<Asked> {
        self.ask_as(self.asker())
    }

    pub(crate) fn ask_as(self: &Arc<Self>, asker: Asker) -> JoinHandle<Asked> {
        let room = self.clone();
        thread::spawn(move || {
            let raised = room.prompts.raise(asker, Ask::default().into());
            let id = raised.interaction_id().to_owned();
            let got = block_on(raised);
            if let Ok(Response { status, .. }) = &got
                && status.settles()
            {
                room.is_on_the_disk(&id);
            }
            Asked { id, got: Some(got) }
        })
    }

    /// An answer has no effect before it is safe.
    fn is_on_the_disk(&self, id: &str) {
        let answers = self.shelf.about(id, "interaction_response");
        let safe = |(session, record): &(String, _)| {
            let record: &stud_host_api::session::TranscriptRecord = record;
            self.shelf.is_safe(session, record.seq)
        };
        assert!(
            answers.iter().any(safe),
            "the answer has an effect before it is on the disk"
        );
    }

    /// Waits until nothing continues, and checks everything that has to be true then.
    pub(crate) fn settle(&self, asked: &[Asked]) -> Vec<Heard> {
        let people = self.people.lock().unwrap().clone();
        for person in &people {
            block_on(self.prompts.idle(person.ext_id()));
        }
        assert_eq!(self.prompts.open_count(), 0, "a prompt is left");
        let others = self.others.lock().unwrap().clone();
        for books in others.iter().chain([&self.books]) {
            let quiet = books.ledger.append(Vec::new(), Durability::Written);
            let _ = block_on(quiet);
        }
        let last = self.books.bus.last_seq();
        let [heard, also] = self
            .witnesses
            .each_ref()
            .map(|witness| witness.heard_through(last));
        without_gaps(&heard);
        assert_eq!(heard, also, "everybody hears the same");
        for prompt in asked {
            self.check(prompt, &heard, &people);
        }
        let known = |id: &str| asked.iter().any(|prompt| prompt.id == id);
        let interactions = heard
            .iter()
            .filter(|event| event.name.starts_with("Interaction"));
        assert!(
            interactions.clone().all(|event| known(event.prompt())),
            "an event about nothing"
        );
        for person in &people {
            in_order(person, &heard);
        }
        heard
    }

    /// Each prompt was put to every interactor, however quick another was: for those attached all the time.
    pub(crate) fn everybody_was_asked(&self, asked: &[Asked]) {
        for person in self.people.lock().unwrap().iter() {
            for prompt in asked {
                let calls = person.diary().calls;
                let about = |call: &&Call| call.prompt == prompt.id;
                let times = calls.iter().filter(about).count();
                assert!(times > 0, "`{}` was not asked", person.ext_id());
            }
        }
    }

    /// One prompt: one outcome, the same for all, and in the right order.
    fn check(&self, asked: &Asked, heard: &[Heard], people: &[Arc<Person>]) {
        let id = &asked.id;
        let story: Vec<&Heard> = heard.iter().filter(|event| event.prompt() == id).collect();
        let names: Vec<&str> = story.iter().map(|event| event.name.as_str()).collect();
        let (requests, answers) = (
            self.shelf.about(id, "interaction_request").len(),
            self.shelf.about(id, "interaction_response"),
        );
        let won = people
            .iter()
            .filter(|person| person.diary().won.contains(id));
        let won: Vec<&str> = won.map(|person| person.ext_id()).collect();
        match names[..] {
            // Withdrawn before anyone knew of it, or never on record.
            [] => {
                assert_eq!(
                    (requests, answers.len()),
                    (0, 0),
                    "on record and never raised"
                );
                let seen = |person: &Arc<Person>| {
                    person.diary().calls.iter().any(|call| call.prompt == *id)
                };
                assert!(!people.iter().any(seen), "asked and never raised");
                assert!(won.is_empty());
            }
            ["InteractionRaised", "InteractionAnswered"] => {
                let answered = story[1];
                let winner = answered.payload["extId"].as_str().unwrap_or_default();
                let person = people.iter().find(|person| person.ext_id() == winner);
                let person = person.expect("the winner is somebody");
                assert!(
                    person.diary().calls.iter().any(|call| call.prompt == *id),
                    "answered unasked"
                );
                assert!(
                    won.iter().all(|id| *id == winner),
                    "{won:?} were told they won, and `{winner}` did"
                );
                assert_eq!(answers.len(), 1, "one answer on record");
                let record = &answers[0].1.payload;
                assert_eq!(record["extId"], winner);
                assert_eq!(record["status"], answered.payload["status"]);
                assert_eq!(record.get("value"), answered.payload.get("value"));
                if let Some(got) = &asked.got {
                    let got = got.as_ref().expect("the asker gets what was answered");
                    assert_eq!(serde_json::json!(got.status), answered.payload["status"]);
                    assert_eq!(got.value.as_ref(), answered.payload.get("value"));
                    let words = (got.status == Status::Accepted).then(|| person.words(id));
                    assert_eq!(got.value, words, "the winner's answer and no other");
                }
            }
            ["InteractionRaised", "InteractionCancelled"] => {
                assert!(won.is_empty(), "{won:?} won what was called off");
                assert!(answers.len() <= 1, "one outcome on record");
                if let Some(Ok(got)) = &asked.got {
                    assert_eq!(got.status, Status::Timeout);
                    assert_eq!(answers[0].1.payload["outcome"], "timeout");
                }
            }
            _ => panic!("the story of a prompt was {names:?}"),
        }
        if !names.is_empty() {
            assert_eq!(requests, 1, "raised once and on record once");
        }
    }
}

/// Prompts are asked in the order in which they were raised.
fn in_order(person: &Person, heard: &[Heard]) {
    let raised: Vec<&str> = heard
        .iter()
        .filter(|event| event.name == "InteractionRaised")
        .map(Heard::prompt)
        .collect();
    let calls = person.diary().calls;
    for call in &calls {
        let told = heard
            .iter()
            .find(|event| event.name == "InteractionRaised" && event.prompt() == call.prompt);
        let told = told.expect("what is asked is raised");
        assert!(told.seq <= call.after, "asked before subscribers were told");
    }
    let places = calls
        .iter()
        .map(|call| raised.iter().position(|id| *id == call.prompt));
    assert!(
        places.is_sorted(),
        "`{}` was asked out of order",
        person.ext_id()
    );
    for (_, error) in person.diary().refused {
        let code = error.code();
        let expected = [
            codes::INTERACTION_ALREADY_ANSWERED.name,
            codes::STORE_UNAVAILABLE.name,
        ];
        assert!(expected.contains(&code), "refused with {code}");
    }
}

fn books(
    session_id: &str,
    bus: Arc<Bus>,
    shelf: &Arc<StoredSessions>,
    clock: &Arc<Clock>,
) -> Arc<Recorder> {
    let redactor = Arc::new(Redactor::new());
    let first = Draft {
        kind: "session_start",
        ..Draft::default()
    };
    let ledger = Ledger::new(
        session_id,
        0,
        first,
        shelf.clone(),
        redactor.clone(),
        clock.clone(),
    );
    Arc::new(Recorder::new(
        session_id.to_owned(),
        ledger,
        bus,
        None,
        redactor,
    ))
}

/// What all of them got.
pub(crate) fn join(asking: impl IntoIterator<Item = JoinHandle<Asked>>) -> Vec<Asked> {
    asking
        .into_iter()
        .map(|asking| asking.join().unwrap())
        .collect()
}
