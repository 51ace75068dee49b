//! Answers to chat completions, as backends give them.

use super::*;

fn ask(body: &str) -> Result<Told, stud_sdk::Error> {
    let server = Server::always(stream(body)).unwrap();
    trial()
        .harness(&server)
        .request(&trial().request)
        .map(Told::of)
}

fn chunk(delta: Value) -> String {
    format!(
        "data: {}\n\n",
        json!({"choices": [{"index": 0, "delta": delta}]})
    )
}

#[test]
fn every_reason_has_its_word() {
    use FinishReason::{ContentFilter, Error, Length, Stop, ToolCalls};
    for (word, reason) in [
        ("stop", Stop),
        ("length", Length),
        ("tool_calls", ToolCalls),
        ("content_filter", ContentFilter),
        ("something_new", Error),
    ] {
        let body = format!("{}{}", delta("so"), CLOSING.replace("stop", word));
        assert_eq!(ask(&body).unwrap().finish, Some(reason), "{word}");
    }
}

#[test]
fn a_backend_need_not_say_that_it_is_done() {
    let body = CLOSING.replace("data: [DONE]\n\n", "");
    assert_eq!(ask(&format!("{}{body}", delta("so"))).unwrap().text, "so");
    let error = ask(&format!("{}data: [DONE]\n\n", delta("so"))).unwrap_err();
    assert_eq!(error.code(), "OutputMalformed");
    assert_eq!(ask(&delta("so")).unwrap_err().code(), "OutputMalformed");
}

#[test]
fn calls_with_the_wrong_reason_are_calls() {
    let call = json!({"tool_calls": [{"index": 0, "id": "a", "function": {"name": "list", "arguments": "{}"}}]});
    let told = ask(&format!("{}{CLOSING}", chunk(call))).unwrap();
    assert_eq!(told.finish, Some(FinishReason::ToolCalls));
}

#[test]
fn names_of_calls_that_come_again_are_replaced() {
    let call = json!({"tool_calls": [{"index": 0, "id": "a", "function": {"name": "list", "arguments": ""}}]});
    let server = Server::always(stream(&format!("{}{CLOSING}", chunk(call)))).unwrap();
    let ids = |request: &Request| {
        let told = Told::of(trial().harness(&server).request(request).unwrap());
        told.calls[0].0.clone()
    };
    assert_eq!(ids(&trial().request), "a");
    assert_eq!(ids(&conversation()).len(), 36);
}

#[test]
fn arguments_that_are_cut_off_are_malformed() {
    for body in [
        ANSWER.replace("ncisco\\\"}", "ncisco"),
        ANSWER.replace("\"name\":\"list\",", ""),
    ] {
        let error = ask(&body).unwrap_err();
        assert_eq!(
            (error.class(), error.code()),
            ("ProviderCapability", "OutputMalformed")
        );
    }
}

#[test]
fn an_error_within_the_stream_ends_it() {
    for (complaint, class, code) in [
        (
            json!({"error": {"message": "no", "code": 502}}),
            "ProviderTransient",
            "Provider5xx",
        ),
        (
            json!({"error": {"message": "no", "type": "server_error", "code": null}}),
            "ProviderTransient",
            "Provider5xx",
        ),
        (
            json!({"error": {"message": "no", "code": "context_length_exceeded"}}),
            "ProviderCapability",
            "ContextWindowTooSmall",
        ),
        (json!({"error": "no"}), "ProviderTransient", "StreamError"),
    ] {
        for name in ["", "event: error\n"] {
            let error = ask(&format!("{}{name}data: {complaint}\n\n", delta("so"))).unwrap_err();
            assert_eq!((error.class(), error.code()), (class, code), "{complaint}");
            assert!(error.message().ends_with(": no"), "{error}");
        }
    }
}

#[test]
fn reasoning_has_several_names() {
    for name in ["reasoning_content", "reasoning"] {
        let body = format!("{}{}{CLOSING}", chunk(json!({name: "hm"})), delta("so"));
        let told = ask(&body).unwrap();
        assert_eq!((&*told.thinking, &*told.text), ("hm", "so"));
    }
    let both = chunk(json!({"reasoning_content": "hm", "reasoning": "hm"}));
    assert_eq!(ask(&format!("{both}{CLOSING}")).unwrap().thinking, "hm");
}

#[test]
fn a_refusal_is_shown_and_other_choices_are_not() {
    let body = chunk(json!({"refusal": "I will not."}));
    assert_eq!(
        ask(&format!("{body}{CLOSING}")).unwrap().text,
        "I will not."
    );
    let other = "data: {\"choices\":[{\"index\":1,\"delta\":{\"content\":\"no\"},\"finish_reason\":\"length\"}]}\n\n";
    let told = ask(&format!("{other}{}{CLOSING}", delta("yes"))).unwrap();
    assert_eq!(
        (told.text.as_str(), told.finish),
        ("yes", Some(FinishReason::Stop))
    );
}

#[test]
fn what_was_remembered_has_several_names() {
    let usage = |usage: Value| {
        let body = format!(
            "data: {}\n\n{CLOSING}",
            json!({"choices": [], "usage": usage})
        );
        ask(&body).unwrap().usage
    };
    let plain = usage(json!({"prompt_tokens": 3, "completion_tokens": 2})).unwrap();
    assert_eq!(
        (
            plain.input_tokens,
            plain.output_tokens,
            plain.cached_input_tokens
        ),
        (3, 2, None)
    );
    let hit =
        usage(json!({"prompt_tokens": 3, "completion_tokens": 2, "prompt_cache_hit_tokens": 1}));
    assert_eq!(hit.unwrap().cached_input_tokens, Some(1));
    assert_eq!(usage(json!({})), None);
}
