//! Answers that come after the tool is gone.

use serde_json::{Value, json};
use stud_tests::{Client, World};

fn late_answer(client: &mut Client, session: &str, prompt: &Value) {
    client.answer(
        session,
        prompt,
        json!({"action": "submit", "input": {"answer": "blue"}}),
    );
    let answered = client.event("interaction_response");
    assert_eq!(answered["interactionId"], prompt["interactionId"]);
    assert_eq!(answered["input"]["answer"], "blue");
    let said = client.event("user_message");
    let text = said["text"].as_str().unwrap();
    assert!(text.contains("blue") && text.contains("fx_late"), "{text}");
    assert_eq!(said["origin"]["interactionId"], prompt["interactionId"]);
    let begun = client.event("turn_start");
    assert_eq!(begun["causedBy"], prompt["interactionId"]);
    client.event("turn_end");
    // CIT-42: it is taken once.
    client.answer(session, prompt, json!({"action": "cancel"}));
    assert_eq!(client.error(), "interaction_already_answered");
}

#[test]
fn cit_34_35_36_a_queued_prompt_takes_a_late_answer() {
    let world = World::with_fixture_tools();
    let served = world.serve();
    let mut client = served.client();
    let session = client.session();
    client.say(
        &session,
        r#"!tool fx_late {"timeoutMs":50,"form":"pending"}"#,
    );
    let prompt = client.event("interaction_request");
    client.event("interaction_queued");
    let result = client.event("tool_result");
    assert_eq!(
        result["result"],
        json!({"pending": true, "message": "later", "queued": true})
    );
    client.event("turn_end");
    late_answer(&mut client, &session, &prompt);
}

#[test]
fn cit_38_a_completion_that_says_queued_keeps_the_prompt_open() {
    let world = World::with_fixture_tools();
    let served = world.serve();
    let mut client = served.client();
    let session = client.session();
    client.say(
        &session,
        r#"!tool fx_late {"timeoutMs":50,"form":"complete"}"#,
    );
    let prompt = client.event("interaction_request");
    client.event("turn_end");
    late_answer(&mut client, &session, &prompt);
}

#[test]
fn cit_37_a_pending_that_is_not_queued_is_closed() {
    let world = World::with_fixture_tools();
    let served = world.serve();
    let mut client = served.client();
    let session = client.session();
    client.say(
        &session,
        r#"!tool fx_late {"timeoutMs":50,"form":"pending_closed"}"#,
    );
    let prompt = client.event("interaction_request");
    let closed = client.event("interaction_response");
    assert_eq!(closed["reason"], "timeout");
    client.event("turn_end");
    client.answer(&session, &prompt, json!({"action": "cancel"}));
    assert_eq!(client.error(), "interaction_already_answered");
}

#[test]
fn cit_36_69_a_restart_keeps_queued_prompts_and_closes_the_others() {
    let world = World::with_fixture_tools();
    let served = world.serve();
    let mut client = served.client();
    let session = client.session();
    client.say(
        &session,
        r#"!tool fx_late {"timeoutMs":50,"form":"pending"}"#,
    );
    let queued = client.event("interaction_request");
    client.event("turn_end");
    client.say(&session, r#"!tool ask_user {"question":"?"}"#);
    let asked = client.until(|frame| frame["event"]["type"] == "interaction_request");
    let (seen, asked) = (
        asked["seq"].as_u64().unwrap(),
        asked["event"]["payload"].clone(),
    );
    served.kill();

    let served = world.serve();
    let mut client = served.client();
    client.send(json!({"type": "session_create", "sessionId": session}));
    client.until_type("session_created");
    client.subscribe(&session, seen);
    let closed = client.event("interaction_response");
    assert_eq!(closed["interactionId"], asked["interactionId"]);
    assert_eq!(closed["action"], "cancel");
    assert_eq!(closed["reason"], "server_restarted");
    client.event("turn_end");
    client.answer(&session, &asked, json!({"action": "cancel"}));
    assert_eq!(client.error(), "interaction_already_answered");
    late_answer(&mut client, &session, &queued);
}

#[test]
fn cit_41_a_late_answer_waits_for_the_running_turn() {
    let world = World::with_fixture_tools();
    let served = world.serve();
    let mut client = served.client();
    let session = client.session();
    client.say(
        &session,
        r#"!tool fx_late {"timeoutMs":50,"form":"pending"}"#,
    );
    let queued = client.event("interaction_request");
    client.event("turn_end");
    client.say(&session, r"!tool fx_cancel {}");
    let waiting = client.event("interaction_request");
    client.answer(
        &session,
        &queued,
        json!({"action": "submit", "input": {"answer": "blue"}}),
    );
    client.event("interaction_response");
    client.event("user_message");
    client.answer(
        &session,
        &waiting,
        json!({"action": "submit", "input": {"answer": "x"}}),
    );
    client.event("turn_end");
    let begun = client.event("turn_start");
    assert_eq!(begun["causedBy"], queued["interactionId"]);
    client.event("turn_end");
}
