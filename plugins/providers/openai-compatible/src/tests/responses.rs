//! The other API.

use super::*;

/// Reasoning, text and two calls, as the service documents them.
const ANSWER: &str = r#"event: response.created
data: {"type":"response.created","sequence_number":0,"response":{"id":"resp_1","object":"response","status":"in_progress","error":null,"incomplete_details":null,"output":[],"usage":null}}

event: response.output_item.added
data: {"type":"response.output_item.added","output_index":0,"item":{"id":"rs_1","type":"reasoning","summary":[]}}

event: response.reasoning_summary_part.added
data: {"type":"response.reasoning_summary_part.added","item_id":"rs_1","output_index":0,"summary_index":0,"part":{"type":"summary_text","text":""}}

event: response.reasoning_summary_text.delta
data: {"type":"response.reasoning_summary_text.delta","item_id":"rs_1","output_index":0,"summary_index":0,"delta":"Let me see…"}

event: response.output_item.done
data: {"type":"response.output_item.done","output_index":0,"item":{"id":"rs_1","type":"reasoning","encrypted_content":"gAAA","summary":[{"type":"summary_text","text":"Let me see…"}]}}

event: response.output_item.added
data: {"type":"response.output_item.added","output_index":1,"item":{"id":"msg_1","type":"message","status":"in_progress","role":"assistant","content":[]}}

event: response.output_text.delta
data: {"type":"response.output_text.delta","item_id":"msg_1","output_index":1,"content_index":0,"delta":"Grüße"}

event: response.output_text.delta
data: {"type":"response.output_text.delta","item_id":"msg_1","output_index":1,"content_index":0,"delta":", \"🎈\"!"}

event: response.output_text.done
data: {"type":"response.output_text.done","item_id":"msg_1","output_index":1,"content_index":0,"text":"Grüße, \"🎈\"!"}

event: response.output_item.added
data: {"type":"response.output_item.added","output_index":2,"item":{"id":"fc_1","type":"function_call","status":"in_progress","arguments":"","call_id":"call_a","name":"get_weather"}}

event: response.output_item.added
data: {"type":"response.output_item.added","output_index":3,"item":{"id":"fc_2","type":"function_call","status":"in_progress","arguments":"","call_id":"call_b","name":"list"}}

event: response.function_call_arguments.delta
data: {"type":"response.function_call_arguments.delta","item_id":"fc_1","output_index":2,"delta":"{\"location\":\"San Fra"}

event: response.function_call_arguments.delta
data: {"type":"response.function_call_arguments.delta","item_id":"fc_2","output_index":3,"delta":"{}"}

event: response.function_call_arguments.delta
data: {"type":"response.function_call_arguments.delta","item_id":"fc_1","output_index":2,"delta":"ncisco\"}"}

event: response.output_item.done
data: {"type":"response.output_item.done","output_index":2,"item":{"id":"fc_1","type":"function_call","status":"completed","arguments":"{\"location\":\"San Francisco\"}","call_id":"call_a","name":"get_weather"}}

event: response.completed
data: {"type":"response.completed","response":{"id":"resp_1","status":"completed","error":null,"incomplete_details":null,"output":[],"usage":{"input_tokens":135,"input_tokens_details":{"cached_tokens":100},"output_tokens":89,"output_tokens_details":{"reasoning_tokens":15},"total_tokens":224}}}

"#;

const CLOSING: &str = r#"data: {"type":"response.completed","response":{"status":"completed","usage":{"input_tokens":1,"output_tokens":5}}}

"#;

fn delta(text: &str) -> String {
    format!(
        "data: {{\"type\":\"response.output_text.delta\",\"output_index\":0,\"delta\":\"{text}\"}}\n\n"
    )
}

fn trial() -> Trial {
    Trial {
        config: json!({"models": ["small"], "apiShape": "responses"}),
        answer: ANSWER.to_owned(),
        opening: delta(""),
        delta,
        closing: CLOSING.to_owned(),
        ..super::trial()
    }
}

