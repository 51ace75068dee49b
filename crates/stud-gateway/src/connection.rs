//! One client: a task that reads its frames and sends it what it has subscribed to.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use axum::extract::ws::{CloseFrame, Message, Utf8Bytes, WebSocket};
use futures_util::SinkExt as _;
use serde_json::{Value, json};
use stud_core::ids;
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore, mpsc, watch};
use tokio::time::{Instant, MissedTickBehavior, interval, timeout};

use crate::event_log::{Recent, Replay, frames};
use crate::frame::{self, ClientFrame, Incoming, InteractionMode, Subscribe};
use crate::hosting::{Hosting, internal};
use crate::live_session::{Life, LiveSession};
use crate::refusal::Refusal;
use crate::web_interactor::{prompt_closed_frame, prompt_frame};

mod requests;

/// The version of the frames.
const PROTOCOL_VERSION: u64 = 1;

/// How long a client may take to take what it is sent, before its connection is ended.
const STALLED: Duration = Duration::from_secs(60);

/// How often a quiet client is asked whether it is still there, and how long its silence may last.
const PING: Duration = Duration::from_secs(20);
const SILENCE: Duration = Duration::from_secs(75);

/// How many events a client is sent before its own frames are looked at again.
const BATCH: usize = 256;

/// How many requests of a client may be worked on at a time.
const REQUESTS: usize = 16;

/// How many sessions a client may take part in at a time.
const SUBSCRIPTIONS: usize = 256;

/// A client.
pub(crate) struct Connection {
    socket: WebSocket,
    hosting: Arc<Hosting>,
    client_id: String,
    mode: InteractionMode,
    greeted: bool,
    subscriptions: BTreeMap<String, Subscription>,
    /// Rings when there may be something to send.
    waker: Arc<Notify>,
    replies: (mpsc::UnboundedSender<Value>, mpsc::UnboundedReceiver<Value>),
    requests: Arc<Semaphore>,
    /// When it last sent anything.
    heard: Instant,
}

/// What a client has of a session.
struct Subscription {
    live: Arc<LiveSession>,
    waker: u64,
    /// The last event it was sent.
    sent: u64,
    /// Where events come from that are not in memory any more.
    replay: Option<Replay>,
    /// The prompts it was shown that are not part of the transcript.
    shown: BTreeSet<String>,
    shown_version: Option<u64>,
    state_version: Option<u64>,
}

/// The connection is over.
struct Gone;

type Sent = Result<(), Gone>;

impl Connection {
    pub(crate) fn new(socket: WebSocket, hosting: Arc<Hosting>) -> Self {
        Self {
            socket,
            hosting,
            client_id: ids::fresh(),
            mode: InteractionMode::default(),
            greeted: false,
            subscriptions: BTreeMap::new(),
            waker: Arc::default(),
            replies: mpsc::unbounded_channel(),
            requests: Arc::new(Semaphore::new(REQUESTS)),
            heard: Instant::now(),
        }
    }

