//! Answers, as the service gives them.

use super::*;

fn ask(body: &str) -> Result<Told, stud_sdk::Error> {
    let server = Server::always(stream(body)).unwrap();
    trial()
        .harness(&server)
        .request(&trial().request)
        .map(Told::of)
}

fn ended(reason: &str) -> String {
    format!(
        "{OPENING}{}{}",
        delta("so"),
        CLOSING.replace("end_turn", reason)
    )
}

#[test]
fn every_reason_has_its_word() {
    use FinishReason::{ContentFilter, Error, Length, Other, Stop, ToolCalls};
    for (word, reason) in [
        ("end_turn", Stop),
        ("stop_sequence", Stop),
        ("tool_use", ToolCalls),
        ("max_tokens", Length),
        ("model_context_window_exceeded", Length),
        ("refusal", ContentFilter),
        ("pause_turn", Other),
        ("something_new", Error),
    ] {
        assert_eq!(ask(&ended(word)).unwrap().finish, Some(reason), "{word}");
    }
}

#[test]
fn calls_come_after_everything_and_before_the_end() {
    let server = Server::always(stream(ANSWER)).unwrap();
    let events = trial().harness(&server).request(&trial().request).unwrap();
    let tail = &events[events.len() - 3..];
    assert!(matches!(
        tail,
        [
            StreamEvent::ToolCall { .. },
            StreamEvent::Usage(_),
            StreamEvent::Finish { .. }
        ]
    ));
}

#[test]
fn parallel_calls_may_be_interleaved() {
    let mut body = OPENING.to_owned();
    let event = |value: Value| format!("data: {value}\n\n");
    for (index, id) in [(1, "a"), (2, "b")] {
        let block = json!({"type": "tool_use", "id": id, "name": "get_weather", "input": {}});
        body +=
            &event(json!({"type": "content_block_start", "index": index, "content_block": block}));
    }
    for (index, part) in [(1, "{\"n\":"), (2, "{\"n\""), (1, "1}"), (2, ":2}")] {
        let delta = json!({"type": "input_json_delta", "partial_json": part});
        body += &event(json!({"type": "content_block_delta", "index": index, "delta": delta}));
    }
    let block = json!({"type": "tool_use", "id": "c", "name": "list", "input": {}});
    body += &event(json!({"type": "content_block_start", "index": 3, "content_block": block}));
    let block = json!({"type": "tool_use", "id": "d", "name": "whole", "input": {"n": 4}});
    body += &event(json!({"type": "content_block_start", "index": 4, "content_block": block}));
    body += &CLOSING.replace("end_turn", "tool_use");
    let calls = ask(&body).unwrap().calls;
    let expected = [
        ("a", "get_weather", json!({"n": 1})),
        ("b", "get_weather", json!({"n": 2})),
        ("c", "list", json!({})),
        ("d", "whole", json!({"n": 4})),
    ];
    let expected = expected.map(|(id, name, args)| (id.to_owned(), name.to_owned(), args));
    assert_eq!(calls, expected);
}

#[test]
fn arguments_that_are_cut_off_are_malformed() {
    let body = ANSWER.replace("ncisco\\\"}", "ncisco");
    let error = ask(&body).unwrap_err();
    assert_eq!(
        (error.class(), error.code()),
        ("ProviderCapability", "OutputMalformed")
    );
    assert!(error.message().contains("`get_weather`"), "{error}");
}

#[test]
fn an_error_within_the_stream_ends_it_with_what_came_before() {
    for (kind, class, code) in [
        ("overloaded_error", "ProviderTransient", "Provider5xx"),
        ("rate_limit_error", "ProviderTransient", "RateLimited"),
        (
            "invalid_request_error",
            "ProviderCapability",
            "RequestRejected",
        ),
        ("odd_error", "ProviderTransient", "StreamError"),
    ] {
        let error = json!({"type": "error", "error": {"type": kind, "message": "Overloaded"}});
        let body = format!("{OPENING}{}event: error\ndata: {error}\n\n", delta("so"));
        let error = ask(&body).unwrap_err();
        assert_eq!((error.class(), error.code()), (class, code), "{kind}");
        assert!(error.message().ends_with("Overloaded"), "{error}");
    }
}

#[test]
fn an_end_without_a_reason_is_malformed() {
    let body = format!("{OPENING}data: {{\"type\":\"message_stop\"}}\n\n");
    assert_eq!(ask(&body).unwrap_err().code(), "OutputMalformed");
    let (without_stop, _) = CLOSING
        .split_once("data: {\"type\":\"message_stop\"}")
        .unwrap();
    let error = ask(&format!("{OPENING}{without_stop}")).unwrap_err();
    assert_eq!(error.code(), "OutputMalformed");
}

#[test]
fn what_nobody_knows_is_passed_over() {
    let news = r#"data: {"type":"content_block_start","index":9,"content_block":{"type":"server_tool_use","id":"x"}}

data: {"type":"content_block_delta","index":9,"delta":{"type":"new_delta","text":"no"}}

data: {"type":"content_block_delta","index":77,"delta":{"type":"text_delta","text":"no"}}

data: {"type":"brand_new"}

"#;
    let body = format!("{OPENING}{news}{}{CLOSING}", delta("yes"));
    let told = ask(&body).unwrap();
    assert_eq!(told.text, "yes");
    let usage = told.usage.unwrap();
    assert_eq!(
        (
            usage.input_tokens,
            usage.output_tokens,
            usage.cached_input_tokens
        ),
        (1, 5, None)
    );
}

#[test]
fn thinking_that_is_hidden_is_still_sent_back() {
    let hidden = ANSWER.replace(
        r#"{"type":"thinking","thinking":"","signature":""}"#,
        r#"{"type":"redacted_thinking","data":"EmwKAhgB"}"#,
    );
    let server = Server::always(stream(&hidden)).unwrap();
    let harness = trial().harness(&server);
    let told = Told::of(harness.request(&trial().request).unwrap());
    assert_eq!(told.thinking, "");
    let answer = vec![call("toolu_01", json!({"location": "San Francisco"}))];
    let request = request(vec![
        message(Role::User, "hi"),
        message(Role::Assistant, answer),
        message(Role::Tool, vec![result("toolu_01", "fog")]),
    ]);
    harness.request(&request).unwrap();
    let body = server.received().pop().unwrap().json();
    let first = &body["messages"][1]["content"][0];
    assert_eq!(
        *first,
        json!({"type": "redacted_thinking", "data": "EmwKAhgB"})
    );
}
