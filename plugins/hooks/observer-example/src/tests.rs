use super::*;
use stud_sdk::host::session::SlotValue;
use stud_sdk::testing::{FakeHost, Harness};

fn call(number: u64, duration_ms: u64) -> Value {
    json!({
        "toolCallId": format!("call-{number}"),
        "toolName": "bash",
        "approvalKey": "git",
        "startedAt": "2026-01-01T00:00:00.000Z",
        "endedAt": "2026-01-01T00:00:05.000Z",
        "durationMs": duration_ms,
        "result": {"ok": true, "value": "done"},
    })
}

fn kept(host: &FakeHost) -> Vec<Value> {
    let slot = host.slot().unwrap();
    assert_eq!(slot.slot_version, "1.0.0");
    slot.data["invocations"].as_array().unwrap().clone()
}

#[test]
fn a_call_is_kept_in_the_slot() {
    let host = FakeHost::new();
    let harness = Harness::new(stud_plugin(), host.clone());
    harness.observe(&call(1, 12)).unwrap();
    let mut ungated = call(2, 13);
    ungated["approvalKey"] = Value::Null;
    harness.observe(&ungated).unwrap();
    let kept = kept(&host);
    assert_eq!(
        kept[0],
        json!({
            "toolId": "bash",
            "invocationId": "call-1",
            "approvalKey": "git",
            "startedAt": "2026-01-01T00:00:00.000Z",
            "endedAt": "2026-01-01T00:00:05.000Z",
            "durationMs": 12,
        })
    );
    assert_eq!(kept.len(), 2);
    assert!(kept[1].get("approvalKey").is_none_or(Value::is_null));
}

#[test]
fn what_was_kept_before_stays() {
    let host = FakeHost::new();
    Harness::new(stud_plugin(), host.clone())
        .observe(&call(1, 1))
        .unwrap();
    let stored = host.slot().unwrap();
    let resumed = FakeHost::new().stored(stored);
    Harness::new(stud_plugin(), resumed.clone())
        .observe(&call(2, 2))
        .unwrap();
    let ids: Vec<_> = kept(&resumed)
        .iter()
        .map(|kept| kept["invocationId"].clone())
        .collect();
    assert_eq!(ids, ["call-1", "call-2"]);
}

#[test]
fn only_what_takes_longer_than_the_threshold_is_slow() {
    let host = FakeHost::new().config(json!({"slowToolThresholdMs": 100}));
    let harness = Harness::new(stud_plugin(), host.clone());
    harness.observe(&call(1, 99)).unwrap();
    harness.observe(&call(2, 100)).unwrap();
    assert!(host.published().is_empty());
    harness.observe(&call(3, 101)).unwrap();
    let published = host.published();
    assert_eq!(published.len(), 1);
    assert_eq!(published[0].name, "SlowTool");
    assert_eq!(
        published[0].payload,
        json!({"toolId": "bash", "invocationId": "call-3", "durationMs": 101, "threshold": 100})
    );
}

#[test]
fn five_seconds_are_the_threshold_unless_configured() {
    let host = FakeHost::new();
    let harness = Harness::new(stud_plugin(), host.clone());
    harness.observe(&call(1, 5000)).unwrap();
    harness.observe(&call(2, 5001)).unwrap();
    assert_eq!(host.published()[0].payload["invocationId"], "call-2");
    assert_eq!(host.published().len(), 1);
}

#[test]
fn calls_that_end_together_are_all_kept() {
    let host = FakeHost::new();
    let harness = Harness::new(stud_plugin(), host.clone());
    harness.start().unwrap();
    std::thread::scope(|scope| {
        for part in 0..8 {
            let harness = &harness;
            scope.spawn(move || {
                for number in 0..25 {
                    harness.observe(&call(part * 25 + number, 1)).unwrap();
                }
            });
        }
    });
    let mut ids: Vec<_> = kept(&host)
        .iter()
        .map(|kept| kept["invocationId"].to_string())
        .collect();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), 200);
}

#[test]
fn the_oldest_calls_give_way() {
    let stored: Vec<Value> = (0..journal::MOST)
        .map(|number| {
            json!({
                "toolId": "bash",
                "invocationId": format!("old-{number}"),
                "startedAt": "",
                "endedAt": "",
                "durationMs": 1,
            })
        })
        .collect();
    let host = FakeHost::new().stored(SlotValue {
        slot_version: "1.0.0".to_owned(),
        data: json!({"invocations": stored}),
    });
    Harness::new(stud_plugin(), host.clone())
        .observe(&call(1, 1))
        .unwrap();
    let kept = kept(&host);
    assert_eq!(kept.len(), journal::MOST);
    assert_eq!(kept[0]["invocationId"], "old-1");
    assert_eq!(kept[journal::MOST - 1]["invocationId"], "call-1");
}

#[test]
fn the_manifest_says_where_it_sits_and_what_it_publishes() {
    let harness = Harness::new(stud_plugin(), FakeHost::new());
    let manifest = harness.manifest();
    assert_eq!(
        manifest["registration"],
        json!({"slot": "TOOL_CALL/post", "subKind": "observer", "firingMode": "per-call"})
    );
    assert_eq!(manifest["events"][0]["name"], "SlowTool");
    assert_eq!(
        manifest["events"][0]["schema"]["required"],
        json!(["toolId", "invocationId", "durationMs", "threshold"])
    );
    assert_eq!(manifest["stateSlot"]["slotVersion"], "1.0.0");
    let options = &manifest["configSchema"]["properties"];
    assert_eq!(options["slowToolThresholdMs"]["default"], 5000);
}
