use std::sync::mpsc;

use serde_json::{Value, json};
use stud_abi::CancellationSource;
use stud_contract_interaction::{
    Approve, Ask, AskAnswer, AuthPassword, Confirm, GrantStageTool, Status, ToolInput,
};

use super::*;
use crate::audit::{AuditQuery, Trail};
use crate::events::{Bus, Event, Service, Subscriber};
use crate::executor::block_on;
use crate::ledger::{Draft, Ledger};
use crate::limits::Limits;
use crate::redact::Redactor;
use crate::store::MemoryStore;
use crate::timer::ManualTimer;

/// A registry with its books, and every event it causes.
struct Room {
    prompts: Arc<Prompts>,
    books: Arc<Recorder>,
    timer: Arc<ManualTimer>,
    events: mpsc::Receiver<(String, Value)>,
}

struct Ear(mpsc::Sender<(String, Value)>);

impl Subscriber for Ear {
    fn ext_id(&self) -> &'static str {
        "ear"
    }

    fn hear(&self, event: &Event) -> Result<()> {
        let payload = serde_json::from_str(&event.payload).unwrap();
        let _ = self.0.send((event.name.to_string(), payload));
        Ok(())
    }
}

fn room(absence: Absence) -> Room {
    room_with(absence, None)
}

fn room_with(absence: Absence, trail: Option<Trail>) -> Room {
    let timer = Arc::new(ManualTimer::default());
    let redactor = Arc::new(Redactor::new());
    let store = Arc::new(MemoryStore::default());
    let ledger = Ledger::new(
        "s1",
        0,
        Draft::default(),
        store,
        redactor.clone(),
        timer.clone(),
    );
    let bus = Bus::new(timer.clone(), Limits::default());
    let (sender, events) = mpsc::channel();
    bus.subscribe(Arc::new(Ear(sender)), Service::Shared);
    let books = Recorder::new("s1".to_owned(), ledger, bus, trail, redactor);
    Room {
        prompts: Prompts::new(timer.clone(), absence),
        books: Arc::new(books),
        timer,
        events,
    }
}

impl Room {
    fn asker(&self) -> Asker {
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

    fn ask(&self, payload: impl Into<Payload>) -> Raised {
        self.prompts.raise(self.asker(), payload.into())
    }

    fn next_event(&self) -> (String, Value) {
        self.events.recv_timeout(Duration::from_secs(10)).unwrap()
    }

    /// The next event of this name, whatever comes before it.
    fn event(&self, name: &str) -> Value {
        loop {
            let (found, payload) = self.next_event();
            if found == name {
                return payload;
            }
        }
    }
}

/// An interactor that a test plays: it hands out what it is asked and waits for what to say.
struct Person {
    id: &'static str,
    minor: u64,
    asked: mpsc::Sender<(Request, mpsc::Sender<Response>, CancellationToken)>,
}

type Asked = mpsc::Receiver<(Request, mpsc::Sender<Response>, CancellationToken)>;

fn person(id: &'static str) -> (Arc<Person>, Asked) {
    person_of(id, 2)
}

fn person_of(id: &'static str, minor: u64) -> (Arc<Person>, Asked) {
    let (asked, receiver) = mpsc::channel();
    (Arc::new(Person { id, minor, asked }), receiver)
}

impl Interactor for Person {
    fn ext_id(&self) -> &str {
        self.id
    }

    fn protocol_minor(&self) -> u64 {
        self.minor
    }

    fn ask<'a>(
        &'a self,
        request: &'a Request,
        cancelled: CancellationToken,
    ) -> BoxFuture<'a, Result<Response>> {
        Box::pin(async move {
            let (sender, receiver) = mpsc::channel();
            let _ = self
                .asked
                .send((request.clone(), sender, cancelled.clone()));
            loop {
                if let Ok(response) = receiver.recv_timeout(Duration::from_millis(2)) {
                    return Ok(response);
                }
                if cancelled.is_cancelled() {
                    return Ok(Response::dismissed(request));
                }
            }
        })
    }
}

fn asked(receiver: &Asked) -> (Request, mpsc::Sender<Response>, CancellationToken) {
    receiver.recv_timeout(Duration::from_secs(10)).unwrap()
}

fn text(text: &str) -> AskAnswer {
    AskAnswer { text: text.into() }
}

