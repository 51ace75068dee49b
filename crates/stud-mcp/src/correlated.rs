//! Responses over HTTP that cannot be matched with their request, as failures of that request.
//!
//! The protocol's client waits for a response with the right id until the call's timeout. A server that answers a
//! request with another id, with an error without an id, or with nothing at all has answered it as far as it is
//! concerned: nothing more will come.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use futures_util::StreamExt as _;
use futures_util::stream::BoxStream;
use reqwest::header::{HeaderName, HeaderValue};
use rmcp::model::{ClientJsonRpcMessage, JsonRpcError, RequestId, ServerJsonRpcMessage};
use rmcp::transport::streamable_http_client::{
    StreamableHttpClient, StreamableHttpError, StreamableHttpPostResponse,
};
use sse_stream::{Error as SseError, Sse};

type Failure = StreamableHttpError<reqwest::Error>;

/// An HTTP client that gives each request its response or an error.
#[derive(Debug, Clone)]
pub(crate) struct Correlated {
    client: reqwest::Client,
    /// How many streams are open on which a server may answer later.
    streams: Arc<AtomicUsize>,
}

impl Correlated {
    pub(crate) fn new(client: reqwest::Client) -> Self {
        Self {
            client,
            streams: Arc::default(),
        }
    }

    /// What a request came to: `response`, if it can be matched with `id`.
    fn matched(
        &self,
        id: &RequestId,
        response: StreamableHttpPostResponse,
    ) -> Result<StreamableHttpPostResponse, Failure> {
        let unexpected = |what| Err(Failure::UnexpectedServerResponse(Cow::Borrowed(what)));
        match response {
            StreamableHttpPostResponse::Accepted if self.streams.load(Ordering::Relaxed) == 0 => {
                unexpected("it took the request and offers no stream for the answer")
            }
            StreamableHttpPostResponse::Json(message, session) => match message {
                ServerJsonRpcMessage::Error(JsonRpcError {
                    id: None, error, ..
                }) => {
                    let error = ServerJsonRpcMessage::error(error, Some(id.clone()));
                    Ok(StreamableHttpPostResponse::Json(error, session))
                }
                ServerJsonRpcMessage::Error(JsonRpcError {
                    id: Some(other), ..
                }) if !is_same(id, &other) => unexpected("its answer names another request"),
                ServerJsonRpcMessage::Response(response) if !is_same(id, &response.id) => {
                    unexpected("its answer names another request")
                }
                ServerJsonRpcMessage::Request(_) | ServerJsonRpcMessage::Notification(_) => {
                    unexpected("it answers a request with something that is no answer")
                }
                message => Ok(StreamableHttpPostResponse::Json(message, session)),
            },
            response => Ok(response),
        }
    }
}

/// Some servers send the number of a request back as a text.
fn is_same(sent: &RequestId, received: &RequestId) -> bool {
    sent == received || sent.to_string() == received.to_string()
}

/// An open stream of a server's own messages, counted as long as it is held.
struct OpenStream(Arc<AtomicUsize>);

impl OpenStream {
    fn counted(streams: &Arc<AtomicUsize>) -> Self {
        streams.fetch_add(1, Ordering::Relaxed);
        Self(streams.clone())
    }
}

impl Drop for OpenStream {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl StreamableHttpClient for Correlated {
    type Error = reqwest::Error;

