use std::fmt::Debug;

use serde::de::DeserializeOwned;
use serde_json::json;

use super::*;

fn round_trips<T: Serialize + DeserializeOwned + Debug>(json: Value) -> T {
    let read: T = serde_json::from_value(json.clone()).unwrap();
    assert_eq!(serde_json::to_value(&read).unwrap(), json, "{read:?}");
    read
}

#[test]
fn the_view_round_trips() {
    let view: SessionView = round_trips(json!({
        "sessionId": "s1",
        "mode": "allowlist",
        "createdAt": "2026-01-01T00:00:00.000Z",
        "turnCount": 2,
        "lastSeq": 17,
        "records": [{
            "seq": 16,
            "timestamp": "2026-01-01T00:00:01.000Z",
            "kind": "note",
            "correlationId": "t1",
            "extId": "linter",
            "payload": {"text": "two warnings"},
        }],
        "nextAfterSeq": 16,
    }));
    assert_eq!(view.mode, SecurityMode::Allowlist);
}

#[test]
fn a_page_says_only_what_it_limits() {
    assert_eq!(round_trips::<Page>(json!({})), Page::default());
    round_trips::<Page>(json!({"afterSeq": 16, "limit": 50}));
}

#[test]
fn the_two_kinds_of_record() {
    let input: SessionRecord = round_trips(json!({"kind": "userInput", "text": "hello"}));
    assert_eq!(
        input,
        SessionRecord::UserInput {
            text: "hello".into()
        }
    );
    let note: SessionRecord = round_trips(json!({"kind": "note", "text": "hm"}));
    assert_eq!(note, SessionRecord::Note { text: "hm".into() });
    assert!(
        serde_json::from_value::<SessionRecord>(json!({"kind": "toolResult", "text": "x"}))
            .is_err()
    );
    assert_eq!(round_trips::<Appended>(json!({"seq": 18})).seq, 18);
}

#[test]
fn a_slot_value_round_trips() {
    round_trips::<SlotValue>(json!({"slotVersion": "1.0.0", "data": {"theme": "dark"}}));
}

#[test]
fn opening_a_child_round_trips() {
    round_trips::<OpenChild>(
        json!({"prompt": "Find the tests", "requestedEnvelope": [], "depth": 1}),
    );
    round_trips::<OpenChild>(json!({
        "prompt": "Find the tests",
        "requestedEnvelope": ["read", "list"],
        "label": "finder",
        "depth": 1,
        "model": {"providerId": "echo", "modelId": "echo-1"},
    }));
}

#[test]
fn the_four_ends_of_a_child() {
    for json in [
        json!({"state": "Completed", "subagentId": "a1", "result": "Done", "transcriptRef": "subagent:a1"}),
        json!({
            "state": "Halted",
            "subagentId": "a1",
            "requestKind": "Approve",
            "correlationId": "t1",
            "reason": "headless without --yolo",
        }),
        json!({"state": "Aborted", "reason": "depthExceeded"}),
        json!({"state": "Aborted", "subagentId": "a1", "reason": "providerFailure", "detail": "no route"}),
        json!({"state": "Rejected", "subagentId": "a1", "note": "not now"}),
    ] {
        round_trips::<ChildOutcome>(json);
    }
}

#[test]
fn the_reasons_of_an_abort() {
    for reason in [
        "parentCancel",
        "depthExceeded",
        "envelopeInvalid",
        "modelInvalid",
        "modelCapabilityMismatch",
        "crash",
        "providerFailure",
    ] {
        round_trips::<AbortReason>(json!(reason));
    }
}
