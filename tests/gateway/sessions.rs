//! Many sessions in one process: begun, closed, opened again, copied.

use serde_json::{Value, json};
use stud_tests::World;

fn said(events: &[Value]) -> String {
    let done = events
        .iter()
        .rfind(|frame| frame["event"]["type"] == "assistant_done");
    let text = done.and_then(|frame| frame["event"]["payload"]["text"].as_str());
    text.unwrap_or_default().to_owned()
}

#[test]
fn a_session_is_closed_for_everyone_and_opened_again() {
    let world = World::new();
    let served = world.serve();
    let mut one = served.client();
    let session = one.session();
    one.turn(&session, "remember me");
    let mut other = served.client();
    other.subscribe(&session, 0);
    other.send(json!({"type": "session_close", "sessionId": session}));
    for client in [&mut one, &mut other] {
        assert_eq!(
            client.until_type("session_closed")["sessionId"],
            session.as_str()
        );
    }
    one.say(&session, "anyone?");
    assert_eq!(one.error(), "invalid_session_id");
    one.send(json!({"type": "session_create", "sessionId": session}));
    let opened = one.until_type("session_created");
    assert_eq!(opened["sessionId"], session.as_str());
    one.subscribe(&session, opened["lastSeq"].as_u64().unwrap());
    assert_eq!(said(&one.turn(&session, "again")), "USER again");
    // One that is open already is the same one.
    other.send(json!({"type": "session_create", "sessionId": session}));
    assert_eq!(
        other.until_type("session_created")["sessionId"],
        session.as_str()
    );
}

#[test]
fn closing_calls_off_what_runs() {
    let world = World::with_fixture_tools();
    let served = world.serve();
    let mut client = served.client();
    let session = client.session();
    client.say(&session, "!tool fx_cancel {}");
    client.event("interaction_request");
    client.send(json!({"type": "session_close", "sessionId": session}));
    let events = client.events_until("turn_end");
    let kinds: Vec<&str> = events
        .iter()
        .filter_map(|frame| frame["event"]["type"].as_str())
        .collect();
    assert!(kinds.contains(&"interaction_response"), "{kinds:?}");
    client.until_type("session_closed");
}

#[test]
fn sessions_do_not_hear_of_each_other() {
    let world = World::with_fixture_tools();
    let served = world.serve();
    let mut one = served.client();
    let mut other = served.client();
    let (first, second) = (one.session(), other.session());
    assert_ne!(first, second);
    one.say(&first, r#"!tool ask_user {"question":"?"}"#);
    let prompt = one.event("interaction_request");
    assert_eq!(said(&other.turn(&second, "hello")), "USER hello");
    // A prompt is answered in its own session alone.
    other.answer(&second, &prompt, json!({"action": "cancel"}));
    assert_eq!(other.error(), "interaction_not_found");
    other.answer(&first, &prompt, json!({"action": "cancel"}));
    assert_eq!(other.error(), "invalid_session_id");
    one.answer(&first, &prompt, json!({"action": "cancel"}));
    one.event("turn_end");
    let frames = other.until_now();
    let strange = frames
        .iter()
        .filter(|frame| frame["sessionId"] == first.as_str() && frame["type"] == "chat_event");
    assert_eq!(strange.count(), 0);
}

#[test]
fn sessions_are_listed_found_and_forked() {
    let world = World::new();
    let served = world.serve();
    let mut client = served.client();
    let session = client.session();
    client.turn(&session, "a needle in here");
    let other = client.session();
    client.turn(&other, "only hay");
    let mut listed = |query: &str| {
        client.send(json!({"type": "sessions_list", "query": query, "requestId": 7}));
        let sessions = client.until_type("sessions");
        assert_eq!(sessions["requestId"], 7);
        let sessions = sessions["sessions"].as_array().unwrap().iter();
        let ids = sessions.map(|session| session["sessionId"].as_str().unwrap().to_owned());
        ids.collect::<Vec<_>>()
    };
    assert_eq!(listed(""), [other.clone(), session.clone()]);
    assert_eq!(listed("NEEDLE"), [session.as_str()]);
    client.send(json!({"type": "session_fork", "sessionId": session}));
    let forked = client.until_type("session_forked");
    assert_eq!(forked["forkedFrom"]["sessionId"], session.as_str());
    let copy = forked["sessionId"].as_str().unwrap().to_owned();
    client.send(json!({"type": "session_create", "sessionId": copy}));
    client.until_type("session_created");
    client.subscribe(&copy, 0);
    let events = client.events_until("turn_end");
    assert_eq!(said(&events), "USER a needle in here");
}

#[test]
fn a_deleted_session_is_gone_and_its_deletion_on_record() {
    let world = World::new();
    let served = world.serve();
    let mut client = served.client();
    let session = client.session();
    client.turn(&session, "forget me");
    let mut other = served.client();
    other.subscribe(&session, 0);
    client.send(json!({"type": "session_delete", "sessionId": session}));
    for client in [&mut client, &mut other] {
        client.until(|frame| {
            assert_ne!(frame["type"], "session_closed");
            frame["type"] == "session_deleted" && frame["sessionId"] == session.as_str()
        });
    }
    assert!(!world.home().join("sessions").join(&session).exists());
    let trail = std::fs::read_to_string(world.home().join("audit.jsonl")).unwrap();
    let tombstone = trail.lines().find(|line| line.contains("SessionDeleted"));
    assert!(tombstone.is_some_and(|line| line.contains(&session) && line.contains("lastHash")));
    client.send(json!({"type": "session_create", "sessionId": session}));
    assert_eq!(client.error(), "invalid_session_id");
    // One that is closed is deleted just the same, and one in which nothing was said too.
    let closed = client.session();
    client.turn(&closed, "x");
    client.send(json!({"type": "session_close", "sessionId": closed}));
    client.until_type("session_closed");
    client.send(json!({"type": "session_delete", "sessionId": closed}));
    client.until_type("session_deleted");
    let unused = client.session();
    client.send(json!({"type": "session_delete", "sessionId": unused}));
    client.until_type("session_deleted");
    client.send(json!({"type": "sessions_list"}));
    assert_eq!(client.until_type("sessions")["sessions"], json!([]));
}

#[test]
fn a_line_with_a_slash_is_a_command() {
    let world = World::new();
    let served = world.serve();
    let mut client = served.client();
    let session = client.session();
    client.say(&session, "/help");
    let result = client.until_type("command_result");
    assert!(result["rendered"].as_str().unwrap().contains("/exit"));
    client.say(&session, "/no-such-command");
    assert_eq!(client.error(), "command_unknown");
    client.say(&session, "/exit");
    client.until_type("session_closed");
}

#[test]
fn the_server_ends_in_order() {
    let world = World::with_fixture_tools();
    let served = world.serve();
    let mut client = served.client();
    let session = client.session();
    client.say(&session, r#"!tool ask_user {"question":"?"}"#);
    client.event("interaction_request");
    let status = std::thread::spawn(move || served.stop());
    client.until_type("session_closed");
    while client.next_frame().is_some() {}
    assert_eq!(status.join().unwrap(), 0);
    let shown = world.stud(&["sessions", "list", "--json"]);
    assert!(shown.stdout.contains(&session), "{}", shown.stdout);
}
