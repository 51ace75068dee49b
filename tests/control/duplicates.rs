//! A request takes effect once, however often it is sent, in whatever process.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde_json::{Value, json};
use stud_contract_meta::{Error, Result};
use stud_contract_session_store::{JournalBatch, JournalPage, Page, Stored};
use stud_control::{Found, Policy, Receiver, Sessions};
use stud_core::executor::block_on;
use stud_core::interactions::Absence;
use stud_core::limits::Limits;
use stud_core::params::Params;
use stud_core::request_state::Terms;
use stud_core::runtime_snapshot::Collector;
use stud_core::session::{Claim, ControlKey, SecurityMode, Session, SessionConfig, open};
use stud_core::store::{MemoryStore, Store};
use stud_core::timer;
use stud_core::turn_policy::TurnPolicy;
use stud_diagnostics::codes;
use stud_host_api::metrics::RuntimeSnapshot;
use stud_tests::eventually;

use crate::bench::{Bench, TEAM, changed, envelope, now};

const TTL: Duration = Duration::from_secs(600);

fn is_fresh(ack: &Value) -> bool {
    assert_eq!(ack["result"], "ok", "{ack}");
    !ack["duplicate"].as_bool().unwrap()
}

fn key(request_id: &str) -> ControlKey {
    ControlKey {
        team: TEAM.to_owned(),
        agent_id: "main".to_owned(),
        request_id: request_id.to_owned(),
    }
}

fn claim<'a>(session: &'a Session, key: &ControlKey) -> Claim<'a> {
    block_on(session.claim_control(key, TTL, 100)).unwrap()
}

#[test]
fn tcp_61_a_repetition_is_acknowledged_and_not_typed_again() {
    let bench = Bench::new();
    assert!(is_fresh(&bench.ask(&bench.stdin("one", "text"))));
    for retry in 1..4 {
        let again = changed(
            &bench.stdin("one", "text"),
            "meta",
            &json!({"retry_count": retry}),
        );
        let ack = bench.ask(&again);
        assert!(!is_fresh(&ack));
        assert_eq!(ack["type"], "control.stdin.ack");
    }
    assert_eq!(bench.inputs(), ["text"]);
}

#[test]
fn tcp_60_72_every_part_of_the_key_counts() {
    let bench = Bench::new();
    assert!(is_fresh(&bench.ask(&bench.stdin("one", "text"))));
    assert!(is_fresh(&bench.ask(&bench.stdin("two", "text"))));
    let session = bench.session();
    assert!(matches!(claim(session, &key("one")), Claim::Accepted(_)));
    let team = ControlKey {
        team: "other".to_owned(),
        ..key("one")
    };
    let agent = ControlKey {
        agent_id: "child".to_owned(),
        ..key("one")
    };
    for other in [team, agent] {
        assert!(matches!(claim(session, &other), Claim::New(_)), "{other:?}");
    }
    // The session is part of the key because each session has its own.
    let second = Bench::new();
    assert!(is_fresh(&second.ask(&second.stdin("one", "text"))));
    // Inputs that came another way have ids of their own.
    block_on(session.submit("test", "one".to_owned())).unwrap();
    assert!(is_fresh(&bench.ask(&bench.stdin("three", "one"))));
}

#[test]
fn tcp_71_another_payload_under_the_same_id_is_not_typed_and_told_of() {
    let bench = Bench::new();
    bench.expect(&bench.stdin("one", "text"), "ok");
    let ack = bench.ask(&bench.stdin("one", "another text"));
    assert!(!is_fresh(&ack));
    assert!(
        ack["detail"]
            .as_str()
            .unwrap()
            .starts_with("duplicate_differs:")
    );
    assert!(bench.trail("ControlAck").iter().any(|record| {
        record["detail"]
            .as_str()
            .unwrap()
            .starts_with("duplicate_differs:")
    }));
    assert_eq!(bench.inputs(), ["text"]);
}

#[test]
fn tcp_62_what_was_not_accepted_is_no_duplicate_later() {
    let bench = Bench::with(&json!({"queueCapacity": 1}));
    bench.expect(&bench.stdin("first", "first"), "ok");
    let waiting = bench.stdin("waiting", "second");
    for _ in 0..2 {
        let ack = bench.ask(&waiting);
        assert_eq!(
            (&ack["result"], &ack["duplicate"]),
            (&json!("busy"), &json!(false))
        );
    }
    let talking = bench.live.listen();
    assert_eq!(talking.answered().text, "USER first");
    assert!(is_fresh(&bench.ask(&waiting)));
    assert_eq!(bench.inputs(), ["first", "second"]);
}