    /// Serves the client until it goes, or until the server ends.
    pub(crate) async fn serve(
        mut self,
        mut shutdown: watch::Receiver<bool>,
        _place: OwnedSemaphorePermit,
    ) {
        let mut ticks = interval(PING);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            let waker = self.waker.clone();
            let served = tokio::select! {
                received = self.socket.recv() => match received {
                    Some(Ok(message)) => self.receive(message).await,
                    // What is no WebSocket frame, or a frame of more than the server reads at all, ends the connection.
                    Some(Err(_)) | None => Err(Gone),
                },
                Some(reply) = self.replies.1.recv() => self.send(&reply).await,
                () = waker.notified() => Ok(()),
                _ = ticks.tick() => self.ping().await,
                () = is_over(&mut shutdown) => {
                    self.say_goodbye().await;
                    Err(Gone)
                }
            };
            if served.is_err() || self.pump().await.is_err() {
                break;
            }
        }
        self.leave();
    }

    fn leave(&mut self) {
        for (_, subscription) in std::mem::take(&mut self.subscriptions) {
            subscription.end(&self.client_id);
        }
    }

    async fn say_goodbye(&mut self) {
        // What has happened by now is still told, and with it which sessions have ended.
        let _ = self.pump().await;
        let close = CloseFrame {
            code: 1001,
            reason: "the server ends".into(),
        };
        let closing = self.socket.send(Message::Close(Some(close)));
        let _ = timeout(Duration::from_secs(1), closing).await;
    }

    async fn ping(&mut self) -> Sent {
        if self.heard.elapsed() > SILENCE {
            return Err(Gone);
        }
        self.put(Message::Ping(axum::body::Bytes::new())).await?;
        self.flush().await
    }

    async fn receive(&mut self, message: Message) -> Sent {
        self.heard = Instant::now();
        match message {
            Message::Text(text) => self.take(text).await,
            Message::Binary(_) => {
                let refusal = Refusal::invalid_frame("frames are text");
                self.send(&refusal.frame(None)).await
            }
            Message::Ping(_) | Message::Pong(_) => Ok(()),
            Message::Close(_) => Err(Gone),
        }
    }

    async fn take(&mut self, text: Utf8Bytes) -> Sent {
        let Incoming { request_id, frame } = match frame::read(&text) {
            Ok(incoming) => incoming,
            Err((request_id, refusal)) => {
                return self.send(&refusal.frame(request_id.as_ref())).await;
            }
        };
        match self.handle(frame, request_id.as_ref()).await {
            Ok(Some(mut reply)) => {
                if let Some(request_id) = request_id {
                    reply["requestId"] = request_id;
                }
                self.send(&reply).await
            }
            Ok(None) => Ok(()),
            Err(refusal) => self.send(&refusal.frame(request_id.as_ref())).await,
        }
    }

    /// Does what a frame asks for. Frames of one client take effect in their order.
    async fn handle(
        &mut self,
        frame: ClientFrame,
        request_id: Option<&Value>,
    ) -> Result<Option<Value>, Refusal> {
        match frame {
            ClientFrame::Hello(mode) => self.hello(mode),
            ClientFrame::SetInteractionMode(enabled) => {
                let enabled = enabled && self.mode.supported;
                self.set_mode(InteractionMode {
                    enabled,
                    ..self.mode
                });
                Ok(Some(json!({
                    "type": "interaction_mode",
                    "supported": self.mode.supported,
                    "enabled": self.mode.enabled,
                })))
            }
            ClientFrame::Ping => Ok(Some(json!({"type": "pong"}))),
            ClientFrame::Subscribe(subscribe) => self.subscribe(&subscribe),
            ClientFrame::Unsubscribe(session_id) => {
                let subscription = self.subscriptions.remove(&session_id);
                let subscription = subscription.ok_or_else(|| not_subscribed(&session_id))?;
                subscription.end(&self.client_id);
                let reply = json!({"type": "unsubscribed", "sessionId": session_id});
                Ok(Some(reply))
            }
            frame => self.request(frame, request_id).await,
        }
    }

    fn hello(&mut self, mode: InteractionMode) -> Result<Option<Value>, Refusal> {
        if self.greeted {
            let message = "this connection has said `hello` already";
            return Err(Refusal::new("duplicate_hello", message).typed("Validation/InputInvalid"));
        }
        self.greeted = true;
        self.set_mode(mode);
        Ok(Some(json!({
            "type": "hello_ack",
            "protocolVersion": PROTOCOL_VERSION,
            "clientId": self.client_id,
            "interaction": {"supported": mode.supported, "enabled": mode.enabled},
            "server": {"name": "stud", "version": env!("CARGO_PKG_VERSION")},
        })))
    }

    fn set_mode(&mut self, mode: InteractionMode) {
        self.mode = mode;
        for subscription in self.subscriptions.values_mut() {
            subscription.live.set_client(&self.client_id, Some(mode));
            // What may be answered now is shown, and what may not be is no longer.
            subscription.shown_version = None;
        }
    }

    fn subscribe(&mut self, subscribe: &Subscribe) -> Result<Option<Value>, Refusal> {
        let session_id = &subscribe.session_id;
        let live = self.hosting.live(session_id)?;
        if self.subscriptions.len() >= SUBSCRIPTIONS && !self.subscriptions.contains_key(session_id)
        {
            let message = format!("a client takes part in {SUBSCRIPTIONS} sessions at most");
            return Err(Refusal::new("too_many_subscriptions", message));
        }
        let last = live.log.last_seq();
        let from_tail = subscribe.tail.map_or(0, |tail| last.saturating_sub(tail));
        // A number that no event has yet would leave out those that are to come.
        let since = subscribe.since_seq.max(from_tail).min(last);
        let reply = json!({
            "type": "subscribed",
            "sessionId": session_id,
            "sinceSeq": since,
            "lastSeq": last,
        });
        let waker = live.log.add_waker(self.waker.clone());
        live.set_client(&self.client_id, Some(self.mode));
        let subscription = Subscription {
            live,
            waker,
            sent: since,
            replay: None,
            shown: BTreeSet::new(),
            shown_version: None,
            state_version: subscribe.state.then_some(0),
        };
        if let Some(before) = self.subscriptions.insert(session_id.clone(), subscription) {
            before.live.log.remove_waker(before.waker);
        }
        Ok(Some(reply))
    }

    /// A session that this client takes part in.
    fn subscribed(&self, session_id: &str) -> Result<Arc<LiveSession>, Refusal> {
        let subscription = self.subscriptions.get(session_id);
        subscription
            .map(|subscription| subscription.live.clone())
            .ok_or_else(|| not_subscribed(session_id))
    }

    /// Sends what has happened in the sessions since it was last sent.
    async fn pump(&mut self) -> Sent {
        let mut ended = Vec::new();
        let ids: Vec<String> = self.subscriptions.keys().cloned().collect();
        for id in ids {
            let Some(mut subscription) = self.subscriptions.remove(&id) else {
                continue;
            };
            let sent = self.pump_session(&mut subscription).await;
            let is_over = matches!(sent, Ok(true));
            self.subscriptions.insert(id.clone(), subscription);
            sent?;
            if is_over {
                ended.push(id);
            }
        }
        for id in ended {
            if let Some(subscription) = self.subscriptions.remove(&id) {
                let life = subscription.live.life();
                subscription.end(&self.client_id);
                let kind = match life {
                    Life::Deleted => "session_deleted",
                    Life::Live | Life::Closed => "session_closed",
                };
                self.feed(&json!({"type": kind, "sessionId": id})).await?;
            }
        }
        self.flush().await
    }

    /// The same for one session. Gives whether it has ended and everything of it was sent.
    async fn pump_session(&mut self, subscription: &mut Subscription) -> Result<bool, Gone> {
        // Read first: what happens from now on wakes this task again.
        let life = subscription.live.life();
        let events = subscription.next_events().await;
        if let Some(last) = events.last() {
            subscription.sent = last.seq;
        }
        let is_current = events.len() < BATCH && subscription.replay.is_none();
        for frame in frames(&events) {
            self.put(Message::Text(frame)).await?;
        }
        if !is_current {
            self.waker.notify_one();
            return Ok(false);
        }
        self.pump_prompts(subscription).await?;
        let version = subscription.live.state_version();
        if subscription
            .state_version
            .is_some_and(|sent| sent != version)
        {
            subscription.state_version = Some(version);
            self.feed(&subscription.live.state_frame()).await?;
        }
        Ok(life != Life::Live)
    }

    async fn pump_prompts(&mut self, subscription: &mut Subscription) -> Sent {
        let version = subscription.live.interactor.version();
        if subscription.shown_version == Some(version) {
            return Ok(());
        }
        subscription.shown_version = Some(version);
        let session_id = subscription.live.id().to_owned();
        let prompts = if self.mode.enabled {
            subscription.live.interactor.prompts()
        } else {
            Vec::new()
        };
        let open: BTreeSet<String> = prompts
            .iter()
            .map(|prompt| prompt.interaction_id.clone())
            .collect();
        for gone in subscription.shown.difference(&open) {
            self.feed(&prompt_closed_frame(&session_id, gone)).await?;
        }
        for prompt in prompts {
            if !subscription.shown.contains(&prompt.interaction_id) {
                self.feed(&prompt_frame(&session_id, &prompt)).await?;
            }
        }
        subscription.shown = open;
        Ok(())
    }

    async fn send(&mut self, frame: &Value) -> Sent {
        self.feed(frame).await?;
        self.flush().await
    }

    async fn feed(&mut self, frame: &Value) -> Sent {
        self.put(Message::Text(frame.to_string().into())).await
    }

    async fn put(&mut self, message: Message) -> Sent {
        match timeout(STALLED, self.socket.feed(message)).await {
            Ok(Ok(())) => Ok(()),
            _ => Err(Gone),
        }
    }

    async fn flush(&mut self) -> Sent {
        match timeout(STALLED, self.socket.flush()).await {
            Ok(Ok(())) => Ok(()),
            _ => Err(Gone),
        }
    }
}

