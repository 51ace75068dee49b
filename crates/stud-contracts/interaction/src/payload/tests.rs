use serde_json::{Value, json};

use super::*;

/// One payload of each kind, with every field it can have.
fn samples() -> [(&'static str, Value); 10] {
    [
        (
            "Ask",
            json!({"prompt": "Name?", "placeholder": "first name", "defaultValue": "Ada"}),
        ),
        (
            "Approve",
            json!({
                "toolId": "bash",
                "approvalKey": "git push",
                "description": "Run `git push`",
                "approvalScopes": ["once", "session", "always"],
                "toolCallId": "c1",
                "args": {"command": "git push"},
                "cwd": "/work",
                "preview": "-a\n+b\n",
                "reason": "`git pull` is allowed and nothing else",
                "scopes": [{"scope": "once", "covers": "this call", "kept": "nowhere"}],
            }),
        ),
        ("Select", json!({"prompt": "Which?", "options": ["a", "b"]})),
        (
            "Auth.DeviceCode",
            json!({"url": "https://example.com/device", "code": "AB-12", "expiresAt": "2026-01-01T00:10:00.000Z"}),
        ),
        (
            "Auth.Password",
            json!({"prompt": "Password for example.com"}),
        ),
        ("Confirm", json!({"prompt": "Delete it?", "default": false})),
        (
            "grantStageTool",
            json!({
                "stageExecutionId": "s1",
                "attempt": 0,
                "proposalId": "p1",
                "tool": "bash",
                "argsDigest": "d1",
                "argsSummary": "git status",
                "reason": "The stage looks at the tree.",
            }),
        ),
        (
            "approveSubagentEnvelope",
            json!({
                "subagentId": "a1",
                "parentSessionId": "s1",
                "depth": 1,
                "requestedEnvelope": ["read", "list"],
                "promptSummary": "Find the tests",
                "model": {"providerId": "echo", "modelId": "echo-1"},
                "label": "finder",
            }),
        ),
        (
            "ToolInput",
            json!({
                "toolCallId": "c1",
                "toolName": "ask_user",
                "inputSchema": {"type": "form", "fields": [{"id": "answer", "type": "text", "label": "Name?"}]},
            }),
        ),
        (
            "ToolApproval",
            json!({"toolCallId": "c1", "toolName": "fx_gate"}),
        ),
    ]
}

fn refused(kind: &str, payload: Value) -> (String, Value) {
    let error = Payload::read(kind, payload).unwrap_err();
    assert_eq!(error.class(), "Validation");
    (
        error.code().to_owned(),
        Value::Object(error.context().clone()),
    )
}

#[test]
fn every_kind_round_trips_under_its_word() {
    for ((kind, json), expected) in samples().into_iter().zip(InteractionKind::ALL) {
        let payload = Payload::read(kind, json.clone()).unwrap();
        assert_eq!(payload.kind(), expected);
        assert_eq!(
            serde_json::to_value(&payload).unwrap(),
            json!({"kind": kind, "payload": json})
        );
        assert!(!payload.prompt().is_empty());
    }
}

#[test]
fn optional_fields_may_be_absent() {
    for (kind, mut json) in samples() {
        let optional = [
            "placeholder",
            "defaultValue",
            "approvalScopes",
            "default",
            "reason",
            "label",
        ];
        json.as_object_mut()
            .unwrap()
            .retain(|field, _| !optional.contains(&field.as_str()));
        let payload = Payload::read(kind, json.clone()).unwrap();
        assert_eq!(serde_json::to_value(&payload).unwrap()["payload"], json);
    }
}

#[test]
fn an_unknown_kind_is_named() {
    let (code, context) = refused("trustProject", json!({}));
    assert_eq!(
        (code.as_str(), context),
        ("InteractionKindUnknown", json!({"kind": "trustProject"}))
    );
}

#[test]
fn a_missing_field_is_named() {
    let (code, context) = refused("Ask", json!({"question": "Name?"}));
    assert_eq!(code, "InteractionPayloadMismatch");
    assert_eq!(
        (&context["kind"], &context["field"]),
        (&json!("Ask"), &json!("payload"))
    );
    assert!(context["expected"].as_str().unwrap().contains("`prompt`"));
}

#[test]
fn a_repeated_kind_has_to_agree() {
    assert!(Payload::read("Ask", json!({"kind": "Ask", "prompt": "Name?"})).is_ok());
    let (code, context) = refused("Ask", json!({"kind": "Confirm", "prompt": "Name?"}));
    assert_eq!(code, "InteractionPayloadMismatch");
    assert_eq!(
        context,
        json!({"kind": "Ask", "field": "kind", "expected": "Ask"})
    );
}

#[test]
fn a_timeout_of_zero_or_less_is_refused() {
    for millis in [json!(0), json!(-5)] {
        let payload = json!({"toolCallId": "c1", "toolName": "fx_gate", "timeoutMs": millis});
        let (code, context) = refused("ToolApproval", payload);
        assert_eq!(
            (code.as_str(), context),
            ("TimeoutMsInvalid", json!({"timeoutMs": millis}))
        );
    }
}

#[test]
fn lists_to_choose_from_are_not_empty() {
    let (_, context) = refused("Select", json!({"prompt": "Which?", "options": []}));
    assert_eq!(context["field"], "options");
    let approval = json!({"toolCallId": "c1", "toolName": "fx_gate", "approvalScopes": []});
    let (_, context) = refused("ToolApproval", approval);
    assert_eq!(context["field"], "approvalScopes");
}

#[test]
fn a_form_that_contradicts_itself_is_refused() {
    let payload =
        json!({"toolCallId": "c1", "toolName": "ask_user", "inputSchema": {"type": "form"}});
    let (code, context) = refused("ToolInput", payload);
    assert_eq!(code, "InteractionPayloadMismatch");
    assert_eq!(
        (&context["kind"], &context["field"]),
        (&json!("ToolInput"), &json!("inputSchema"))
    );
}

#[test]
fn a_tool_that_gives_no_prompt_is_asked_about_by_name() {
    let approval = ToolApproval {
        tool_name: "fx_gate".into(),
        ..ToolApproval::default()
    };
    assert_eq!(Payload::from(approval).prompt(), "Allow `fx_gate`?");
}

/// `Approve` as version 1.2 of the protocol had it.
#[derive(Debug, PartialEq, serde::Deserialize, serde::Serialize)]
#[serde(rename_all = "camelCase")]
struct ApproveOf12 {
    tool_id: String,
    approval_key: String,
    description: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    approval_scopes: Option<Vec<ApprovalScope>>,
}

#[test]
fn an_approval_is_read_by_1_2_and_one_of_1_2_is_read() {
    let (_, whole) = samples()[1].clone();
    let old: ApproveOf12 = serde_json::from_value(whole).unwrap();
    assert_eq!(old.description, "Run `git push`");
    let sent = serde_json::to_value(&old).unwrap();
    let Payload::Approve(read) = Payload::read("Approve", sent.clone()).unwrap() else {
        panic!("another kind");
    };
    assert_eq!((&read.args, read.scopes.len()), (&None, 0));
    assert_eq!(serde_json::to_value(read).unwrap(), sent);
}
