use super::*;

fn code(text: &str) -> String {
    read(text).unwrap_err().1.code.into_owned()
}

#[test]
fn what_is_no_json_is_told_apart_from_what_is_no_frame() {
    for (text, expected) in [
        ("", "invalid_json"),
        ("{", "invalid_json"),
        ("{\"type\":\"ping\"", "invalid_json"),
        ("[]", "invalid_client_message"),
        ("null", "invalid_client_message"),
        ("{}", "invalid_client_message"),
        ("{\"type\":7}", "invalid_client_message"),
        ("{\"type\":\"pong\"}", "invalid_client_message"),
    ] {
        assert_eq!(code(text), expected, "{text}");
    }
}

#[test]
fn a_frame_is_neither_too_large_nor_too_deep() {
    let large = format!(
        "{{\"type\":\"ping\",\"x\":\"{}\"}}",
        "x".repeat(LARGEST_FRAME)
    );
    assert_eq!(code(&large), "frame_too_large");
    let deep = format!("{}{}", "[".repeat(64), "]".repeat(64));
    let (_, refusal) = read(&deep).unwrap_err();
    assert_eq!(refusal.code, "invalid_client_message");
    assert_eq!(refusal.details["limit"], DEEPEST_FRAME);
    // Brackets inside a text are no nesting.
    let text = "[".repeat(64);
    let frame = format!("{{\"type\":\"text_input\",\"sessionId\":\"s\",\"text\":\"\\\"{text}\"}}");
    assert!(read(&frame).is_ok());
}

#[test]
fn each_wrong_member_is_named() {
    for (text, field) in [
        (
            r#"{"type":"set_interaction_mode","enabled":"yes"}"#,
            "enabled",
        ),
        (r#"{"type":"hello","interaction":true}"#, "interaction"),
        (
            r#"{"type":"hello","interaction":{"supported":1}}"#,
            "interaction.supported",
        ),
        (
            r#"{"type":"subscribe","sessionId":"s","sinceSeq":-1}"#,
            "sinceSeq",
        ),
        (r#"{"type":"subscribe","sessionId":7}"#, "sessionId"),
        (r#"{"type":"session_create","mode":"wild"}"#, "mode"),
        (
            r#"{"type":"control","action":"stop","target":"output","sessionId":"s"}"#,
            "action",
        ),
        (
            r#"{"type":"tool_interaction_response","sessionId":"s","interactionId":"i","action":"submit"}"#,
            "callId",
        ),
        (
            r#"{"type":"tool_interaction_response","sessionId":"s","callId":"c","interactionId":"i","action":"maybe"}"#,
            "action",
        ),
        (
            r#"{"type":"tool_interaction_response","sessionId":"s","callId":"c","interactionId":"i","action":"submit","input":[]}"#,
            "input",
        ),
    ] {
        let (_, refusal) = read(text).unwrap_err();
        assert_eq!(refusal.code, "invalid_client_message", "{text}");
        assert_eq!(refusal.details["field"], field, "{text}");
    }
}

#[test]
fn a_blank_session_is_no_session() {
    assert_eq!(
        code(r#"{"type":"text_input","sessionId":" ","text":"x"}"#),
        "invalid_session_id"
    );
}

#[test]
fn an_unsupported_client_is_never_enabled() {
    let read = |text: &str| match read(text).unwrap().frame {
        ClientFrame::Hello(mode) => (mode.supported, mode.enabled),
        other => panic!("{other:?}"),
    };
    assert_eq!(read(r#"{"type":"hello"}"#), (false, false));
    assert_eq!(
        read(r#"{"type":"hello","interaction":{"supported":false,"enabled":true}}"#),
        (false, false)
    );
    assert_eq!(
        read(r#"{"type":"hello","interaction":{"supported":true,"enabled":true}}"#),
        (true, true)
    );
}

#[test]
fn the_id_of_the_call_has_two_names() {
    for name in ["callId", "toolCallId"] {
        let text = format!(
            r#"{{"type":"tool_interaction_response","sessionId":"s","{name}":"c","interactionId":"i","action":"cancel"}}"#
        );
        let ClientFrame::ToolAnswer(answer) = read(&text).unwrap().frame else {
            panic!("{text}");
        };
        assert_eq!(answer.call_id, "c");
    }
}

#[test]
fn a_request_id_comes_back_also_with_a_refusal() {
    let (id, _) = read(r#"{"type":"text_input","requestId":"r1"}"#).unwrap_err();
    assert_eq!(id, Some("r1".into()));
}
