//! Plugins that misbehave in a session: the others continue, and it is said who it was.

use serde_json::{Value, json};
use stud_core::session::Ending;
use stud_tests::{World, cause_of, code_of, eventually};

use crate::stage::{Ear, install, mute, probe, tools, ui, ui_as};

fn on(event: &str, rule: Value) -> Value {
    json!({"events": {event: rule}})
}

fn asks(tool: &stud_tests::Door) -> stud_tests::Calling {
    let payload = json!({"kind": "Ask", "payload": {"prompt": "Your name?"}});
    tool.start("interaction.request", &payload)
}

#[test]
fn a_subscriber_that_hangs_is_left_behind() {
    let world = World::new();
    let stuck = ui_as(
        &world,
        "stuck",
        &on("SessionTurnStart", json!({"do": "hang"})),
        mute,
    );
    let one = ui(&world, "one", &json!({}));
    let live = world.live(vec![echo::stud_plugin()]);
    for text in ["first", "second"] {
        assert_eq!(live.say(text).answered().text, format!("USER {text}"));
    }
    let lagged = one.heard("SubscriberLagged");
    assert_eq!(lagged["payload"]["extId"], "stuck");
    assert_eq!(lagged["payload"]["stuck"], true);
    let both = || one.all_heard("SessionTurnEnd").len() == 2;
    eventually("the end of both turns", || both().then_some(()));
    live.session().close().unwrap();
    one.heard("SessionClosed");
    let last = stuck
        .lines()
        .into_iter()
        .rfind(|line| line["heard"].is_string());
    assert_eq!(last.unwrap()["heard"], "SessionTurnStart");
}

#[test]
fn a_subscriber_that_panics_or_fails_is_named_and_goes_on() {
    for (rule, code) in [
        ("panic", "ExtensionHost/CallPanicked"),
        ("fail", "ToolTerminal/ToolExecutionFailed"),
    ] {
        let world = World::new();
        let clumsy = ui(
            &world,
            "clumsy",
            &on("SessionTurnStart", json!({"do": rule})),
        );
        let one = ui(&world, "one", &json!({}));
        let live = world.live(vec![echo::stud_plugin()]);
        assert_eq!(live.say("hello").answered().text, "USER hello");
        live.session().close().unwrap();
        for ui in [&clumsy, &one] {
            ui.heard("SessionClosed");
            let named = ui.all_heard("SuppressedError");
            assert_eq!(named.len(), 1, "{rule}: {named:#?}");
            let payload = &named[0]["payload"];
            assert_eq!(payload["extId"], "clumsy", "{rule}");
            assert_eq!(code_of(&cause_of(payload)), code);
            assert!(
                payload["reason"]
                    .as_str()
                    .unwrap()
                    .contains("SessionTurnStart"),
                "{payload}"
            );
        }
    }
}

#[test]
fn a_slow_subscriber_is_slow_by_itself_and_misses_nothing() {
    let world = World::new();
    let slow = ui(
        &world,
        "slow",
        &on("ProviderTokensStreamed", json!({"do": "slow", "ms": 15})),
    );
    let one = ui(&world, "one", &json!({}));
    let live = world.live(vec![echo::stud_plugin()]);
    live.say("!flood 40").answered();
    for ui in [&slow, &one] {
        ui.heard("SessionTurnEnd");
    }
    let heard = |ui: &crate::stage::Ui| ui.all_heard("ProviderTokensStreamed");
    assert_eq!(heard(&slow), heard(&one));
    assert_eq!(heard(&one).len(), 40);
    live.session().close().unwrap();
}

