//! What a session refuses, one test for each code. No plugin takes part; those that need one are black-box tests.
#![cfg(not(shuttle))]
#![forbid(unsafe_code)]
#![expect(
    clippy::unwrap_used,
    reason = "a helper of a test fails the test like the test itself"
)]

use std::sync::Arc;
use std::time::Duration;

use stud_abi::CancellationToken;
use stud_contract_interaction::{
    Approve, Ask, Payload, Request, Response, ToolApproval, ToolInput,
};
use stud_contract_meta::{Error, Result};
use stud_contract_session_store::{JournalBatch, JournalPage, Page, Stored};
use stud_core::executor::block_on;
use stud_core::interactions::Absence;
use stud_core::limits::Limits;
use stud_core::params::Params;
use stud_core::redact::Redactor;
use stud_core::request_state::Terms;
use stud_core::runtime_snapshot::Collector;
use stud_core::session::{Ending, Input, SecurityMode, Session, SessionConfig, open};
use stud_core::store::{MemoryStore, Store};
use stud_core::timer::{ManualTimer, Timer};
use stud_core::turn_policy::TurnPolicy;
use stud_host_api::metrics::RuntimeSnapshot;

fn config(store: Arc<dyn Store>) -> SessionConfig {
    let timer: Arc<dyn Timer> = Arc::new(ManualTimer::default());
    SessionConfig {
        mcp: None,
        project_root: "/project/.stud".into(),
        mode: SecurityMode::Ask,
        store,
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
        metrics: Collector::new(RuntimeSnapshot::default(), timer.clone(), Duration::ZERO),
        timer,
    }
}

/// A session without participants.
fn session() -> Arc<Session> {
    open(config(Arc::new(MemoryStore::default())), None).unwrap()
}

fn say(session: &Session, text: &str) -> Result<u64> {
    block_on(session.submit("ui", text.to_owned()))
}

fn next(session: &Session, text: &str) -> Input {
    say(session, text).unwrap();
    block_on(session.next_input()).unwrap()
}

fn ask(session: &Session, payload: impl Into<Payload>) -> Error {
    let raised = session.ask(Some("asker"), CancellationToken::never(), payload.into());
    block_on(raised).unwrap_err()
}

fn id(error: &Error) -> String {
    format!("{}/{}", error.class(), error.code())
}

/// The scope and the reason of a cancellation.
fn scope_and_reason(error: &Error) -> (&str, &str) {
    let fact = |key: &str| error.context()[key].as_str().unwrap();
    (fact("kind"), fact("reason"))
}

#[test]
fn a_turn_is_called_off_by_itself_or_with_its_session() {
    let session = session();
    let input = next(&session, "hello");
    let turn = session.begin_turn(&input).unwrap();
    session.cancel_turn();
    let called_off = turn.voice().called_off();
    assert_eq!(id(&called_off), "Cancellation/TurnCancelled");
    assert_eq!(scope_and_reason(&called_off), ("turn", "user"));
    session.scope().cancel();
    let called_off = turn.voice().called_off();
    assert_eq!(scope_and_reason(&called_off), ("turn", "parent"));
}

#[test]
fn an_input_to_a_session_that_is_over_is_refused() {
    let session = session();
    session.close().unwrap();
    let refused = say(&session, "anyone there?").unwrap_err();
    stud_observed::covers!(SESSION_CANCELLED, refused);
    assert_eq!(scope_and_reason(&refused), ("session", "parent"));
}

#[test]
fn a_session_ends_once() {
    let session = session();
    session.close().unwrap();
    let again = session.close().unwrap_err();
    stud_observed::covers!(ILLEGAL_TRANSITION, again);
    assert_eq!(again.context()["from"], "Closed");
    assert_eq!(again.context()["trigger"], "Close");
}

#[test]
fn inputs_beyond_the_queue_are_refused_and_the_others_stay() {
    let session = session();
    let taken = (0..1000).take_while(|number| match say(&session, &number.to_string()) {
        Ok(_) => true,
        Err(refused) => {
            stud_observed::covers!(INPUT_QUEUE_FULL, refused);
            assert_eq!(refused.context()["limit"], *number);
            false
        }
    });
    let taken = taken.count();
    assert_eq!(taken, 256);
    for number in 0..taken {
        let input = block_on(session.next_input()).unwrap();
        assert_eq!(input.text, number.to_string());
    }
    say(&session, "there is room again").unwrap();
}

