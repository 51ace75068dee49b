//! Sessions that end, cleanly or not, and are resumed.

use std::io::Write as _;
use std::process::Stdio;

use serde_json::{Value, json};
use stud_core::audit::AuditQuery;
use stud_core::environment::EmbeddedPlugin;
use stud_core::launch::{Launch, Resume};
use stud_core::session::{Ending, SecurityMode};
use stud_tests::{Live, World, code_of};

use crate::stage::{Ui, build_ui, tools, ui, write_script};

fn bundled() -> Vec<EmbeddedPlugin> {
    vec![echo::stud_plugin(), filesystem_session_store::stud_plugin()]
}

fn begin(world: &World) -> Live {
    world.live(bundled())
}

fn resume(world: &World, which: Resume) -> Live {
    let how = Launch {
        resume: Some(which),
        ..Launch::default()
    };
    world.live_as(bundled(), how)
}

/// The records of one kind, as a UI reads them.
fn records(ui: &Ui, kind: &str) -> Vec<Value> {
    let view = ui
        .door
        .call("session.read", &json!({"limit": 1000}))
        .unwrap();
    let mut records = view["records"].as_array().unwrap().clone();
    records.retain(|record| record["kind"] == kind);
    records
}

fn input(text: &str) -> Value {
    json!({"call": "session.append", "with": {"kind": "userInput", "text": text}})
}

