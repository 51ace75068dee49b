use super::*;
use stud_sdk::host::cancellation;
use stud_sdk::host::metrics::RuntimeSnapshot;
use stud_sdk::testing::{FakeHost, Harness};

fn plugin(id: &str, kind: &str, source: Source) -> ExtensionInfo {
    ExtensionInfo {
        id: id.to_owned(),
        kind: kind.to_owned(),
        contract_version: "1.1.0".to_owned(),
        source,
        active: true,
    }
}

fn harness() -> Harness {
    let host = FakeHost::new();
    let mut snapshot = RuntimeSnapshot::default();
    snapshot.extensions.loaded = vec![
        plugin("line-ui", "UI", Source::Bundled),
        plugin("echo", "Provider", Source::Bundled),
        plugin("git-notes", "SessionStore", Source::Global),
        plugin("ralph", "StateMachine", Source::Project),
    ];
    host.push_snapshot(snapshot);
    Harness::new(stud_plugin(), host)
}

fn listed(args: Value) -> Value {
    harness().tool("catalog", args).unwrap().value()["entries"].clone()
}

fn ids(entries: &Value) -> Vec<&str> {
    let entries = entries.as_array().unwrap().iter();
    entries
        .map(|entry| entry["extId"].as_str().unwrap())
        .collect()
}

#[test]
fn everyone_is_listed_by_id() {
    let entries = listed(json!({}));
    assert_eq!(ids(&entries), ["echo", "git-notes", "line-ui", "ralph"]);
    assert_eq!(
        entries[0],
        json!({
            "extId": "echo",
            "kind": "Provider",
            "contractVersion": "1.1.0",
            "loadedCardinality": "unlimited",
            "activeCardinality": "unlimited",
            "scope": "bundled",
            "status": "loaded",
        })
    );
    let facts = |at: usize| (&entries[at]["activeCardinality"], &entries[at]["scope"]);
    assert_eq!(facts(1), (&json!("one"), &json!("global")));
    assert_eq!(facts(3), (&json!("one-attached"), &json!("project")));
}

#[test]
fn those_that_are_switched_off_are_listed_where_they_are_wanted() {
    let listed = |config: Value| {
        let host = FakeHost::new().config(config);
        let mut snapshot = RuntimeSnapshot::default();
        snapshot.extensions.loaded = vec![plugin("echo", "Provider", Source::Bundled)];
        snapshot.extensions.disabled = vec![plugin("broken", "Tool", Source::Global)];
        host.push_snapshot(snapshot);
        let harness = Harness::new(stud_plugin(), host);
        harness.tool("catalog", json!({})).unwrap().value()["entries"].clone()
    };
    assert_eq!(ids(&listed(json!({}))), ["echo"]);
    let entries = listed(json!({"includeDisabled": true}));
    assert_eq!(ids(&entries), ["broken", "echo"]);
    assert_eq!(entries[0]["status"], "disabled");
    assert_eq!(entries[1]["status"], "loaded");
}

#[test]
fn filters_narrow_the_list() {
    assert_eq!(ids(&listed(json!({"filterKind": "UI"}))), ["line-ui"]);
    assert_eq!(ids(&listed(json!({"filterExtId": "echo"}))), ["echo"]);
    let both = json!({"filterKind": "UI", "filterExtId": "echo"});
    assert_eq!(listed(both), json!([]));
}

#[test]
fn a_filter_that_means_nothing_finds_nothing() {
    assert_eq!(listed(json!({"filterKind": "Spaceship"})), json!([]));
    assert_eq!(listed(json!({"filterExtId": ""})), json!([]));
}

#[test]
fn a_call_that_was_called_off_lists_nothing() {
    let harness = harness();
    harness
        .start()
        .unwrap()
        .host()
        .cancel(cancellation::Scope::Turn);
    let error = harness.tool("catalog", json!({})).unwrap_err();
    assert_eq!(
        (error.class(), error.code()),
        ("Cancellation", "TurnCancelled")
    );
}

#[test]
fn the_manifest_says_what_the_tool_takes() {
    let harness = harness();
    let manifest = harness.manifest();
    let tool = &manifest["tools"][0];
    assert_eq!(
        (&tool["name"], &tool["gated"]),
        (&json!("catalog"), &json!(true))
    );
    assert_eq!(tool["inputSchema"]["additionalProperties"], false);
    let options = &manifest["configSchema"]["properties"];
    assert_eq!(options["includeDisabled"]["default"], false);
    assert_eq!(options["timeoutMs"]["minimum"], 1);
    assert_eq!(
        harness.approval_key("catalog", &json!({})).unwrap(),
        "catalog"
    );
}
