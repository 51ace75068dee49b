//! Through the plugin's own entry.

use stud_sdk::host::context::{Compacted, Compacting};
use stud_sdk::testing::{FakeHost, Harness};
use stud_sdk::{Class, Error, Result, Value, json};

fn compacted() -> Compacted {
    Compacted {
        compacted_segments: 2,
        original_tokens: 900,
        compacted_tokens: 300,
        new_utilization_percent: 31.5,
        summary: "They spoke of secrets.".to_owned(),
    }
}

fn run(host: FakeHost, args: Value) -> Result<Value> {
    let harness = Harness::new(crate::stud_plugin(), host);
    let output = harness.tool("context-compaction", args)?;
    Ok(output.into_parts().0)
}

fn code(error: &Error) -> String {
    format!("{}/{}", error.class(), error.code())
}

#[test]
fn the_result_is_what_the_host_says() {
    let host = FakeHost::new().compacts(Ok(compacted()));
    let result = run(host.clone(), json!({})).unwrap();
    let expected = json!({
        "compactedSegments": 2,
        "originalTokens": 900,
        "compactedTokens": 300,
        "newUtilizationPercent": 31.5,
        "summary": "They spoke of secrets.",
    });
    assert_eq!(result, expected);
    let expected = Compacting {
        target_utilization_percent: 80,
        preserve_recent_turns: 2,
    };
    assert_eq!(host.compactions(), [expected]);
}

#[test]
fn the_numbers_are_kept_and_nothing_that_was_said() {
    let host = FakeHost::new().compacts(Ok(compacted()));
    run(host.clone(), json!({})).unwrap();
    let slot = host.slot().unwrap();
    assert_eq!(slot.slot_version, "1.0.0");
    let members: Vec<&String> = slot.data.as_object().unwrap().keys().collect();
    assert_eq!(
        members,
        [
            "compactedSegments",
            "compactedTokens",
            "newUtilizationPercent",
            "originalTokens",
            "persistedAt"
        ]
    );
    assert!(!slot.data.to_string().contains("secrets"));
}

#[test]
fn the_model_says_how_far_and_the_operator_says_it_otherwise() {
    let config = json!({
        "defaultTargetUtilizationPercent": 50, "defaultPreserveRecentTurns": 5,
    });
    let host = FakeHost::new().config(config);
    run(host.clone(), json!({})).unwrap();
    run(host.clone(), json!({"targetUtilizationPercent": 10})).unwrap();
    run(host.clone(), json!({"preserveRecentTurns": 0})).unwrap();
    let asked: Vec<(u32, u32)> = host
        .compactions()
        .iter()
        .map(|how| (how.target_utilization_percent, how.preserve_recent_turns))
        .collect();
    assert_eq!(asked, [(50, 5), (10, 5), (50, 0)]);
}

#[test]
fn an_argument_out_of_bounds_is_refused() {
    let host = FakeHost::new();
    let refused = run(host.clone(), json!({"targetUtilizationPercent": 101})).unwrap_err();
    assert_eq!(code(&refused), "Validation/ConfigSchemaViolation");
    assert!(host.compactions().is_empty());
}

#[test]
fn what_goes_wrong_below_is_no_usable_result() {
    let overflow = Error::new(Class::Validation, "ContextOverflow", "too long");
    let failed = run(FakeHost::new().compacts(Err(overflow)), json!({})).unwrap_err();
    assert_eq!(code(&failed), "ToolTerminal/OutputMalformed");
    assert_eq!(failed.context()["cause"], "Validation/ContextOverflow");
    let empty = Compacted {
        summary: " \n".to_owned(),
        ..compacted()
    };
    let failed = run(FakeHost::new().compacts(Ok(empty)), json!({})).unwrap_err();
    assert_eq!(code(&failed), "ToolTerminal/OutputMalformed");
    let called_off = Error::new(Class::Cancellation, "TurnCancelled", "called off");
    let cancelled = run(FakeHost::new().compacts(Err(called_off)), json!({})).unwrap_err();
    assert_eq!(code(&cancelled), "Cancellation/TurnCancelled");
}

#[test]
fn nothing_to_do_is_a_result() {
    let host = FakeHost::new().compacts(Ok(Compacted::default()));
    let result = run(host.clone(), json!({})).unwrap();
    assert_eq!(result["compactedSegments"], 0);
    assert!(host.slot().is_some());
}

#[test]
fn the_tool_is_gated_under_its_own_name() {
    let harness = Harness::new(crate::stud_plugin(), FakeHost::new());
    let tool = &harness.manifest()["tools"][0];
    assert_eq!(tool["name"], "context-compaction");
    assert_eq!(tool["gated"], true);
    let schema = &tool["inputSchema"];
    assert_eq!(schema["additionalProperties"], false);
    let target = &schema["properties"]["targetUtilizationPercent"];
    assert_eq!(
        (&target["minimum"], &target["maximum"]),
        (&json!(0), &json!(100))
    );
    let key = harness.approval_key("context-compaction", &json!({"preserveRecentTurns": 1}));
    assert_eq!(key.unwrap(), "context-compaction");
    // stud waits for a model longer than for other tools.
    let time = &harness.manifest()["configSchema"]["properties"]["timeoutMs"];
    assert_eq!(time["default"], 600_000);
    assert_eq!(harness.manifest()["reloadBehavior"], "between-turns");
}
