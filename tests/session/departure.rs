//! Interactors that leave, come back, or were never there.

use serde_json::{Value, json};
use stud_core::launch::Launch;
use stud_core::session::{Ending, SecurityMode};
use stud_tests::{Live, Talking, World, code_of, eventually};

use crate::stage::{Ear, install, mute, probe, tools, ui, ui_as};

/// A world whose interactors are waited for this long once they are gone.
fn world_with_grace(millis: u64) -> World {
    let world = World::new();
    let settings = json!({"interaction": {"interactorGraceMs": millis}});
    world.write("home/settings.json", settings.to_string());
    world
}

/// Has the model propose a call that needs an approval.
fn propose(live: &Live) -> Talking {
    live.say(r#"!tool line_count {"path": "/dev/null"}"#)
}

fn halted(talking: Talking) -> Value {
    match talking.answered().ending {
        Ending::Halted(error) => serde_json::to_value(error).unwrap(),
        other => panic!("the turn did not halt: {other:?}"),
    }
}

#[test]
fn one_of_two_leaves_and_the_other_answers() {
    let world = world_with_grace(1);
    let yes = json!({
        "do": "accept",
        "value": {"decision": "approve"},
        "until": world.path("go"),
    });
    let one = ui(&world, "one", &json!({}));
    let two = ui(&world, "two", &json!({"prompts": {"Approve": yes}}));
    install(&world, "good-tool", "tools");
    let live = world.live(vec![echo::stud_plugin()]);

    let talking = propose(&live);
    let request = one.saw("Approve");
    two.saw("Approve");
    live.session().detach_plugin("one");
    one.called_off(&request["interactionId"]);
    assert_eq!(live.session().prompts().open_count(), 1);
    world.write("go", "");
    let answered = talking.answered();
    assert_eq!(answered.text, r#"RESULT {"ok":true,"result":"0 lines"}"#);
    live.session().close().unwrap();
}

#[test]
fn when_the_last_one_stays_away_the_turn_halts() {
    let world = world_with_grace(1);
    let one = ui(&world, "one", &json!({}));
    let passive = ui_as(&world, "passive", &json!({}), mute);
    let tool = probe(&world, "probe-tool", "tools");
    install(&world, "good-tool", "tools");
    let live = world.live(vec![echo::stud_plugin()]);

    let talking = propose(&live);
    let request = one.saw("Approve");
    live.session().detach_plugin("one");
    one.called_off(&request["interactionId"]);
    let error = halted(talking);
    assert_eq!(code_of(&error), "Validation/HeadlessInteractionRequired");
    assert_eq!(error["context"]["requestKind"], "Approve");
    assert_eq!(error["context"]["requestId"], request["interactionId"]);

    let event = passive.heard("HeadlessInteractionRequired");
    let payload = event["payload"].as_object().unwrap();
    let members: Vec<&String> = payload.keys().collect();
    assert_eq!(members, ["correlationId", "hint", "kind", "requestKind"]);
    assert_eq!(payload["kind"], "permission-required");
    assert_eq!(payload["requestKind"], "Approve");
    assert_eq!(payload["correlationId"], request["correlationId"]);
    passive.heard("InteractionCancelled");

    let records = tool
        .call("audit.query", &json!({"class": "Approval"}))
        .unwrap();
    let halt = &records[0]["payload"];
    assert_eq!(halt["decision"], "halt");
    assert_eq!(halt["interactionId"], request["interactionId"]);
    assert_eq!(records[0]["correlationId"], request["correlationId"]);
    live.session().close().unwrap();
}

#[test]
fn once_everyone_has_failed_over_a_prompt_nobody_is_there() {
    let world = world_with_grace(1);
    let panics = json!({"prompts": {"Approve": {"do": "panic"}}});
    let misshapen = json!({"do": "accept", "value": {"decision": "maybe"}});
    let one = ui(&world, "one", &panics);
    let two = ui(&world, "two", &json!({"prompts": {"Approve": misshapen}}));
    install(&world, "good-tool", "tools");
    let live = world.live(vec![echo::stud_plugin()]);
    let error = halted(propose(&live));
    assert_eq!(code_of(&error), "Validation/HeadlessInteractionRequired");
    assert_eq!(one.all_seen().len(), 1);
    assert_eq!(two.all_seen().len(), 3);
    live.session().close().unwrap();
}

#[test]
fn whoever_comes_after_all_have_failed_is_asked() {
    let world = world_with_grace(600_000);
    let fail_then_yes = json!([
        {"do": "fail"},
        {"do": "accept", "value": {"decision": "approve"}},
    ]);
    let script = json!({"prompts": {"Approve": fail_then_yes}});
    let one = ui(&world, "one", &script);
    let two = ui(
        &world,
        "two",
        &json!({"prompts": {"Approve": {"do": "dismiss"}}}),
    );
    install(&world, "good-tool", "tools");
    let live = world.live(vec![echo::stud_plugin()]);

    let talking = propose(&live);
    one.heard("SuppressedError");
    two.saw("Approve");
    // One who dismissed it is there, so it waits for however long it takes.
    assert!(!talking.is_over());
    let plugin = live.session().plugins().get("one").cloned().unwrap();
    live.session().detach_plugin("one");
    stud_core::participants::join(live.session(), &plugin);
    let answered = talking.answered();
    assert_eq!(answered.text, r#"RESULT {"ok":true,"result":"0 lines"}"#);
    live.session().close().unwrap();
}

#[test]
fn who_comes_back_in_time_is_asked_again() {
    let world = world_with_grace(600_000);
    let wait_then_yes = json!([
        {"do": "wait"},
        {"do": "accept", "value": {"decision": "approve"}},
    ]);
    let one = ui(
        &world,
        "one",
        &json!({"prompts": {"Approve": wait_then_yes}}),
    );
    install(&world, "good-tool", "tools");
    let live = world.live(vec![echo::stud_plugin()]);

    let talking = propose(&live);
    let request = one.saw("Approve");
    let plugin = live.session().plugins().get("one").cloned().unwrap();
    live.session().detach_plugin("one");
    one.called_off(&request["interactionId"]);
    assert!(!talking.is_over());
    stud_core::participants::join(live.session(), &plugin);
    let answered = talking.answered();
    assert_eq!(answered.text, r#"RESULT {"ok":true,"result":"0 lines"}"#);
    let seen = one.all_seen();
    assert_eq!(seen.len(), 2);
    assert_eq!(seen[0], seen[1], "it is the same prompt");
    live.session().close().unwrap();
}

#[test]
fn a_tools_own_prompt_waits_for_whoever_comes() {
    let world = world_with_grace(1);
    let wait_then_answer = json!([
        {"do": "wait"},
        {"do": "accept", "value": {"action": "submit", "input": {"answer": "Ada"}}},
    ]);
    let one = ui(
        &world,
        "one",
        &json!({"prompts": {"ToolInput": wait_then_answer}}),
    );
    tools(&world);
    let live = world.live(vec![echo::stud_plugin()]);

    let talking = live.say(r#"!tool ask_user {"question": "Your name?"}"#);
    let request = one.saw("ToolInput");
    let plugin = live.session().plugins().get("one").cloned().unwrap();
    live.session().detach_plugin("one");
    one.called_off(&request["interactionId"]);
    // No interactor counts as attached any more, whether the grace period is over or not.
    live.session().prompts().depart("one");
    assert_eq!(live.session().prompts().open_count(), 1);
    assert!(!talking.is_over());
    stud_core::participants::join(live.session(), &plugin);
    let answered = talking.answered();
    assert_eq!(
        answered.text,
        r#"RESULT {"ok":true,"result":{"answer":"Ada","ok":true}}"#
    );
    live.session().close().unwrap();
}

#[test]
fn with_nobody_there_a_question_of_core_halts_the_turn_and_a_tools_fails() {
    let world = World::new();
    let passive = ui_as(&world, "passive", &json!({}), mute);
    install(&world, "good-tool", "tools");
    tools(&world);
    let live = world.live(vec![echo::stud_plugin()]);

    let error = halted(propose(&live));
    assert_eq!(code_of(&error), "Validation/HeadlessInteractionRequired");
    let event = passive.heard("HeadlessInteractionRequired");
    assert_eq!(event["payload"]["kind"], "permission-required");

    let answered = live.say("!tool fx_fallback {}").answered();
    let result = answered.text.strip_prefix("RESULT ").unwrap();
    let result: Value = serde_json::from_str(result).unwrap();
    assert_eq!(
        result,
        json!({
            "ok": true,
            "result": {
                "ok": false,
                "error": "no interactive UI",
                "code": "InteractionUnavailable",
                "interaction": {"available": false, "supportedCount": 0, "enabledCount": 0},
            },
        })
    );
    live.session().close().unwrap();
    assert!(passive.all_heard("InteractionRaised").is_empty());
}

#[test]
fn approval_in_advance_answers_by_rule_and_tells_nobody_that_someone_did() {
    let world = World::new();
    let passive = ui_as(&world, "passive", &json!({}), mute);
    let tool = probe(&world, "probe-tool", "tools");
    install(&world, "good-tool", "tools");
    let how = Launch {
        yolo: true,
        mode: Some(SecurityMode::Ask),
        ..Launch::default()
    };
    let live = world.live_as(vec![echo::stud_plugin()], how);
    let answered = propose(&live).answered();
    assert_eq!(answered.text, r#"RESULT {"ok":true,"result":"0 lines"}"#);

    // Form input is never invented.
    let form = json!({
        "kind": "ToolInput",
        "payload": {
            "toolCallId": "c", "toolName": "t",
            "inputSchema": {"type": "form", "fields": [{"id": "a", "type": "text", "label": "A"}]},
        },
    });
    let refused = tool.call("interaction.request", &form).unwrap_err();
    assert_eq!(code_of(&refused), "ToolTerminal/InteractionUnavailable");
    let approval = json!({
        "kind": "ToolApproval",
        "payload": {"toolCallId": "c", "toolName": "t"},
    });
    let approved = tool.call("interaction.request", &approval).unwrap();
    assert_eq!(
        approved["value"],
        json!({"action": "approve", "approvalScope": "once"})
    );

    let records = tool
        .call("audit.query", &json!({"class": "Approval"}))
        .unwrap();
    // The gate lets the call pass, and no prompt is raised even by rule.
    let [decided] = records.as_array().unwrap().as_slice() else {
        panic!("one call was judged: {records:#}");
    };
    assert_eq!(decided["payload"]["decision"], "approve");
    assert_eq!(decided["payload"]["source"], "mode-gate");
    live.session().close().unwrap();
    passive.heard("SessionClosed");
    assert!(passive.all_heard("InteractionAnswered").is_empty());
}

#[test]
fn the_end_of_the_session_ends_its_prompts() {
    let world = World::new();
    let one = ui(&world, "one", &json!({}));
    let tool = probe(&world, "probe-tool", "tools");
    let live = world.live(vec![]);
    let ear = Ear::of(&live);
    let payload = json!({"kind": "Ask", "payload": {"prompt": "Your name?"}});
    let (open, in_line) = (
        tool.start("interaction.request", &payload),
        tool.start("interaction.request", &payload),
    );
    let request = one.saw("Ask");
    let prompts = live.session().prompts();
    eventually("two prompts", || (prompts.open_count() == 2).then_some(()));
    live.session().close().unwrap();
    for asked in [open, in_line] {
        let error = asked.result().unwrap_err();
        assert_eq!(code_of(&error), "Cancellation/SessionCancelled");
    }
    one.called_off(&request["interactionId"]);
    let cancelled = ear.named("InteractionCancelled");
    assert_eq!(
        cancelled["payload"]["interactionId"],
        request["interactionId"]
    );
    let refused = tool.call("interaction.request", &payload).unwrap_err();
    assert_eq!(code_of(&refused), "ExtensionHost/NotReady");
    assert_eq!(refused["context"]["phase"], "disposed");
}
