use serde_json::json;

use super::*;
use crate::fixture::{accepted, mismatch_of, request};
use crate::{Approve, Request, Response};

/// Reads `value` as the answer to a request of `kind`, writes it again, and asks whether it is a no.
fn check(kind: InteractionKind, value: Value, answer: impl Into<Answer>, denies: bool) {
    let (request, response, answer) = (request(kind), accepted(value.clone()), answer.into());
    assert_eq!(
        response.check(&request).unwrap().as_ref(),
        Some(&answer),
        "{kind}"
    );
    assert_eq!(response.means_no(&request).unwrap(), denies, "{kind}");
    assert_eq!(response.means_yes(&request).unwrap(), !denies, "{kind}");
    assert_eq!(answer.kind(), kind);
    assert_eq!(answer.to_value(), value);
    assert_eq!(Response::accepted(&request, answer), response);
}

#[test]
fn content_answers_are_read_from_their_literals() {
    check(
        InteractionKind::Ask,
        json!({"text": ""}),
        AskAnswer::default(),
        false,
    );
    check(
        InteractionKind::Select,
        json!({"index": 1}),
        SelectAnswer { index: 1 },
        false,
    );
    check(
        InteractionKind::Confirm,
        json!({"confirmed": true}),
        ConfirmAnswer { confirmed: true },
        false,
    );
    check(
        InteractionKind::Confirm,
        json!({"confirmed": false}),
        ConfirmAnswer { confirmed: false },
        true,
    );
}

#[test]
fn approvals_are_read_from_their_literals() {
    let kind = InteractionKind::Approve;
    let plain = |decision| ApproveAnswer {
        decision,
        allow_once: None,
        scope: None,
    };
    check(
        kind,
        json!({"decision": "approve"}),
        plain(Decision::Approve),
        false,
    );
    check(
        kind,
        json!({"decision": "deny"}),
        plain(Decision::Deny),
        true,
    );
    check(
        kind,
        json!({"decision": "approve", "allowOnce": true, "scope": "session"}),
        ApproveAnswer {
            allow_once: Some(true),
            scope: Some(ApprovalScope::Session),
            ..plain(Decision::Approve)
        },
        false,
    );
}

#[test]
fn logins_are_read_from_their_literals() {
    let secret = || AuthAnswer::Secret(Secret::new("hunter2"));
    let (device, password) = (
        InteractionKind::AuthDeviceCode,
        InteractionKind::AuthPassword,
    );
    check(
        device,
        json!({"completed": true}),
        Answer::AuthDeviceCode(AuthAnswer::Completed),
        false,
    );
    check(
        device,
        json!({"secret": "hunter2"}),
        Answer::AuthDeviceCode(secret()),
        false,
    );
    check(
        password,
        json!({"secret": "hunter2"}),
        Answer::AuthPassword(secret()),
        false,
    );
    check(
        password,
        json!({"completed": true}),
        Answer::AuthPassword(AuthAnswer::Completed),
        false,
    );
}

#[test]
fn grants_are_read_from_their_literals() {
    let kind = InteractionKind::GrantStageTool;
    let grant = |outcome| GrantAnswer {
        outcome,
        note: None,
    };
    check(
        kind,
        json!({"outcome": "approve"}),
        grant(GrantOutcome::Approve),
        false,
    );
    check(
        kind,
        json!({"outcome": "deny"}),
        grant(GrantOutcome::Deny),
        true,
    );
    check(
        kind,
        json!({"outcome": "defer"}),
        grant(GrantOutcome::Defer),
        true,
    );
    let noted = GrantAnswer {
        note: Some("once".into()),
        ..grant(GrantOutcome::Approve)
    };
    check(
        kind,
        json!({"outcome": "approve", "note": "once"}),
        noted,
        false,
    );
}

#[test]
fn envelopes_are_read_from_their_literals() {
    let kind = InteractionKind::ApproveSubagentEnvelope;
    let envelope = |outcome| EnvelopeAnswer {
        outcome,
        note: Some("fine".into()),
    };
    check(
        kind,
        json!({"outcome": "approve", "note": "fine"}),
        envelope(EnvelopeOutcome::Approve),
        false,
    );
    check(
        kind,
        json!({"outcome": "deny", "note": "fine"}),
        envelope(EnvelopeOutcome::Deny),
        true,
    );
}

#[test]
fn tool_answers_are_read_from_their_literals() {
    let submitted = UserResponse {
        input: json!({"answer": "Ada"}).as_object().cloned(),
        ..UserResponse::new(Action::Submit)
    };
    let approved = UserResponse {
        approval_scope: Some(ApprovalScope::Session),
        ..UserResponse::new(Action::Approve)
    };
    let denied = UserResponse {
        reason: Some("not today".into()),
        ..UserResponse::new(Action::Deny)
    };
    let canceled = || UserResponse::new(Action::Cancel);

    let kind = InteractionKind::ToolInput;
    let value = json!({"action": "submit", "input": {"answer": "Ada"}});
    check(kind, value, Answer::ToolInput(submitted), false);
    check(
        kind,
        json!({"action": "cancel"}),
        Answer::ToolInput(canceled()),
        true,
    );

    let kind = InteractionKind::ToolApproval;
    let value = json!({"action": "approve", "approvalScope": "session"});
    check(kind, value, Answer::ToolApproval(approved), false);
    let value = json!({"action": "deny", "reason": "not today"});
    check(kind, value, Answer::ToolApproval(denied), true);
    check(
        kind,
        json!({"action": "cancel"}),
        Answer::ToolApproval(canceled()),
        true,
    );
}

