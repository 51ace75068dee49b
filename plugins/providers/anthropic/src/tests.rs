//! The whole plugin, over real connections.

mod bodies;
mod streams;

use model_http::testing::{Server, Told, Trial, stream};
use stud_sdk::provider::{
    Content, FinishReason, Message, Part, Request, Role, StreamEvent, ToolSpec, Usage,
};
use stud_sdk::testing::{FakeHost, Harness};
use stud_sdk::{Value, json};

/// Thinking, text and a call, as the service documents them.
const ANSWER: &str = r#"event: message_start
data: {"type":"message_start","message":{"id":"msg_01","type":"message","role":"assistant","content":[],"model":"claude-sonnet-4-5","stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":25,"cache_creation_input_tokens":10,"cache_read_input_tokens":100,"output_tokens":1}}}

event: content_block_start
data: {"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}

event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"Let me "}}

event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"see…"}}

event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"EqQBCgIYAhIM"}}

event: content_block_stop
data: {"type":"content_block_stop","index":0}

event: ping
data: {"type": "ping"}

event: content_block_start
data: {"type":"content_block_start","index":1,"content_block":{"type":"text","text":""}}

event: content_block_delta
data: {"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"Grüße"}}

event: content_block_delta
data: {"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":", \"🎈\"!"}}

event: content_block_stop
data: {"type":"content_block_stop","index":1}

event: content_block_start
data: {"type":"content_block_start","index":2,"content_block":{"type":"tool_use","id":"toolu_01","name":"get_weather","input":{}}}

event: content_block_delta
data: {"type":"content_block_delta","index":2,"delta":{"type":"input_json_delta","partial_json":""}}

event: content_block_delta
data: {"type":"content_block_delta","index":2,"delta":{"type":"input_json_delta","partial_json":"{\"location\": \"San Fra"}}

event: content_block_delta
data: {"type":"content_block_delta","index":2,"delta":{"type":"input_json_delta","partial_json":"ncisco\"}"}}

event: content_block_stop
data: {"type":"content_block_stop","index":2}

event: message_delta
data: {"type":"message_delta","delta":{"stop_reason":"tool_use","stop_sequence":null},"usage":{"output_tokens":89}}

event: message_stop
data: {"type":"message_stop"}

"#;

const OPENING: &str = r#"data: {"type":"message_start","message":{"usage":{"input_tokens":1,"output_tokens":1}}}

data: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}

"#;

const CLOSING: &str = r#"data: {"type":"content_block_stop","index":0}

data: {"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":5}}

data: {"type":"message_stop"}

"#;

fn delta(text: &str) -> String {
    format!(
        "data: {{\"type\":\"content_block_delta\",\"index\":0,\"delta\":{{\"type\":\"text_delta\",\"text\":\"{text}\"}}}}\n\n"
    )
}

fn message(role: Role, content: impl Into<Content>) -> Message {
    let content = content.into();
    Message { role, content }
}

fn request(messages: Vec<Message>) -> Request {
    Request {
        messages,
        model_id: "claude-sonnet-4-5".to_owned(),
        ..Request::default()
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

fn trial() -> Trial {
    Trial {
        plugin: crate::stud_plugin,
        config: json!({"models": ["claude-sonnet-4-5"]}),
        request: request(vec![message(Role::User, "hi")]),
        answer: ANSWER.to_owned(),
        told: Told {
            text: "Grüße, \"🎈\"!".to_owned(),
            thinking: "Let me see…".to_owned(),
            calls: vec![(
                "toolu_01".to_owned(),
                "get_weather".to_owned(),
                json!({"location": "San Francisco"}),
            )],
            usage: Some(Usage {
                input_tokens: 135,
                output_tokens: 89,
                cached_input_tokens: Some(100),
            }),
            finish: Some(FinishReason::ToolCalls),
        },
        opening: OPENING.to_owned(),
        delta,
        closing: CLOSING.to_owned(),
    }
}

#[test]
fn it_claims_what_it_does() {
    let harness = Harness::new(crate::stud_plugin(), FakeHost::new());
    let manifest = harness.manifest();
    assert_eq!(manifest["extId"], "anthropic");
    assert_eq!(manifest["protocol"], "anthropic");
    let claims = json!({
        "streaming": "hard", "toolCalling": "hard", "structuredOutput": "preferred", "multimodal": "preferred",
        "reasoning": "preferred", "contextWindow": "probed", "promptCaching": "probed",
    });
    assert_eq!(manifest["capabilities"], claims);
    let config = &manifest["configSchema"]["properties"];
    assert_eq!(config["apiKeyRef"]["additionalProperties"], false);
    assert_eq!(
        config["apiKeyRef"]["properties"]["kind"]["enum"],
        json!(["env", "keyring"])
    );
    assert_eq!(config["timeoutMs"]["minimum"], 1);
    assert_eq!(config["protocol"]["enum"], json!(["anthropic"]));
    assert_eq!(
        config["defaultParams"]["properties"]["temperature"]["maximum"],
        2
    );
    for member in [
        "enabled",
        "model",
        "models",
        "baseURL",
        "baseUrl",
        "maxTokens",
    ] {
        assert!(config[member].is_object(), "{member}");
    }
    harness.start().unwrap();
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
    trial().key("x-api-key", "").unwrap();
}
