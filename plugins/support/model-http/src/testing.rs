//! A server on this machine that answers with exact bytes, for the tests of providers.

mod server;
mod trial;

pub use server::{Received, Server, Step};
pub use trial::{Outcome, Trial};

use stud_sdk::Value;
use stud_sdk::provider::{FinishReason, StreamEvent, Usage};

/// A response with a body of known length; the connection stays open.
pub fn response(status: &str, headers: &[(&str, &str)], body: &str) -> Vec<u8> {
    let headers = headers
        .iter()
        .map(|(name, value)| format!("{name}: {value}\r\n"));
    let headers: String = headers.collect();
    let length = body.len();
    format!("HTTP/1.1 {status}\r\n{headers}content-length: {length}\r\n\r\n{body}").into_bytes()
}

/// A stream of events with a body of known length; the connection stays open.
pub fn stream(body: &str) -> Vec<u8> {
    response("200 OK", &[("content-type", "text/event-stream")], body)
}

/// The head of a stream whose length is not known, and these parts as chunks; without the last chunk.
pub fn open_stream<'a>(parts: impl IntoIterator<Item = &'a str>) -> Vec<u8> {
    let mut bytes =
        b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
            .to_vec();
    // A chunk without content would be the last.
    for part in parts.into_iter().filter(|part| !part.is_empty()) {
        bytes.extend_from_slice(format!("{:x}\r\n{part}\r\n", part.len()).as_bytes());
    }
    bytes
}

/// A stream whose length is not known, each part a chunk, to its end.
pub fn chunked<'a>(parts: impl IntoIterator<Item = &'a str>) -> Vec<u8> {
    let mut bytes = open_stream(parts);
    bytes.extend_from_slice(b"0\r\n\r\n");
    bytes
}

/// What an answer came to, however it was cut into pieces.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Told {
    /// All text.
    pub text: String,
    /// All reasoning.
    pub thinking: String,
    /// Calls: id, tool, arguments.
    pub calls: Vec<(String, String, Value)>,
    /// The last word on what it cost.
    pub usage: Option<Usage>,
    /// Why it ended.
    pub finish: Option<FinishReason>,
}

impl Told {
    /// Puts the events of an answer together.
    pub fn of(events: Vec<StreamEvent>) -> Self {
        let mut told = Self::default();
        for event in events {
            match event {
                StreamEvent::TextDelta { delta } => told.text.push_str(&delta),
                StreamEvent::ThinkingDelta { delta } => told.thinking.push_str(&delta),
                StreamEvent::ToolCall {
                    tool_call_id,
                    tool_name,
                    args,
                } => told.calls.push((tool_call_id, tool_name, args)),
                StreamEvent::Usage(usage) => told.usage = Some(usage),
                StreamEvent::Finish { reason } => told.finish = Some(reason),
                _ => {}
            }
        }
        told
    }
}