#[test]
fn a_scope_beside_another_action_means_nothing() {
    let response = accepted(json!({"action": "deny", "approvalScope": "always"}));
    let answer = response
        .check(&request(InteractionKind::ToolApproval))
        .unwrap();
    assert_eq!(
        answer,
        Some(Answer::ToolApproval(UserResponse::new(Action::Deny)))
    );
}

#[test]
fn a_value_of_the_wrong_shape_is_refused_by_field() {
    let cases = [
        (InteractionKind::Ask, json!("Ada"), "value"),
        (InteractionKind::Ask, json!({"answer": "Ada"}), "text"),
        (
            InteractionKind::Approve,
            json!({"decision": "yes"}),
            "decision",
        ),
        (
            InteractionKind::Approve,
            json!({"decision": "approve", "allowOnce": "yes"}),
            "allowOnce",
        ),
        (
            InteractionKind::Approve,
            json!({"decision": "approve", "scope": "always"}),
            "scope",
        ),
        (
            InteractionKind::Approve,
            json!({"decision": "approve", "scope": "forever"}),
            "scope",
        ),
        (InteractionKind::Select, json!({"index": 2}), "index"),
        (InteractionKind::Select, json!({"index": -1}), "index"),
        (InteractionKind::Select, json!({"index": "0"}), "index"),
        (InteractionKind::AuthPassword, json!({}), "value"),
        (
            InteractionKind::AuthPassword,
            json!({"secret": "x", "completed": true}),
            "value",
        ),
        (
            InteractionKind::AuthPassword,
            json!({"secret": 7}),
            "secret",
        ),
        (
            InteractionKind::AuthDeviceCode,
            json!({"completed": false}),
            "completed",
        ),
        (
            InteractionKind::Confirm,
            json!({"confirmed": "yes"}),
            "confirmed",
        ),
        (
            InteractionKind::GrantStageTool,
            json!({"outcome": "later"}),
            "outcome",
        ),
        (
            InteractionKind::GrantStageTool,
            json!({"outcome": "deny", "note": 1}),
            "note",
        ),
        (
            InteractionKind::ApproveSubagentEnvelope,
            json!({"outcome": "defer"}),
            "outcome",
        ),
        (
            InteractionKind::ToolInput,
            json!({"action": "approve"}),
            "action",
        ),
        (
            InteractionKind::ToolInput,
            json!({"action": "submit", "input": []}),
            "input",
        ),
        (
            InteractionKind::ToolApproval,
            json!({"action": "submit"}),
            "action",
        ),
        (
            InteractionKind::ToolApproval,
            json!({"action": "approve", "approvalScope": "always"}),
            "approvalScope",
        ),
    ];
    for (kind, value, field) in cases {
        let response = accepted(value.clone());
        assert_eq!(
            mismatch_of(&response, &request(kind)),
            field,
            "{kind} {value}"
        );
    }
}

#[test]
fn a_yes_is_remembered_as_far_as_it_says() {
    let remembered = |value: Value| {
        serde_json::from_value::<ApproveAnswer>(value)
            .unwrap()
            .remembered()
    };
    assert_eq!(
        remembered(json!({"decision": "approve"})),
        ApprovalScope::Session
    );
    assert_eq!(
        remembered(json!({"decision": "approve", "scope": "always"})),
        ApprovalScope::Always
    );
    assert_eq!(
        remembered(json!({"decision": "approve", "scope": "session", "allowOnce": true})),
        ApprovalScope::Once
    );
    assert_eq!(
        remembered(json!({"decision": "deny", "scope": "always"})),
        ApprovalScope::Once
    );
}

#[test]
fn always_is_taken_once_it_was_offered() {
    let offer = vec![ApprovalScope::Always];
    let payload = Approve {
        approval_scopes: Some(offer),
        ..Approve::default()
    };
    let request = Request::new("i1", "t1", "2026-01-01T00:00:00.000Z", payload);
    let response = accepted(json!({"decision": "approve", "scope": "always"}));
    assert!(response.means_yes(&request).unwrap());
    assert_eq!(
        mismatch_of(
            &accepted(json!({"decision": "approve", "scope": "session"})),
            &request
        ),
        "scope"
    );
}

#[test]
fn values_for_fields_nobody_asked_about_are_dropped() {
    let request = request(InteractionKind::ToolInput);
    let response = accepted(json!({"action": "submit", "input": {"answer": "Ada", "admin": true}}));
    let Some(Answer::ToolInput(answer)) = response.check(&request).unwrap() else {
        panic!("not an input");
    };
    assert_eq!(Value::from(answer.input.unwrap()), json!({"answer": "Ada"}));
}
