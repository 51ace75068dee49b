//! Answers that are slow, long, or cancelled.

use std::thread;
use std::time::{Duration, Instant};

use stud_sdk::host::cancellation::Scope;

use super::*;

/// Cancels the turn, before or while it runs: it must end with `TurnCancelled`.
fn call_off(host: FakeHost, said: &str) {
    let caller = host.clone();
    let begun = Instant::now();
    // Before the answer or while it is streamed: it ends in the same way.
    let stopper = thread::spawn(move || caller.cancel(Scope::Turn));
    let error = send(host, vec![message(Role::User, said)]).unwrap_err();
    assert!(error.is(Class::Cancellation, "TurnCancelled"), "{error}");
    assert!(begun.elapsed() < Duration::from_secs(10), "{said} went on");
    stopper.join().unwrap();
}

#[test]
fn a_slow_answer_takes_its_time() {
    let begun = Instant::now();
    let events = say("!slow 200").unwrap();
    assert!(begun.elapsed() >= Duration::from_millis(200));
    let said = text(&events);
    let dots = said.strip_suffix("USER !slow 200").unwrap();
    assert!(dots.len() > 1, "{said}");
    assert_eq!(dots.trim_matches('.'), "");
}

#[test]
fn no_time_is_no_time() {
    assert_eq!(text(&say("!slow 0").unwrap()), "USER !slow 0");
}

#[test]
fn a_slow_answer_stops_when_told() {
    call_off(FakeHost::new(), "!slow 18446744073709551615");
}

#[test]
fn a_flood_stops_when_told() {
    call_off(FakeHost::new(), "!flood 18446744073709551615");
}

#[test]
fn a_question_stops_when_told() {
    call_off(FakeHost::new().never_answers(), "!auth the vault");
}

#[test]
fn a_flood_arrives_whole() {
    let events = say("!flood 20000").unwrap();
    let is_drop =
        |event: &StreamEvent| matches!(event, StreamEvent::TextDelta { delta } if delta.len() == 8);
    let (drops, rest) = events.split_at(20_000);
    assert!(drops.iter().all(is_drop));
    assert_eq!(rest.len(), 2, "{rest:?}");
    assert_eq!(reason(rest), FinishReason::Stop);
    let usage = Usage {
        input_tokens: 2,
        output_tokens: 20_000,
        cached_input_tokens: None,
    };
    assert_eq!(rest[0], StreamEvent::Usage(usage));
    assert_eq!(text(&say("!flood 0").unwrap()), "");
}

#[test]
fn a_turn_called_off_says_so() {
    let host = FakeHost::new();
    let caller = host.clone();
    let stopper = thread::spawn(move || caller.cancel(Scope::Turn));
    let error = send(host, vec![message(Role::User, "!slow 60000")]).unwrap_err();
    stud_observed::covers!(TURN_CANCELLED, error);
    stopper.join().unwrap();
}