#[test]
fn a_plugin_that_floods_the_stream_is_stopped_and_named() {
    let world = World::new();
    let one = ui(&world, "one", &json!({}));
    let tool = probe(&world, "probe-tool", "tools");
    let live = world.live(vec![]);
    let flood = json!({"name": "Probed", "payload": {"count": 1}, "times": 10_000_000});
    let refused = tool.call("events.publish", &flood).unwrap_err();
    assert_eq!(code_of(&refused), "ExtensionHost/EventRateExceeded");
    assert_eq!(refused["context"]["extId"], "probe-tool");
    let named = one.line("who floods", |line| {
        line["heard"] == "SuppressedError" && line["payload"]["extId"] == "probe-tool"
    });
    let cause = code_of(&cause_of(&named["payload"]));
    assert_eq!(cause, "ExtensionHost/EventRateExceeded");
    // Another plugin has a pace of its own.
    let event = json!({"name": "Scripted", "payload": {"count": 1}});
    one.door.call("events.publish", &event).unwrap();
    one.heard("Scripted");
    live.session().close().unwrap();
}

#[test]
fn an_interactor_that_panics_or_fails_leaves_the_prompt_to_others() {
    for (rule, code) in [
        ("panic", "ExtensionHost/CallPanicked"),
        ("fail", "ToolTerminal/ToolExecutionFailed"),
    ] {
        let world = World::new();
        let answer = json!({"do": "accept", "value": {"text": "Ada"}});
        let then_right = json!({"prompts": {"Ask": [{"do": rule}, answer]}});
        let clumsy = ui(&world, "clumsy", &then_right);
        let mut when_told = answer.clone();
        when_told["until"] = json!(world.path("go"));
        let one = ui(
            &world,
            "one",
            &json!({"prompts": {"Ask": [when_told, {"do": "wait"}]}}),
        );
        let tool = probe(&world, "probe-tool", "tools");
        let live = world.live(vec![]);

        let asked = asks(&tool);
        let named = one.heard("SuppressedError");
        assert_eq!(named["payload"]["extId"], "clumsy", "{rule}");
        assert_eq!(code_of(&cause_of(&named["payload"])), code);
        assert!(!asked.is_over());
        world.write("go", "");
        asked.result().unwrap();
        // It is asked the next time as if nothing had happened.
        asks(&tool).result().unwrap();
        assert_eq!(clumsy.all_seen().len(), 2, "{rule}");
        live.session().close().unwrap();
    }
}

#[test]
fn a_subscriber_that_hangs_keeps_nobody_from_being_asked() {
    let world = World::new();
    let hang = on("InteractionRaised", json!({"do": "hang"}));
    let stuck = ui_as(&world, "a-stuck", &hang, mute);
    let accept = json!({"do": "accept", "value": {"text": "Ada"}});
    let one = ui(&world, "one", &json!({"prompts": {"Ask": accept}}));
    let tool = probe(&world, "probe-tool", "tools");
    let live = world.live(vec![]);

    for _ in 0..2 {
        let response = asks(&tool).result().unwrap();
        assert_eq!(response["value"], json!({"text": "Ada"}));
    }
    stuck.heard("InteractionRaised");
    let lagged = one.heard("SubscriberLagged");
    assert_eq!(lagged["payload"]["extId"], "a-stuck");
    assert_eq!(one.all_seen().len(), 2);
    live.session().close().unwrap();
}

#[test]
fn an_interactor_that_hangs_keeps_nobody_from_answering() {
    let world = World::new();
    let stuck = ui(
        &world,
        "stuck",
        &json!({"prompts": {"Ask": {"do": "hang"}}}),
    );
    let answer = json!({"do": "accept", "value": {"text": "Ada"}, "until": world.path("go")});
    let one = ui(&world, "one", &json!({"prompts": {"Ask": answer}}));
    let tool = probe(&world, "probe-tool", "tools");
    let live = world.live(vec![]);
    let asked = asks(&tool);
    stuck.saw("Ask");
    one.saw("Ask");
    world.write("go", "");
    assert_eq!(asked.result().unwrap()["value"], json!({"text": "Ada"}));
    assert_eq!(
        asks(&tool).result().unwrap()["value"],
        json!({"text": "Ada"})
    );
    let named = one.heard("SuppressedError");
    assert_eq!(named["payload"]["extId"], "stuck");
    stud_observed::covers!(CALL_STUCK, cause_of(&named["payload"]));
    live.session().close().unwrap();
}

