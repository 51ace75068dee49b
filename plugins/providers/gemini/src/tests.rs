//! The whole plugin, over real connections.

mod bodies;
mod streams;

use model_http::testing::{Server, Told, Trial, stream};
use stud_sdk::provider::{Content, FinishReason, Message, Part, Request, Role, ToolSpec, Usage};
use stud_sdk::testing::{FakeHost, Harness};
use stud_sdk::{Value, json};

/// Thinking, text and two calls, as the service documents them.
const ANSWER: &str = r#"data: {"candidates": [{"content": {"parts": [{"text": "Let me see…","thought": true}],"role": "model"},"index": 0}],"usageMetadata": {"promptTokenCount": 135,"totalTokenCount": 150,"cachedContentTokenCount": 100,"thoughtsTokenCount": 15},"modelVersion": "gemini-2.5-flash","responseId": "r1"}

data: {"candidates": [{"content": {"parts": [{"text": "Grüße"}],"role": "model"},"index": 0}],"usageMetadata": {"promptTokenCount": 135,"candidatesTokenCount": 2,"cachedContentTokenCount": 100,"thoughtsTokenCount": 15}}

data: {"candidates": [{"content": {"parts": [{"text": ", \"🎈\"!"},{"functionCall": {"name": "get_weather","args": {"location": "San Francisco"},"id": "fc-1"},"thoughtSignature": "CiQB"}],"role": "model"},"index": 0}]}

data: {"candidates": [{"content": {"parts": [{"functionCall": {"name": "list","args": {}, "id": "fc-2"}}],"role": "model"},"finishReason": "STOP","index": 0,"safetyRatings": []}],"usageMetadata": {"promptTokenCount": 135,"candidatesTokenCount": 74,"totalTokenCount": 224,"cachedContentTokenCount": 100,"thoughtsTokenCount": 15}}

"#;

const CLOSING: &str = r#"data: {"candidates":[{"content":{"parts":[{"text":""}],"role":"model"},"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":1,"candidatesTokenCount":5}}

"#;

fn delta(text: &str) -> String {
    format!(
        "data: {{\"candidates\":[{{\"content\":{{\"parts\":[{{\"text\":\"{text}\"}}],\"role\":\"model\"}}}}]}}\n\n"
    )
}

fn message(role: Role, content: impl Into<Content>) -> Message {
    let content = content.into();
    Message { role, content }
}

fn request(messages: Vec<Message>) -> Request {
    Request {
        messages,
        model_id: "gemini-2.5-flash".to_owned(),
        ..Request::default()
    }
}

fn called(id: &str, name: &str, args: Value) -> (String, String, Value) {
    (id.to_owned(), name.to_owned(), args)
}

fn trial() -> Trial {
    Trial {
        plugin: crate::stud_plugin,
        config: json!({"models": ["gemini-2.5-flash"]}),
        request: request(vec![message(Role::User, "hi")]),
        answer: ANSWER.to_owned(),
        told: Told {
            text: "Grüße, \"🎈\"!".to_owned(),
            thinking: "Let me see…".to_owned(),
            calls: vec![
                called("fc-1", "get_weather", json!({"location": "San Francisco"})),
                called("fc-2", "list", json!({})),
            ],
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

#[test]
fn it_claims_what_it_does() {
    let harness = Harness::new(crate::stud_plugin(), FakeHost::new());
    let manifest = harness.manifest();
    assert_eq!(manifest["extId"], "gemini");
    assert_eq!(manifest["protocol"], "gemini");
    let claims = json!({
        "streaming": "hard", "toolCalling": "hard", "structuredOutput": "preferred", "multimodal": "hard",
        "reasoning": "probed", "contextWindow": "probed", "promptCaching": "probed",
    });
    assert_eq!(manifest["capabilities"], claims);
    let config = &manifest["configSchema"]["properties"];
    assert_eq!(
        config["apiKeyRef"]["properties"]["kind"]["enum"],
        json!(["env", "keyring"])
    );
    assert_eq!(config["protocol"]["enum"], json!(["gemini"]));
    assert!(config["defaultParams"]["properties"]["thinkingConfig"].is_object());
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
    trial().key("x-goog-api-key", "").unwrap();
}
