use super::*;

struct Script {
    projection: Projection,
    seq: u64,
}

impl Script {
    fn new() -> Self {
        Self {
            projection: Projection::new("s"),
            seq: 0,
        }
    }

    fn take(&mut self, kind: &str, payload: Value) -> Vec<(String, Value)> {
        self.seq += 1;
        let record = json!({
            "timestamp": "2026-01-01T00:00:00.000Z",
            "kind": kind,
            "correlationId": "t1",
            "payload": payload,
        });
        let events = self.projection.take(&JournalRecord {
            seq: self.seq,
            record,
        });
        events
            .iter()
            .map(|event| {
                let frame: Value = serde_json::from_str(&event.frame).unwrap();
                assert_eq!(frame["seq"], event.seq);
                assert_eq!(frame["event"]["turnId"], "t1");
                (
                    text(&frame["event"], "type"),
                    frame["event"]["payload"].clone(),
                )
            })
            .collect()
    }

    fn kinds(&mut self, kind: &str, payload: Value) -> Vec<String> {
        let events = self.take(kind, payload).into_iter();
        events.map(|(kind, _)| kind).collect()
    }
}

fn asked(id: &str) -> Value {
    json!({
        "kind": "ToolInput",
        "interactionId": id,
        "correlationId": "t1",
        "issuedAt": "2026-01-01T00:00:00.000Z",
        "payload": {
            "toolCallId": "c1",
            "toolName": "ask_user",
            "inputSchema": {"type": "form", "fields": []},
            "timeoutMs": 50,
        },
    })
}

fn ran_out(id: &str) -> Value {
    json!({"interactionId": id, "requestKind": "ToolInput", "outcome": "timeout"})
}

fn result() -> Value {
    json!({"toolCallId": "c1", "toolName": "ask_user", "content": "{\"ok\":true,\"result\":1}"})
}

#[test]
fn a_prompt_is_pending_once_however_often_it_asks_again() {
    let mut script = Script::new();
    let kinds = script.kinds("interaction_request", asked("i1"));
    assert_eq!(kinds, ["interaction_pending", "interaction_request"]);
    let answer = json!({
        "interactionId": "i1", "requestKind": "ToolInput", "outcome": "accepted",
        "value": {"action": "submit", "input": {"a": 1}},
        "answeredBy": {"extId": "web", "clientId": "k"},
    });
    let [(kind, told)] = &script.take("interaction_response", answer)[..] else {
        panic!("one event");
    };
    assert_eq!(kind, "interaction_response");
    assert_eq!(
        *told,
        json!({
            "interactionId": "i1", "toolCallId": "c1", "action": "submit", "input": {"a": 1},
            "answeredBy": {"extId": "web", "clientId": "k"},
        })
    );
    assert_eq!(
        script.kinds("interaction_request", asked("i2")),
        ["interaction_request"]
    );
    assert_eq!(
        script.kinds("tool_result", result()),
        ["interaction_response", "interaction_pending", "tool_result"]
    );
    assert!(script.projection.is_settled("i1"));
}

#[test]
fn a_prompt_that_ran_out_is_closed_when_its_call_is_over() {
    let mut script = Script::new();
    script.take("interaction_request", asked("i1"));
    assert!(
        script
            .take("interaction_response", ran_out("i1"))
            .is_empty()
    );
    let events = script.take("tool_result", result());
    let kinds: Vec<&str> = events.iter().map(|(kind, _)| kind.as_str()).collect();
    assert_eq!(
        kinds,
        ["interaction_response", "interaction_pending", "tool_result"]
    );
    assert_eq!(events[0].1["action"], "cancel");
    assert_eq!(events[0].1["reason"], "timeout");
    assert_eq!(events[1].1["pending"], false);
}

#[test]
fn a_prompt_that_stays_open_is_not_closed() {
    let mut script = Script::new();
    script.take("interaction_request", asked("i1"));
    script.take("interaction_response", ran_out("i1"));
    let detached = json!({"interactionId": "i1", "requestKind": "ToolInput"});
    assert_eq!(
        script.kinds("interaction_detached", detached),
        ["interaction_queued"]
    );
    assert_eq!(
        script.kinds("tool_result", result()),
        ["interaction_pending", "tool_result"]
    );
    assert!(!script.projection.is_settled("i1"));
}

#[test]
fn a_prompt_ends_with_its_call_and_only_once() {
    let mut script = Script::new();
    script.take("interaction_request", asked("i1"));
    let failed = json!({"toolCallId": "c1", "toolName": "ask_user", "content": "{\"ok\":false}"});
    let events = script.take("tool_result", failed);
    let kinds: Vec<&str> = events.iter().map(|(kind, _)| kind.as_str()).collect();
    assert_eq!(
        kinds,
        ["interaction_response", "interaction_pending", "tool_result"]
    );
    assert_eq!(events[0].1["reason"], "interrupted");
    let late = json!({"interactionId": "i1", "requestKind": "ToolInput", "outcome": "cancelled"});
    assert!(script.take("interaction_response", late).is_empty());
}

#[test]
fn what_core_asks_is_told_without_its_content() {
    let mut script = Script::new();
    let approve = json!({
        "kind": "Approve", "interactionId": "i1", "correlationId": "t1",
        "payload": {"toolId": "bash", "toolCallId": "c1", "description": "rm", "args": {"command": "rm"}},
    });
    let [(kind, told)] = &script.take("interaction_request", approve)[..] else {
        panic!("one event");
    };
    assert_eq!(kind, "interaction_request");
    assert_eq!(
        *told,
        json!({"interactionId": "i1", "kind": "Approve", "toolCallId": "c1", "toolName": "bash"})
    );
}

#[test]
fn a_record_that_comes_twice_counts_once() {
    let mut script = Script::new();
    assert_eq!(script.take("turn_start", json!({"inputSeq": 1})).len(), 1);
    script.seq -= 1;
    assert!(script.take("turn_start", json!({"inputSeq": 1})).is_empty());
    assert_eq!(script.projection.last_seq(), 1);
}

#[test]
fn an_error_has_its_word_on_the_wire() {
    let mut script = Script::new();
    let content = json!({
        "ok": false,
        "error": {"class": "ToolTerminal", "code": "InteractionUnavailable", "message": "m"},
    });
    let payload = json!({"toolCallId": "c", "toolName": "t", "content": content.to_string()});
    let events = script.take("tool_result", payload);
    let error = &events[0].1["error"];
    assert_eq!(error["code"], "interaction_unavailable");
    assert_eq!(error["typed"], "ToolTerminal/InteractionUnavailable");
}
