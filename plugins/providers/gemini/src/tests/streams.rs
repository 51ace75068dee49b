//! Answers, as the service gives them.

use super::*;

fn ask(body: &str) -> Result<Told, stud_sdk::Error> {
    let server = Server::always(stream(body)).unwrap();
    trial()
        .harness(&server)
        .request(&trial().request)
        .map(Told::of)
}

#[test]
fn every_reason_has_its_word() {
    use FinishReason::{ContentFilter, Error, Length, Other, Stop};
    for (word, reason) in [
        ("STOP", Stop),
        ("MAX_TOKENS", Length),
        ("SAFETY", ContentFilter),
        ("RECITATION", ContentFilter),
        ("PROHIBITED_CONTENT", ContentFilter),
        ("OTHER", Other),
        ("SOMETHING_NEW", Error),
    ] {
        let body = format!("{}{}", delta("so"), CLOSING.replace("STOP", word));
        assert_eq!(ask(&body).unwrap().finish, Some(reason), "{word}");
    }
    for word in ["MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL"] {
        let error = ask(&CLOSING.replace("STOP", word)).unwrap_err();
        assert_eq!(error.code(), "OutputMalformed", "{word}");
    }
}

#[test]
fn a_question_that_is_blocked_has_no_answer() {
    let told = ask(
        "data: {\"promptFeedback\":{\"blockReason\":\"SAFETY\"},\"usageMetadata\":{\"promptTokenCount\":4}}\n\n",
    );
    let told = told.unwrap();
    assert_eq!(told.finish, Some(FinishReason::ContentFilter));
    assert_eq!(told.usage.unwrap().input_tokens, 4);
}

#[test]
fn calls_without_names_get_some() {
    let body = ANSWER
        .replace(",\"id\": \"fc-1\"", "")
        .replace("\"fc-2\"", "\"\"");
    let calls = ask(&body).unwrap().calls;
    let ids: Vec<&str> = calls.iter().map(|(id, ..)| &**id).collect();
    assert!(ids.iter().all(|id| id.len() == 36), "{ids:?}");
    assert_ne!(ids[0], ids[1]);
    let nameless = ANSWER.replace("\"list\"", "\"\"");
    assert_eq!(ask(&nameless).unwrap_err().code(), "OutputMalformed");
}

#[test]
fn an_error_within_the_stream_ends_it() {
    let complaint = json!({"error": {"code": 503, "message": "The model is overloaded.", "status": "UNAVAILABLE"}});
    let error = ask(&format!("{}data: {complaint}\n\n", delta("so"))).unwrap_err();
    assert_eq!(
        (error.class(), error.code()),
        ("ProviderTransient", "Provider5xx")
    );
    assert_eq!(error.context()["backendCode"], "UNAVAILABLE");
    assert!(error.message().ends_with("overloaded."), "{error}");
}

#[test]
fn an_end_without_a_reason_is_malformed() {
    assert_eq!(ask(&delta("so")).unwrap_err().code(), "OutputMalformed");
}

#[test]
fn what_nobody_knows_is_passed_over() {
    let news = "data: {\"candidates\":[{\"content\":{\"parts\":[{\"executableCode\":{\"code\":\"1\"}}]}},{\"index\":1,\"content\":{\"parts\":[{\"text\":\"no\"}]}}],\"news\":1}\n\n";
    let told = ask(&format!("{news}{}{CLOSING}", delta("yes"))).unwrap();
    assert_eq!(told.text, "yes");
}
