//! A server on this machine that speaks as three kinds of backend, and says which model answers.

use model_http::testing::{Received, Server, Step, response, stream};
use serde_json::Value;

/// What it says of any conversation that it is to summarize.
pub(crate) const SUMMARY: &str = "They counted to five.";

/// The server.
pub(crate) struct Backend(Server);

impl Backend {
    pub(crate) fn start() -> Self {
        Self(Server::start(|request| vec![Step::Send(answer(request))]).unwrap())
    }

    /// One that answers everything but the wish for a summary.
    pub(crate) fn that_cannot_summarize() -> Self {
        let respond = |request: &Received| {
            let refused = || response("400 Bad Request", &[], r#"{"error":{"message":"no"}}"#);
            let wants = wants_summary(&request.json());
            vec![Step::Send(if wants { refused() } else { answer(request) })]
        };
        Self(Server::start(respond).unwrap())
    }

    /// Where chat completions are served.
    pub(crate) fn completions(&self) -> String {
        format!("{}/v1", self.0.url())
    }

    /// Where messages are served, the way Anthropic does, and contents, the way Gemini does.
    pub(crate) fn messages(&self) -> String {
        self.0.url()
    }

    /// The bodies of all requests so far.
    pub(crate) fn bodies(&self) -> Vec<Value> {
        self.0.received().iter().map(Received::json).collect()
    }

    /// The models that were asked, in order.
    pub(crate) fn models(&self) -> Vec<String> {
        self.0.received().iter().map(model).collect()
    }
}

/// What Gemini has in the path of a request, behind the model.
const GENERATE: &str = ":streamGenerateContent";

/// Which model is asked: most say so in the body.
fn model(request: &Received) -> String {
    if let Some((path, _)) = request.target.split_once(GENERATE) {
        return path.rsplit('/').next().unwrap_or_default().to_owned();
    }
    request.json()["model"].as_str().unwrap().to_owned()
}

/// Whether a request is for a summary: what to do comes last there, and by itself.
fn wants_summary(body: &Value) -> bool {
    let last = body["messages"].as_array().and_then(|all| all.last());
    let last = last.and_then(|message| message["content"].as_str());
    last.is_some_and(|text| text.starts_with("Summarize the conversation"))
}

fn answer(request: &Received) -> Vec<u8> {
    let body = request.json();
    let text = if wants_summary(&body) {
        SUMMARY.to_owned()
    } else {
        format!("from {}", model(request))
    };
    if request.target.contains(GENERATE) {
        return stream(&format!(
            r#"data: {{"candidates":[{{"content":{{"parts":[{{"text":"{text}"}}],"role":"model"}},"finishReason":"STOP"}}]}}

"#
        ));
    }
    if request.target.ends_with("/messages") {
        return stream(&format!(
            r#"data: {{"type":"message_start","message":{{"usage":{{"input_tokens":1,"output_tokens":1}}}}}}

data: {{"type":"content_block_start","index":0,"content_block":{{"type":"text","text":""}}}}

data: {{"type":"content_block_delta","index":0,"delta":{{"type":"text_delta","text":"{text}"}}}}

data: {{"type":"content_block_stop","index":0}}

data: {{"type":"message_delta","delta":{{"stop_reason":"end_turn"}},"usage":{{"output_tokens":5}}}}

data: {{"type":"message_stop"}}

"#
        ));
    }
    stream(&format!(
        r#"data: {{"choices":[{{"index":0,"delta":{{"content":"{text}"}},"finish_reason":null}}]}}

data: {{"choices":[{{"index":0,"delta":{{}},"finish_reason":"stop"}}]}}

data: [DONE]

"#
    ))
}
