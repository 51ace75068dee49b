//! The whole plugin, over real connections.

mod chat_bodies;
mod chat_streams;
mod responses;
mod settings;

use model_http::testing::{Received, Server, Step, Told, Trial, response, stream};
use stud_sdk::provider::{Content, FinishReason, Message, Part, Request, Role, ToolSpec, Usage};
use stud_sdk::testing::{FakeHost, Harness};
use stud_sdk::{Value, json};

/// Reasoning, text and two calls whose fragments are mixed, as the service documents them.
const ANSWER: &str = r#"data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1,"model":"small","choices":[{"index":0,"delta":{"role":"assistant","content":"","reasoning_content":null,"refusal":null},"logprobs":null,"finish_reason":null}],"usage":null}

data: {"choices":[{"index":0,"delta":{"reasoning_content":"Let me "},"finish_reason":null}]}

data: {"choices":[{"index":0,"delta":{"reasoning_content":"see…"},"finish_reason":null}]}

data: {"choices":[{"index":0,"delta":{"content":"Grüße"},"finish_reason":null}]}

data: {"choices":[{"index":0,"delta":{"content":", \"🎈\"!"},"finish_reason":null}]}

data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"call_a","type":"function","function":{"name":"get_weather","arguments":""}}]},"finish_reason":null}]}

data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":1,"id":"call_b","type":"function","function":{"name":"list","arguments":""}}]},"finish_reason":null}]}

data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{\"location\":\"San Fra"}}]},"finish_reason":null}]}

data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":1,"function":{"arguments":"{}"}}]},"finish_reason":null}]}

data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"ncisco\"}"}}]},"finish_reason":null}]}

data: {"choices":[{"index":0,"delta":{},"logprobs":null,"finish_reason":"tool_calls"}],"usage":null}

data: {"choices":[],"usage":{"prompt_tokens":135,"completion_tokens":89,"total_tokens":224,"prompt_tokens_details":{"cached_tokens":100,"audio_tokens":0},"completion_tokens_details":{"reasoning_tokens":15}}}

data: [DONE]

"#;

const CLOSING: &str = r#"data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}

data: [DONE]

"#;

fn delta(text: &str) -> String {
    format!(
        "data: {{\"choices\":[{{\"index\":0,\"delta\":{{\"content\":\"{text}\"}},\"finish_reason\":null}}]}}\n\n"
    )
}

fn message(role: Role, content: impl Into<Content>) -> Message {
    let content = content.into();
    Message { role, content }
}

fn request(messages: Vec<Message>) -> Request {
    Request {
        messages,
        model_id: "small".to_owned(),
        ..Request::default()
    }
}

fn text(text: &str) -> Part {
    Part::Text {
        text: text.to_owned(),
    }
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

fn picture(url: &str) -> Part {
    Part::Image {
        url: url.to_owned(),
        media_type: None,
    }
}

fn weather() -> ToolSpec {
    ToolSpec {
        name: "get_weather".to_owned(),
        description: "Says how the weather is.".to_owned(),
        parameters: json!({"type": "object", "properties": {"location": {"type": "string"}}})
            .into(),
    }
}

/// A request with everything a conversation may have.
fn conversation() -> Request {
    Request {
        system: Some("Be brief.".to_owned()),
        tools: vec![weather()],
        ..request(vec![
            message(
                Role::User,
                vec![text("Look:"), picture("data:image/png;base64,AA==")],
            ),
            message(Role::System, "Be kind."),
            message(
                Role::Assistant,
                vec![
                    text("I look."),
                    call("a", json!({"location": "Rome"})),
                    call("b", json!({})),
                ],
            ),
            message(Role::Tool, vec![result("a", "sunny"), result("b", "rain")]),
            message(Role::Assistant, vec![call("c", json!({}))]),
            message(Role::Tool, vec![result("c", "fog")]),
            message(Role::Assistant, "It is mixed."),
            message(Role::User, "Thanks."),
        ])
    }
}

fn called() -> Vec<(String, String, Value)> {
    [
        (
            "call_a",
            "get_weather",
            json!({"location": "San Francisco"}),
        ),
        ("call_b", "list", json!({})),
    ]
    .map(|(id, name, args)| (id.to_owned(), name.to_owned(), args))
    .to_vec()
}

fn trial() -> Trial {
    Trial {
        plugin: crate::stud_plugin,
        config: json!({"models": ["small"]}),
        request: request(vec![message(Role::User, "hi")]),
        answer: ANSWER.to_owned(),
        told: Told {
            text: "Grüße, \"🎈\"!".to_owned(),
            thinking: "Let me see…".to_owned(),
            calls: called(),
            usage: Some(Usage {
                input_tokens: 135,
                output_tokens: 89,
                cached_input_tokens: Some(100),
            }),
            finish: Some(FinishReason::ToolCalls),
        },
        opening: delta(""),
        delta,
        closing: CLOSING.to_owned(),
    }
}

/// What is sent for a request, with this in the config.
fn sent(trial: &Trial, config: &Value, request: &Request) -> Received {
    let server = Server::always(stream(&trial.answer)).unwrap();
    trial
        .harness_with(&server, config)
        .request(request)
        .unwrap();
    server.received().pop().unwrap()
}

#[test]
fn it_claims_what_it_does() {
    let harness = Harness::new(crate::stud_plugin(), FakeHost::new());
    let manifest = harness.manifest();
    assert_eq!(manifest["extId"], "openai-compatible");
    assert_eq!(manifest["protocol"], "openai-compatible");
    let claims = json!({
        "streaming": "hard", "toolCalling": "hard", "structuredOutput": "preferred", "multimodal": "probed",
        "reasoning": "probed", "contextWindow": "probed", "promptCaching": "probed",
    });
    assert_eq!(manifest["capabilities"], claims);
    let config = &manifest["configSchema"]["properties"];
    assert_eq!(
        config["apiShape"]["enum"],
        json!(["chat-completions", "responses"])
    );
    assert_eq!(
        config["apiKeyRef"]["properties"]["kind"]["enum"],
        json!(["env", "keyring"])
    );
    assert!(config["baseURL"]["pattern"].is_string());
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
fn what_is_no_stream_says_what_it_is() {
    trial().any_other_body().unwrap();
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
fn the_key_goes_where_it_belongs() {
    trial().key("authorization", "Bearer ").unwrap();
}

#[test]
fn an_address_without_v1_at_which_nothing_is_found_is_told_of() {
    let nothing = || {
        let bytes = response(
            "404 Not Found",
            &[("content-type", "application/json")],
            "{}",
        );
        Server::start(move |_| vec![Step::Send(bytes.clone()), Step::Close]).unwrap()
    };
    for (path, hinted) in [("", true), ("/api/", true), ("/v1", false), ("/v1/", false)] {
        let server = nothing();
        let base = format!("{}{path}", server.url());
        let config = json!({"baseURL": base, "models": ["small"]});
        let harness = Harness::new(crate::stud_plugin(), FakeHost::new().config(config));
        let asked = request(vec![message(Role::User, "hi")]);
        let error = harness.request(&asked).unwrap_err();
        assert_eq!(error.code(), "EndpointNotFound", "{path}");
        assert_eq!(
            error.message().contains("append"),
            hinted,
            "{path}: {error}"
        );
        assert_eq!(error.context()["status"], 404, "{path}");
    }
}