#[test]
fn an_interactor_that_lets_go_after_all_is_asked_again() {
    let world = World::new();
    let stay = json!({"do": "stay", "until": world.path("back")});
    let bob = json!({"do": "accept", "value": {"text": "Bob"}});
    let slow = ui(&world, "slow", &json!({"prompts": {"Ask": [stay, bob]}}));
    let ada = json!({"do": "accept", "value": {"text": "Ada"}, "until": world.path("go")});
    let one = ui(
        &world,
        "one",
        &json!({"prompts": {"Ask": [ada, {"do": "wait"}]}}),
    );
    let tool = probe(&world, "probe-tool", "tools");
    let live = world.live(vec![]);
    let first = asks(&tool);
    slow.saw("Ask");
    one.saw("Ask");
    world.write("go", "");
    assert_eq!(first.result().unwrap()["value"]["text"], "Ada");
    one.heard("SuppressedError");

    let second = asks(&tool);
    let twice = || one.all_seen().len() == 2;
    eventually("the second prompt", || twice().then_some(()));
    assert!(!second.is_over());
    world.write("back", "");
    assert_eq!(second.result().unwrap()["value"]["text"], "Bob");
    live.session().close().unwrap();
    assert_eq!(one.all_heard("SuppressedError").len(), 1);
}