#[test]
fn tcp_63_of_many_copies_at_once_one_is_typed() {
    let bench = Bench::new();
    for round in 0..10 {
        let message = bench.stdin(&format!("round-{round}"), &format!("text {round}"));
        let fresh = std::thread::scope(|scope| {
            let copies: Vec<_> = (0..16)
                .map(|_| scope.spawn(|| is_fresh(&bench.ask(&message))))
                .collect();
            copies
                .into_iter()
                .map(|copy| copy.join().unwrap())
                .filter(|fresh| *fresh)
                .count()
        });
        assert_eq!(fresh, 1);
    }
    let texts: Vec<String> = (0..10).map(|round| format!("text {round}")).collect();
    assert_eq!(bench.inputs(), texts);
}

#[test]
fn tcp_54_63_a_copy_waits_for_the_decision_and_after_a_refusal_is_decided_afresh() {
    let bench = Bench::with(&json!({"ackTimeoutMs": 300}));
    let message = bench.stdin("one", "text");
    let Claim::New(slot) = claim(bench.session(), &key("one")) else {
        panic!("nobody has sent it yet");
    };
    // Nothing is decided in time.
    let ack = bench.ask(&message);
    assert_eq!(
        (&ack["result"], &ack["duplicate"]),
        (&json!("timeout"), &json!(false))
    );
    assert!(bench.inputs().is_empty());
    // The first copy is refused, so another one is the first again: the one that was not waited for, or this one.
    drop(slot);
    eventually("a decision", || {
        let ack = bench.ask(&message);
        (ack["result"] == "ok").then_some(())
    });
    assert_eq!(bench.inputs(), ["text"]);
}

#[test]
fn tcp_64_a_request_is_forgotten_after_its_time() {
    let bench = Bench::with(&json!({"maxAgeSecs": 1, "maxSkewSecs": 0, "dedupeTtlSecs": 1}));
    bench.expect(&bench.stdin("one", "text"), "ok");
    eventually("the request being new again", || {
        let ack = bench.ask(&changed(
            &bench.stdin("one", "text"),
            "sent_at",
            &json!(now()),
        ));
        // On a busy machine even a fresh request may be too old when it is looked at.
        (ack["result"] == "ok" && ack["duplicate"] == false).then_some(())
    });
    assert_eq!(bench.inputs(), ["text", "text"]);
}

#[test]
fn tcp_65_remembered_requests_are_never_forgotten_early() {
    let bench = Bench::with(&json!({"dedupeCapacity": 2}));
    for id in ["one", "two"] {
        assert!(is_fresh(&bench.ask(&bench.stdin(id, id))));
    }
    bench.expect(&bench.stdin("three", "three"), "busy");
    for id in ["one", "two"] {
        assert!(!is_fresh(&bench.ask(&bench.stdin(id, id))));
    }
    assert_eq!(bench.inputs(), ["one", "two"]);
}

#[test]
fn tcp_66_67_69_100_a_restart_forgets_nothing_and_types_what_was_accepted() {
    let bench = Bench::new();
    bench.expect(&bench.stdin("text", "said before"), "ok");
    bench.expect(&bench.interrupt("interrupt"), "ok");
    let bench = bench.restart(&json!({}));
    assert!(!is_fresh(&bench.ask(&bench.stdin("text", "said before"))));
    assert!(!is_fresh(&bench.ask(&bench.interrupt("interrupt"))));
    assert_eq!(bench.inputs(), ["said before"]);
    // It was accepted and not answered, so it is answered now.
    assert_eq!(bench.live.listen().answered().text, "USER said before");
    let bench = bench.restart(&json!({}));
    assert!(!is_fresh(&bench.ask(&bench.stdin("text", "said before"))));
    assert!(!bench.session().has_inputs());
}

#[test]
fn tcp_67_a_long_journal_is_searched_as_far_back_as_it_matters() {
    let bench = Bench::new();
    bench.expect(&bench.stdin("early", "text"), "ok");
    for number in 0..1300 {
        block_on(bench.session().note("test", format!("note {number}"))).unwrap();
    }
    let bench = bench.restart(&json!({}));
    assert!(!is_fresh(&bench.ask(&bench.stdin("early", "text"))));
}