    async fn post_message(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session_id: Option<Arc<str>>,
        auth_header: Option<String>,
        custom_headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<StreamableHttpPostResponse, Failure> {
        let limit = crate::bounded::LONGEST;
        self.post_message_with_max_sse_event_size(
            uri,
            message,
            session_id,
            auth_header,
            custom_headers,
            limit,
        )
        .await
    }

    async fn post_message_with_max_sse_event_size(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session_id: Option<Arc<str>>,
        auth_header: Option<String>,
        custom_headers: HashMap<HeaderName, HeaderValue>,
        limit: usize,
    ) -> Result<StreamableHttpPostResponse, Failure> {
        let id = match &message {
            ClientJsonRpcMessage::Request(request) => Some(request.id.clone()),
            _ => None,
        };
        let posted = self.client.post_message_with_max_sse_event_size(
            uri,
            message,
            session_id,
            auth_header,
            custom_headers,
            limit,
        );
        let response = posted.await?;
        match id {
            Some(id) => self.matched(&id, response),
            None => Ok(response),
        }
    }

    async fn delete_session(
        &self,
        uri: Arc<str>,
        session_id: Arc<str>,
        auth_header: Option<String>,
        custom_headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<(), Failure> {
        let deleted = self
            .client
            .delete_session(uri, session_id, auth_header, custom_headers);
        deleted.await
    }

    async fn get_stream(
        &self,
        uri: Arc<str>,
        session_id: Option<Arc<str>>,
        last_event_id: Option<String>,
        auth_header: Option<String>,
        custom_headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<BoxStream<'static, Result<Sse, SseError>>, Failure> {
        let limit = crate::bounded::LONGEST;
        self.get_stream_with_max_sse_event_size(
            uri,
            session_id,
            last_event_id,
            auth_header,
            custom_headers,
            limit,
        )
        .await
    }

    async fn get_stream_with_max_sse_event_size(
        &self,
        uri: Arc<str>,
        session_id: Option<Arc<str>>,
        last_event_id: Option<String>,
        auth_header: Option<String>,
        custom_headers: HashMap<HeaderName, HeaderValue>,
        limit: usize,
    ) -> Result<BoxStream<'static, Result<Sse, SseError>>, Failure> {
        let opened = self.client.get_stream_with_max_sse_event_size(
            uri,
            session_id,
            last_event_id,
            auth_header,
            custom_headers,
            limit,
        );
        let stream = opened.await?;
        let open = OpenStream::counted(&self.streams);
        // The count goes with the closure, which goes with the stream.
        let stream = stream.inspect(move |_| {
            let _held = &open;
        });
        Ok(stream.boxed())
    }
}

#[cfg(test)]
mod tests {
    use rmcp::model::{ErrorData, NumberOrString};
    use serde_json::json;

    use super::*;

    fn client() -> Correlated {
        Correlated::new(crate::http::client("http://127.0.0.1/mcp").unwrap())
    }

    fn read(message: &serde_json::Value) -> StreamableHttpPostResponse {
        let message = serde_json::from_value(message.clone()).unwrap();
        StreamableHttpPostResponse::Json(message, None)
    }

    fn answered(response: StreamableHttpPostResponse) -> Result<ServerJsonRpcMessage, String> {
        match client().matched(&NumberOrString::Number(7), response) {
            Ok(StreamableHttpPostResponse::Json(message, _)) => Ok(message),
            Ok(other) => panic!("{other:?}"),
            Err(error) => Err(error.to_string()),
        }
    }

    #[test]
    fn a_response_belongs_to_the_request_it_names() {
        for id in [json!(7), json!("7")] {
            let response = json!({"jsonrpc": "2.0", "id": id, "result": {}});
            assert!(answered(read(&response)).is_ok());
        }
        for id in [json!(8), json!("seven")] {
            for what in ["result", "error"] {
                let mut response = json!({"jsonrpc": "2.0", "id": id});
                response[what] = json!({"code": -32600, "message": "no"});
                let error = answered(read(&response)).unwrap_err();
                assert!(error.contains("another request"), "{error}");
            }
        }
    }

    #[test]
    fn an_error_without_an_id_is_that_of_the_request() {
        let error = ErrorData::invalid_request("bad", None);
        let response =
            StreamableHttpPostResponse::Json(ServerJsonRpcMessage::error(error, None), None);
        let ServerJsonRpcMessage::Error(error) = answered(response).unwrap() else {
            panic!("no error");
        };
        assert_eq!(error.id, Some(NumberOrString::Number(7)));
    }

    #[test]
    fn nothing_is_an_answer_only_while_a_stream_is_open() {
        let client = client();
        let id = NumberOrString::Number(7);
        let refused = client.matched(&id, StreamableHttpPostResponse::Accepted);
        assert!(refused.unwrap_err().to_string().contains("no stream"));
        let open = OpenStream::counted(&client.streams);
        let taken = client.matched(&id, StreamableHttpPostResponse::Accepted);
        assert!(taken.is_ok());
        drop(open);
        let refused = client.matched(&id, StreamableHttpPostResponse::Accepted);
        assert!(refused.is_err());
    }
}
