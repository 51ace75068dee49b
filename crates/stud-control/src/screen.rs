//! The other side of an attached screen: the host of a UI plugin that runs here, for a session of another process.
//!
//! What the plugin asks its host goes over the connection. What concerns this process alone stays here: its environment,
//! and leaving the session, which continues without this screen.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};
use stud_abi::host_handle::Guard;
use stud_abi::{
    BoxFuture, CallContext, CancellationSource, CancellationToken, EventHeader, Fault, HostHandle,
    HostService, Listener,
};
use stud_contract_interaction::Request;
use stud_contract_meta::Error;
use stud_core::activate::Active;
use stud_core::executor::{block_on, spawn};
use stud_core::identity::Identity;
use stud_core::ids;
use stud_core::platform;
use stud_core::register::HostSource;
use stud_diagnostics::codes;
use stud_host_api::{CallIds, HostApi, wire};
use stud_runtime::sync::{Promise, Promised, promise};

use crate::attach::{FromScreen, ToScreen};
use crate::envelope::ENVELOPE_VERSION;
use crate::run_dir::connect_to;

/// How long a process may take to let a screen in. It may have to open the session first.
const LET_IN_WITHIN: Duration = Duration::from_secs(60);

/// The commands that leave the session. It ends by itself, or from its own process.
const LEAVING: [&str; 2] = ["exit", "quit"];

/// How a screen came to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ScreenEnd {
    /// The user left.
    Left,
    /// The session was closed, or its process has ended.
    Session,
}

/// What a session tells its screen.
#[derive(Debug)]
enum Told {
    /// Something happened.
    Event {
        /// Its place in the session's stream.
        seq: u64,
        /// What.
        name: String,
        /// The turn it belongs to.
        correlation_id: String,
        /// The facts, as JSON.
        payload: String,
    },
    /// A prompt waits for an answer.
    Prompt(Box<Request>),
    /// It does not any more.
    PromptOver(String),
    /// The user has left.
    Left,
    /// The session has ended, or its process has.
    Ended,
}

/// A screen that takes part in a session of another process. It leaves when this is dropped.
pub struct AttachedScreen {
    link: Arc<Link>,
    told: Receiver<Told>,
    session_id: String,
}

/// What was asked and is not answered, and who hears which feed.
#[derive(Default)]
struct Waiting {
    replies: BTreeMap<u64, Promise<Result<String, Fault>>>,
    feeds: BTreeMap<u64, Listener>,
    is_over: bool,
}

struct Link {
    stream: UnixStream,
    writing: Mutex<UnixStream>,
    next: AtomicU64,
    waiting: Mutex<Waiting>,
    tell: Mutex<Sender<Told>>,
    session: CancellationSource,
}

impl AttachedScreen {
    /// Lets the UI plugin `ext_id` of this process take part in a session of the process behind `socket`.
    pub fn attach(socket: &Path, session_id: &str, ext_id: &str) -> Result<Self, Error> {
        let stream = let_in(socket, session_id, ext_id)?;
        let (tell, told) = channel();
        let open = || -> std::io::Result<(UnixStream, UnixStream)> {
            stream.set_read_timeout(None)?;
            Ok((stream.try_clone()?, stream.try_clone()?))
        };
        let (writing, reading) = open().map_err(|error| unreachable(&error.to_string()))?;
        let link = Arc::new(Link {
            stream,
            writing: Mutex::new(writing),
            next: AtomicU64::new(1),
            waiting: Mutex::default(),
            tell: Mutex::new(tell),
            session: CancellationSource::new(),
        });
        let reader = link.clone();
        let started = thread::Builder::new().name("stud-attach".to_owned());
        started
            .spawn(move || reader.read(reading))
            .map_err(|error| unreachable(&error.to_string()))?;
        Ok(Self {
            link,
            told,
            session_id: session_id.to_owned(),
        })
    }

    /// Makes the host of the plugin.
    pub fn hosts(&self) -> Arc<dyn HostSource> {
        Arc::new(RemoteHosts(HostHandle::new(RemoteHost(self.link.clone()))))
    }

    /// Leaves the session.
    pub fn leaver(&self) -> impl Fn() + Send + Sync + use<> {
        let link = self.link.clone();
        move || link.tell(Told::Left)
    }

