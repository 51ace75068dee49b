//! Several clients of one session: who may answer, and who learns what.

use serde_json::json;
use stud_tests::World;

#[test]
fn cit_21_29_the_first_answer_wins_and_everyone_sees_it() {
    let world = World::with_fixture_tools();
    let served = world.serve();
    let mut one = served.client();
    let session = one.session();
    for round in 0..20 {
        let mut other = served.client();
        let last = one.until_now().len();
        other.subscribe(&session, u64::MAX);
        one.say(&session, r#"!tool ask_user {"question":"?"}"#);
        let first = one.event("interaction_request");
        let second = other.event("interaction_request");
        assert_eq!(first["interactionId"], second["interactionId"], "{last}");
        one.answer(
            &session,
            &first,
            json!({"action": "submit", "input": {"answer": "one"}}),
        );
        other.answer(
            &session,
            &second,
            json!({"action": "submit", "input": {"answer": "other"}}),
        );
        let told = one.event("interaction_response");
        assert_eq!(told, other.event("interaction_response"));
        let answer = told["input"]["answer"].clone();
        let result = one.event("tool_result");
        assert_eq!(result["result"]["answer"], answer, "round {round}");
        one.event("turn_end");
        let loser = if answer == "one" {
            &mut other
        } else {
            &mut one
        };
        // The refusal of the loser may have come before what it was looking for.
        loser.send(json!({"type": "ping"}));
        let refused = loser.refusals_before_pong();
        assert_eq!(refused, ["interaction_already_answered"], "round {round}");
    }
}

#[test]
fn cit_25_50_51_56_a_disabled_client_looks_on_until_it_is_enabled() {
    let world = World::with_fixture_tools();
    let served = world.serve();
    let mut enabled = served.client();
    let session = enabled.session();
    let mut disabled = served.client_with(json!({"supported": true, "enabled": false}));
    disabled.subscribe(&session, 0);
    let mut unsupported = served.client_with(json!({"supported": false, "enabled": true}));
    unsupported.subscribe(&session, 0);
    enabled.say(&session, r#"!tool ask_user {"question":"?"}"#);
    let prompt = disabled.event("interaction_request");
    assert_eq!(prompt, unsupported.event("interaction_request"));
    let answer = json!({"action": "submit", "input": {"answer": "x"}});
    for client in [&mut disabled, &mut unsupported] {
        client.answer(&session, &prompt, answer.clone());
        let error = client.until_type("error");
        assert_eq!(error["code"], "interaction_disabled");
        let (code, message) = (&error["details"]["typed"], &error["message"]);
        let shown = format!(
            "error[{}]: {}",
            code.as_str().unwrap(),
            message.as_str().unwrap()
        );
        stud_observed::covers!(INTERACTOR_NOT_AUTHORIZED, shown);
    }
    unsupported.send(json!({"type": "set_interaction_mode", "enabled": true}));
    assert_eq!(unsupported.until_type("interaction_mode")["enabled"], false);
    unsupported.answer(&session, &prompt, answer.clone());
    assert_eq!(unsupported.error(), "interaction_disabled");
    disabled.send(json!({"type": "set_interaction_mode", "enabled": true}));
    assert_eq!(disabled.until_type("interaction_mode")["enabled"], true);
    disabled.answer(&session, &prompt, answer);
    for client in [&mut enabled, &mut disabled, &mut unsupported] {
        let told = client.event("interaction_response");
        assert_eq!(told["interactionId"], prompt["interactionId"]);
    }
}

#[test]
fn cit_52_53_54_77_availability_follows_the_clients() {
    let world = World::with_fixture_tools();
    let served = world.serve();
    let mut client = served.client_with(json!({"supported": true, "enabled": false}));
    let session = client.session();
    let fallback = |client: &mut stud_tests::Client| {
        client.say(&session, "!tool fx_fallback {}");
        let events = client.events_until("turn_end");
        let asked = events
            .iter()
            .any(|frame| frame["event"]["type"] == "interaction_request");
        let result = events
            .iter()
            .find(|frame| frame["event"]["type"] == "tool_result");
        (asked, result.unwrap()["event"]["payload"]["result"].clone())
    };
    // No client may answer: the tool gets the error at once, and no prompt is shown.
    let (asked, result) = fallback(&mut client);
    assert!(!asked);
    assert_eq!(result["ok"], false);
    // One may, and then none any more.
    client.send(json!({"type": "set_interaction_mode", "enabled": true}));
    client.until_type("interaction_mode");
    client.say(&session, r#"!tool ask_user {"question":"?"}"#);
    let prompt = client.event("interaction_request");
    client.answer(&session, &prompt, json!({"action": "cancel"}));
    client.event("turn_end");
    client.send(json!({"type": "set_interaction_mode", "enabled": false}));
    client.until_type("interaction_mode");
    let (asked, result) = fallback(&mut client);
    assert!(!asked);
    assert_eq!(result["ok"], false);
    // A tool that does not catch it fails with it.
    let events = client.turn(&session, r#"!tool ask_user {"question":"?"}"#);
    let failed = events
        .iter()
        .find(|frame| frame["event"]["type"] == "tool_result");
    let error = &failed.unwrap()["event"]["payload"]["error"];
    assert_eq!(error["code"], "interaction_unavailable");
    assert_eq!(error["typed"], "ToolTerminal/InteractionUnavailable");
}

#[test]
fn cit_55_a_prompt_outlives_the_clients_that_saw_it() {
    let world = World::with_fixture_tools();
    let served = world.serve();
    let mut first = served.client();
    let session = first.session();
    first.say(&session, "!tool fx_email {}");
    first.event("interaction_request");
    first.vanish();

    let mut second = served.client();
    second.subscribe(&session, 0);
    let prompt = second.event("interaction_request");
    second.answer(
        &session,
        &prompt,
        json!({"action": "submit", "input": {"email": "nope"}}),
    );
    second.event("interaction_response");
    second.vanish();

    // The tool asked again, perhaps without an interactor.
    let mut third = served.client();
    third.subscribe(&session, 0);
    let prompt = third.until(|frame| {
        frame["event"]["type"] == "interaction_request"
            && frame["event"]["payload"]["error"] == "Invalid email format"
    });
    let prompt = prompt["event"]["payload"].clone();
    third.answer(
        &session,
        &prompt,
        json!({"action": "submit", "input": {"email": "a@b"}}),
    );
    assert_eq!(third.event("tool_result")["result"]["ok"], true);
}

#[test]
fn cit_50_a_second_hello_is_refused_and_changes_nothing() {
    let world = World::new();
    let served = world.serve();
    let mut client = served.client();
    client.send(json!({"type": "hello"}));
    assert_eq!(client.error(), "duplicate_hello");
    client.send(json!({"type": "ping"}));
    client.until_type("pong");
}
