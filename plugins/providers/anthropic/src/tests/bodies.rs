//! Requests, exactly as they are sent.

use super::*;

/// What is sent for a request, with this in the config.
fn sent(config: &Value, request: &Request) -> model_http::testing::Received {
    let server = Server::always(stream(ANSWER)).unwrap();
    trial()
        .harness_with(&server, config)
        .request(request)
        .unwrap();
    server.received().pop().unwrap()
}

fn weather() -> ToolSpec {
    ToolSpec {
        name: "get_weather".to_owned(),
        description: "Says how the weather is.".to_owned(),
        parameters: json!({"type": "object", "properties": {"location": {"type": "string"}}})
            .into(),
    }
}

#[test]
fn a_conversation_with_everything() {
    let picture = |url: &str| Part::Image {
        url: url.to_owned(),
        media_type: None,
    };
    let text = |text: &str| Part::Text {
        text: text.to_owned(),
    };
    let request = Request {
        system: Some("Be brief.".to_owned()),
        tools: vec![weather()],
        temperature: Some(0.5),
        ..request(vec![
            message(
                Role::User,
                vec![
                    text("Look:"),
                    picture("data:image/png;base64,AA=="),
                    picture("https://example.org/a.png"),
                ],
            ),
            message(Role::System, "Be kind."),
            message(
                Role::Assistant,
                vec![
                    text("I look."),
                    call("a:1", json!({"location": "Rome"})),
                    call("b", json!(null)),
                ],
            ),
            message(Role::Tool, vec![result("a:1", "sunny")]),
            message(Role::Tool, vec![result("b", "rain")]),
            message(Role::User, "Thanks."),
            message(Role::Assistant, ""),
            message(Role::User, "And now?"),
        ])
    };
    let received = sent(&json!({}), &request);
    assert_eq!(received.target, "/v1/messages");
    assert_eq!(received.header("anthropic-version"), Some("2023-06-01"));
    assert_eq!(received.header("anthropic-beta"), None);
    let expected = json!({
        "model": "claude-sonnet-4-5",
        "max_tokens": 4096,
        "temperature": 0.5,
        "stream": true,
        "system": [
            {"type": "text", "text": "Be brief."},
            {"type": "text", "text": "Be kind.", "cache_control": {"type": "ephemeral"}},
        ],
        "tools": [{
            "name": "get_weather",
            "description": "Says how the weather is.",
            "input_schema": {"type": "object", "properties": {"location": {"type": "string"}}},
        }],
        "messages": [
            {"role": "user", "content": [
                {"type": "text", "text": "Look:"},
                {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AA=="}},
                {"type": "image", "source": {"type": "url", "url": "https://example.org/a.png"}},
            ]},
            {"role": "assistant", "content": [
                {"type": "text", "text": "I look."},
                {"type": "tool_use", "id": "a_1", "name": "get_weather", "input": {"location": "Rome"}},
                {"type": "tool_use", "id": "b", "name": "get_weather", "input": {}},
            ]},
            {"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": "a_1", "content": "sunny"},
                {"type": "tool_result", "tool_use_id": "b", "content": "rain"},
                {"type": "text", "text": "Thanks."},
                {"type": "text", "text": "And now?", "cache_control": {"type": "ephemeral"}},
            ]},
        ],
    });
    assert_eq!(received.json(), expected);
}

#[test]
fn parameters_come_from_the_config_and_the_request() {
    let config = json!({
        "maxTokens": 100, "defaultParams": {"effort": "low", "topK": 7, "disableParallelToolUse": true, "toolStreaming": true},
    });
    let mut request = request(vec![message(Role::User, "hi")]);
    request.params = json!({"effort": "high"}).as_object().unwrap().clone();
    request.tools = vec![weather()];
    let received = sent(&config, &request);
    let body = received.json();
    assert_eq!(body["max_tokens"], 100);
    assert_eq!(body["output_config"], json!({"effort": "high"}));
    assert_eq!(body["top_k"], 7);
    assert_eq!(
        body["tool_choice"],
        json!({"type": "auto", "disable_parallel_tool_use": true})
    );
    assert_eq!(body["tools"][0]["eager_input_streaming"], true);
    assert_eq!(received.header("anthropic-beta"), Some("effort-2025-11-24"));
}

#[test]
fn where_nobody_has_spoken_the_session_does() {
    let request = Request {
        system: Some("Do it.".to_owned()),
        ..request(vec![])
    };
    let body = sent(&json!({}), &request).json();
    let said = json!([{"role": "user", "content": [
        {"type": "text", "text": "Do it.", "cache_control": {"type": "ephemeral"}},
    ]}]);
    assert_eq!(body["messages"], said);
    assert_eq!(body["system"], Value::Null);
}

