//! Prompts of tools: what is asked, answered and refused.

use serde_json::{Value, json};
use stud_tests::World;

pub(crate) fn kinds(events: &[Value]) -> Vec<&str> {
    events
        .iter()
        .map(|frame| frame["event"]["type"].as_str().unwrap_or_default())
        .collect()
}

pub(crate) fn payload<'a>(events: &'a [Value], kind: &str) -> &'a Value {
    let meant = events.iter().find(|frame| frame["event"]["type"] == kind);
    let frame = meant.unwrap_or_else(|| panic!("no {kind} in {:?}", kinds(events)));
    &frame["event"]["payload"]
}

#[test]
fn cit_2_4_9_12_21_22_28_30_a_question_is_asked_answered_and_told_in_order() {
    let world = World::with_fixture_tools();
    let served = world.serve();
    let mut client = served.client();
    let session = client.session();
    client.say(&session, r#"!tool ask_user {"question":"Name?"}"#);
    let before = client.events_until("interaction_request");
    assert_eq!(
        kinds(&before)[3..],
        ["tool_started", "interaction_pending", "interaction_request"]
    );
    let prompt = payload(&before, "interaction_request").clone();
    assert_eq!(prompt["interactionType"], "input");
    assert_eq!(prompt["toolName"], "ask_user");
    assert_eq!(prompt["presentation"], "tool");
    let field = &prompt["inputSchema"]["fields"][0];
    assert_eq!(
        *field,
        json!({"id": "answer", "type": "text", "label": "Name?", "required": true})
    );
    let input = json!({"answer": "Ada", "stray": 1});
    client.answer(
        &session,
        &prompt,
        json!({"action": "submit", "input": input}),
    );
    let after = client.events_until("turn_end");
    assert_eq!(
        kinds(&after),
        [
            "interaction_response",
            "interaction_pending",
            "tool_result",
            "assistant_done",
            "turn_end"
        ]
    );
    let answered = payload(&after, "interaction_response");
    assert_eq!(answered["action"], "submit");
    // CIT-28: what belongs to no field is dropped.
    assert_eq!(answered["input"], json!({"answer": "Ada"}));
    assert_eq!(answered["toolCallId"], prompt["toolCallId"]);
    assert_eq!(answered["answeredBy"]["extId"], "web");
    assert_eq!(payload(&after, "interaction_pending")["pending"], false);
    let result = payload(&after, "tool_result");
    assert_eq!(result["result"], json!({"ok": true, "answer": "Ada"}));
}

#[test]
fn cit_7_31_32_a_reprompt_has_its_own_id_and_what_was_typed() {
    let world = World::with_fixture_tools();
    let served = world.serve();
    let mut client = served.client();
    let session = client.session();
    client.say(&session, "!tool fx_email {}");
    let first = client.event("interaction_request");
    client.answer(
        &session,
        &first,
        json!({"action": "submit", "input": {"email": "nope"}}),
    );
    let between = client.events_until("interaction_request");
    assert_eq!(
        kinds(&between),
        ["interaction_response", "interaction_request"],
        "it stays pending"
    );
    let second = payload(&between, "interaction_request").clone();
    assert_ne!(second["interactionId"], first["interactionId"]);
    assert_eq!(second["toolCallId"], first["toolCallId"]);
    assert_eq!(second["error"], "Invalid email format");
    assert_eq!(
        second["inputSchema"]["initialValues"],
        json!({"email": "nope"})
    );
    // CIT-23: the one before cannot be answered any more.
    client.answer(&session, &first, json!({"action": "cancel"}));
    assert_eq!(client.error(), "interaction_already_answered");
    client.answer(
        &session,
        &second,
        json!({"action": "submit", "input": {"email": "a@b"}}),
    );
    let result = client.event("tool_result");
    assert_eq!(result["result"], json!({"ok": true, "email": "a@b"}));
}

#[test]
fn cit_23_24_26_27_answers_that_do_not_fit_leave_the_prompt_open() {
    let world = World::with_fixture_tools();
    let served = world.serve();
    let mut client = served.client();
    let session = client.session();
    client.say(&session, r#"!tool fx_gate {"key":"k","scopes":["once"]}"#);
    let prompt = client.event("interaction_request");
    assert_eq!(prompt["interactionType"], "approval");
    assert_eq!(prompt["approvalScopes"], json!(["once"]));
    let mut refused = |answer: Value| {
        client.answer(&session, &prompt, answer);
        client.error()
    };
    assert_eq!(
        refused(json!({"action": "submit"})),
        "invalid_interaction_action"
    );
    assert_eq!(
        refused(json!({"action": "approve", "approvalScope": "always"})),
        "approval_scope_not_offered"
    );
    assert_eq!(
        refused(json!({"action": "approve", "callId": "another"})),
        "interaction_not_found"
    );
    assert_eq!(
        refused(json!({"action": "approve", "interactionId": "unknown"})),
        "interaction_not_found"
    );
    assert_eq!(
        refused(json!({"action": "approve", "sessionId": "unknown"})),
        "invalid_session_id"
    );
    assert_eq!(
        refused(json!({"action": "approve", "sessionId": " "})),
        "invalid_session_id"
    );
    assert_eq!(refused(json!({"action": 7})), "invalid_client_message");
    // CIT-27: an approval without a scope is for once.
    client.answer(&session, &prompt, json!({"action": "approve"}));
    let result = client.event("tool_result");
    assert_eq!(
        result["result"],
        json!({"ok": true, "via": "prompt", "scope": "once"})
    );
}

#[test]
fn cit_49_a_denial_carries_its_reason() {
    let world = World::with_fixture_tools();
    let served = world.serve();
    let mut client = served.client();
    let session = client.session();
    client.say(&session, r#"!tool fx_gate {"key":"k"}"#);
    let prompt = client.event("interaction_request");
    assert_eq!(prompt["approvalScopes"], json!(["once", "session"]));
    client.answer(
        &session,
        &prompt,
        json!({"action": "deny", "reason": "not now"}),
    );
    let result = client.event("tool_result");
    assert_eq!(
        result["result"],
        json!({"ok": false, "denied": true, "reason": "not now"})
    );
}

#[test]
fn cit_18_19_a_prompt_that_runs_out_is_closed_for_good() {
    let world = World::with_fixture_tools();
    let served = world.serve();
    let mut client = served.client();
    let session = client.session();
    let events = client.turn(&session, r#"!tool fx_gate {"key":"k","timeoutMs":50}"#);
    let asked = payload(&events, "interaction_request");
    assert_eq!(asked["timeoutMs"], 50);
    let closed = payload(&events, "interaction_response");
    assert_eq!(closed["action"], "cancel");
    assert_eq!(closed["reason"], "timeout");
    assert_eq!(closed["interactionId"], asked["interactionId"]);
    let result = payload(&events, "tool_result");
    assert_eq!(result["result"]["error"], "Approval timed out");
    let prompt = asked.clone();
    client.answer(&session, &prompt, json!({"action": "approve"}));
    assert_eq!(client.error(), "interaction_already_answered");
}

#[test]
fn cit_58_60_an_interrupt_cancels_the_prompt_and_the_turn() {
    let world = World::with_fixture_tools();
    let served = world.serve();
    let mut client = served.client();
    let session = client.session();
    client.say(&session, "!tool fx_cancel {}");
    let prompt = client.event("interaction_request");
    client.send(json!({
        "type": "control", "action": "cancel", "target": "output", "sessionId": session,
    }));
    let events = client.events_until("turn_end");
    let closed = payload(&events, "interaction_response");
    assert_eq!(closed["interactionId"], prompt["interactionId"]);
    assert_eq!(closed["action"], "cancel");
    assert_eq!(closed["reason"], "interrupted");
    assert_eq!(
        payload(&events, "tool_result")["error"]["code"],
        "tool_aborted"
    );
    assert_eq!(payload(&events, "interrupt")["reason"], "user_cancel");
    assert_eq!(payload(&events, "turn_end")["status"], "cancelled");
    // The session continues.
    let events = client.turn(&session, "again");
    assert_eq!(payload(&events, "assistant_done")["text"], "USER again");
}

#[test]
fn cit_63_typed_text_passes_over_the_prompt() {
    let world = World::with_fixture_tools();
    let served = world.serve();
    let mut client = served.client();
    let session = client.session();
    client.say(&session, r#"!tool ask_user {"question":"?"}"#);
    client.event("interaction_request");
    client.say(&session, "never mind");
    let answered = client.event("interaction_response");
    assert_eq!(answered["action"], "cancel");
    assert_eq!(answered["reason"], "User sent new message");
    let result = client.event("tool_result");
    assert_eq!(result["result"], json!({"ok": false, "cancelled": true}));
    client.events_until("turn_end");
    let events = client.events_until("turn_end");
    assert_eq!(
        payload(&events, "assistant_done")["text"],
        "USER never mind"
    );
}

#[test]
fn cit_66_two_calls_at_a_time_are_asked_one_after_the_other() {
    let world = World::with_fixture_tools();
    let served = world.serve();
    let mut client = served.client();
    let session = client.session();
    client.say(
        &session,
        r#"!par [["ask_user",{"question":"one"}],["ask_user",{"question":"two"}]]"#,
    );
    let mut answers = Vec::new();
    for _ in 0..2 {
        let prompt = client.event("interaction_request");
        let label = prompt["inputSchema"]["fields"][0]["label"].clone();
        client.answer(
            &session,
            &prompt,
            json!({"action": "submit", "input": {"answer": label}}),
        );
        answers.push(label);
    }
    answers.sort_by_key(Value::to_string);
    assert_eq!(answers, ["one", "two"]);
    let events = client.events_until("turn_end");
    assert_eq!(payload(&events, "turn_end")["status"], "completed");
}

#[test]
fn cit_61_a_tool_that_fails_over_an_answer_is_a_tool_error() {
    let world = World::with_fixture_tools();
    let served = world.serve();
    let mut client = served.client();
    let session = client.session();
    client.say(&session, r#"!tool fx_throw {"where":"response"}"#);
    let prompt = client.event("interaction_request");
    let answer = json!({"action": "submit", "input": {"answer": "x"}});
    client.answer(&session, &prompt, answer);
    let events = client.events_until("turn_end");
    assert_eq!(
        kinds(&events)[..3],
        ["interaction_response", "interaction_pending", "tool_result"]
    );
    assert_eq!(
        payload(&events, "tool_result")["error"]["code"],
        "tool_error"
    );
}

#[test]
fn cit_33_a_tool_that_is_never_content_is_stopped() {
    let world = World::with_fixture_tools();
    let served = world.serve();
    let mut client = served.client();
    let session = client.session();
    client.say(&session, "!tool fx_loop {}");
    let mut asked = 0;
    let result = loop {
        let frame = client.until(|frame| {
            let kind = &frame["event"]["type"];
            kind == "interaction_request" || kind == "tool_result"
        });
        let prompt = frame["event"]["payload"].clone();
        if frame["event"]["type"] == "tool_result" {
            break prompt;
        }
        asked += 1;
        assert!(asked < 20, "it asks for ever");
        client.answer(
            &session,
            &prompt,
            json!({"action": "submit", "input": {"answer": "x"}}),
        );
    };
    assert_eq!(asked, 11);
    assert_eq!(result["error"]["code"], "interaction_reprompt_limit");
}
