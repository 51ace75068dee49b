//! What a message must be by itself.

use serde_json::{Value, json};

use crate::bench::{Bench, baseline, changed, seconds_ago, seconds_ahead};

#[test]
fn tcp_10_the_schema_has_one_version() {
    let bench = Bench::new();
    for v in [
        json!(0),
        json!(2),
        json!("1"),
        json!(1.5),
        json!(-1),
        Value::Null,
    ] {
        let detail = bench.expect(&changed(&bench.stdin("one", "text"), "v", &v), "rejected");
        assert!(detail.starts_with("unsupported_version:"), "{detail}");
    }
}

#[test]
fn tcp_11_22_blank_and_missing_fields_are_rejected_and_take_up_nothing() {
    let bench = Bench::new();
    for make in [|message: &Value| message.clone(), baseline] {
        let message = make(&bench.stdin("again", "text"));
        for member in [
            "request_id",
            "team",
            "session_id",
            "agent_id",
            "sender",
            "sent_at",
        ] {
            for value in [
                json!(""),
                json!(" \t"),
                json!(7),
                json!([]),
                json!({}),
                json!(true),
                Value::Null,
            ] {
                let ack = bench.ask(&changed(&message, member, &value));
                assert_eq!(ack["result"], "rejected", "{member} as {value}");
                assert!(ack["detail"].as_str().unwrap().contains(member));
                if member != "request_id" {
                    assert_eq!(ack["request_id"], "again");
                }
            }
        }
    }
    // None of them took the place of the valid one.
    let ack = bench.ask(&bench.stdin("again", "text"));
    assert_eq!(
        (&ack["result"], &ack["duplicate"]),
        (&json!("ok"), &json!(false))
    );
}

#[test]
fn tcp_12_identifiers_lead_nowhere() {
    let bench = Bench::new();
    let long = "x".repeat(257);
    for member in ["request_id", "team", "session_id", "agent_id", "sender"] {
        for id in [
            "..",
            ".",
            "../etc",
            "a/b",
            "a\\b",
            "a\0b",
            "a\nb",
            "\u{1b}[31m",
            &long,
        ] {
            let ack = bench.ask(&changed(&bench.stdin("one", "text"), member, &json!(id)));
            assert_eq!(ack["result"], "rejected", "{member} as {id:?}");
            assert!(
                ack["detail"]
                    .as_str()
                    .unwrap()
                    .starts_with("invalid_field:")
            );
        }
    }
    let longest = "é".repeat(128);
    bench.expect(&bench.stdin(&longest, "text"), "ok");
}

#[test]
fn tcp_13_an_interrupt_says_so() {
    let bench = Bench::new();
    let interrupt = bench.interrupt("one");
    for signal in [
        Value::Null,
        json!("kill"),
        json!("INTERRUPT"),
        json!(2),
        json!(""),
    ] {
        let ack = bench.ask(&changed(&interrupt, "signal", &signal));
        assert_eq!(ack["result"], "rejected", "{signal}");
        assert_eq!(ack["type"], "control.interrupt.ack");
    }
    // The baseline form says it with its action, and must not contradict it.
    bench.expect(
        &changed(&baseline(&interrupt), "signal", &json!("kill")),
        "rejected",
    );
    bench.expect(&interrupt, "ok");
}

#[test]
fn tcp_14_15_there_is_exactly_one_text_and_it_is_not_blank() {
    let bench = Bench::new();
    let message = bench.stdin("one", "text");
    let reference =
        json!({"path": "/x", "size_bytes": 1, "sha256": "0".repeat(64), "mime": "text/plain"});
    let both = changed(&message, "content_ref", &reference);
    assert!(
        bench
            .expect(&both, "rejected")
            .starts_with("ambiguous_content:")
    );
    let neither = changed(&message, "content", &Value::Null);
    assert!(
        bench
            .expect(&neither, "rejected")
            .starts_with("missing_content:")
    );
    for blank in ["", " ", "\n\n", "\t \u{a0}\u{2003}"] {
        let blank = changed(&message, "content", &json!(blank));
        assert!(
            bench
                .expect(&blank, "rejected")
                .starts_with("empty_content:")
        );
    }
    for wrong in [json!(7), json!(["text"]), json!({"text": "x"}), json!(true)] {
        bench.expect(&changed(&message, "content", &wrong), "rejected");
    }
    for wrong in [json!("path"), json!(7), json!([]), json!(false)] {
        bench.expect(&changed(&neither, "content_ref", &wrong), "rejected");
    }
    assert!(bench.inputs().is_empty());
}

