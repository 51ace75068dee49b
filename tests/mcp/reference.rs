//! The reference servers of the protocol, as they are published.
//!
//! `cargo xtask test` installs them where `npm` and `pip` are there, and says so where they are not.

use std::path::PathBuf;

use serde_json::{Value, json};
use stud_host_api::metrics::McpStatus;
use stud_tests::target_folder;

use crate::bench::Bench;

/// A program that was installed for this test, if it was.
fn installed(path: &str) -> Option<PathBuf> {
    let target = target_folder();
    let program = target.parent()?.join("mcp-reference").join(path);
    if !program.exists() {
        println!("left out: {} is not installed", program.display());
        return None;
    }
    Some(program)
}

#[test]
fn the_server_that_has_everything_works() {
    let Some(program) = installed("node_modules/.bin/mcp-server-everything") else {
        return;
    };
    let bench = Bench::with(
        &json!({"s": {"command": program, "args": ["stdio"]}}),
        &json!({}),
    );
    let info = bench.waits_for("s", McpStatus::Connected);
    assert!(
        info.tool_count > 3 && info.prompt_count > 0 && info.resource_count > 0,
        "{info:?}"
    );
    let result = bench.call("echo", &json!({"message": "over there"}));
    assert!(result.to_string().contains("over there"), "{result:#}");
}

#[test]
fn the_server_that_knows_the_time_works() {
    let Some(program) = installed("python/bin/mcp-server-time") else {
        return;
    };
    let bench = Bench::with(&json!({"s": {"command": program}}), &json!({}));
    bench.waits_for("s", McpStatus::Connected);
    let result = bench.call("get_current_time", &json!({"timezone": "UTC"}));
    assert_eq!(result["ok"], true, "{result:#}");
    let failed: Value = bench.call("get_current_time", &json!({"timezone": "Nowhere/Else"}));
    assert_eq!(failed["error"]["code"], "MCPToolFailed", "{failed:#}");
}