#[test]
fn after_a_crash_what_was_acknowledged_is_answered_once_and_what_was_open_is_closed() {
    let world = World::new();
    let inputs = [
        input(r#"!tool ask_user {"question": "Your name?"}"#),
        input("second"),
        input("third"),
    ];
    let one = ui(&world, "one", &json!({"activate": inputs}));
    tools(&world);
    let mut stud = world
        .command()
        .arg("--headless")
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    stud.stdin.take().unwrap().write_all(b"fourth\n").unwrap();
    let request = one.saw("ToolInput");
    stud.kill().unwrap();
    stud.wait().unwrap();
    let acknowledged = one
        .lines()
        .into_iter()
        .filter(|line| line["ok"]["seq"].is_u64());
    assert_eq!(acknowledged.count(), 3);

    write_script(&world, "one", &json!({}));
    let live = resume(&world, Resume::Latest);
    let told = one.heard("SessionResumed");
    assert_eq!(
        told["payload"],
        json!({"from": "Persisted", "to": "Resumed", "trigger": "Resume"})
    );
    for expected in ["USER second", "USER third", "USER fourth"] {
        assert_eq!(live.listen().answered().text, expected);
    }
    assert!(!live.session().has_inputs());

    let inputs = records(&one, "user_input");
    let mut begun: Vec<Value> = records(&one, "turn_start")
        .iter()
        .map(|record| record["payload"]["inputSeq"].clone())
        .collect();
    begun.sort_by_key(Value::as_u64);
    let seqs: Vec<Value> = inputs.iter().map(|record| record["seq"].clone()).collect();
    assert_eq!(seqs.len(), 4);
    assert_eq!(begun, seqs, "one turn for each input");

    let closed = records(&one, "interaction_response");
    assert_eq!(closed.len(), 1, "{closed:#?}");
    assert_eq!(closed[0]["correlationId"], request["correlationId"]);
    assert_eq!(closed[0]["extId"], "fixture-tools");
    assert_eq!(
        closed[0]["payload"],
        json!({
            "interactionId": request["interactionId"],
            "requestKind": "ToolInput",
            "outcome": "cancelled",
            "action": "cancel",
            "reason": "server_restarted",
        })
    );
    let query = json!({"class": "Interaction"});
    let mut audited = one.door.call("audit.query", &query).unwrap();
    assert_eq!(audited.as_array().unwrap().len(), 1, "{audited:#}");
    assert_eq!(audited[0]["correlationId"], request["correlationId"]);
    let ended = audited[0]["payload"]["settledAt"].take();
    assert!(ended.as_str() >= request["issuedAt"].as_str());
    assert_eq!(
        audited[0]["payload"],
        json!({
            "interactionId": request["interactionId"],
            "requestKind": "ToolInput",
            "outcome": "cancelled",
            "reason": "server_restarted",
            "askedBy": "fixture-tools",
            "toolCallId": request["payload"]["toolCallId"],
            "raisedAt": request["issuedAt"],
            "settledAt": null,
        })
    );
    let results = records(&one, "tool_result");
    assert_eq!(results.len(), 1, "{results:#?}");
    assert_eq!(
        results[0]["payload"]["toolCallId"],
        request["payload"]["toolCallId"]
    );
    assert_eq!(results[0]["payload"]["unknown"], true);
    assert_eq!(one.all_seen().len(), 1, "nobody is asked again");
    let ends = ends_of_killed_turn(&one, &request["payload"]["toolCallId"]);
    let id = live.session().id().to_owned();
    live.session().close().unwrap();

    let again = resume(&world, Resume::Session(id));
    assert!(!again.session().has_inputs());
    assert_eq!(records(&one, "interaction_response").len(), 1);
    assert_eq!(records(&one, "tool_result").len(), 1);
    let call = &request["payload"]["toolCallId"];
    assert_eq!(ends_of_killed_turn(&one, call), ends, "closed once");
    again.session().close().unwrap();
}

/// Holds that the turn in which `call` was killed has its ends in transcript and audit trail, and gives its records.
fn ends_of_killed_turn(ui: &Ui, call: &Value) -> Vec<Value> {
    let begun = ui
        .door
        .call("audit.query", &json!({"kind": "ToolCallStarted"}))
        .unwrap();
    let begun = begun.as_array().unwrap();
    let killed = begun
        .iter()
        .find(|record| record["payload"]["toolCallId"] == *call)
        .unwrap();
    let turn = &killed["correlationId"];
    let mut of_turn = ui.door.call("audit.query", &json!({})).unwrap();
    let of_turn = of_turn.as_array_mut().unwrap();
    of_turn.retain(|record| record["correlationId"] == *turn);
    let one = |kind: &str| {
        let mut found = of_turn.iter();
        let record = found.find(|record| record["kind"] == kind).unwrap();
        assert!(found.all(|record| record["kind"] != kind), "{kind} twice");
        assert_eq!(record["payload"]["reason"], "server_restarted");
        assert!(record["payload"]["durationMs"].is_u64());
        record.clone()
    };
    let failed = one("ToolCallFailed");
    assert_eq!(failed["class"], "ToolInvocation");
    assert_eq!(failed["payload"]["toolCallId"], *call);
    assert_eq!(failed["payload"]["toolName"], "ask_user");
    assert_eq!(failed["payload"]["unknown"], true);
    let ended = one("TurnError");
    assert_eq!(ended["class"], "Turn");
    assert_eq!(ended["payload"]["turnId"], *turn);
    let ends = records(ui, "turn_end");
    let mut ends = ends.iter().filter(|end| end["correlationId"] == *turn);
    assert_eq!(
        ends.next().unwrap()["payload"],
        json!({"turnId": turn, "status": "failed", "reason": "server_restarted"})
    );
    assert_eq!(ends.next(), None);
    of_turn.clone()
}

#[test]
fn a_session_that_was_closed_goes_on_where_it_was() {
    let world = World::new();
    let one = ui(&world, "one", &json!({}));
    let how = Launch {
        mode: Some(SecurityMode::Yolo),
        ..Launch::default()
    };
    let first = world.live_as(bundled(), how);
    first.say("hello").answered();
    let id = first.session().id().to_owned();
    let before = first.session().conversation();
    let seq = one.door.call("session.read", &json!({"limit": 0})).unwrap()["lastSeq"].as_u64();
    first.session().close().unwrap();

    let second = resume(&world, Resume::Session(id.clone()));
    assert_eq!(second.session().id(), id);
    assert_eq!(
        second.session().facts().mode,
        SecurityMode::Yolo,
        "a session keeps its mode"
    );
    assert_eq!(second.session().conversation(), before);
    let seen = second.session().metrics().snapshot();
    assert_eq!(seen.session.turn_count, 1);
    let began = &second.session().facts().created_at;
    assert_eq!(&seen.session.started_at, began);
    second.say("again").answered();
    assert_eq!(second.session().metrics().snapshot().session.turn_count, 2);
    let view = one.door.call("session.read", &json!({"limit": 0})).unwrap();
    assert_eq!(view["turnCount"], 2);
    assert!(view["lastSeq"].as_u64() > seq);
    let said = second.session().conversation();
    let texts: Vec<&Value> = said.iter().map(|message| &message["content"]).collect();
    assert_eq!(texts[0], "hello");
    assert_eq!(texts[1]["text"], "USER hello");
    assert_eq!(texts[2], "again");
    assert_eq!(texts[3]["text"], "USER again");
    second.session().close().unwrap();
}

#[test]
fn the_latest_is_the_one_that_was_written_last() {
    let world = World::new();
    let older = begin(&world);
    older.say("older").answered();
    older.session().close().unwrap();
    let newer = begin(&world);
    newer.say("newer").answered();
    let (older, newer) = (older.session().id().to_owned(), {
        newer.session().close().unwrap();
        newer.session().id().to_owned()
    });
    let latest = resume(&world, Resume::Latest);
    assert_eq!(latest.session().id(), newer);
    latest.session().close().unwrap();
    let by_id = resume(&world, Resume::Session(older.clone()));
    assert_eq!(by_id.session().id(), older);
    by_id.say("older again").answered();
    by_id.session().close().unwrap();
    let latest = resume(&world, Resume::Latest);
    assert_eq!(latest.session().id(), older);
    latest.session().close().unwrap();
}

#[test]
fn a_session_that_is_not_there_or_open_elsewhere_is_not_begun_anew() {
    let world = World::new();
    let fails = |which: Resume| {
        let how = Launch {
            resume: Some(which),
            ..Launch::default()
        };
        let error = world.try_live(bundled(), how).unwrap_err();
        (error.class().to_owned(), error.code().to_owned())
    };
    assert_eq!(fails(Resume::Latest).0, "Session");
    assert_eq!(
        fails(Resume::Session("no-such-session".to_owned())).0,
        "Session"
    );

    let live = begin(&world);
    live.say("hello").answered();
    let id = live.session().id().to_owned();
    let in_use = ("Session".to_owned(), "StoreUnavailable".to_owned());
    assert_eq!(fails(Resume::Session(id.clone())), in_use);
    // The one that has it is not disturbed.
    assert_eq!(live.say("still here").answered().text, "USER still here");
    live.session().close().unwrap();
    let back = resume(&world, Resume::Session(id));
    back.session().close().unwrap();
}

#[test]
fn what_a_plugin_keeps_comes_back_to_it_alone() {
    let world = World::new();
    let one = ui(&world, "one", &json!({}));
    let two = ui(&world, "two", &json!({}));
    let first = begin(&world);
    let nothing = one.door.call("slot.read", &json!({"of": "one"})).unwrap();
    assert_eq!(nothing, Value::Null);
    for count in [1, 2] {
        let slot = json!({"of": "one", "slotVersion": "1.0.0", "data": {"count": count}});
        one.door.call("slot.write", &slot).unwrap();
    }
    let read = |ui: &Ui, of: &str| ui.door.call("slot.read", &json!({"of": of}));
    let kept = json!({"slotVersion": "1.0.0", "data": {"count": 2}});
    assert_eq!(read(&one, "one").unwrap(), kept);
    let denied = read(&two, "one").unwrap_err();
    assert_eq!(code_of(&denied), "ExtensionHost/SlotAccessDenied");
    assert_eq!(
        denied["context"],
        json!({"extId": "two", "ownerExtId": "one"})
    );
    // Nor is it in what another may read of the transcript.
    assert_eq!(records(&one, "slot").len(), 2);
    assert!(records(&two, "slot").is_empty());
    first.session().close().unwrap();

    let second = resume(&world, Resume::Latest);
    assert_eq!(read(&one, "one").unwrap(), kept);
    assert_eq!(read(&two, "two").unwrap(), Value::Null);
    let missing = json!({"of": "one", "slotVersion": "", "data": {}});
    let refused = one.door.call("slot.write", &missing).unwrap_err();
    assert_eq!(code_of(&refused), "Validation/SlotVersionMissing");
    assert_eq!(read(&one, "one").unwrap(), kept);
    second.session().close().unwrap();
}

#[test]
fn what_another_version_kept_is_handled_as_the_plugin_says() {
    for policy in ["reject", "warn", "migrate"] {
        let world = World::new();
        let one = ui(&world, "one", &json!({}));
        let first = begin(&world);
        let slot = json!({"of": "one", "slotVersion": "1.0.0", "data": {"count": 1}});
        one.door.call("slot.write", &slot).unwrap();
        first.session().close().unwrap();

        build_ui(&world, "one", |manifest| {
            manifest["stateSlot"]["slotVersion"] = "2.0.0".into();
            manifest["stateSlot"]["driftPolicy"] = policy.into();
        });
        let second = resume(&world, Resume::Latest);
        let read = one.door.call("slot.read", &json!({"of": "one"}));
        if policy == "reject" {
            let refused = read.unwrap_err();
            assert_eq!(code_of(&refused), "Session/SlotDriftRejected");
            let facts = &refused["context"];
            assert_eq!(facts["storedVersion"], "1.0.0");
            assert_eq!(facts["expectedVersion"], "2.0.0");
        } else {
            assert_eq!(
                read.unwrap(),
                json!({"slotVersion": "1.0.0", "data": {"count": 1}})
            );
        }
        if policy == "migrate" {
            let migrate = json!({"of": "one", "to": "2.0.0"});
            let migrated = one.door.call("slot.migrate", &migrate).unwrap();
            let expected = json!({"slotVersion": "2.0.0", "data": {"total": 1, "from": "1.0.0"}});
            assert_eq!(migrated, expected);
            let useless = json!({"of": "one", "slotVersion": "1.5.0", "data": {}});
            one.door.call("slot.write", &useless).unwrap();
            let failed = one.door.call("slot.migrate", &migrate).unwrap_err();
            stud_observed::covers!(SLOT_MIGRATION_FAILED, failed);
            let facts = json!({
                "extId": "one",
                "storedVersion": "1.5.0",
                "targetVersion": "2.0.0",
                "cause": "ToolTerminal/InputInvalid",
            });
            assert_eq!(failed["context"], facts);
        }
        let query = json!({"class": "StateSlotDrift"});
        let audit = one.door.call("audit.query", &query).unwrap();
        let drift = &audit[0]["payload"];
        assert_eq!(drift["extId"], "one", "{policy}");
        assert_eq!(drift["storedVersion"], "1.0.0", "{policy}");
        assert_eq!(drift["decision"], policy);

        // Once it has written its own, nothing drifts any more.
        let own = json!({"of": "one", "slotVersion": "2.0.0", "data": {"count": 2}});
        one.door.call("slot.write", &own).unwrap();
        let read = one.door.call("slot.read", &json!({"of": "one"})).unwrap();
        assert_eq!(read["slotVersion"], "2.0.0", "{policy}");
        second.session().close().unwrap();
    }
}

#[test]
fn a_turn_that_is_called_off_leaves_no_call_without_a_result() {
    let world = World::new();
    let one = ui(&world, "one", &json!({}));
    tools(&world);
    let first = begin(&world);
    let calls = r#"!par [["fx_sleep", {"ms": 600000}], ["fx_sleep", {"ms": 600001}]]"#;
    let talking = first.say(calls);
    one.heard("ToolInvocationStarted");
    first.session().cancel_turn();
    talking.answered();
    let proposed = &first.session().conversation()[1]["content"]["toolCalls"];
    let results = records(&one, "tool_result");
    assert_eq!(results.len(), 2);
    for (call, result) in proposed.as_array().unwrap().iter().zip(&results) {
        assert_eq!(result["payload"]["toolCallId"], call["toolCallId"]);
        let content = result["payload"]["content"].as_str().unwrap();
        let content: Value = serde_json::from_str(content).unwrap();
        assert_eq!(content["ok"], false);
        assert_eq!(content["error"]["class"], "Cancellation");
    }
    first.session().close().unwrap();

    let second = resume(&world, Resume::Latest);
    assert_eq!(
        records(&one, "tool_result"),
        results,
        "nothing was left open"
    );
    assert_eq!(second.session().conversation().len(), 4);
    assert_eq!(second.say("hello").answered().text, "USER hello");
    second.session().close().unwrap();
}

/// What is on record of the times a session was saved.
fn saves(live: &Live) -> Vec<serde_json::Map<String, Value>> {
    let trail = live.session().trail().unwrap();
    let query = AuditQuery {
        kind: Some("save".to_owned()),
        ..AuditQuery::default()
    };
    let records = trail.query(&query).unwrap().into_iter();
    records.map(|record| record.payload).collect()
}

#[test]
fn a_turn_without_a_snapshot_does_not_say_that_the_session_was_kept() {
    let world = World::new();
    let one = ui(&world, "one", &json!({}));
    let live = begin(&world);
    // So much that not every turn after it is worth a snapshot.
    live.say(&"x".repeat(400_000)).answered();
    one.heard("SessionPersisted");
    for _ in 0..3 {
        live.say("short").answered();
    }
    assert_eq!(saves(&live).len(), 1);
    assert_eq!(one.all_heard("SessionPersisted").len(), 1);
    live.session().close().unwrap();
}

#[test]
fn a_snapshot_that_cannot_be_written_fails_its_turn_and_not_the_session() {
    let world = World::new();
    let one = ui(&world, "one", &json!({}));
    let live = begin(&world);
    live.say("first").answered();
    let id = live.session().id().to_owned();
    let manifest = world.path(format!("home/sessions/{id}/manifest.json"));
    std::fs::remove_file(&manifest).unwrap();
    // A folder with something in it cannot be replaced by a file.
    world.write(format!("home/sessions/{id}/manifest.json/in-the-way"), "");
    let second = live.say("second").answered();
    assert_eq!(second.text, "USER second");
    let Ending::Failed(error) = second.ending else {
        panic!("{second:?}");
    };
    assert_eq!(error.code(), "StoreUnavailable");
    let told = one.heard("SuppressedError");
    assert_eq!(told["payload"]["reason"], "the session could not be saved");
    assert_eq!(one.all_heard("SessionPersisted").len(), 1);
    let saves = saves(&live);
    let failed = saves.last().unwrap();
    assert_eq!(failed["error"]["code"], "StoreUnavailable");
    // The one that worked, the one that was tried, and that it failed.
    assert_eq!(saves.len(), 3, "{saves:#?}");

    std::fs::remove_dir_all(&manifest).unwrap();
    let third = live.say("third").answered();
    assert!(matches!(third.ending, Ending::Completed), "{third:?}");
    live.session().close().unwrap();
    let back = resume(&world, Resume::Session(id));
    assert_eq!(back.session().conversation().len(), 6);
    back.session().close().unwrap();
}
