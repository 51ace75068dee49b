//! What the rules of prompts mean for a tool: who decides, what is kept, what is refused before a person sees it.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use stud_tests::{Client, World};

use crate::prompts::{kinds, payload};

/// The result of a turn in which a prompt of `fx_gate` is answered with this, or no prompt is raised.
fn gate(client: &mut Client, session: &str, arguments: &str, answer: &Value) -> Value {
    client.say(session, &format!("!tool fx_gate {arguments}"));
    let event = client.until(|frame| {
        let kind = &frame["event"]["type"];
        kind == "interaction_request" || kind == "tool_result"
    });
    let mut event = event["event"].clone();
    if event["type"] == "interaction_request" {
        client.answer(session, &event["payload"], answer.clone());
        event = json!({"payload": client.event("tool_result")});
    }
    client.event("turn_end");
    event["payload"]["result"].clone()
}

fn approve(scope: &str) -> Value {
    json!({"action": "approve", "approvalScope": scope})
}

fn via(how: &str, scope: &str) -> Value {
    json!({"ok": true, "via": how, "scope": scope})
}

#[test]
fn cit_1_3_5_44_45_the_tool_alone_decides_when_to_ask_and_what_to_keep() {
    let world = World::with_fixture_tools();
    let served = world.serve();
    let mut client = served.client();
    let session = client.session();
    // Nothing is kept of an approval for once, so the tool asks each time.
    for _ in 0..2 {
        let once = gate(
            &mut client,
            &session,
            r#"{"key":"git push"}"#,
            &approve("once"),
        );
        assert_eq!(once, via("prompt", "once"));
    }
    // The hook that gets the answer keeps this one, and the next call finds it.
    let kept = gate(
        &mut client,
        &session,
        r#"{"key":"git push"}"#,
        &approve("session"),
    );
    assert_eq!(kept, via("prompt", "session"));
    let found = gate(&mut client, &session, r#"{"key":"git push"}"#, &Value::Null);
    assert_eq!(found, via("cache", "session"));
    // Another key is another matter.
    let other = gate(
        &mut client,
        &session,
        r#"{"key":"git pull"}"#,
        &json!({"action": "deny"}),
    );
    assert_eq!(other, json!({"ok": false, "denied": true}));
}

#[test]
fn cit_46_47_what_is_approved_for_the_session_ends_with_it_and_always_does_not() {
    let world = World::with_fixture_tools();
    let served = world.serve();
    let mut client = served.client();
    let (one, other) = (client.session(), client.session());
    let scopes = r#"{"key":"deploy","scopes":["session","always"]}"#;
    assert_eq!(
        gate(&mut client, &one, scopes, &approve("session")),
        via("prompt", "session")
    );
    // The other session has looked for it in vain before it is approved for always.
    assert_eq!(
        gate(&mut client, &other, scopes, &approve("always")),
        via("prompt", "always")
    );
    assert_eq!(
        gate(&mut client, &one, scopes, &Value::Null),
        via("cache", "always")
    );
    let third = client.session();
    assert_eq!(
        gate(&mut client, &third, scopes, &Value::Null),
        via("cache", "always")
    );
    let listed = world.stud(&["grants", "list", "--json"]);
    let listed: Value = serde_json::from_str(&listed.stdout).unwrap();
    assert_eq!(listed["grants"], json!([]), "it lets no call pass the gate");
    let key = &listed["toolGrants"][0]["key"];
    assert_eq!(
        *key,
        json!({"toolId": "fixture-tools/fx_gate", "approvalKey": "deploy"})
    );
    assert_eq!(served.stop(), 0);

    // In the next process only what was approved for always is left, until it is revoked.
    let served = world.serve();
    let mut client = served.client();
    let session = client.session();
    assert_eq!(
        gate(&mut client, &session, scopes, &Value::Null),
        via("cache", "always")
    );
    let revoked = world.stud(&["grants", "revoke", "fx_gate", "deploy", "--json"]);
    let revoked: Value = serde_json::from_str(&revoked.stdout).unwrap();
    assert_eq!(revoked["toolGrants"].as_array().unwrap().len(), 1);
    let asked = gate(&mut client, &session, scopes, &json!({"action": "cancel"}));
    assert_eq!(asked, json!({"ok": false, "cancelled": true}));
}

#[test]
fn cit_53_the_tool_sees_which_clients_could_answer() {
    let world = World::with_fixture_tools();
    let served = world.serve();
    let mut client = served.client();
    let session = client.session();
    let probe = |client: &mut Client| {
        let events = client.turn(&session, "!tool fx_probe {}");
        payload(&events, "tool_result")["result"].clone()
    };
    let seen = |available: bool, supported: u32, enabled: u32| json!({"available": available, "supportedCount": supported, "enabledCount": enabled});
    assert_eq!(probe(&mut client), seen(true, 1, 1));
    let mut watcher = served.client_with(json!({"supported": true, "enabled": false}));
    watcher.subscribe(&session, 0);
    assert_eq!(probe(&mut client), seen(true, 2, 1));
    client.send(json!({"type": "set_interaction_mode", "enabled": false}));
    client.until_type("interaction_mode");
    assert_eq!(probe(&mut client), seen(false, 2, 0));
    let events = client.turn(&session, "!tool fx_fallback {}");
    assert_eq!(
        payload(&events, "tool_result")["result"]["interaction"],
        seen(false, 2, 0)
    );
}

#[test]
fn cit_8_10_twenty_answers_that_come_at_once_are_all_taken_and_every_id_is_new() {
    let world = World::with_fixture_tools();
    let served = world.serve();
    let mut client = served.client();
    let session = client.session();
    let mut ids = BTreeSet::new();
    let calls: Vec<String> = (0..20)
        .map(|number| format!(r#"["ask_user",{{"question":"{number}"}}]"#))
        .collect();
    client.say(&session, &format!("!par [{}]", calls.join(",")));
    for _ in 0..20 {
        let prompt = client.event("interaction_request");
        let id = prompt["interactionId"].as_str().unwrap().to_owned();
        assert_eq!(id.len(), 36, "{id}");
        assert!(ids.insert(id));
        let answer = json!({"action": "submit", "input": {"answer": "x"}});
        client.answer(&session, &prompt, answer);
    }
    let events = client.events_until("turn_end");
    assert_eq!(payload(&events, "turn_end")["status"], "completed");
}

#[test]
fn cit_14_16_a_timeout_is_more_than_nothing() {
    let world = World::with_fixture_tools();
    let served = world.serve();
    let mut client = served.client();
    let session = client.session();
    let events = client.turn(&session, r#"!tool fx_gate {"key":"k","timeoutMs":0}"#);
    assert!(!kinds(&events).contains(&"interaction_request"));
    let error = &payload(&events, "tool_result")["error"];
    assert_eq!(error["typed"], "Validation/TimeoutMsInvalid");
    // Without a timeout the tool is told of none, and the default is not running out now.
    client.say(&session, r#"!tool fx_gate {"key":"k"}"#);
    let prompt = client.event("interaction_request");
    client.answer(&session, &prompt, json!({"action": "cancel"}));
    let result = client.event("tool_result");
    assert_eq!(result["result"], json!({"ok": false, "cancelled": true}));
}

#[test]
fn cit_17_20_an_answer_and_the_timeout_have_one_winner() {
    let world = World::with_fixture_tools();
    let served = world.serve();
    let mut client = served.client();
    let session = client.session();
    for round in 0..30 {
        client.say(&session, r#"!tool fx_gate {"key":"k","timeoutMs":3}"#);
        let prompt = client.event("interaction_request");
        client.answer(&session, &prompt, json!({"action": "deny"}));
        let events = client.events_until("turn_end");
        let closed: Vec<&Value> = events
            .iter()
            .filter(|frame| frame["event"]["type"] == "interaction_response")
            .collect();
        let [closed] = closed[..] else {
            panic!("round {round}: {events:#?}");
        };
        let expected = match closed["event"]["payload"]["action"].as_str() {
            Some("deny") => json!({"ok": false, "denied": true}),
            _ => json!({"ok": false, "error": "Approval timed out"}),
        };
        assert_eq!(payload(&events, "tool_result")["result"], expected);
    }
}

#[test]
fn cit_40_84_a_late_answer_has_to_fit_and_the_first_one_that_does_stays() {
    let world = World::with_fixture_tools();
    let served = world.serve();
    let mut client = served.client();
    let session = client.session();
    client.say(
        &session,
        r#"!tool fx_late {"timeoutMs":20,"form":"pending"}"#,
    );
    let prompt = client.event("interaction_request");
    client.event("turn_end");
    for input in [json!({}), json!({"answer": " "}), json!({"answer": 7})] {
        client.answer(
            &session,
            &prompt,
            json!({"action": "submit", "input": input}),
        );
        assert_eq!(client.error(), "invalid_interaction_input", "{input}");
    }
    client.answer(
        &session,
        &prompt,
        json!({"action": "submit", "input": {"answer": "red"}}),
    );
    client.event("interaction_response");
    client.event("turn_end");
    client.answer(&session, &prompt, json!({"action": "cancel"}));
    assert_eq!(client.error(), "interaction_already_answered");
    let mut reader = served.client();
    reader.subscribe(&session, 0);
    let mut answers = Vec::new();
    for frame in reader.until_now() {
        if frame["event"]["type"] == "interaction_response" {
            answers.push(frame["event"]["payload"]["action"].clone());
        }
    }
    assert_eq!(answers, ["submit"]);
}

#[test]
fn cit_76_a_form_that_contradicts_itself_is_not_shown() {
    let world = World::with_fixture_tools();
    let served = world.serve();
    let mut client = served.client();
    let session = client.session();
    let field = |more: Value| {
        let mut field = json!({"id": "a", "type": "text", "label": "A"});
        for (member, value) in more.as_object().unwrap() {
            field[member] = value.clone();
        }
        field
    };
    let wrong = [
        json!([field(json!({})), field(json!({}))]),
        json!([field(json!({"type": "select"}))]),
        json!([field(json!({"type": "radio", "options": []}))]),
        json!([field(json!({"pattern": "("}))]),
        json!([field(json!({"pattern": "(?=x)"}))]),
        json!([field(json!({"type": "slider"}))]),
        json!([]),
    ];
    for fields in wrong {
        let arguments = json!({"schema": {"type": "form", "fields": fields}});
        let events = client.turn(&session, &format!("!tool fx_form {arguments}"));
        assert!(!kinds(&events).contains(&"interaction_request"), "{fields}");
        let error = &payload(&events, "tool_result")["error"];
        assert_eq!(error["class"], "Validation", "{fields}: {error}");
    }
}
