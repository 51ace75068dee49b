//! Requests of each kind and answers to them, for tests.

use serde_json::{Value, json};

use crate::{
    Approve, ApproveSubagentEnvelope, Ask, AuthDeviceCode, AuthPassword, Confirm, Field, FieldType,
    Form, GrantStageTool, InteractionKind, Payload, Request, Response, Select, ToolApproval,
    ToolInput,
};

pub(crate) fn request(kind: InteractionKind) -> Request {
    let payload: Payload = match kind {
        InteractionKind::Ask => Ask::default().into(),
        InteractionKind::Approve => Approve::default().into(),
        InteractionKind::Select => Select {
            prompt: "Which?".into(),
            options: vec!["a".into(), "b".into()],
        }
        .into(),
        InteractionKind::AuthDeviceCode => AuthDeviceCode::default().into(),
        InteractionKind::AuthPassword => AuthPassword::default().into(),
        InteractionKind::Confirm => Confirm::default().into(),
        InteractionKind::GrantStageTool => GrantStageTool::default().into(),
        InteractionKind::ApproveSubagentEnvelope => ApproveSubagentEnvelope::default().into(),
        InteractionKind::ToolInput => ToolInput {
            input_schema: Form::new(vec![Field::new("answer", FieldType::Text, "Name?")]),
            ..ToolInput::default()
        }
        .into(),
        InteractionKind::ToolApproval => ToolApproval::default().into(),
    };
    Request::new("i1", "t1", "2026-01-01T00:00:00.000Z", payload)
}

pub(crate) fn accepted(value: Value) -> Response {
    serde_json::from_value(
        json!({"interactionId": "i1", "correlationId": "t1", "status": "accepted", "value": value}),
    )
    .unwrap()
}

/// The field that `response` is refused for.
pub(crate) fn mismatch_of(response: &Response, request: &Request) -> Value {
    let error = response.check(request).unwrap_err();
    assert_eq!(
        (error.class(), error.code()),
        ("Validation", "InteractionPayloadMismatch")
    );
    let context = error.context();
    assert_eq!(context["kind"], request.kind().as_str());
    assert!(context["expected"].is_string());
    context["field"].clone()
}