#[test]
fn an_answer_to_a_prompt_nobody_raised_is_refused() {
    let session = session();
    let question = Payload::from(Ask::default());
    let made_up = Request::new(
        "no-such-prompt".to_owned(),
        "turn".to_owned(),
        "2026-01-01T00:00:00.000Z".to_owned(),
        question,
    );
    let answer = Response::rejected(&made_up, "no");
    let refused = block_on(session.prompts().respond("ui", answer)).unwrap_err();
    stud_observed::covers!(INTERACTION_NOT_FOUND, refused);
    assert_eq!(refused.context()["interactionId"], "no-such-prompt");
}

#[test]
fn a_question_that_nobody_can_answer_ends_the_turn() {
    let session = session();
    let input = next(&session, "go on");
    let turn = session.begin_turn(&input).unwrap();
    let refused = ask(&session, Approve::default());
    stud_observed::covers!(HEADLESS_INTERACTION_REQUIRED, refused);
    assert_eq!(refused.context()["requestKind"], "Approve");
    assert_eq!(refused.context()["correlationId"], turn.id());
    let ending = Ending::of(refused);
    assert_eq!(ending.as_str(), "halted");
    block_on(turn.end(&ending, false)).unwrap();
}

#[test]
fn a_tool_that_cannot_ask_is_told_so() {
    let session = session();
    let payloads = [
        (Payload::from(ToolInput::default()), "ToolInput"),
        (Payload::from(ToolApproval::default()), "ToolApproval"),
    ];
    for (payload, kind) in payloads {
        let refused = ask(&session, payload);
        stud_observed::covers!(INTERACTION_UNAVAILABLE, refused);
        assert_eq!(refused.context()["requestKind"], kind);
    }
}

#[test]
fn a_second_turn_waits_for_the_first_to_end() {
    let session = session();
    let (first, second) = (next(&session, "one"), next(&session, "two"));
    let running = session.begin_turn(&first).unwrap();
    let refused = session.begin_turn(&second).unwrap_err();
    stud_observed::covers!(CONCURRENT_TURN_FORBIDDEN, refused);
    assert_eq!(refused.context()["activeTurnId"], running.id());
    block_on(running.end(&Ending::Completed, false)).unwrap();
    session.begin_turn(&second).unwrap();
}

#[test]
fn a_session_that_no_store_has_cannot_be_resumed() {
    let config = config(Arc::new(MemoryStore::default()));
    let refused = open(config, Some("no-such-session")).unwrap_err();
    stud_observed::covers!(STORE_UNAVAILABLE, refused);
    assert_eq!(refused.context()["sessionId"], "no-such-session");
}

/// The same sessions under another name.
struct Renamed(Arc<MemoryStore>);

impl Store for Renamed {
    fn store_id(&self) -> &'static str {
        "another"
    }

    fn journals(&self) -> bool {
        self.0.journals()
    }

    fn append(&self, session_id: &str, batch: &JournalBatch) -> Result<()> {
        self.0.append(session_id, batch)
    }

    fn write(&self, stored: &Stored) -> Result<()> {
        self.0.write(stored)
    }

    fn read(&self, session_id: &str) -> Result<Stored> {
        self.0.read(session_id)
    }

    fn read_journal(&self, session_id: &str, page: Page) -> Result<JournalPage> {
        self.0.read_journal(session_id, page)
    }

    fn list(&self) -> Result<Vec<String>> {
        self.0.list()
    }
}

#[test]
fn a_session_of_another_store_is_not_resumed() {
    let store = Arc::new(MemoryStore::default());
    let session = open(config(store.clone()), None).unwrap();
    let input = next(&session, "remember me");
    let turn = session.begin_turn(&input).unwrap();
    block_on(turn.end(&Ending::Completed, false)).unwrap();
    session.close().unwrap();

    let elsewhere = config(Arc::new(Renamed(store.clone())));
    let refused = open(elsewhere, Some(session.id())).unwrap_err();
    stud_observed::covers!(RESUME_MISMATCH, refused);
    assert_eq!(refused.context()["manifestStoreId"], "memory");
    assert_eq!(refused.context()["activeStoreId"], "another");
    open(config(store), Some(session.id())).unwrap();
}
