//! A server on this machine that speaks as two kinds of backend, and says which model answers.

use model_http::testing::{Received, Server, Step, stream};
use serde_json::Value;

/// The server.
pub(crate) struct Backend(Server);

impl Backend {
    pub(crate) fn start() -> Self {
        Self(Server::start(|request| vec![Step::Send(answer(request))]).unwrap())
    }

    /// Where chat completions are served.
    pub(crate) fn completions(&self) -> String {
        format!("{}/v1", self.0.url())
    }

    /// Where messages are served, the way Anthropic does.
    pub(crate) fn messages(&self) -> String {
        self.0.url()
    }

    /// The bodies of all requests so far.
    pub(crate) fn bodies(&self) -> Vec<Value> {
        self.0.received().iter().map(Received::json).collect()
    }

    /// The models that were asked, in order.
    pub(crate) fn models(&self) -> Vec<String> {
        let bodies = self.bodies().into_iter();
        bodies
            .map(|body| body["model"].as_str().unwrap().to_owned())
            .collect()
    }
}

fn answer(request: &Received) -> Vec<u8> {
    let text = format!("from {}", request.json()["model"].as_str().unwrap());
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