impl Subscription {
    /// The next events, from memory or from the store.
    async fn next_events(&mut self) -> Vec<crate::chat_event::ChatEvent> {
        match self.live.log.recent(self.sent, BATCH) {
            Recent::Events(events) => {
                self.replay = None;
                return events;
            }
            Recent::Gone => {}
        }
        let mut replay = self.replay.take().unwrap_or_else(|| self.live.log.replay());
        let (live, sent) = (self.live.clone(), self.sent);
        let read = tokio::task::spawn_blocking(move || {
            let events = replay.next(&live.session.books().ledger, sent, BATCH);
            (replay, events)
        });
        match read.await {
            Ok((replay, Ok(events))) if !events.is_empty() => {
                self.replay = Some(replay);
                events
            }
            // The store cannot be read now. The events stay where they are, and the client asks again.
            _ => Vec::new(),
        }
    }

    fn end(self, client_id: &str) {
        self.live.log.remove_waker(self.waker);
        self.live.set_client(client_id, None);
    }
}

fn not_subscribed(session_id: &str) -> Refusal {
    let message = "this connection has not subscribed to the session";
    Refusal::invalid_session(session_id, message)
}

impl Connection {
    /// Works on a request beside the frames that come after it.
    fn spawn(
        &self,
        request_id: Option<&Value>,
        work: impl Future<Output = Result<Value, Refusal>> + Send + 'static,
    ) -> Result<Option<Value>, Refusal> {
        let Ok(place) = self.requests.clone().try_acquire_owned() else {
            let message = format!("{REQUESTS} requests of this client are being worked on");
            return Err(Refusal::new("too_many_requests", message));
        };
        let (replies, request_id) = (self.replies.0.clone(), request_id.cloned());
        tokio::spawn(async move {
            let reply = match work.await {
                Ok(mut reply) => {
                    if let Some(request_id) = request_id {
                        reply["requestId"] = request_id;
                    }
                    reply
                }
                Err(refusal) => refusal.frame(request_id.as_ref()),
            };
            // The client may be gone.
            let _ = replies.send(reply);
            drop(place);
        });
        Ok(None)
    }
}

/// Waits until the server ends.
async fn is_over(shutdown: &mut watch::Receiver<bool>) {
    let _ = shutdown.wait_for(|over| *over).await;
}

/// Runs work that waits for the store or for plugins.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Refusal> + Send + 'static,
) -> Result<T, Refusal> {
    tokio::task::spawn_blocking(work)
        .await
        .map_err(|error| internal(&error))?
}
