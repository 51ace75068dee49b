//! The event stream: the same for everyone who listens, from the moment they do.

use serde_json::{Value, json};
use stud_tests::{World, code_of, eventually};

use crate::stage::{Ear, Ui, deaf, mute, probe, ui, ui_as};

/// What a UI heard, in the order in which it did.
fn stream(ui: &Ui) -> Vec<Value> {
    let mut lines = ui.lines();
    lines.retain(|line| line["heard"].is_string());
    lines
}

fn seq(event: &Value) -> u64 {
    event["seq"].as_u64().unwrap()
}

#[test]
fn everyone_hears_the_same_in_the_same_order() {
    let world = World::new();
    let uis = ["one", "two", "three"].map(|id| ui_as(&world, id, &json!({}), mute));
    let tool = probe(&world, "probe-tool", "tools");
    let live = world.live(vec![echo::stud_plugin()]);

    // Two plugins and the session itself speak at the same time.
    let ours = json!({"name": "Probed", "payload": {"count": 1}, "times": 300});
    let theirs = json!({"name": "Scripted", "payload": {"count": 2}, "times": 300});
    let speaking = [
        tool.start("events.publish", &ours),
        uis[0].door.start("events.publish", &theirs),
    ];
    live.say("!flood 300").answered();
    for said in speaking {
        said.result().unwrap();
    }
    live.session().close().unwrap();
    let streams = uis.each_ref().map(|ui| {
        ui.heard("SessionClosed");
        stream(ui)
    });

    // They join one after another, so the first may have heard something before the last was there.
    let begin = streams.iter().map(|stream| seq(&stream[0])).max().unwrap();
    let common = streams.map(|stream| {
        let from = stream.iter().position(|event| seq(event) == begin).unwrap();
        stream[from..].to_vec()
    });
    assert_eq!(common[0], common[1]);
    assert_eq!(common[0], common[2]);
    let numbers: Vec<u64> = common[0].iter().map(seq).collect();
    let last = begin + numbers.len() as u64;
    assert_eq!(
        numbers,
        (begin..last).collect::<Vec<u64>>(),
        "nothing is missing"
    );
    for (name, times) in [
        ("Probed", 300),
        ("Scripted", 300),
        ("ProviderTokensStreamed", 300),
    ] {
        let heard = common[0].iter().filter(|event| event["heard"] == name);
        assert!(heard.count() >= times, "{name}");
    }
}

#[test]
fn a_late_subscriber_starts_at_the_present_and_may_read_the_past() {
    let world = World::new();
    let one = ui_as(&world, "one", &json!({}), mute);
    let late = ui_as(&world, "late", &json!({}), mute);
    let live = world.live(vec![]);
    let plugin = live.session().plugins().get("late").cloned().unwrap();
    let publish = |count: u32| {
        let event = json!({"name": "Scripted", "payload": {"count": count}});
        one.door.call("events.publish", &event).unwrap();
    };
    live.session().detach_plugin("late");
    let before = late.lines().len();
    publish(1);
    let note = json!({"kind": "note", "text": "while you were away"});
    one.door.call("session.append", &note).unwrap();
    one.heard("Scripted");
    stud_core::participants::join(live.session(), &plugin);
    publish(2);
    let first = late.heard("Scripted");
    assert_eq!(first["payload"], json!({"count": 2}));
    assert_eq!(late.lines().len(), before + 1, "{:#?}", late.lines());

    let view = late.door.call("session.read", &json!({})).unwrap();
    let records = view["records"].as_array().unwrap();
    let note = records
        .iter()
        .find(|record| record["kind"] == "note")
        .unwrap();
    assert_eq!(note["extId"], "one");
    assert_eq!(note["payload"]["text"], "while you were away");
    live.session().close().unwrap();
}

#[test]
fn an_event_that_is_refused_reaches_nobody() {
    let world = World::new();
    let one = ui(&world, "one", &json!({}));
    let live = world.live(vec![]);
    let ear = Ear::of(&live);
    for (event, code) in [
        (
            json!({"name": "Unheard", "payload": {}}),
            "Validation/EventUndeclared",
        ),
        (
            json!({"name": "scripted", "payload": {"count": 1}}),
            "Validation/EventUndeclared",
        ),
        (
            json!({"name": "SessionClosed", "payload": {}}),
            "Validation/EventNameReserved",
        ),
        (
            json!({"name": "Scripted", "payload": {}}),
            "Validation/EventPayloadInvalid",
        ),
        (
            json!({"name": "Scripted", "payload": {"count": -1}}),
            "Validation/EventPayloadInvalid",
        ),
        (
            json!({"name": "Scripted", "payload": {"count": 1, "more": 2}}),
            "Validation/EventPayloadInvalid",
        ),
    ] {
        let refused = one.door.call("events.publish", &event).unwrap_err();
        assert_eq!(code_of(&refused), code, "{event}");
        assert_eq!(refused["context"]["name"], event["name"], "{event}");
    }
    let wrong = json!({"name": "Scripted", "payload": {"count": "one"}});
    let refused = one.door.call("events.publish", &wrong).unwrap_err();
    assert_eq!(refused["context"]["fieldPath"], "/count");

    let right = json!({"name": "Scripted", "payload": {"count": 7}});
    one.door.call("events.publish", &right).unwrap();
    assert_eq!(ear.named("Scripted")["payload"], json!({"count": 7}));
    assert_eq!(ear.all().len(), 1, "{:#?}", ear.all());
    live.session().close().unwrap();
}

