use super::*;
use crate::key::Key;
use serde_json::json;
use stud_observed::covers;
use stud_sdk::Error;

fn response(status: u16, body: &str) -> Error {
    Failure::of_response(status, body.as_bytes()).into_error(None)
}

fn within(value: &Value) -> Error {
    Failure::of_value(value).into_error(None)
}

fn is(error: &Error, code: Code) -> bool {
    error.is(code.class, code.name)
}

#[test]
fn a_status_has_its_error() {
    for (status, code) in [
        (301, ENDPOINT_NOT_FOUND),
        (400, REQUEST_REJECTED),
        (401, UNAUTHORIZED),
        (402, REQUEST_REJECTED),
        (403, UNAUTHORIZED),
        (404, ENDPOINT_NOT_FOUND),
        (405, ENDPOINT_NOT_FOUND),
        (408, NETWORK_TIMEOUT),
        (413, CONTEXT_WINDOW_TOO_SMALL),
        (422, REQUEST_REJECTED),
        (429, RATE_LIMITED),
        (500, PROVIDER_5XX),
        (503, PROVIDER_5XX),
        (529, PROVIDER_5XX),
        (599, PROVIDER_5XX),
    ] {
        let error = response(status, "{}");
        assert!(is(&error, code), "{status}: {error}");
        assert_eq!(error.context()["status"], status);
    }
}

#[test]
fn each_code_says_what_its_page_shows() {
    let message = |text: &str| json!({"error": {"message": text}}).to_string();
    let is_too_long = message("prompt is too long: 210000 tokens > 200000 maximum");
    covers!(CONTEXT_WINDOW_TOO_SMALL, response(400, &is_too_long));
    let no_tools = message("gemma does not support tools");
    covers!(MISSING_TOOL_CALLING, response(400, &no_tools));
    let unsupported = message("temperature is not supported with this model");
    covers!(REQUEST_REJECTED, response(400, &unsupported));
    let unknown = message("model 'llama9' not found");
    covers!(ENDPOINT_NOT_FOUND, response(404, &unknown));
    covers!(PROVIDER_5XX, response(529, &message("Overloaded")));
    covers!(RATE_LIMITED, response(429, &message("Rate limit reached")));
    covers!(UNAUTHORIZED, response(401, "{}"));
    covers!(STREAM_ERROR, within(&json!({"message": "upstream closed"})));
}

#[test]
fn bodies_of_services() {
    let cases = [
        (
            400,
            r#"{"error":{"message":"This model's maximum context length is 8192 tokens.","type":"invalid_request_error","param":"messages","code":"context_length_exceeded"}}"#,
            CONTEXT_WINDOW_TOO_SMALL,
            "maximum context length",
        ),
        (
            400,
            r#"{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 210000 tokens > 200000 maximum"}}"#,
            CONTEXT_WINDOW_TOO_SMALL,
            "210000 tokens",
        ),
        (
            400,
            r#"{"error":{"code":400,"message":"API key not valid. Please pass a valid API key.","status":"INVALID_ARGUMENT","details":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"API_KEY_INVALID"}]}}"#,
            UNAUTHORIZED,
            "API key not valid",
        ),
        (
            400,
            r#"{"error":"registry.example/gemma does not support tools"}"#,
            MISSING_TOOL_CALLING,
            "does not support tools",
        ),
        (
            400,
            r#"{"object":"error","message":"streaming is not supported by this model","type":"BadRequestError","code":400}"#,
            MISSING_STREAMING,
            "streaming is not supported",
        ),
        (
            422,
            r#"{"detail":"field required"}"#,
            REQUEST_REJECTED,
            "field required",
        ),
        (
            429,
            r#"{"type":"error","error":{"type":"rate_limit_error","message":"Too many"}}"#,
            RATE_LIMITED,
            "Too many",
        ),
        (
            503,
            "upstream connect error",
            PROVIDER_5XX,
            "upstream connect error",
        ),
    ];
    for (status, body, code, said) in cases {
        let error = response(status, body);
        assert!(is(&error, code), "{body}: {error}");
        assert!(error.message().contains(said), "{error}");
    }
}

#[test]
fn a_list_of_one_complaint_is_read_and_says_how_long_to_wait() {
    let body = json!([{"error": {
        "code": 429, "message": "Quota exceeded", "status": "RESOURCE_EXHAUSTED",
        "details": [{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "17s"}],
    }}]);
    let error = response(429, &body.to_string());
    assert_eq!(error.context()["retryAfterMs"], 17_000);
    assert_eq!(error.context()["backendCode"], "RESOURCE_EXHAUSTED");
}

#[test]
fn a_page_for_a_browser_is_not_repeated() {
    let error = response(502, "<!DOCTYPE html><html><body>Bad Gateway</body></html>");
    assert_eq!(error.message(), "the backend failed (status 502)");
}

#[test]
fn a_refused_key_is_not_repeated_even_in_part() {
    let body = r#"{"error":{"message":"Incorrect API key provided: sk-ab***yz","code":"invalid_api_key"}}"#;
    let failure = Failure::of_response(401, body.as_bytes());
    let error = failure.into_error(Some(&Key::of("sk-abcdefghijklmnopqrstuvwxyz")));
    assert!(!error.message().contains("sk-ab"), "{error}");
    assert_eq!(error.context()["backendCode"], "invalid_api_key");
}

#[test]
fn complaints_within_a_stream() {
    let cases = [
        (
            json!({"type": "overloaded_error", "message": "Overloaded"}),
            PROVIDER_5XX,
        ),
        (json!({"type": "api_error", "message": "x"}), PROVIDER_5XX),
        (
            json!({"type": "rate_limit_error", "message": "x"}),
            RATE_LIMITED,
        ),
        (
            json!({"type": "authentication_error", "message": "x"}),
            UNAUTHORIZED,
        ),
        (
            json!({"type": "not_found_error", "message": "x"}),
            ENDPOINT_NOT_FOUND,
        ),
        (
            json!({"type": "request_too_large", "message": "x"}),
            CONTEXT_WINDOW_TOO_SMALL,
        ),
        (
            json!({"type": "invalid_request_error", "message": "x"}),
            REQUEST_REJECTED,
        ),
        (
            json!({"type": "invalid_request_error", "message": "the context window is full"}),
            CONTEXT_WINDOW_TOO_SMALL,
        ),
        (
            json!({"code": 502, "message": "Provider returned error"}),
            PROVIDER_5XX,
        ),
        (json!({"code": "429", "message": "x"}), RATE_LIMITED),
        (
            json!({"code": "rate_limit_exceeded", "message": "x"}),
            RATE_LIMITED,
        ),
        (
            json!({"code": 503, "status": "UNAVAILABLE", "message": "x"}),
            PROVIDER_5XX,
        ),
        (
            json!({"code": "server_error", "message": "x"}),
            PROVIDER_5XX,
        ),
        (
            json!({"type": "new_kind_of_error", "message": "x"}),
            STREAM_ERROR,
        ),
        (json!("it broke"), STREAM_ERROR),
        (json!(null), STREAM_ERROR),
        (json!([]), STREAM_ERROR),
        (json!({"code": 7}), STREAM_ERROR),
    ];
    for (value, code) in cases {
        let error = within(&value);
        assert!(is(&error, code), "{value}: {error}");
    }
    assert_eq!(
        within(&json!("it\nbroke")).message(),
        "the backend broke its answer off: it broke"
    );
}
