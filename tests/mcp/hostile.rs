//! Servers that break the rules, one fault at a time.

use serde_json::json;
use stud_host_api::metrics::McpStatus;
use stud_tests::{eventually, mcp_server};

use crate::bench::{Bench, Http};

#[test]
fn junk_beside_the_protocol_is_passed_over() {
    let bench = Bench::of(&["--fault", "junk"]);
    assert_eq!(bench.say("fine"), "fine");
}

#[test]
fn a_server_that_stumbles_over_the_first_question_is_asked_the_older_one() {
    let faults = [
        "discover-exit",
        "discover-silent",
        "discover-empty",
        "discover-other-id",
        "discover-page",
    ];
    for fault in faults {
        let server =
            json!({"command": mcp_server(), "args": ["--era", "legacy", "--fault", fault]});
        let settings = json!({"connectTimeoutMs": 4000, "startupGraceMs": 20_000});
        let bench = Bench::with(&json!({"s": server}), &settings);
        assert_eq!(bench.say(fault), fault);
    }
    for fault in ["http-discover-page", "http-discover-empty"] {
        let server = Http::start(&["--era", "legacy", "--fault", fault], "127.0.0.1:0");
        let bench = Bench::with(&json!({"s": {"url": server.url}}), &json!({}));
        assert_eq!(bench.say(fault), fault);
    }
}

#[test]
fn a_server_that_was_found_to_be_older_is_not_asked_the_newer_question_again() {
    let state = tempfile::NamedTempFile::new().unwrap();
    let server = json!({
        "command": mcp_server(),
        "args": ["--era", "legacy", "--fault", "discover-empty"],
        "env": {"MCP_STATE": state.path()},
    });
    let bench = Bench::with(&json!({"s": server}), &json!({}));
    assert_eq!(bench.say("one"), "one");
    bench.call("die", &json!({}));
    assert_eq!(bench.say("two"), "two");
    let noted = std::fs::read_to_string(state.path()).unwrap();
    let count = |what: &str| noted.lines().filter(|line| line.starts_with(what)).count();
    assert_eq!((count("started"), count("discovered")), (3, 1), "{noted}");
}

#[test]
fn an_answer_over_http_that_no_request_can_be_matched_with_fails_the_call_at_once() {
    for (fault, word) in [
        ("http-null-id", "that was no request"),
        ("http-other-id", "another request"),
        ("http-accepted", "no stream"),
    ] {
        // The newer era has no stream of its own on which an answer could come later.
        let server = Http::start(&["--era", "modern", "--fault", fault], "127.0.0.1:0");
        let bench = Bench::with(&json!({"s": {"url": server.url}}), &json!({}));
        let result = bench.call("say", &json!({"text": "hello"}));
        let message = result["error"]["message"].as_str().unwrap_or_default();
        assert!(message.contains(word), "{fault}: {result:#}");
    }
}

#[test]
fn a_message_without_an_end_is_the_end_of_the_connection() {
    let bench = Bench::of(&["--fault", "endless"]);
    let info = bench.waits_for("s", McpStatus::Error);
    assert!(info.last_error.unwrap().contains("closed the connection"));
    bench.live.say("hello").answered();
}

#[test]
fn a_server_that_never_answers_is_named_and_nobody_waits_for_it() {
    let silent = json!({"command": mcp_server(), "args": ["--fault", "silent"]});
    let servers = json!({"silent": silent, "s": {"command": mcp_server()}});
    let bench = Bench::with(
        &servers,
        &json!({"connectTimeoutMs": 1000, "startupGraceMs": 0}),
    );
    assert_eq!(bench.live.say("hello").answered().text, "USER hello");
    assert_eq!(bench.say("fine"), "fine");
    let info = bench.waits_for("silent", McpStatus::Error);
    assert!(
        info.last_error
            .unwrap()
            .contains("did not answer within 1000 ms")
    );
    let picture = bench.live.session().metrics().snapshot();
    let said = picture.diagnostics.recent.iter();
    let mut about = said.filter(|item| item.source == "mcp:silent");
    let item = about.next().unwrap();
    assert_eq!(
        item.code.as_deref(),
        Some("ProviderTransient/MCPConnectionLost")
    );
}

#[test]
fn a_large_answer_is_cut_and_one_that_is_too_large_breaks_the_connection() {
    let bench = Bench::of(&[]);
    let large = bench.call("big", &json!({"bytes": 8 << 20}));
    assert_eq!(large["result"]["truncated"], true);
    let text = large["result"]["content"][0]["text"].as_str().unwrap();
    assert_eq!(text.len(), 256 << 10);
    let too_large = bench.call("big", &json!({"bytes": 17 << 20}));
    assert_eq!(
        too_large["error"]["code"], "MCPConnectionLost",
        "{too_large:#}"
    );
    assert_eq!(bench.say("back"), "back");
}

#[test]
fn what_cannot_be_used_is_left_out_and_the_rest_is_there() {
    let bench = Bench::of(&["--fault", "names"]);
    let info = bench.waits_for("s", McpStatus::Connected);
    assert_eq!(info.tool_count, 10);
    let picture = bench.live.session().metrics().snapshot();
    let said: Vec<&str> = picture
        .diagnostics
        .recent
        .iter()
        .filter(|item| item.code.as_deref() == Some("Validation/MCPOfferInvalid"))
        .map(|item| &*item.message)
        .collect();
    assert_eq!(said.len(), 4, "{said:#?}");
    assert!(
        said.iter().all(|said| !said.contains(char::is_control)),
        "{said:#?}"
    );
}

#[test]
fn a_flood_of_changes_is_one_change() {
    let bench = Bench::of(&["--fault", "flood", "--era", "legacy"]);
    bench.call("grow", &json!({}));
    eventually("the new tool", || {
        (bench.info("s").tool_count == 11).then_some(())
    });
    assert_eq!(bench.say("fine"), "fine");
}