#[test]
fn what_happens_in_a_turn_bears_its_id() {
    let world = World::new();
    let one = ui_as(&world, "one", &json!({}), mute);
    let live = world.live(vec![echo::stud_plugin()]);
    let outside = json!({"name": "Scripted", "payload": {"count": 0}});
    one.door.call("events.publish", &outside).unwrap();
    one.door.call("events.publish", &outside).unwrap();

    let talking = live.say("!slow 600000");
    let turn = one.heard("SessionTurnStart")["correlationId"].clone();
    let said = one
        .door
        .call("workspace.correlationId", &json!({}))
        .unwrap();
    assert_eq!(said, turn);
    let inside = json!({"name": "Scripted", "payload": {"count": 1}});
    one.door.call("events.publish", &inside).unwrap();
    live.session().cancel_turn();
    talking.answered();
    live.session().close().unwrap();

    let heard = eventually("all three", || {
        let heard = one.all_heard("Scripted");
        (heard.len() == 3).then_some(heard)
    });
    let ids: Vec<&Value> = heard.iter().map(|event| &event["correlationId"]).collect();
    assert_eq!(ids[2], &turn);
    assert!(
        ids[0] != &turn && ids[1] != &turn && ids[0] != ids[1],
        "{ids:?}"
    );
    for name in [
        "SessionTurnStart",
        "SessionActive",
        "SessionTurnEnd",
        "SessionPersisted",
    ] {
        let event = one.heard(name);
        assert_eq!(event["correlationId"], turn, "{name}");
    }
}

#[test]
fn a_turn_is_told_from_its_start_to_its_end() {
    let world = World::new();
    let one = ui(&world, "one", &json!({}));
    let live = world.live(vec![echo::stud_plugin()]);
    assert_eq!(live.say("hello").answered().text, "USER hello");
    live.session().close().unwrap();
    one.heard("SessionClosed");
    let names = stream(&one).into_iter().map(|event| event["heard"].clone());
    let names: Vec<String> = names
        .map(|name| name.as_str().unwrap().to_owned())
        .collect();
    // Others may be told in between; these come in this order.
    let mut rest = names.iter();
    for expected in [
        "SessionTurnStart",
        "ProviderRequestStarted",
        "ProviderTokensStreamed",
        "ProviderRequestCompleted",
        "SessionTurnEnd",
        "SessionPersisted",
        "SessionClosed",
    ] {
        assert!(rest.any(|name| name == expected), "{expected} in {names:?}");
    }
    let start = one.heard("SessionTurnStart");
    let end = one.heard("SessionTurnEnd");
    assert_eq!(start["payload"]["turnId"], end["payload"]["turnId"]);
}

/// What was told of the phases of one plugin: name of the event, phase and duration.
fn phases(told: Vec<Value>, of: &str) -> Vec<(String, String, u64)> {
    let told = told.into_iter().filter(|event| {
        let name = event["heard"].as_str().unwrap();
        name.starts_with("LifecyclePhase") && event["payload"]["extensionId"] == of
    });
    told.map(|event| {
        assert_eq!(event["correlationId"], of);
        let payload = &event["payload"];
        let keys: Vec<&String> = payload.as_object().unwrap().keys().collect();
        assert_eq!(keys, ["durationMs", "extensionId", "phase"]);
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        let took = payload["durationMs"].as_u64().unwrap();
        (text(&event["heard"]), text(&payload["phase"]), took)
    })
    .collect()
}

fn are_whole(told: &[(String, String, u64)], phases: &[&str]) {
    let names: Vec<(&str, &str)> = told.iter().map(|told| (&*told.0, &*told.1)).collect();
    let each = |phase| [("LifecyclePhaseStart", phase), ("LifecyclePhaseEnd", phase)];
    let expected: Vec<_> = phases.iter().copied().flat_map(each).collect();
    assert_eq!(names, expected);
    for (name, _, took) in told {
        assert!(name == "LifecyclePhaseEnd" || *took == 0, "{told:?}");
    }
}

#[test]
fn the_phases_of_plugins_are_told_to_those_who_are_there() {
    let world = World::new();
    let early = ui(&world, "a-early", &json!({}));
    let late = ui(&world, "b-late", &json!({}));
    let live = world.live(vec![echo::stud_plugin()]);
    let ear = Ear::of(&live);
    live.session().close().unwrap();
    early.heard("SessionClosed");
    late.heard("SessionClosed");
    are_whole(&phases(stream(&early), "b-late"), &["init", "activate"]);
    assert_eq!(phases(stream(&late), "a-early"), []);
    for id in ["a-early", "b-late", "echo"] {
        are_whole(&phases(ear.all(), id), &["deactivate", "dispose"]);
    }
}

#[test]
fn whoever_only_answers_hears_nothing() {
    let world = World::new();
    let hearing = ui(&world, "hearing", &json!({}));
    let answering = ui_as(&world, "answering", &json!({}), deaf);
    let live = world.live(vec![echo::stud_plugin()]);
    live.say("hello").answered();
    live.session().close().unwrap();
    hearing.heard("SessionClosed");
    assert!(stream(&answering).is_empty());
}
