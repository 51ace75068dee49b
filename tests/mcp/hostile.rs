//! Servers that break the rules, one fault at a time.

use serde_json::json;
use stud_host_api::metrics::McpStatus;
use stud_tests::{eventually, mcp_server};

use crate::bench::Bench;

#[test]
fn junk_beside_the_protocol_is_passed_over() {
    let bench = Bench::of(&["--fault", "junk"]);
    assert_eq!(bench.say("fine"), "fine");
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
