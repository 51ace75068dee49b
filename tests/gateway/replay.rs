//! Events are numbered without gaps, and a client that reconnects misses none and gets none twice.

use serde_json::{Value, json};
use stud_tests::{Client, World};

/// The events up to the one with this number.
fn up_to(client: &mut Client, last: u64) -> Vec<Value> {
    let mut events = Vec::new();
    client.until(|frame| {
        if frame["type"] == "chat_event" {
            events.push(frame.clone());
        }
        frame["seq"] == last
    });
    events
}

fn numbers(events: &[Value]) -> Vec<u64> {
    let numbers = events.iter().filter_map(|frame| frame["seq"].as_u64());
    numbers.collect()
}

#[test]
fn cit_68_a_client_that_comes_back_gets_what_it_missed() {
    let world = World::with_fixture_tools();
    let served = world.serve();
    let mut writer = served.client();
    let session = writer.session();
    let mut all = writer.turn(&session, "one");
    all.extend(writer.turn(&session, "!flood 200"));
    writer.say(&session, r#"!tool ask_user {"question":"?"}"#);
    all.extend(writer.events_until("interaction_request"));
    let prompt = all.last().unwrap()["event"]["payload"].clone();
    let answer = json!({"action": "submit", "input": {"answer": "x"}});
    writer.answer(&session, &prompt, answer);
    all.extend(writer.events_until("turn_end"));
    let last = all.len() as u64;
    assert_eq!(numbers(&all), (1..=last).collect::<Vec<_>>());
    for since in [0, 1, last / 2, last - 1] {
        let mut reader = served.client();
        reader.subscribe(&session, since);
        let missed = up_to(&mut reader, last);
        assert_eq!(missed, all[usize::try_from(since).unwrap()..]);
    }
    // In the next process they are the same.
    assert_eq!(served.stop(), 0);
    let served = world.serve();
    let mut reader = served.client();
    reader.send(json!({"type": "session_create", "sessionId": session}));
    assert_eq!(reader.until_type("session_created")["lastSeq"], last);
    reader.subscribe(&session, 0);
    assert_eq!(up_to(&mut reader, last), all);
    let next = reader.turn(&session, "two");
    assert_eq!(next[0]["seq"], last + 1);
}

#[test]
fn a_client_that_joins_while_much_happens_misses_nothing() {
    let world = World::new();
    let served = world.serve();
    let mut writer = served.client();
    let session = writer.session();
    for _ in 0..60 {
        writer.say(&session, "!flood 2000");
    }
    // More than the server keeps in memory, so the first of them come from the store.
    let mut readers = Vec::new();
    for _ in 0..4 {
        let mut reader = served.client();
        reader.subscribe(&session, 0);
        readers.push(reader);
    }
    writer.say(&session, "the end");
    let is_end = |frame: &Value| {
        frame["event"]["type"] == "assistant_done"
            && frame["event"]["payload"]["text"] == "USER the end"
    };
    let last = writer.until(is_end)["seq"].as_u64().unwrap();
    for mut reader in readers {
        let events = up_to(&mut reader, last);
        assert_eq!(numbers(&events), (1..=last).collect::<Vec<_>>());
    }
}

#[test]
fn a_client_that_reads_nothing_holds_up_no_other_and_loses_nothing() {
    let world = World::new();
    let served = world.serve();
    let mut writer = served.client();
    let session = writer.session();
    let mut stalled = served.client();
    stalled.subscribe(&session, 0);
    let big = "x".repeat(60_000);
    for number in 0..100 {
        writer.turn(&session, &format!("{number} {big}"));
    }
    let events = writer.turn(&session, "the end");
    let last = events.last().unwrap()["seq"].as_u64().unwrap();
    let events = up_to(&mut stalled, last);
    assert_eq!(numbers(&events), (1..=last).collect::<Vec<_>>());
}

#[test]
fn only_the_last_events_are_sent_to_a_client_that_wants_no_more() {
    let world = World::new();
    let served = world.serve();
    let mut writer = served.client();
    let session = writer.session();
    for number in 0..5 {
        writer.turn(&session, &format!("{number}"));
    }
    let mut reader = served.client();
    reader.send(json!({"type": "subscribe", "sessionId": session, "tail": 4}));
    let from = reader.until_type("subscribed")["sinceSeq"]
        .as_u64()
        .unwrap();
    let events = reader.events_until("turn_end");
    assert_eq!(numbers(&events), (from + 1..=from + 4).collect::<Vec<_>>());
}
