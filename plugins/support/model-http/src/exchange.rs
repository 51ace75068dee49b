//! One request, and the answer as it streams.
//!
//! The connection is served on the runtime's thread, where an answer that comes in very many small parts costs no
//! switch of threads for each. What has gathered goes over to the host together.

use std::future::poll_fn;
use std::ops::ControlFlow;
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use reqwest::{RequestBuilder, Response};
use serde_json::Value;
use stud_sdk::provider::{FinishReason, Sink};
use stud_sdk::{Cx, CxExt as _, Result};
use tokio::sync::mpsc;
use tokio::time::timeout;

use crate::answer_parts::Pieces;
use crate::code::{ENDPOINT_NOT_FOUND, MISSING_STREAMING, REQUEST_REJECTED, UNAUTHORIZED};
use crate::endpoint::Endpoint;
use crate::failure::Failure;
use crate::http_runtime;
use crate::key::Key;
use crate::retry_after;
use crate::sse::{Event, Parser};

/// The most a whole answer may have.
pub const MAX_RESPONSE_BYTES: u64 = 256 * 1024 * 1024;

/// How much of an error's text is read.
const MAX_COMPLAINT_BYTES: usize = 64 * 1024;

/// How many batches of pieces may wait for the host.
const QUEUE: usize = 64;

/// How much of an answer may gather before it goes over to the host, though more is at hand.
const GATHERED: usize = 16 * 1024;

/// How long the rest of a finished answer is waited for, so that its connection can be used again.
const DRAIN_TIME: Duration = Duration::from_secs(2);

