use stud_sdk::host::session::{AbortReason, ChildOutcome, ModelChoice, OpenChild};
use stud_sdk::interaction::InteractionKind;
use stud_sdk::testing::{FakeHost, Harness};
use stud_sdk::{Value, json};

use super::*;

fn settled() -> Value {
    json!({
        "prompt": "count the lines",
        "requestedEnvelope": ["read", "grep"],
        "label": "counter",
        "model": {"providerId": "echo", "modelId": "echo-1"},
        "depth": 1,
    })
}

fn key(args: &Value) -> Result<String> {
    Harness::new(stud_plugin(), FakeHost::new()).approval_key("delegate", args)
}

#[test]
fn the_schema_has_what_a_model_sends_and_nothing_else() {
    let schema = stud_sdk::schema::value::<Call>();
    let properties = schema["properties"].as_object().unwrap();
    let names: Vec<&String> = properties.keys().collect();
    assert_eq!(names, ["label", "model", "prompt", "requestedEnvelope"]);
    assert_eq!(schema["required"], json!(["prompt"]));
    assert_eq!(schema["additionalProperties"], false);
    let model = &schema["properties"]["model"];
    assert_eq!(model["required"], json!(["modelId"]));
    assert_eq!(model["additionalProperties"], false);
}

#[test]
fn the_key_names_model_depth_and_tools_in_order_and_not_the_task() {
    let expected = "delegate:provider=echo:model=echo-1:depth=1:envelope=grep+read";
    assert_eq!(key(&settled()).unwrap(), expected);
    let mut other = settled();
    other["requestedEnvelope"] = json!(["grep", "read", "grep"]);
    other["prompt"] = "something else".into();
    other["label"] = Value::Null;
    assert_eq!(key(&other).unwrap(), expected);
    other["requestedEnvelope"] = json!([]);
    assert_eq!(
        key(&other).unwrap(),
        "delegate:provider=echo:model=echo-1:depth=1:envelope="
    );
}

#[test]
fn what_core_has_not_settled_has_no_key_and_does_not_run() {
    for missing in ["depth", "model"] {
        let mut args = settled();
        args.as_object_mut().unwrap().remove(missing);
        let error = key(&args).unwrap_err();
        assert_eq!(error.code(), "InputInvalid", "{missing}");
        assert_eq!(error.context()["fieldPath"], format!("/{missing}"));
    }
    let mut args = settled();
    args.as_object_mut().unwrap().remove("depth");
    let host = FakeHost::new();
    let harness = Harness::new(stud_plugin(), host.clone());
    let error = harness.tool("delegate", args).unwrap_err();
    assert_eq!(error.code(), "InputInvalid");
    assert!(host.children().is_empty());
}

#[test]
fn a_call_opens_the_child_that_was_approved() {
    let host = FakeHost::new().opens_child(Ok(ChildOutcome::Completed {
        subagent_id: "a1".into(),
        result: "12 lines".into(),
        transcript_ref: "subagent:a1".into(),
    }));
    let harness = Harness::new(stud_plugin(), host.clone());
    let output = harness.tool("delegate", settled()).unwrap();
    assert_eq!(
        *output.value(),
        json!({"result": "12 lines", "subagentId": "a1", "transcriptRef": "subagent:a1"})
    );
    let asked = OpenChild {
        prompt: "count the lines".into(),
        requested_envelope: vec!["read".into(), "grep".into()],
        label: Some("counter".into()),
        depth: 1,
        model: Some(ModelChoice {
            provider_id: Some("echo".into()),
            model_id: "echo-1".into(),
        }),
    };
    assert_eq!(host.children(), [asked]);
}

#[test]
fn every_other_end_is_a_result_as_well() {
    let halted = ChildOutcome::Halted {
        subagent_id: "a1".into(),
        request_kind: InteractionKind::Approve,
        correlation_id: "t1".into(),
        reason: "headless without --yolo".into(),
    };
    let rejected = ChildOutcome::Rejected {
        subagent_id: "a1".into(),
        note: Some("not now".into()),
    };
    let aborted = ChildOutcome::Aborted {
        subagent_id: Some("a1".into()),
        reason: AbortReason::ProviderFailure,
        detail: None,
    };
    let cases = [
        (
            halted,
            json!({"haltStatus": {
                "requestKind": "Approve",
                "correlationId": "t1",
                "subagentId": "a1",
                "decision": "halt",
                "reason": "headless without --yolo",
            }}),
        ),
        (
            rejected,
            json!({"aborted": {
                "reason": "envelopeDenied",
                "subagentId": "a1",
                "code": "Subagent/EnvelopeDenied",
                "detail": "not now",
            }}),
        ),
        (
            aborted,
            json!({"aborted": {
                "reason": "providerFailure",
                "subagentId": "a1",
                "code": "Subagent/Aborted",
            }}),
        ),
    ];
    for (outcome, expected) in cases {
        let harness = Harness::new(stud_plugin(), FakeHost::new().opens_child(Ok(outcome)));
        let output = harness.tool("delegate", settled()).unwrap();
        assert_eq!(*output.value(), expected);
    }
}
