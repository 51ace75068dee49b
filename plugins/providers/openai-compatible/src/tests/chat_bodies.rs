//! Requests for chat completions, exactly as they are sent.

use super::*;

#[test]
fn a_conversation_with_everything() {
    let received = sent(&trial(), &json!({}), &conversation());
    assert_eq!(received.target, "/chat/completions");
    let function = |name: &str, arguments: &str| json!({"name": name, "arguments": arguments});
    let expected = json!({
        "model": "small",
        "stream": true,
        "stream_options": {"include_usage": true},
        "prompt_cache_key": crate::beginning::cache_key(Some("Be brief."), &[weather()]),
        "tools": [{"type": "function", "function": {
            "name": "get_weather",
            "description": "Says how the weather is.",
            "parameters": {"type": "object", "properties": {"location": {"type": "string"}}},
        }}],
        "messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": [
                {"type": "text", "text": "Look:"},
                {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA=="}},
            ]},
            {"role": "system", "content": "Be kind."},
            {"role": "assistant", "content": "I look.", "tool_calls": [
                {"id": "a", "type": "function", "function": function("get_weather", "{\"location\":\"Rome\"}")},
                {"id": "b", "type": "function", "function": function("get_weather", "{}")},
            ]},
            {"role": "tool", "tool_call_id": "a", "content": "sunny"},
            {"role": "tool", "tool_call_id": "b", "content": "rain"},
            {"role": "assistant", "content": null, "tool_calls": [
                {"id": "c", "type": "function", "function": function("get_weather", "{}")},
            ]},
            {"role": "tool", "tool_call_id": "c", "content": "fog"},
            {"role": "assistant", "content": "It is mixed."},
            {"role": "user", "content": "Thanks."},
        ],
    });
    assert_eq!(received.json(), expected);
}

#[test]
fn every_parameter_has_its_place() {
    let config = json!({"maxTokens": 9, "defaultParams": {
        "temperature": 0.5, "topP": 0.9, "topK": 4, "stopSequences": ["END"], "seed": 7, "reasoningEffort": "low",
        "textVerbosity": "low", "serviceTier": "flex", "safetyIdentifier": "s", "store": false, "metadata": {"a": "b"},
        "user": "u", "presencePenalty": 1, "frequencyPenalty": -1, "logitBias": {"50256": -100},
        "parallelToolCalls": false, "logprobs": 3, "strictJsonSchema": true, "systemMessageMode": "developer",
        "reasoningSummary": "auto", "include": [], "truncation": "auto", "maxToolCalls": 1, "conversation": "c",
        "previousResponseId": "r", "forceReasoning": false,
    }});
    let body = sent(&trial(), &config, &conversation()).json();
    for (name, value) in [
        ("temperature", json!(0.5)),
        ("top_p", json!(0.9)),
        ("top_k", json!(4)),
        ("stop", json!(["END"])),
        ("seed", json!(7)),
        ("reasoning_effort", json!("low")),
        ("verbosity", json!("low")),
        ("service_tier", json!("flex")),
        ("safety_identifier", json!("s")),
        ("store", json!(false)),
        ("metadata", json!({"a": "b"})),
        ("user", json!("u")),
        ("presence_penalty", json!(1)),
        ("frequency_penalty", json!(-1)),
        ("logit_bias", json!({"50256": -100})),
        ("parallel_tool_calls", json!(false)),
        ("logprobs", json!(true)),
        ("top_logprobs", json!(3)),
        ("max_tokens", json!(9)),
    ] {
        assert_eq!(body[name], value, "{name}");
    }
    assert_eq!(body["tools"][0]["function"]["strict"], true);
    assert_eq!(body["messages"][0]["role"], "developer");
    // 6 members of every such request, and the 19 above.
    assert_eq!(body.as_object().unwrap().len(), 25, "{body}");
}

#[test]
fn the_limit_has_the_name_that_the_model_knows() {
    let limits = |config: Value, model: &str| {
        let mut request = trial().request;
        request.model_id = model.to_owned();
        request.max_tokens = Some(5);
        let body = sent(&trial(), &config, &request).json();
        (
            body["max_tokens"].clone(),
            body["max_completion_tokens"].clone(),
        )
    };
    let (older, newer) = ((json!(5), Value::Null), (Value::Null, json!(5)));
    assert_eq!(limits(json!({}), "small"), older);
    assert_eq!(limits(json!({}), "gpt-4o"), older);
    assert_eq!(limits(json!({}), "gpt-5-mini"), newer);
    assert_eq!(limits(json!({}), "o3"), newer);
    let forced = json!({"defaultParams": {"forceReasoning": true}});
    assert_eq!(limits(forced, "small"), newer);
    let named = json!({"defaultParams": {"maxCompletionTokens": 7}});
    assert_eq!(limits(named, "small"), (Value::Null, json!(7)));
}

#[test]
fn the_session_may_be_kept_silent() {
    let config = json!({"defaultParams": {"systemMessageMode": "remove"}});
    let body = sent(&trial(), &config, &conversation()).json();
    let roles = body["messages"].as_array().unwrap();
    assert!(
        roles.iter().all(|message| message["role"] != "system"),
        "{roles:?}"
    );
}

#[test]
fn a_plain_request_is_small() {
    let received = sent(&trial(), &json!({}), &trial().request);
    let expected = json!({
        "model": "small", "stream": true, "stream_options": {"include_usage": true},
        // FNV-1a of `[]`, as computed elsewhere.
        "prompt_cache_key": "stud-741638a5",
        "messages": [{"role": "user", "content": "hi"}],
    });
    assert_eq!(received.json(), expected);
}

#[test]
fn a_member_the_backend_does_not_know_is_left_out_from_then_on() {
    let server = Server::start(|received| {
        let body = received.json();
        for name in ["prompt_cache_key", "stream_options"] {
            if !body[name].is_null() {
                let complaint =
                    json!({"error": {"message": format!("property '{name}' is unsupported")}});
                return vec![Step::Send(response(
                    "400 Bad Request",
                    &[],
                    &complaint.to_string(),
                ))];
            }
        }
        vec![Step::Send(stream(ANSWER))]
    })
    .unwrap();
    let harness = trial().harness(&server);
    harness.request(&trial().request).unwrap();
    assert_eq!(server.received().len(), 3);
    harness.request(&trial().request).unwrap();
    assert_eq!(server.received().len(), 4);
}

#[test]
fn what_is_no_parameter_is_refused() {
    for name in [
        "promptCacheKey",
        "max_tokens",
        "instructions",
        "thinking",
        "apiKey",
    ] {
        let server = Server::always(stream(ANSWER)).unwrap();
        for shape in ["chat-completions", "responses"] {
            let config = json!({"apiShape": shape, "defaultParams": {name: 1}});
            let error = trial()
                .harness_with(&server, &config)
                .request(&trial().request)
                .unwrap_err();
            assert_eq!(error.context()["param"], name);
        }
        assert!(server.received().is_empty());
    }
}
