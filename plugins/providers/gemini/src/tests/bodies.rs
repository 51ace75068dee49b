//! Requests, exactly as they are sent.

use super::*;

fn sent(config: &Value, request: &Request) -> model_http::testing::Received {
    let server = Server::always(stream(ANSWER)).unwrap();
    trial()
        .harness_with(&server, config)
        .request(request)
        .unwrap();
    server.received().pop().unwrap()
}

fn call(id: &str, args: Value) -> Part {
    Part::ToolCall {
        tool_call_id: id.to_owned(),
        tool_name: "get_weather".to_owned(),
        args,
    }
}

fn result(id: &str, content: &str) -> Part {
    Part::ToolResult {
        tool_call_id: id.to_owned(),
        tool_name: "get_weather".to_owned(),
        content: content.to_owned(),
    }
}

#[test]
fn a_conversation_with_everything() {
    let text = |text: &str| Part::Text {
        text: text.to_owned(),
    };
    let picture = |url: &str, media_type: Option<&str>| Part::Image {
        url: url.to_owned(),
        media_type: media_type.map(str::to_owned),
    };
    let tool = |name: &str, parameters: Value| ToolSpec {
        name: name.to_owned(),
        description: "Does it.".to_owned(),
        parameters: parameters.into(),
    };
    let request = Request {
        system: Some("Be brief.".to_owned()),
        tools: vec![
            tool(
                "get_weather",
                json!({
                    "type": "object", "properties": {"location": {"type": "string", "default": "Rome"}},
                    "required": ["location"], "additionalProperties": false, "$schema": "x",
                }),
            ),
            tool(
                "list",
                json!({"type": "object", "properties": {}, "additionalProperties": false}),
            ),
        ],
        max_tokens: Some(100),
        ..request(vec![
            message(
                Role::User,
                vec![
                    text("Look:"),
                    picture("data:image/png;base64,AA==", None),
                    picture("https://example.org/a.png", Some("image/png")),
                    picture("https://example.org/b", None),
                ],
            ),
            message(Role::System, "Be kind."),
            message(
                Role::Assistant,
                vec![
                    text("I look."),
                    call("a", json!({"location": "Rome"})),
                    call("b", json!([1])),
                ],
            ),
            message(Role::Tool, vec![result("a", "sunny")]),
            message(Role::Tool, vec![result("b", "{\"sky\":\"grey\"}")]),
            message(Role::User, "Thanks."),
        ])
    };
    let config = json!({"defaultParams": {
        "temperature": 0.5, "topP": 0.9, "topK": 4, "stopSequences": ["END"], "seed": 7,
        "thinkingConfig": {"thinkingBudget": 1024, "includeThoughts": true},
        "safetySettings": [{"category": "c", "threshold": "t"}], "labels": {"a": "b"}, "structuredOutputs": true,
    }});
    let received = sent(&config, &request);
    assert_eq!(
        received.target,
        "/models/gemini-2.5-flash:streamGenerateContent?alt=sse"
    );
    let expected = json!({
        "systemInstruction": {"parts": [{"text": "Be brief."}, {"text": "Be kind."}]},
        "contents": [
            {"role": "user", "parts": [
                {"text": "Look:"},
                {"inlineData": {"mimeType": "image/png", "data": "AA=="}},
                {"fileData": {"fileUri": "https://example.org/a.png", "mimeType": "image/png"}},
                {"fileData": {"fileUri": "https://example.org/b"}},
            ]},
            {"role": "model", "parts": [
                {"text": "I look."},
                {"functionCall": {"name": "get_weather", "args": {"location": "Rome"}}},
                {"functionCall": {"name": "get_weather", "args": {"arguments": [1]}}},
            ]},
            {"role": "user", "parts": [
                {"functionResponse": {"name": "get_weather", "response": {"result": "sunny"}}},
                {"functionResponse": {"name": "get_weather", "response": {"sky": "grey"}}},
                {"text": "Thanks."},
            ]},
        ],
        "tools": [{"functionDeclarations": [
            {"name": "get_weather", "description": "Does it.", "parameters": {
                "type": "object", "properties": {"location": {"type": "string"}}, "required": ["location"],
            }},
            {"name": "list", "description": "Does it."},
        ]}],
        "generationConfig": {
            "temperature": 0.5, "topP": 0.9, "topK": 4, "stopSequences": ["END"], "seed": 7, "maxOutputTokens": 100,
            "thinkingConfig": {"thinkingBudget": 1024, "includeThoughts": true},
        },
        "safetySettings": [{"category": "c", "threshold": "t"}],
        "labels": {"a": "b"},
    });
    assert_eq!(received.json(), expected);
}

#[test]
fn a_plain_request_is_small() {
    let body = sent(&json!({}), &trial().request).json();
    assert_eq!(
        body,
        json!({"contents": [{"role": "user", "parts": [{"text": "hi"}]}]})
    );
    let silent = Request {
        system: Some("Do it.".to_owned()),
        ..request(vec![])
    };
    let body = sent(&json!({}), &silent).json();
    assert_eq!(
        body,
        json!({"contents": [{"role": "user", "parts": [{"text": "Do it."}]}]})
    );
}

#[test]
fn a_model_may_have_its_collection_and_odd_letters() {
    let target = |model: &str| {
        let mut request = trial().request;
        request.model_id = model.to_owned();
        sent(&json!({}), &request).target
    };
    assert_eq!(
        target("tunedModels/mine"),
        "/tunedModels/mine:streamGenerateContent?alt=sse"
    );
    assert_eq!(
        target("a b?c"),
        "/models/a%20b%3Fc:streamGenerateContent?alt=sse"
    );
    assert_eq!(
        target("gemini"),
        "/models/gemini-2.5-flash:streamGenerateContent?alt=sse"
    );
}

#[test]
fn signatures_are_sent_back_and_stood_in_for_where_they_are_needed() {
    let server = Server::always(stream(ANSWER)).unwrap();
    let harness = trial().harness(&server);
    harness.request(&trial().request).unwrap();
    let sent = |model: &str, first: &str| {
        let answer = vec![call(first, json!({})), call("fc-2", json!({}))];
        let mut request = request(vec![
            message(Role::User, "hi"),
            message(Role::Assistant, answer),
        ]);
        request.model_id = model.to_owned();
        harness.request(&request).unwrap();
        let body = server.received().pop().unwrap().json();
        let parts = &body["contents"][1]["parts"];
        (
            parts[0]["thoughtSignature"].clone(),
            parts[1]["thoughtSignature"].clone(),
        )
    };
    assert_eq!(sent("gemini-3-pro", "fc-1"), (json!("CiQB"), Value::Null));
    let stand_in = json!("skip_thought_signature_validator");
    assert_eq!(
        sent("gemini-3-pro", "foreign"),
        (stand_in.clone(), Value::Null)
    );
    assert_eq!(
        sent("models/gemini-3-pro", "foreign"),
        (stand_in, Value::Null)
    );
    assert_eq!(
        sent("gemini-2.5-flash", "foreign"),
        (Value::Null, Value::Null)
    );
}

#[test]
fn what_is_no_parameter_is_refused() {
    for name in ["cachedContent", "max_tokens", "reasoningEffort"] {
        let server = Server::always(stream(ANSWER)).unwrap();
        let config = json!({"defaultParams": {name: 1}});
        let error = trial()
            .harness_with(&server, &config)
            .request(&trial().request)
            .unwrap_err();
        assert_eq!(error.context()["param"], name);
        assert!(server.received().is_empty());
    }
}