#[test]
fn a_request_for_no_model_is_for_the_first() {
    for id in ["", "anthropic"] {
        let mut request = request(vec![message(Role::User, "hi")]);
        request.model_id = id.to_owned();
        assert_eq!(
            sent(&json!({}), &request).json()["model"],
            "claude-sonnet-4-5"
        );
        let named = json!({"model": "claude-opus-4-1"});
        assert_eq!(sent(&named, &request).json()["model"], "claude-opus-4-1");
    }
}

const THINKING: &str = r#"{"type": "enabled", "budgetTokens": 2000}"#;

fn thinking() -> Value {
    json!({"defaultParams": {"thinking": THINKING.parse::<Value>().unwrap()}})
}

/// The conversation of the answer, and what its tool said.
fn continued(text: &str) -> Request {
    let said = Part::Text {
        text: text.to_owned(),
    };
    let answer = vec![said, call("toolu_01", json!({"location": "San Francisco"}))];
    request(vec![
        message(Role::User, "hi"),
        message(Role::Assistant, answer),
        message(Role::Tool, vec![result("toolu_01", "fog")]),
    ])
}

/// The assistant's content in what is sent to a provider that gave the answer before, or did not.
fn replayed(config: &Value, request: &Request, is_first: bool) -> (Value, Value) {
    let server = Server::always(stream(ANSWER)).unwrap();
    let harness = trial().harness_with(&server, config);
    if !is_first {
        harness.request(&trial().request).unwrap();
    }
    harness.request(request).unwrap();
    let body = server.received().pop().unwrap().json();
    (
        body["thinking"].clone(),
        body["messages"][1]["content"].clone(),
    )
}

#[test]
fn thinking_is_sent_back_with_the_call_it_led_to() {
    let (sent, content) = replayed(&thinking(), &continued("Grüße, \"🎈\"!"), false);
    assert_eq!(sent, json!({"type": "enabled", "budget_tokens": 2000}));
    let expected = json!([
        {"type": "thinking", "thinking": "Let me see…", "signature": "EqQBCgIYAhIM"},
        {"type": "text", "text": "Grüße, \"🎈\"!"},
        {"type": "tool_use", "id": "toolu_01", "name": "get_weather", "input": {"location": "San Francisco"}},
    ]);
    assert_eq!(content, expected);
}

#[test]
fn what_was_taken_out_of_a_conversation_stays_out() {
    let (_, content) = replayed(&thinking(), &continued("[REDACTED]"), false);
    assert_eq!(content[0]["type"], "thinking");
    assert_eq!(content[1]["text"], "[REDACTED]");
    assert!(!content.to_string().contains("Grüße"));
}

#[test]
fn thinking_that_is_gone_is_done_without() {
    let (sent, content) = replayed(&thinking(), &continued("Grüße"), true);
    assert_eq!(sent, Value::Null);
    assert_eq!(content[0]["type"], "text");
    let adaptive = json!({"defaultParams": {"thinking": {"type": "adaptive"}}});
    let (sent, _) = replayed(&adaptive, &continued("Grüße"), true);
    assert_eq!(sent, json!({"type": "adaptive"}));
    let disabled = json!({"defaultParams": {"thinking": {"type": "disabled"}}});
    let (_, content) = replayed(&disabled, &continued("Grüße, \"🎈\"!"), false);
    assert_eq!(content[0]["type"], "text");
}

#[test]
fn what_cannot_be_sent_is_refused() {
    let refuse = |config: &Value, request: &Request| {
        let server = Server::always(stream(ANSWER)).unwrap();
        let error = trial()
            .harness_with(&server, config)
            .request(request)
            .unwrap_err();
        assert!(server.received().is_empty());
        error
    };
    let plain = request(vec![message(Role::User, "hi")]);
    let unknown = json!({"defaultParams": {"top_p": 1}});
    assert_eq!(
        refuse(&unknown, &plain).context()["fieldPath"],
        "/defaultParams/top_p"
    );
    let odd = Part::Image {
        url: "data:x".to_owned(),
        media_type: None,
    };
    let error = refuse(&json!({}), &request(vec![message(Role::User, vec![odd])]));
    assert_eq!(error.code(), "RequestRejected");
    let mute = json!({"models": [{"id": "claude-sonnet-4-5", "toolCalling": "absent"}]});
    let mut offering = plain;
    offering.tools = vec![weather()];
    assert_eq!(refuse(&mute, &offering).code(), "MissingToolCalling");
}

#[test]
fn a_wrong_address_is_refused_before_anything_else() {
    for (config, field) in [
        (
            json!({"baseURL": "https://user:word@example.com"}),
            "/baseURL",
        ),
        (
            json!({"baseURL": "https://a.example", "baseUrl": "https://b.example"}),
            "/baseUrl",
        ),
    ] {
        let host = FakeHost::new().config(config);
        let harness = Harness::new(crate::stud_plugin(), host);
        let error = harness.start().map(drop).unwrap_err();
        assert_eq!(error.context()["fieldPath"], field, "{error}");
    }
}