#[test]
fn the_first_answer_wins_and_the_others_are_told() {
    let room = room(Absence::default());
    let (ann, at_ann) = person("ann");
    let (bob, at_bob) = person("bob");
    room.prompts.join(ann);
    room.prompts.join(bob);
    let raised = room.ask(Ask::default());
    let id = raised.interaction_id().to_owned();
    let (request, to_ann, _) = asked(&at_ann);
    let (_, _, bob_cancelled) = asked(&at_bob);
    to_ann
        .send(Response::accepted(&request, text("Ada")))
        .unwrap();
    let answer = block_on(raised).unwrap();
    assert_eq!(
        (answer.status, answer.value),
        (Status::Accepted, Some(json!({"text": "Ada"})))
    );
    assert_eq!(
        room.event("InteractionRaised"),
        json!({"correlationId": "t1", "interactionId": id, "kind": "Ask", "extId": "asker"})
    );
    assert_eq!(
        room.event("InteractionAnswered"),
        json!({"correlationId": "t1", "interactionId": id, "status": "accepted", "value": {"text": "Ada"}, "extId": "ann"})
    );
    block_on(bob_cancelled.cancelled());
    let late = block_on(
        room.prompts
            .respond("bob", Response::accepted(&request, text("Bob"))),
    );
    let late = late.unwrap_err();
    assert_eq!(late.code(), "InteractionAlreadyAnswered");
    assert_eq!(
        Value::Object(late.context().clone()),
        json!({"interactionId": id, "correlationId": "t1"})
    );
}

#[test]
fn only_an_answer_settles_a_prompt() {
    let room = room(Absence::default());
    let (ann, at_ann) = person("ann");
    let (bob, at_bob) = person("bob");
    room.prompts.join(ann);
    room.prompts.join(bob);
    let raised = room.ask(Ask::default());
    let (request, to_ann, _) = asked(&at_ann);
    to_ann.send(Response::dismissed(&request)).unwrap();
    let (request, to_bob, _) = asked(&at_bob);
    to_bob.send(Response::timeout(&request)).unwrap();
    // All interactors declined, and the prompt is still open: one of them answers after all.
    block_on(
        room.prompts
            .respond("ann", Response::rejected(&request, "no")),
    )
    .unwrap();
    assert_eq!(block_on(raised).unwrap().status, Status::Rejected);
}

#[test]
fn an_answer_of_the_wrong_shape_leaves_the_prompt_open() {
    let room = room(Absence::default());
    let (ann, at_ann) = person("ann");
    room.prompts.join(ann);
    let raised = room.ask(Confirm::default());
    let (request, to_ann, _) = asked(&at_ann);
    let wrong = Response::accepted(&request, text("yes"));
    let error = block_on(room.prompts.respond("ann", wrong.clone())).unwrap_err();
    assert_eq!(error.code(), "InteractionPayloadMismatch");
    to_ann.send(wrong).unwrap();
    // It is asked again.
    let (request, to_ann, _) = asked(&at_ann);
    let right = stud_contract_interaction::ConfirmAnswer { confirmed: true };
    to_ann.send(Response::accepted(&request, right)).unwrap();
    assert_eq!(block_on(raised).unwrap().status, Status::Accepted);
}

#[test]
fn an_interactor_sees_one_prompt_at_a_time() {
    let room = room(Absence::default());
    let (ann, at_ann) = person("ann");
    let (bob, at_bob) = person("bob");
    room.prompts.join(ann);
    room.prompts.join(bob);
    let first = room.ask(Ask::default());
    let second = room.ask(Confirm::default());
    let (request, to_ann, _) = asked(&at_ann);
    let _held_at_bob = asked(&at_bob);
    assert_eq!(request.interaction_id, first.interaction_id());
    assert!(at_ann.try_recv().is_err());
    to_ann
        .send(Response::accepted(&request, text("a")))
        .unwrap();
    block_on(first).unwrap();
    let (request, to_ann, _) = asked(&at_ann);
    assert_eq!(request.interaction_id, second.interaction_id());
    to_ann.send(Response::rejected(&request, "no")).unwrap();
    assert_eq!(block_on(second).unwrap().status, Status::Rejected);
}