#[test]
fn tcp_70_an_accepted_request_stays_accepted_when_its_session_ends() {
    let bench = Bench::new();
    let message = bench.stdin("one", "text");
    bench.expect(&message, "ok");
    bench.session().close().unwrap();
    assert!(!is_fresh(&bench.ask(&message)));
    bench.expect(&bench.stdin("two", "text"), "not_live");
    // What is wrong by itself stays wrong.
    bench.expect(&changed(&message, "v", &json!(2)), "rejected");
    bench.expect(&changed(&message, "sender", &json!("eve")), "rejected");
}

/// A store in memory that can be made to fail.
#[derive(Default)]
struct Failing {
    store: MemoryStore,
    fails: AtomicBool,
}

impl Store for Failing {
    fn store_id(&self) -> &str {
        self.store.store_id()
    }

    fn journals(&self) -> bool {
        true
    }

    fn append(&self, session_id: &str, batch: &JournalBatch) -> Result<()> {
        if self.fails.load(Ordering::Acquire) {
            let code = &codes::STORE_UNAVAILABLE;
            return Err(Error::new(code.class, code.name, "the disk is full"));
        }
        self.store.append(session_id, batch)
    }

    fn write(&self, stored: &Stored) -> Result<()> {
        self.store.write(stored)
    }

    fn read(&self, session_id: &str) -> Result<Stored> {
        self.store.read(session_id)
    }

    fn read_journal(&self, session_id: &str, page: Page) -> Result<JournalPage> {
        self.store.read_journal(session_id, page)
    }

    fn list(&self) -> Result<Vec<String>> {
        self.store.list()
    }
}

/// A session without plugins.
struct Alone(Arc<Session>);

impl Sessions for Alone {
    fn find(&self, _: &str) -> Found {
        Found::Live(self.0.clone())
    }

    fn live(&self) -> Vec<Arc<Session>> {
        vec![self.0.clone()]
    }

    fn reload(&self, _: &str, _: &str) -> Result<Value> {
        Ok(Value::Null)
    }
}

#[test]
fn tcp_68_what_cannot_be_kept_is_not_accepted() {
    let bench = Bench::new();
    let store = Arc::new(Failing::default());
    let session = session_without_plugins(store.clone());
    let policy = Policy::of(&bench.live.core.ground.settings, &bench.world.home()).unwrap();
    let sessions = Arc::new(Alone(session.clone()));
    let receiver = Receiver::new(policy, sessions, bench.world.home());
    let ask = |message: &Value| {
        let reply = receiver.answer(envelope("control", message).to_string().as_bytes());
        serde_json::from_str::<Value>(&reply).unwrap()["payload"].take()
    };
    for message in [bench.stdin("text", "text"), bench.interrupt("interrupt")] {
        store.fails.store(true, Ordering::Release);
        let ack = ask(&message);
        assert_eq!(
            (&ack["result"], &ack["duplicate"]),
            (&json!("internal_error"), &json!(false))
        );
        assert_eq!(ack["error"]["code"], "StoreUnavailable");
        // The same request is accepted once it can be kept.
        store.fails.store(false, Ordering::Release);
        assert!(is_fresh(&ask(&message)));
    }
    assert_eq!(session.turn_count(), 0);
    let input = block_on(session.next_input()).unwrap();
    assert_eq!(input.text, "text");
    assert!(!session.has_inputs());
    session.close().unwrap();
}

fn session_without_plugins(store: Arc<dyn Store>) -> Arc<Session> {
    let timer = timer::system();
    let snapshot = RuntimeSnapshot::default();
    let founding = SessionConfig {
        mcp: None,
        project_root: "/project/.stud".into(),
        mode: SecurityMode::Ask,
        store,
        trails: None,
        index: None,
        redactor: Arc::default(),
        absence: Absence::default(),
        rules: TurnPolicy::default(),
        provider: None,
        model: None,
        params: Params::default(),
        tool_timeout: TTL,
        most_reprompts: 10,
        limits: Limits::default(),
        terms: Terms::default(),
        metrics: Collector::new(snapshot, timer.clone(), Duration::ZERO),
        timer,
    };
    open(founding, None).unwrap()
}