/// What is sent.
#[derive(Debug, Clone)]
pub struct Post {
    /// What follows the endpoint's address.
    pub path: String,
    /// Headers besides the key's.
    pub headers: Vec<(&'static str, String)>,
    /// Where the key goes.
    pub auth: Auth,
    /// The request itself, an object.
    pub body: Value,
    /// Members of it that are JSON already.
    pub verbatim: Vec<(&'static str, String)>,
}

impl Post {
    /// The request as it is sent.
    fn to_bytes(&self) -> serde_json::Result<Vec<u8>> {
        let mut bytes = serde_json::to_vec(&self.body)?;
        if self.verbatim.is_empty() || bytes.pop() != Some(b'}') {
            return Ok(bytes);
        }
        let sizes = self
            .verbatim
            .iter()
            .map(|(name, json)| name.len() + json.len());
        bytes.reserve(sizes.sum::<usize>() + 8 * self.verbatim.len());
        for (name, json) in &self.verbatim {
            let comma = if bytes.len() > 1 { "," } else { "" };
            for piece in [comma, "\"", name, "\":", json] {
                bytes.extend_from_slice(piece.as_bytes());
            }
        }
        bytes.push(b'}');
        Ok(bytes)
    }
}

/// The header that a key goes into.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Auth {
    /// `authorization: Bearer …`.
    Bearer,
    /// A header of the backend's own.
    Header(&'static str),
}

/// Whether an answer continues, or why it ended.
pub type Progress = ControlFlow<FinishReason>;

/// How a backend speaks.
pub trait Dialect: Send + 'static {
    /// Understands one event of the stream.
    fn event(&mut self, event: Event<'_>, out: &mut Pieces) -> Result<Progress, Failure>;

    /// Understands that the stream has ended where no event said so.
    fn end(&mut self, _out: &mut Pieces) -> Result<FinishReason, Failure> {
        Err(unfinished())
    }
}

/// The stream ended before the model was done.
pub(crate) fn unfinished() -> Failure {
    Failure::malformed("the answer ended before the model was done")
}

impl Endpoint {
    /// Sends a request and passes the answer on, piece by piece.
    ///
    /// When the turn is cancelled the connection is closed, and the error is of class `Cancellation`.
    pub async fn ask<D: Dialect>(
        &self,
        post: &Post,
        dialect: D,
        out: &Sink,
        cx: &Cx,
    ) -> Result<FinishReason> {
        let key = self.key.as_ref();
        let key = key.map(|key| key.resolve(cx.host())).transpose()?;
        let answer = async {
            let sending = self.sending(post, key.as_ref())?;
            let (outbox, mut inbox) = mpsc::channel(QUEUE);
            let line = Line {
                host: self.host.clone(),
                patience: self.timeout,
            };
            let task = http_runtime::begin(line.hear(sending, dialect, outbox))?;
            let mut waiting = Vec::new();
            while inbox.recv_many(&mut waiting, QUEUE).await > 0 {
                let (mut pieces, mut over) = (Pieces::default(), None);
                for heard in waiting.drain(..) {
                    pieces.append(heard.pieces);
                    over = heard.over;
                }
                pieces.deliver(out).await;
                if let Some(over) = over {
                    return over;
                }
            }
            // It did not say how it ended, so it was ended or panicked.
            task.result().await;
            Err(unfinished())
        };
        let answered = cx.unless_cancelled(answer).await?;
        answered.map_err(|failure: Failure| failure.into_error(key.as_ref()))
    }

    fn sending(&self, post: &Post, key: Option<&Key>) -> Result<RequestBuilder, Failure> {
        let unsendable = || Failure::new(REQUEST_REJECTED, "the request cannot be sent as it is");
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.insert(ACCEPT, HeaderValue::from_static("text/event-stream"));
        for (name, value) in &post.headers {
            let value = HeaderValue::try_from(value).map_err(|_| unsendable())?;
            headers.insert(HeaderName::from_static(name), value);
        }
        if let Some(key) = key {
            let (name, before) = match post.auth {
                Auth::Bearer => ("authorization", "Bearer "),
                Auth::Header(name) => (name, ""),
            };
            let value = key.header(before).ok_or_else(|| {
                let why = "the key has characters that no header may have; store it again";
                Failure::new(UNAUTHORIZED, why)
            })?;
            headers.insert(HeaderName::from_static(name), value);
        }
        let body = post.to_bytes().map_err(|_| unsendable())?;
        let url = format!("{}{}", self.base, post.path);
        let client = http_runtime::client(self.route)?;
        Ok(client.post(url).headers(headers).body(body))
    }
}

/// What goes over to the host at once, so that it wakes up once for it.
struct Heard {
    pieces: Pieces,
    /// How the answer ended, with its last pieces.
    over: Option<Result<FinishReason, Failure>>,
}

/// A connection, as seen from the runtime's thread.
struct Line {
    host: String,
    patience: Duration,
}

impl Line {
    async fn hear<D: Dialect>(
        self,
        sending: RequestBuilder,
        dialect: D,
        outbox: mpsc::Sender<Heard>,
    ) {
        let mut pieces = Pieces::default();
        let over = self.listen(sending, dialect, &mut pieces, &outbox).await;
        // What came before a failure is shown before it. The reader may be gone.
        let over = Some(over);
        let _ = outbox.send(Heard { pieces, over }).await;
    }

    /// Listens to the end. What is left in `pieces` has not been passed on.
    async fn listen<D: Dialect>(
        &self,
        sending: RequestBuilder,
        mut dialect: D,
        pieces: &mut Pieces,
        outbox: &mpsc::Sender<Heard>,
    ) -> Result<FinishReason, Failure> {
        let mut response = self.patiently(sending.send()).await?;
        if !response.status().is_success() {
            return Err(self.refused(response).await);
        }
        if let Some(failure) = self.not_a_stream(&mut response).await {
            return Err(failure);
        }
        let mut parser = Parser::default();
        let (mut heard, mut gathered) = (0, 0);
        loop {
            let at_hand = match gathered {
                0..GATHERED => at_hand(response.chunk()).await,
                _ => None,
            };
            let chunk = if let Some(chunk) = at_hand {
                chunk.map_err(|error| lost(&self.host, error))?
            } else {
                gathered = 0;
                if !pieces.is_empty() {
                    let pieces = std::mem::take(pieces);
                    let sent = outbox.send(Heard { pieces, over: None }).await;
                    sent.map_err(|_| unfinished())?;
                }
                self.patiently(response.chunk()).await?
            };
            let ended = chunk.is_none();
            let progress = match chunk {
                Some(bytes) => {
                    gathered += bytes.len();
                    heard += bytes.len() as u64;
                    if heard > MAX_RESPONSE_BYTES {
                        return Err(too_long());
                    }
                    parser.feed(&bytes, |event| dialect.event(event, pieces))
                }
                None => match parser.end(|event| dialect.event(event, pieces)) {
                    Ok(Progress::Continue(())) => dialect.end(pieces).map(Progress::Break),
                    finished => finished,
                },
            };
            if let Progress::Break(reason) = progress? {
                if !ended {
                    tokio::spawn(drain(response));
                }
                return Ok(reason);
            }
        }
    }

    /// Waits as long as the backend may be silent.
    async fn patiently<T>(
        &self,
        work: impl Future<Output = reqwest::Result<T>>,
    ) -> Result<T, Failure> {
        let host = &self.host;
        let done = timeout(self.patience, work).await.map_err(|_| {
            let millis = self.patience.as_millis();
            Failure::network(format!("`{host}` was silent for {millis} ms"))
        })?;
        done.map_err(|error| lost(host, error))
    }

    async fn refused(&self, mut response: Response) -> Failure {
        let status = response.status().as_u16();
        let wait = retry_after::read(response.headers());
        // The status says enough where the text does not come.
        let body = self.beginning(&mut response).await;
        Failure::of_response(status, &body).retry_after(wait)
    }

    /// The failure that a response is which succeeds and has no events.
    async fn not_a_stream(&self, response: &mut Response) -> Option<Failure> {
        let kind = response.headers().get(CONTENT_TYPE)?.to_str().ok()?;
        let kind = kind.split(';').next().unwrap_or_default().trim();
        match kind.to_ascii_lowercase().as_str() {
            "application/json" => {
                let body = self.beginning(response).await;
                let said: Option<Value> = serde_json::from_slice(&body).ok();
                Some(match said {
                    Some(said) if !said["error"].is_null() => Failure::of_value(&said),
                    _ => Failure::new(
                        MISSING_STREAMING,
                        "the backend answers in one piece, although it was asked to stream",
                    ),
                })
            }
            "text/html" => Some(Failure::new(
                ENDPOINT_NOT_FOUND,
                "a web site answers at this address, and no model; check `baseURL`",
            )),
            _ => None,
        }
    }

    async fn beginning(&self, response: &mut Response) -> Vec<u8> {
        let mut body = Vec::new();
        while let Ok(Some(chunk)) = self.patiently(response.chunk()).await {
            body.extend_from_slice(&chunk);
            if body.len() >= MAX_COMPLAINT_BYTES {
                body.truncate(MAX_COMPLAINT_BYTES);
                break;
            }
        }
        body
    }
}

/// What can be had without waiting.
async fn at_hand<T>(work: impl Future<Output = T>) -> Option<T> {
    let mut work = pin!(work);
    poll_fn(|cx| match work.as_mut().poll(cx) {
        Poll::Ready(done) => Poll::Ready(Some(done)),
        Poll::Pending => Poll::Ready(None),
    })
    .await
}

/// Reads what is left of an answer that is whole, which is nearly always nothing.
async fn drain(mut response: Response) {
    let rest = async {
        let mut left = MAX_COMPLAINT_BYTES;
        while let Ok(Some(chunk)) = response.chunk().await {
            left = left.saturating_sub(chunk.len());
            if left == 0 {
                break;
            }
        }
    };
    // Either way the answer is told; a connection that did not end is closed.
    let _ = timeout(DRAIN_TIME, rest).await;
}

fn lost(host: &str, error: reqwest::Error) -> Failure {
    let what = if error.is_timeout() {
        format!("`{host}` did not answer in time")
    } else if error.is_connect() {
        format!("`{host}` cannot be reached")
    } else {
        format!("the connection to `{host}` broke")
    };
    // The outer errors say where it happened, the innermost what.
    let mut cause: &dyn std::error::Error = &error;
    while let Some(inner) = cause.source() {
        cause = inner;
    }
    Failure::network(what).said(cause.to_string())
}

fn too_long() -> Failure {
    Failure::malformed(format!(
        "the answer is larger than {MAX_RESPONSE_BYTES} bytes"
    ))
}