#[test]
fn tcp_16_lines_stay_one_input_and_nothing_is_trimmed() {
    let bench = Bench::new();
    let text = "  first\nsecond\r\n\n\tfourth  \n";
    bench.expect(&bench.stdin("one", text), "ok");
    assert_eq!(bench.inputs(), [text]);
}

#[test]
fn tcp_17_18_texts_are_utf_8_without_nul() {
    let bench = Bench::new();
    let message = bench.stdin("one", "text");
    for encoding in [json!("latin-1"), json!("base64"), json!(""), json!(8)] {
        bench.expect(
            &changed(&message, "content_encoding", &encoding),
            "rejected",
        );
    }
    bench.expect(&bench.stdin("nul", "a\0b"), "rejected");
    bench.expect(
        &changed(&message, "content_encoding", &json!("utf-8")),
        "ok",
    );
    // Other control characters are data.
    bench.expect(&bench.stdin("escape", "\u{1b}[31mred\u{7}"), "ok");
    assert_eq!(bench.inputs(), ["text", "\u{1b}[31mred\u{7}"]);
}

#[test]
fn tcp_19_times_must_be_times() {
    let bench = Bench::new();
    for time in [
        "yesterday",
        "2026-02-20",
        "1771622100",
        "2026-02-30T00:00:00Z",
        "2026-02-20T21:15:00",
    ] {
        let message = changed(&bench.stdin("one", "text"), "sent_at", &json!(time));
        assert!(
            bench
                .expect(&message, "rejected")
                .starts_with("invalid_field:"),
            "{time}"
        );
    }
}

#[test]
fn tcp_20_old_and_future_requests_are_rejected() {
    let bench = Bench::with(&json!({"maxAgeSecs": 100, "maxSkewSecs": 50}));
    let at = |time: String| changed(&bench.stdin("one", "text"), "sent_at", &json!(time));
    assert!(
        bench
            .expect(&at(seconds_ago(102)), "rejected")
            .starts_with("too_old:")
    );
    assert!(
        bench
            .expect(&at(seconds_ahead(200)), "rejected")
            .starts_with("clock_skew:")
    );
    // Generous, since time continues while this runs.
    bench.expect(&at(seconds_ago(40)), "ok");
    let ahead = changed(
        &bench.stdin("two", "text"),
        "sent_at",
        &json!(seconds_ahead(40)),
    );
    bench.expect(&ahead, "ok");
}

#[test]
fn tcp_21_what_was_forgotten_is_too_old_to_be_repeated() {
    let world = stud_tests::World::new();
    let settings = crate::bench::settings(
        &json!({"maxAgeSecs": 300, "maxSkewSecs": 60, "dedupeTtlSecs": 359}),
    );
    world.write("home/settings.json", settings.to_string());
    let refused = world.stud(&["--headless", "hello"]);
    assert_eq!(refused.status, 1);
    stud_observed::covers!(CONTROL_SETTINGS_INVALID, refused.stderr);
    assert!(
        refused.stderr.contains("control.dedupeTtlSecs"),
        "{refused:?}"
    );
}

#[test]
fn every_optional_field_is_checked_too() {
    let bench = Bench::new();
    let wrong = [json!(7), json!([]), json!({}), json!("text"), json!(true)];
    let fits = |member: &str, value: &Value| match member {
        "interrupt" => value.is_boolean(),
        "meta" => value.is_object(),
        _ => value.is_string() && member != "content_encoding",
    };
    for member in ["interrupt", "content_encoding", "content_preview", "meta"] {
        for value in wrong.iter().filter(|value| !fits(member, value)) {
            let message = changed(&bench.stdin("one", "text"), member, value);
            bench.expect(&message, "rejected");
        }
    }
    for (member, value) in [
        ("retry_count", json!("1")),
        ("retry_count", json!(-1)),
        ("retry_count", json!(0.5)),
        ("ui_source", json!(7)),
        ("oversize_strategy", json!([])),
    ] {
        let message = changed(&bench.stdin("one", "text"), "meta", &json!({member: value}));
        bench.expect(&message, "rejected");
    }
    assert!(bench.inputs().is_empty());
}