fn ask(body: &str) -> Result<Told, stud_sdk::Error> {
    let server = Server::always(stream(body)).unwrap();
    trial()
        .harness(&server)
        .request(&trial().request)
        .map(Told::of)
}

#[test]
fn an_answer_may_be_cut_anywhere() {
    trial().any_cut().unwrap();
}

#[test]
fn an_answer_may_have_any_form() {
    trial().any_form().unwrap();
}

#[test]
fn every_status_has_its_error() {
    trial().any_status().unwrap();
}

#[test]
fn a_connection_that_breaks_is_no_answer() {
    trial().any_break().unwrap();
}

#[test]
fn silence_ends() {
    trial().silence().unwrap();
}

#[test]
fn a_turn_called_off_closes_its_connection() {
    trial().calling_off().unwrap();
}

#[test]
fn a_large_event_is_taken_and_a_larger_one_refused() {
    trial().large_events().unwrap();
}

#[test]
fn a_flood_comes_whole() {
    trial().flood(20_000).unwrap();
}

#[test]
fn a_conversation_with_everything() {
    let received = sent(&trial(), &json!({}), &conversation());
    assert_eq!(received.target, "/responses");
    let called = |id: &str, arguments: &str| json!({"type": "function_call", "call_id": id, "name": "get_weather", "arguments": arguments});
    let returned = |id: &str, output: &str| json!({"type": "function_call_output", "call_id": id, "output": output});
    let said = |text: &str| json!({"role": "assistant", "content": [{"type": "output_text", "text": text}]});
    let expected = json!({
        "model": "small",
        "stream": true,
        "instructions": "Be brief.",
        "prompt_cache_key": crate::beginning::cache_key(Some("Be brief."), &[weather()]),
        "tools": [{
            "type": "function",
            "name": "get_weather",
            "description": "Says how the weather is.",
            "parameters": {"type": "object", "properties": {"location": {"type": "string"}}},
            "strict": false,
        }],
        "input": [
            {"role": "user", "content": [
                {"type": "input_text", "text": "Look:"},
                {"type": "input_image", "image_url": "data:image/png;base64,AA=="},
            ]},
            {"role": "system", "content": "Be kind."},
            said("I look."),
            called("a", "{\"location\":\"Rome\"}"),
            called("b", "{}"),
            returned("a", "sunny"),
            returned("b", "rain"),
            called("c", "{}"),
            returned("c", "fog"),
            said("It is mixed."),
            {"role": "user", "content": [{"type": "input_text", "text": "Thanks."}]},
        ],
    });
    assert_eq!(received.json(), expected);
}

#[test]
fn every_parameter_has_its_place() {
    let config = json!({"maxTokens": 9, "defaultParams": {
        "temperature": 0.5, "topP": 0.9, "reasoningEffort": "low", "reasoningSummary": "auto", "textVerbosity": "low",
        "serviceTier": "flex", "safetyIdentifier": "s", "store": false, "metadata": {"a": "b"}, "user": "u",
        "parallelToolCalls": false, "logprobs": 3, "strictJsonSchema": true, "systemMessageMode": "developer",
        "include": ["reasoning.encrypted_content"], "truncation": "auto", "maxToolCalls": 1, "conversation": "c",
        "previousResponseId": "r", "topK": 4, "stopSequences": ["END"], "seed": 7, "presencePenalty": 1,
        "frequencyPenalty": -1, "logitBias": {}, "maxCompletionTokens": 4, "forceReasoning": true,
    }});
    let body = sent(&trial(), &config, &conversation()).json();
    for (name, value) in [
        ("temperature", json!(0.5)),
        ("top_p", json!(0.9)),
        ("max_output_tokens", json!(9)),
        ("reasoning", json!({"effort": "low", "summary": "auto"})),
        ("text", json!({"verbosity": "low"})),
        ("service_tier", json!("flex")),
        ("safety_identifier", json!("s")),
        ("store", json!(false)),
        ("metadata", json!({"a": "b"})),
        ("user", json!("u")),
        ("parallel_tool_calls", json!(false)),
        ("top_logprobs", json!(3)),
        (
            "include",
            json!([
                "reasoning.encrypted_content",
                "message.output_text.logprobs"
            ]),
        ),
        ("truncation", json!("auto")),
        ("max_tool_calls", json!(1)),
        ("conversation", json!("c")),
        ("previous_response_id", json!("r")),
        ("instructions", Value::Null),
    ] {
        assert_eq!(body[name], value, "{name}");
    }
    assert_eq!(body["tools"][0]["strict"], true);
    assert_eq!(
        body["input"][0],
        json!({"role": "developer", "content": "Be brief."})
    );
    // 5 members of every such request, and the 17 above.
    assert_eq!(body.as_object().unwrap().len(), 22, "{body}");
}