    /// Tells the plugin what the session tells, until the user leaves or the session ends.
    pub fn relay_to(&self, plugin: &Arc<Active>) -> ScreenEnd {
        let mut calls: BTreeMap<String, CancellationSource> = BTreeMap::new();
        let end = loop {
            match self.told.recv().unwrap_or(Told::Ended) {
                Told::Event {
                    seq,
                    name,
                    correlation_id,
                    payload,
                } => {
                    let header = EventHeader {
                        seq,
                        name: &name,
                        correlation_id: &correlation_id,
                    };
                    // The session does not depend on what the screen can show.
                    let _ = plugin.hear(header, &payload);
                }
                Told::Prompt(request) => {
                    let off = CancellationSource::new();
                    calls.insert(request.interaction_id.clone(), off.clone());
                    let (plugin, session_id) = (plugin.clone(), self.session_id.clone());
                    spawn(move || ask(&plugin, session_id, &request, &off));
                }
                Told::PromptOver(id) => {
                    if let Some(off) = calls.remove(&id) {
                        off.cancel();
                    }
                }
                Told::Left => break ScreenEnd::Left,
                Told::Ended => break ScreenEnd::Session,
            }
        };
        for off in calls.into_values() {
            off.cancel();
        }
        end
    }
}

/// Shows a prompt. The plugin answers it through its host, so what it returns is not used.
fn ask(plugin: &Active, session_id: String, request: &Request, off: &CancellationSource) {
    let ids = CallIds {
        session_id: Some(session_id),
        correlation_id: Some(request.correlation_id.clone()),
        tool_call_id: None,
    };
    let ids = serde_json::to_string(&ids).unwrap_or_default();
    let _ = block_on(plugin.interact(request, CallContext::new(off.token(), ids)));
}

/// Gives the plugin the host that the session has for it.
struct RemoteHosts(HostHandle);

impl HostSource for RemoteHosts {
    fn host_for(&self, _plugin: &Arc<Identity>) -> Arc<dyn HostApi> {
        wire::connect(self.0.clone())
    }
}

impl std::fmt::Debug for AttachedScreen {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("AttachedScreen").finish_non_exhaustive()
    }
}

impl Drop for AttachedScreen {
    fn drop(&mut self) {
        let _ = self.link.stream.shutdown(Shutdown::Both);
    }
}

impl Link {
    fn tell(&self, told: Told) {
        let _ = lock(&self.tell).send(told);
    }

    fn read(&self, stream: UnixStream) {
        for line in BufReader::new(stream).lines() {
            let Ok(line) = line else { break };
            match serde_json::from_str(&line) {
                Ok(told) => self.take(told),
                Err(_) => break,
            }
        }
        let mut waiting = lock(&self.waiting);
        waiting.is_over = true;
        let unanswered = std::mem::take(&mut waiting.replies);
        drop(waiting);
        for reply in unanswered.into_values() {
            reply.keep(Err(gone()));
        }
        self.session.cancel();
        self.tell(Told::Ended);
    }

    fn take(&self, told: ToScreen) {
        match told {
            ToScreen::Reply { id, value, fault } => {
                let reply = lock(&self.waiting).replies.remove(&id);
                if let Some(reply) = reply {
                    reply.keep(match (value, fault) {
                        (Some(value), None) => Ok(value),
                        (_, fault) => Err(read_fault(&fault.unwrap_or_default())),
                    });
                }
            }
            ToScreen::Item { id, value } => {
                let listener = lock(&self.waiting).feeds.get(&id).cloned();
                if let Some(listener) = listener {
                    // One that fails affects only itself.
                    let _ = listener.hear(&value);
                }
            }
            ToScreen::Event {
                seq,
                name,
                correlation_id,
                payload,
            } => self.tell(Told::Event {
                seq,
                name,
                correlation_id,
                payload,
            }),
            ToScreen::Prompt { request } => {
                if let Ok(request) = serde_json::from_value(request) {
                    self.tell(Told::Prompt(Box::new(request)));
                }
            }
            ToScreen::PromptOver { interaction_id } => {
                self.tell(Told::PromptOver(interaction_id));
            }
        }
    }

    /// Sends what `make` gives for a fresh id; gives where the reply comes.
    fn ask(&self, make: impl FnOnce(u64) -> FromScreen) -> Promised<Result<String, Fault>> {
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        self.ask_as(id, &make(id))
    }

    fn ask_as(&self, id: u64, asked: &FromScreen) -> Promised<Result<String, Fault>> {
        let (reply, promised) = promise();
        {
            let mut waiting = lock(&self.waiting);
            if waiting.is_over {
                drop(waiting);
                reply.keep(Err(gone()));
                return promised;
            }
            waiting.replies.insert(id, reply);
        }
        let mut line = serde_json::to_string(asked).unwrap_or_default();
        line.push('\n');
        if lock(&self.writing).write_all(line.as_bytes()).is_err() {
            // The reader notices too, and tells everyone else who waits.
            let _ = self.stream.shutdown(Shutdown::Both);
        }
        promised
    }
}

/// The host of a plugin, at the other end of a connection.
struct RemoteHost(Arc<Link>);

