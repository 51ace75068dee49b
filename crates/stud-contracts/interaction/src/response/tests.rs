use serde_json::json;

use super::*;
use crate::fixture::{accepted, mismatch_of, request};
use crate::{AskAnswer, AuthAnswer, InteractionKind, Secret};

#[test]
fn status_and_value_go_together() {
    let request = request(InteractionKind::Ask);
    for status in ["rejected", "timeout", "dismissed"] {
        let json = json!({"interactionId": "i1", "correlationId": "t1", "status": status, "value": {"text": "x"}});
        assert_eq!(
            mismatch_of(&serde_json::from_value(json).unwrap(), &request),
            "value"
        );
    }
    let json = json!({"interactionId": "i1", "correlationId": "t1", "status": "accepted"});
    assert_eq!(
        mismatch_of(&serde_json::from_value(json).unwrap(), &request),
        "value"
    );
}

#[test]
fn ids_have_to_match() {
    let request = request(InteractionKind::Ask);
    let answer = || Response::accepted(&request, AskAnswer::default());
    assert_eq!(
        mismatch_of(
            &Response {
                interaction_id: "i2".into(),
                ..answer()
            },
            &request
        ),
        "interactionId"
    );
    assert_eq!(
        mismatch_of(
            &Response {
                correlation_id: "t2".into(),
                ..answer()
            },
            &request
        ),
        "correlationId"
    );
}

#[test]
fn silence_is_neither_no_nor_yes() {
    for kind in InteractionKind::ALL {
        let request = request(kind);
        let says = |response: Response| {
            (
                response.means_no(&request).unwrap(),
                response.means_yes(&request).unwrap(),
                response.status.settles(),
            )
        };
        assert_eq!(
            says(Response::rejected(&request, "busy")),
            (true, false, true)
        );
        assert_eq!(says(Response::timeout(&request)), (false, false, false));
        assert_eq!(says(Response::dismissed(&request)), (false, false, false));
    }
}

#[test]
fn the_literal_of_a_rejection() {
    let request = request(InteractionKind::Confirm);
    assert_eq!(
        serde_json::to_value(Response::rejected(&request, "not now")).unwrap(),
        json!({"interactionId": "i1", "correlationId": "t1", "status": "rejected", "reason": "not now"}),
    );
    assert_eq!(
        serde_json::to_value(Response::dismissed(&request)).unwrap(),
        json!({"interactionId": "i1", "correlationId": "t1", "status": "dismissed"}),
    );
}

#[test]
fn no_secret_shows_in_debug_or_in_an_error() {
    let request = request(InteractionKind::AuthPassword);
    let answer = Answer::AuthPassword(AuthAnswer::Secret(Secret::new("hunter2")));
    let response = Response::accepted(&request, answer.clone());
    for text in [
        format!("{answer:?}"),
        format!("{response:?}"),
        format!("{response:#?}"),
    ] {
        assert!(!text.contains("hunter2"), "{text}");
    }
    for value in [
        json!("hunter2"),
        json!({"secret": ["hunter2"]}),
        json!({"completed": "hunter2"}),
    ] {
        let error = accepted(value).check(&request).unwrap_err();
        assert!(
            !format!("{error} {error:?}").contains("hunter2"),
            "{error:?}"
        );
    }
}

#[test]
fn reading_refuses_what_is_no_response_without_quoting_it() {
    let request = request(InteractionKind::AuthPassword);
    let json = |status: &str, value: Value| json!({"interactionId": "i1", "correlationId": "t1", "status": status, "value": value});
    assert!(Response::read(&request, json("accepted", json!({"secret": "hunter2"}))).is_ok());
    for value in [
        json!("hunter2"),
        json("hunter2", json!({"secret": "hunter2"})),
        json("cancelled", json!({"secret": "hunter2"})),
        json("accepted", json!("hunter2")),
    ] {
        let error = Response::read(&request, value).unwrap_err();
        assert_eq!(error.code(), "InteractionPayloadMismatch");
        assert!(!format!("{error:?}").contains("hunter2"), "{error:?}");
    }
}