#[test]
fn a_prompt_that_is_called_off_closes_everywhere() {
    let room = room(Absence::default());
    let (ann, at_ann) = person("ann");
    room.prompts.join(ann);
    let turn = CancellationSource::new();
    let asker = Asker {
        cancelled: turn.token(),
        ..room.asker()
    };
    let raised = room.prompts.raise(asker, Ask::default().into());
    let id = raised.interaction_id().to_owned();
    let (request, _, cancelled) = asked(&at_ann);
    turn.cancel();
    let error = block_on(raised).unwrap_err();
    assert_eq!(
        (error.class(), error.code()),
        ("Cancellation", "TurnCancelled")
    );
    assert_eq!(
        room.event("InteractionCancelled"),
        json!({"correlationId": "t1", "interactionId": id})
    );
    block_on(cancelled.cancelled());
    let late = block_on(
        room.prompts
            .respond("ann", Response::accepted(&request, text("x"))),
    );
    assert_eq!(late.unwrap_err().code(), "InteractionAlreadyAnswered");
}

#[test]
fn a_prompt_runs_out_of_time_once_it_was_asked() {
    let room = room(Absence::default());
    let (ann, at_ann) = person("ann");
    room.prompts.join(ann);
    let asker = Asker {
        timeout: Some(Duration::from_secs(60)),
        ..room.asker()
    };
    let raised = room.prompts.raise(asker, ToolInput::default().into());
    let _shown = asked(&at_ann);
    room.timer.advance(Duration::from_secs(60));
    assert_eq!(block_on(raised).unwrap().status, Status::Timeout);
}

#[test]
fn one_that_joins_late_is_asked_what_is_open() {
    let room = room(Absence::default());
    let (ann, at_ann) = person("ann");
    room.prompts.join(ann);
    let raised = room.ask(Ask::default());
    let _at_ann = asked(&at_ann);
    let (bob, at_bob) = person("bob");
    room.prompts.join(bob);
    let (request, to_bob, _) = asked(&at_bob);
    to_bob
        .send(Response::accepted(&request, text("b")))
        .unwrap();
    assert!(block_on(raised).is_ok());
    assert_eq!(room.event("InteractionAnswered")["extId"], "bob");
}

#[test]
fn an_older_interactor_is_not_offered_what_it_does_not_know() {
    let room = room(Absence::default());
    let (old, at_old) = person_of("old", 1);
    let (new, at_new) = person("new");
    room.prompts.join(old);
    room.prompts.join(new);
    let raised = room.ask(ToolInput::default());
    let (request, to_new, _) = asked(&at_new);
    to_new.send(Response::rejected(&request, "no")).unwrap();
    block_on(raised).unwrap();
    assert!(at_old.try_recv().is_err());
}

#[test]
fn without_anyone_a_prompt_halts() {
    let room = room(Absence::default());
    let error = block_on(room.ask(Confirm::default())).unwrap_err();
    assert_eq!(
        (error.class(), error.code()),
        ("Validation", "HeadlessInteractionRequired")
    );
    let event = room.event("HeadlessInteractionRequired");
    assert_eq!(event["kind"], "permission-required");
    assert_eq!(event["requestKind"], "Confirm");
    assert_eq!(event["correlationId"], "t1");
    assert!(event["hint"].is_string());
}

#[test]
fn what_is_denied_because_nobody_is_there_is_on_record_as_that() {
    let folder = tempfile::tempdir().unwrap();
    let trail = Trail::open(folder.path(), "s1", Arc::default()).unwrap();
    let room = room_with(Absence::default(), Some(trail.trail));
    let grant = GrantStageTool {
        stage_execution_id: "e1".to_owned(),
        proposal_id: "p1".to_owned(),
        args_digest: "d1".to_owned(),
        tool: "bash".to_owned(),
        ..GrantStageTool::default()
    };
    block_on(room.ask(grant)).unwrap();
    let trail = room.books.trail.as_ref().unwrap();
    let records = trail.query(&AuditQuery::default()).unwrap();
    let [record] = &records[..] else {
        panic!("{records:#?}");
    };
    let facts = &record.payload;
    assert_eq!(record.class, "Approval");
    assert_eq!(
        (&facts["decision"], &facts["reason"]),
        (&json!("deny"), &json!("headless"))
    );
    let of_stage = ["stageExecutionId", "attempt", "proposalId", "argsDigest"];
    let of_stage = of_stage.map(|member| facts[member].clone());
    assert_eq!(of_stage, [json!("e1"), json!(0), json!("p1"), json!("d1")]);
    assert_eq!(facts["toolId"], "bash");
}

#[test]
fn without_anyone_a_stage_is_denied_and_a_tool_does_without() {
    let room = room(Absence::default());
    let denied = block_on(room.ask(GrantStageTool::default())).unwrap();
    assert_eq!(denied.value.unwrap()["outcome"], "deny");
    let error = block_on(room.ask(ToolInput::default())).unwrap_err();
    assert_eq!(
        (error.class(), error.code()),
        ("ToolTerminal", "InteractionUnavailable")
    );
}

