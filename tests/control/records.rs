//! What is put on record of requests, and what is not.

use serde_json::{Map, Value, json};

use crate::bench::{Bench, baseline, changed};

fn check_fields(
    bench: &Bench,
    records: &[Map<String, Value>],
    request_id: &str,
    result: &str,
    duplicate: bool,
) {
    let found = records.iter().any(|record| {
        record["request_id"] == request_id
            && record["result"] == result
            && record["duplicate"] == duplicate
    });
    assert!(found, "{request_id} {result} {duplicate} in {records:?}");
    for record in records {
        for member in [
            "request_id",
            "team",
            "session_id",
            "agent_id",
            "sender",
            "result",
            "duplicate",
        ] {
            assert!(record.contains_key(member), "{member} in {record:?}");
        }
        assert_eq!(record["session_id"], bench.id());
    }
}

#[test]
fn tcp_90_91_94_requests_and_acknowledgments_are_on_record() {
    let bench = Bench::with(&json!({"queueCapacity": 1}));
    bench.expect(&bench.stdin("one", "text"), "ok");
    bench.expect(&bench.stdin("one", "text"), "ok");
    bench.expect(&baseline(&bench.stdin("two", "text")), "busy");
    bench.expect(&bench.interrupt("three"), "ok");
    for kind in ["ControlRequest", "ControlAck"] {
        let records = bench.trail(kind);
        assert_eq!(records.len(), 4, "{kind}");
        check_fields(&bench, &records, "one", "ok", false);
        check_fields(&bench, &records, "one", "ok", true);
        check_fields(&bench, &records, "two", "busy", false);
        check_fields(&bench, &records, "three", "ok", false);
    }
    let requests = bench.trail("ControlRequest");
    let forms: Vec<_> = requests
        .iter()
        .map(|request| (&request["form"], &request["action"]))
        .collect();
    let (of_type, action) = (json!("type"), json!("action"));
    let (stdin, interrupt) = (json!("stdin"), json!("interrupt"));
    assert_eq!(
        forms,
        [
            (&of_type, &stdin),
            (&of_type, &stdin),
            (&action, &stdin),
            (&of_type, &interrupt)
        ]
    );
    assert_eq!(requests[0]["bytes"], 4);
    // Words of the protocol, as they are on the wire.
    bench.session().close().unwrap();
    bench.expect(&bench.stdin("late", "text"), "not_live");
    let late = bench.global_trail().pop().unwrap();
    assert_eq!(late["payload"]["result"], "not_live");
    assert_eq!(late["payload"]["request_id"], "late");
}

#[test]
fn tcp_92_texts_are_not_on_record_unless_that_is_set() {
    const TEXT: &str = "the launch code is tulip";
    let send = |bench: &Bench| {
        let mut message = bench.stdin("one", TEXT);
        message["content_preview"] = TEXT.into();
        bench.expect(&message, "ok");
        bench.expect(&changed(&message, "content", &json!("another tulip")), "ok");
        let mut refused = bench.stdin("two", TEXT);
        refused["sender"] = "eve".into();
        bench.expect(&refused, "rejected");
        let of_session = [bench.trail("ControlRequest"), bench.trail("ControlAck")].concat();
        (
            json!(of_session).to_string(),
            json!(bench.global_trail()).to_string(),
        )
    };
    let (of_session, global) = send(&Bench::new());
    assert!(!of_session.contains("tulip") && !global.contains("tulip"));

    let verbose = Bench::with(&json!({"logText": true}));
    let (of_session, _) = send(&verbose);
    assert!(of_session.contains(TEXT));
    let long = "é".repeat(5000);
    verbose.expect(&verbose.stdin("long", &long), "ok");
    let requests = verbose.trail("ControlRequest");
    assert_eq!(
        requests.last().unwrap()["text"].as_str().unwrap().len(),
        4096
    );
}

#[test]
fn tcp_55_96_details_are_words_for_programs_and_reasons_for_people() {
    let bench = Bench::new();
    for (message, result) in [
        (bench.stdin("one", "text"), "ok"),
        (bench.stdin("one", "text"), "ok"),
        (
            changed(&bench.stdin("two", "text"), "v", &json!(7)),
            "rejected",
        ),
        (
            changed(&bench.stdin("two", "text"), "sender", &json!("eve")),
            "rejected",
        ),
        (
            changed(&bench.stdin("two", "text"), "agent_id", &json!("x")),
            "not_found",
        ),
        (bench.interrupt("three"), "ok"),
    ] {
        let ack = bench.ask(&message);
        assert_eq!(ack["result"], result);
        let detail = ack["detail"].as_str().unwrap();
        let word = detail.split(':').next().unwrap();
        assert!(
            word.bytes()
                .all(|byte| byte == b'_' || byte.is_ascii_lowercase()),
            "{detail}"
        );
        assert_eq!(ack.get("error"), None);
    }
}