#[test]
fn sealed_reasoning_is_sent_back_with_the_call_it_led_to() {
    let server = Server::always(stream(ANSWER)).unwrap();
    let harness = trial().harness(&server);
    harness.request(&trial().request).unwrap();
    let answer = vec![call("call_a", json!({}))];
    let request = request(vec![
        message(Role::User, "hi"),
        message(Role::Assistant, answer),
        message(Role::Tool, vec![result("call_a", "fog")]),
    ]);
    harness.request(&request).unwrap();
    let body = server.received().pop().unwrap().json();
    assert_eq!(body["input"][1]["encrypted_content"], "gAAA");
    assert_eq!(body["input"][2]["call_id"], "call_a");
}

#[test]
fn every_end_has_its_reason() {
    use FinishReason::{ContentFilter, Length, Other, Stop};
    for (word, reason) in [
        ("max_output_tokens", Length),
        ("content_filter", ContentFilter),
        ("something_new", Other),
    ] {
        let ended = json!({"type": "response.incomplete", "response": {"incomplete_details": {"reason": word}}});
        let told = ask(&format!("{}data: {ended}\n\n", delta("so"))).unwrap();
        assert_eq!(told.finish, Some(reason), "{word}");
    }
    assert_eq!(ask(CLOSING).unwrap().finish, Some(Stop));
    assert_eq!(ask(&delta("so")).unwrap_err().code(), "OutputMalformed");
}

#[test]
fn errors_within_the_stream_end_it() {
    let failed = |code: &str| json!({"type": "response.failed", "response": {"error": {"code": code, "message": "no"}}});
    for (event, class, code) in [
        (failed("server_error"), "ProviderTransient", "Provider5xx"),
        (
            failed("rate_limit_exceeded"),
            "ProviderTransient",
            "RateLimited",
        ),
        (
            json!({"type": "error", "code": "context_length_exceeded", "message": "no"}),
            "ProviderCapability",
            "ContextWindowTooSmall",
        ),
        (
            json!({"type": "error", "error": {"type": "invalid_request_error", "message": "no"}}),
            "ProviderCapability",
            "RequestRejected",
        ),
    ] {
        let error = ask(&format!("{}data: {event}\n\n", delta("so"))).unwrap_err();
        assert_eq!((error.class(), error.code()), (class, code), "{event}");
        assert!(error.message().ends_with(": no"), "{error}");
    }
}

#[test]
fn parts_of_a_summary_are_apart() {
    let part = |index: u64| {
        format!(
            "data: {}\n\n",
            json!({"type": "response.reasoning_summary_part.added", "summary_index": index})
        )
    };
    let thought = |text: &str| {
        format!(
            "data: {}\n\n",
            json!({"type": "response.reasoning_summary_text.delta", "delta": text})
        )
    };
    let body = format!(
        "{}{}{}{}{CLOSING}",
        part(0),
        thought("a"),
        part(1),
        thought("b")
    );
    assert_eq!(ask(&body).unwrap().thinking, "a\n\nb");
}
