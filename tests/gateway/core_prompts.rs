//! What core asks: its content goes to those who may answer, and is gone once it is settled.

use serde_json::{Value, json};
use stud_tests::World;

const ASKS: &str = r#"!tool bash {"command":"printf '\u001b[31m'; touch made"}"#;

fn approve(interaction_id: &Value, value: Value) -> Value {
    json!({
        "type": "interaction_response",
        "interactionId": interaction_id,
        "status": "accepted",
        "value": value,
    })
}

#[test]
fn a_call_is_shown_whole_and_runs_once_it_is_approved() {
    let world = World::new();
    let served = world.serve();
    let mut client = served.client();
    let session = client.session();
    let mut watcher = served.client_with(json!({"supported": true, "enabled": false}));
    watcher.subscribe(&session, 0);
    client.say(&session, ASKS);
    let told = watcher.event("interaction_request");
    assert_eq!(told["kind"], "Approve");
    assert!(told.get("payload").is_none() && told.get("args").is_none());
    let prompt = client.until_type("interaction_prompt");
    assert_eq!(prompt["kind"], "Approve");
    assert_eq!(prompt["interactionId"], told["interactionId"]);
    let command = prompt["payload"]["args"]["command"].as_str().unwrap();
    assert_eq!(command, "printf '\u{1b}[31m'; touch made");
    let id = &prompt["interactionId"];
    // A client that looks on may not answer.
    watcher.send(approve(id, json!({"decision": "approve", "scope": "once"})));
    assert_eq!(watcher.error(), "interaction_disabled");
    client.send(approve(id, json!({"decision": "perhaps"})));
    assert_eq!(client.error(), "invalid_interaction_input");
    client.send(approve(id, json!({"decision": "approve", "scope": "once"})));
    let settled = client.event("interaction_response");
    assert_eq!(settled["status"], "accepted");
    assert_eq!(settled["answeredBy"]["extId"], "web");
    let events = client.events_until("turn_end");
    assert_eq!(
        events.last().unwrap()["event"]["payload"]["status"],
        "completed"
    );
    assert!(world.project().join("made").exists());
    client.send(approve(id, json!({"decision": "approve", "scope": "once"})));
    assert_eq!(client.error(), "interaction_already_answered");
    // It is not shown again to a client that comes later.
    let mut late = served.client();
    late.subscribe(&session, 0);
    let mut frames = Vec::new();
    late.until(|frame| {
        frames.push(frame.clone());
        frame["event"]["type"] == "turn_end"
    });
    frames.extend(late.until_now());
    assert!(
        frames
            .iter()
            .all(|frame| frame["type"] != "interaction_prompt")
    );
}

#[test]
fn a_client_that_comes_while_core_asks_is_asked_too() {
    let world = World::new();
    let served = world.serve();
    let mut first = served.client();
    let session = first.session();
    first.say(&session, ASKS);
    first.until_type("interaction_prompt");
    first.vanish();
    let mut second = served.client();
    second.subscribe(&session, 0);
    let prompt = second.until_type("interaction_prompt");
    second.send(json!({
        "type": "interaction_response",
        "sessionId": session,
        "interactionId": prompt["interactionId"],
        "status": "rejected",
        "reason": "no",
    }));
    // The dialog closes on one thread while the turn continues on another, so either may be told first.
    let (mut is_closed, mut code) = (false, Value::Null);
    second.until(|frame| {
        is_closed |= frame["type"] == "interaction_prompt_closed";
        if frame["event"]["type"] == "tool_result" {
            code = frame["event"]["payload"]["error"]["code"].clone();
        }
        is_closed && !code.is_null()
    });
    assert_eq!(code, "tool_denied");
    assert!(!world.project().join("made").exists());
}

#[test]
fn a_password_is_in_no_event() {
    let world = World::new();
    let served = world.serve();
    let mut client = served.client();
    let session = client.session();
    client.say(&session, "!auth the vault");
    let prompt = client.until_type("interaction_prompt");
    assert_eq!(prompt["kind"], "Auth.Password");
    client.send(json!({
        "type": "interaction_response",
        "interactionId": prompt["interactionId"],
        "status": "accepted",
        "value": {"secret": "hunter2hunter2"},
    }));
    let events = client.events_until("turn_end");
    let text = json!(events).to_string();
    assert!(
        text.contains("AUTH 14") && !text.contains("hunter2"),
        "{text}"
    );
    let mut late = served.client();
    late.subscribe(&session, 0);
    let text = json!(late.events_until("turn_end")).to_string();
    assert!(
        text.contains("redacted") && !text.contains("hunter2"),
        "{text}"
    );
}