#[test]
fn yolo_answers_for_those_who_are_not_there() {
    let room = room(Absence {
        yolo: true,
        ..Absence::default()
    });
    let value = |payload: Payload| block_on(room.ask(payload)).unwrap().value.unwrap();
    assert_eq!(value(Ask::default().into()), json!({"text": ""}));
    assert_eq!(value(Confirm::default().into()), json!({"confirmed": true}));
    assert_eq!(value(AuthPassword::default().into()), Value::Null);
    assert_eq!(value(Approve::default().into())["decision"], "approve");
    // With an interactor attached, only trust prompts are answered in advance.
    let (ann, at_ann) = person("ann");
    room.prompts.join(ann);
    assert_eq!(value(Approve::default().into())["decision"], "approve");
    let raised = room.ask(Confirm::default());
    let (request, to_ann, _) = asked(&at_ann);
    to_ann.send(Response::rejected(&request, "no")).unwrap();
    assert_eq!(block_on(raised).unwrap().status, Status::Rejected);
}

#[test]
fn those_who_left_are_waited_for() {
    let room = room(Absence::default());
    let (ann, at_ann) = person("ann");
    room.prompts.join(ann.clone());
    let raised = room.ask(Confirm::default());
    let _shown = asked(&at_ann);
    room.prompts.leave("ann");
    room.timer.advance(Duration::from_secs(29));
    // She comes back in time and finds the question.
    room.prompts.join(ann);
    let _shown = asked(&at_ann);
    room.timer.advance(Duration::from_secs(29));
    room.prompts.leave("ann");
    room.timer.advance(Duration::from_secs(30));
    let error = block_on(raised).unwrap_err();
    assert_eq!(error.code(), "HeadlessInteractionRequired");
}

#[test]
fn a_secret_goes_to_the_asker_alone() {
    let room = room(Absence::default());
    let (ann, at_ann) = person("ann");
    room.prompts.join(ann);
    let raised = room.ask(AuthPassword::default());
    let (request, to_ann, _) = asked(&at_ann);
    let response = Response::read(
        &request,
        json!({
            "interactionId": request.interaction_id,
            "correlationId": request.correlation_id,
            "status": "accepted",
            "value": {"secret": "hunter2-canary"},
        }),
    )
    .unwrap();
    to_ann.send(response).unwrap();
    let answer = block_on(raised).unwrap();
    assert_eq!(answer.value.unwrap()["secret"], "hunter2-canary");
    assert!(room.event("InteractionAnswered").get("value").is_none());
    let journal = room
        .books
        .ledger
        .page(stud_contract_session_store::Page::default());
    assert!(!format!("{:?}", journal.unwrap()).contains("hunter2-canary"));
}

#[test]
fn a_reload_waits_for_the_prompt_that_is_shown() {
    let room = room(Absence::default());
    let (ann, at_ann) = person("ann");
    room.prompts.join(ann);
    let raised = room.ask(Ask::default());
    let (request, to_ann, _) = asked(&at_ann);
    let idle = room.prompts.idle("ann");
    let waiter = std::thread::spawn(move || block_on(idle));
    assert!(!waiter.is_finished());
    to_ann
        .send(Response::accepted(&request, text("a")))
        .unwrap();
    block_on(raised).unwrap();
    waiter.join().unwrap();
}

#[test]
fn closing_ends_every_prompt() {
    let room = room(Absence::default());
    let (ann, at_ann) = person("ann");
    room.prompts.join(ann);
    let shown = room.ask(Ask::default());
    let queued = room.ask(Ask::default());
    let _shown = asked(&at_ann);
    room.prompts.close();
    for raised in [shown, queued, room.ask(Ask::default())] {
        let error = block_on(raised).unwrap_err();
        assert_eq!(
            (error.class(), error.code()),
            ("Cancellation", "SessionCancelled")
        );
    }
    assert_eq!(room.prompts.open_count(), 0);
}

#[test]
fn an_answer_to_no_prompt_is_not_found() {
    let room = room(Absence::default());
    let request = Request::new("nobody", "t1", "", Ask::default());
    let error = block_on(
        room.prompts
            .respond("ann", Response::rejected(&request, "no")),
    )
    .unwrap_err();
    assert_eq!(
        (error.class(), error.code()),
        ("Session", "InteractionNotFound")
    );
}