#[test]
fn while_the_only_interactor_is_stuck_nobody_is_there() {
    let world = World::new();
    let settings = json!({"interaction": {"interactorGraceMs": 1}});
    world.write("home/settings.json", settings.to_string());
    let stuck = ui(
        &world,
        "stuck",
        &json!({"prompts": {"Approve": {"do": "hang"}}}),
    );
    install(&world, "good-tool", "tools");
    let live = world.live(vec![echo::stud_plugin()]);
    let propose = || live.say(r#"!tool line_count {"path": "/dev/null"}"#);

    let talking = propose();
    stuck.saw("Approve");
    live.session().cancel_turn();
    assert!(matches!(talking.answered().ending, Ending::Cancelled));
    stuck.heard("SuppressedError");
    let ending = propose().answered().ending;
    let Ending::Halted(error) = ending else {
        panic!("the turn did not halt: {ending:?}");
    };
    assert_eq!(error.code(), "HeadlessInteractionRequired");
    live.session().close().unwrap();
}

#[test]
fn a_handler_may_call_back_into_the_host() {
    let world = World::new();
    let calls = json!([
        {"call": "events.publish", "with": {"name": "Scripted", "payload": {"count": 1}}},
        {"call": "session.append", "with": {"kind": "note", "text": "heard it"}},
        {"call": "session.append", "with": {"kind": "userInput", "text": "and go on"}},
        {"call": "slot.write", "with": {"of": "busy", "slotVersion": "1.0.0", "data": {"count": 1}}},
        {"call": "slot.read", "with": {"of": "busy"}},
        {"call": "metrics.snapshot"},
        {"call": "audit.record", "with": {"class": "Example"}},
        {"call": "audit.query", "with": {"class": "Example"}},
        {"call": "session.read"},
    ]);
    let rule = json!({"do": "calls", "calls": calls});
    let busy = ui(&world, "busy", &on("InteractionRaised", rule));
    let one = ui(&world, "one", &json!({"prompts": {"*": {"do": "reject"}}}));
    let tool = probe(&world, "probe-tool", "tools");
    let live = world.live(vec![echo::stud_plugin()]);
    asks(&tool).result().unwrap();
    one.heard("Scripted");
    let done = busy.line("the last call", |line| line["call"] == "session.read");
    let records = done["ok"]["records"].as_array().unwrap();
    assert!(
        records
            .iter()
            .any(|record| record["payload"]["text"] == "heard it")
    );
    let failed: Vec<Value> = busy
        .lines()
        .into_iter()
        .filter(|line| line["error"].is_object())
        .collect();
    assert!(failed.is_empty(), "{failed:#?}");
    assert_eq!(live.listen().answered().text, "USER and go on");
    live.session().close().unwrap();
}

#[test]
fn a_tool_that_panics_fails_and_the_turn_goes_on() {
    let world = World::new();
    let one = ui(&world, "one", &json!({}));
    tools(&world);
    let live = world.live(vec![echo::stud_plugin()]);
    let answered = live.say("!tool fx_panic {}").answered();
    assert!(matches!(answered.ending, Ending::Completed));
    assert!(
        answered.text.contains(r#""code":"ToolExecutionFailed""#)
            && answered.text.contains("ExtensionHost/CallPanicked"),
        "{}",
        answered.text
    );
    let failed = one.heard("ToolInvocationFailed");
    assert_eq!(failed["payload"]["errorCode"], "ToolExecutionFailed");
    assert_eq!(live.say("hello").answered().text, "USER hello");
    live.session().close().unwrap();
}

#[test]
fn a_tool_that_hangs_cannot_keep_the_turn_from_being_called_off() {
    let world = World::new();
    let one = ui(&world, "one", &json!({}));
    tools(&world);
    let live = world.live(vec![echo::stud_plugin()]);
    let talking = live.say("!tool fx_hang {}");
    one.heard("ToolInvocationStarted");
    assert!(live.session().cancel_turn());
    assert!(matches!(talking.answered().ending, Ending::Cancelled));
    assert_eq!(live.say("hello").answered().text, "USER hello");
    live.session().close().unwrap();
}

#[test]
fn a_tool_learns_that_its_call_is_called_off() {
    let world = World::new();
    let state = world.path("state");
    std::fs::create_dir(&state).unwrap();
    let settings = json!({"env": {"STUD_FIXTURE_STATE": state}});
    world.write("home/settings.json", settings.to_string());
    let one = ui(&world, "one", &json!({}));
    tools(&world);
    let live = world.live(vec![echo::stud_plugin()]);
    let ear = Ear::of(&live);
    for (input, begun) in [
        (r#"!tool fx_sleep {"ms": 600000}"#, "ToolInvocationStarted"),
        ("!tool fx_cancel {}", "InteractionRaised"),
    ] {
        let before = ear.all_named(begun).len();
        let talking = live.say(input);
        eventually(begun, || {
            (ear.all_named(begun).len() > before).then_some(())
        });
        if begun == "InteractionRaised" {
            one.saw("ToolInput");
        }
        live.session().cancel_turn();
        assert!(
            matches!(talking.answered().ending, Ending::Cancelled),
            "{input}"
        );
    }
    let log = state.join("oncancel.log");
    let text = eventually("both tools", || {
        let text = std::fs::read_to_string(&log).unwrap_or_default();
        (text.lines().count() == 2).then_some(text)
    });
    assert_eq!(text, "fx_sleep\nfx_cancel\n");
    live.session().close().unwrap();
}

#[test]
fn what_was_refused_at_the_start_can_be_seen_from_inside() {
    let world = World::new();
    world.write("home/tools/libnothing.so", "no library");
    let tool = probe(&world, "probe-tool", "tools");
    let live = world.live(vec![]);
    let snapshot = tool.call("metrics.snapshot", &json!({})).unwrap();
    let seen = &snapshot["diagnostics"];
    assert_eq!(seen["error"], 1, "{seen:#}");
    assert_eq!(seen["recent"][0]["level"], "error");
    let code = seen["recent"][0]["code"].as_str().unwrap();
    assert!(code.starts_with("Validation/"), "{code}");
    live.session().close().unwrap();
}