impl RemoteHost {
    /// Answers what concerns this process alone.
    fn own(&self, operation: &str, payload: &str) -> Option<Result<String, Fault>> {
        let asked: Value = serde_json::from_str(payload).unwrap_or_default();
        match operation {
            "env.get" => {
                let name = asked["name"].as_str().unwrap_or_default();
                let value = platform::env_value(name).filter(|value| !value.is_empty());
                Some(Ok(json!(value).to_string()))
            }
            // The plugin says that its terminal is gone.
            "events.publish" => {
                self.0.tell(Told::Left);
                Some(Ok("null".to_owned()))
            }
            "commands.dispatch" if LEAVING.iter().any(|name| asked["name"] == *name) => {
                self.0.tell(Told::Left);
                Some(Ok(json!({"status": "done", "rendered": ""}).to_string()))
            }
            _ => None,
        }
    }
}

impl HostService for RemoteHost {
    fn call(&self, operation: &str, payload: &str) -> Result<String, Fault> {
        if let Some(own) = self.own(operation, payload) {
            return own;
        }
        let (operation, payload) = (operation.to_owned(), payload.to_owned());
        let reply = self.0.ask(|id| FromScreen::Call {
            id,
            operation,
            payload,
        });
        block_on(reply).unwrap_or_else(|| Err(gone()))
    }

    fn call_async(&self, operation: &str, payload: String) -> BoxFuture<Result<String, Fault>> {
        if let Some(own) = self.own(operation, &payload) {
            return Box::pin(std::future::ready(own));
        }
        let operation = operation.to_owned();
        let reply = self.0.ask(|id| FromScreen::Wait {
            id,
            operation,
            payload,
        });
        Box::pin(async move { reply.await.unwrap_or_else(|| Err(gone())) })
    }

    fn token(&self, _scope: &str) -> Result<CancellationToken, Fault> {
        Ok(self.0.session.token())
    }

    fn subscribe(&self, operation: &str, listener: Listener) -> Result<Guard, Fault> {
        let id = self.0.next.fetch_add(1, Ordering::Relaxed);
        lock(&self.0.waiting).feeds.insert(id, listener);
        let feed = Feed {
            link: self.0.clone(),
            id,
        };
        let operation = operation.to_owned();
        let asked = FromScreen::Listen { id, operation };
        block_on(self.0.ask_as(id, &asked)).unwrap_or_else(|| Err(gone()))?;
        Ok(Box::new(feed))
    }
}

/// A feed that is heard until this is dropped.
struct Feed {
    link: Arc<Link>,
    id: u64,
}

impl Drop for Feed {
    fn drop(&mut self) {
        lock(&self.link.waiting).feeds.remove(&self.id);
    }
}

/// Connects, and asks to be let in.
fn let_in(socket: &Path, session_id: &str, ext_id: &str) -> Result<UnixStream, Error> {
    let unavailable = |error: std::io::Error| unreachable(&error.to_string());
    let mut stream = connect_to(socket).map_err(unavailable)?;
    stream
        .set_read_timeout(Some(LET_IN_WITHIN))
        .map_err(unavailable)?;
    let line = json!({
        "version": ENVELOPE_VERSION,
        "request_id": ids::fresh(),
        "command": "admin.attach",
        "payload": {"session_id": session_id, "ext_id": ext_id},
    });
    stream
        .write_all(format!("{line}\n").as_bytes())
        .map_err(unavailable)?;
    let reply = first_line(&mut stream).map_err(unavailable)?;
    let reply: Value = serde_json::from_slice(&reply)
        .map_err(|error| unreachable(&format!("its answer cannot be read: {error}")))?;
    if reply["payload"]["attached"].is_object() {
        return Ok(stream);
    }
    let error = [&reply["payload"]["error"], &reply["error"]]
        .into_iter()
        .find_map(|error| error["message"].as_str());
    Err(unreachable(error.unwrap_or("it takes no screens")))
}

/// The line that says whether the screen is let in, and not a byte of what comes after it.
fn first_line(stream: &mut UnixStream) -> std::io::Result<Vec<u8>> {
    use std::io::Read as _;
    let mut line = Vec::new();
    let mut byte = [0];
    while stream.read(&mut byte)? > 0 && byte != *b"\n" {
        line.push(byte[0]);
    }
    Ok(line)
}

fn read_fault(fault: &Value) -> Fault {
    let text = |member: &str| fault[member].as_str().unwrap_or_default().to_owned();
    Fault {
        class: text("class"),
        code: text("code"),
        message: text("message"),
        context: text("context"),
    }
}

fn unreachable(why: &str) -> Error {
    let code = &codes::CONTROL_UNAVAILABLE;
    let message = format!("the screen cannot be attached: {why}");
    Error::new(code.class, code.name, message)
}

fn gone() -> Fault {
    Fault::from(unreachable("the process of the session is gone"))
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
