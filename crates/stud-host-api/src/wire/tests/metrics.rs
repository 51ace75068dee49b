//! Snapshots and feeds.

use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use stud_diagnostics::Class;

use super::recorder::Recorder;
use super::{Says, pair};
use crate::metrics::{RuntimeSnapshot, TokenDelta, TokensSlice};
use crate::wire::serve;

fn snapshot(input_total: u64) -> Arc<RuntimeSnapshot> {
    Arc::new(RuntimeSnapshot {
        tokens: TokensSlice {
            input_total,
            ..TokensSlice::default()
        },
        ..RuntimeSnapshot::default()
    })
}

#[test]
fn a_snapshot_is_the_same_object_until_it_changes() {
    let (recorder, host) = pair();
    recorder.set_snapshot(snapshot(1));
    let first = host.metrics().snapshot().unwrap();
    assert_eq!(first.tokens.input_total, 1);
    assert!(Arc::ptr_eq(&first, &host.metrics().snapshot().unwrap()));

    recorder.set_snapshot(snapshot(2));
    let second = host.metrics().snapshot().unwrap();
    assert_eq!(second.tokens.input_total, 2);
    assert!(Arc::ptr_eq(&second, &host.metrics().snapshot().unwrap()));
    assert_eq!(recorder.asked().len(), 4);
}

#[test]
fn a_snapshot_that_is_known_is_not_sent_again() {
    let recorder = Recorder::default();
    let handle = serve(Arc::new(recorder.clone()));
    let sent = handle.call("metrics.snapshot", "{}").unwrap();
    let revision = serde_json::from_str::<Value>(&sent).unwrap()["revision"].clone();
    let known = json!({"revision": revision}).to_string();
    assert_eq!(
        handle.call("metrics.snapshot", &known).as_deref(),
        Ok("null")
    );
    recorder.set_snapshot(snapshot(1));
    assert_ne!(
        handle.call("metrics.snapshot", &known).as_deref(),
        Ok("null")
    );
}

#[test]
fn a_host_that_sends_no_first_snapshot_is_refused() {
    let error = Says(Ok("null")).host().metrics().snapshot().unwrap_err();
    assert!(error.is(Class::Validation, "ShapeInvalid"), "{error}");
    assert_eq!(error.context()["operation"], "metrics.snapshot");
}

#[test]
fn what_a_subscriber_hears_is_what_the_next_snapshot_is() {
    let (recorder, host) = pair();
    let heard = Arc::new(Mutex::new(Vec::new()));
    let hearing = Arc::clone(&heard);
    let handler = Box::new(move |snapshot| hearing.lock().unwrap().push(snapshot));
    let subscription = host.metrics().subscribe(handler).unwrap();

    for total in [1, 2] {
        recorder.set_snapshot(snapshot(total));
        assert!(recorder.tell());
    }
    let last = heard.lock().unwrap().last().cloned().unwrap();
    assert_eq!(heard.lock().unwrap().len(), 2);
    assert_eq!(last.tokens.input_total, 2);
    assert!(Arc::ptr_eq(&last, &host.metrics().snapshot().unwrap()));

    drop(subscription);
    assert!(!recorder.tell());
}

#[test]
fn a_subscriber_to_tokens_hears_each_until_it_leaves() {
    let (recorder, host) = pair();
    let heard = Arc::new(Mutex::new(Vec::new()));
    let hearing = Arc::clone(&heard);
    let handler = Box::new(move |delta| hearing.lock().unwrap().push(delta));
    let subscription = host.metrics().subscribe_to_tokens(handler).unwrap();
    let delta = TokenDelta {
        input_tokens: 3,
        output_tokens: 1,
        delta: "He".to_owned(),
    };
    assert!(recorder.tell_tokens(delta.clone()));
    assert_eq!(
        heard.lock().unwrap().as_slice(),
        std::slice::from_ref(&delta)
    );
    subscription.unsubscribe();
    assert!(!recorder.tell_tokens(delta));
    assert_eq!(Arc::strong_count(&heard), 1);
}

#[test]
fn an_item_of_another_shape_is_passed_over() {
    let host = Says(Ok("{\"delta\": 5}")).host();
    let handler = Box::new(|_| panic!("there is nothing to hear"));
    assert!(host.metrics().subscribe_to_tokens(handler).is_ok());
}

#[test]
fn a_handler_that_panics_does_not_harm_the_host() {
    stud_abi::guard::quiet_guarded_panics();
    let (recorder, host) = pair();
    let handler = Box::new(|_| panic!("too much"));
    let _subscription = host.metrics().subscribe(handler).unwrap();
    assert!(recorder.tell());
    assert!(recorder.tell());
}
