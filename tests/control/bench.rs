//! A session with a control socket, and a client that speaks to it byte by byte.

use std::io::{Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, SystemTime};

use serde_json::{Map, Value, json};
use stud_control::{ControlServer, OneSession, Policy, Receiver, RunDir, SocketName};
use stud_core::assistant::converse;
use stud_core::executor::block_on;
use stud_core::launch::{Launch, Resume};
use stud_core::platform::rfc3339;
use stud_core::session::Session;
use stud_host_api::session::{Page, TranscriptRecord};
use stud_tests::{Live, World, eventually};

pub(crate) const TEAM: &str = "crew";
pub(crate) const MEMBER: &str = "ada";

/// A session with a socket. Its inputs stay unanswered unless the test says so.
pub(crate) struct Bench {
    pub(crate) world: Arc<World>,
    pub(crate) live: Live,
    server: Option<ControlServer>,
    socket: PathBuf,
}

/// Settings with more than the rest of these tests need.
pub(crate) fn settings(more: &Value) -> Value {
    // A machine that is busy with other tests is slow, and no test here is about how fast it is.
    let mut control = json!({"team": TEAM, "members": [MEMBER, "ben"], "ackTimeoutMs": 60_000});
    for (key, value) in more.as_object().into_iter().flatten() {
        control[key] = value.clone();
    }
    control
        .as_object_mut()
        .unwrap()
        .retain(|_, value| !value.is_null());
    json!({"control": control})
}

impl Bench {
    pub(crate) fn new() -> Self {
        Self::with(&json!({}))
    }

    /// The same with other settings.
    pub(crate) fn with(more: &Value) -> Self {
        Self::in_world(World::new(), more, None)
    }

    /// The same in a world that is there, going on with a session.
    pub(crate) fn in_world(
        world: impl Into<Arc<World>>,
        more: &Value,
        session: Option<&str>,
    ) -> Self {
        let world = world.into();
        world.write("home/settings.json", settings(more).to_string());
        let bundled = vec![echo::stud_plugin(), filesystem_session_store::stud_plugin()];
        let how = Launch {
            resume: session.map(|id| Resume::Session(id.to_owned())),
            ..Launch::default()
        };
        let live = world.live_as(bundled, how);
        let mut bench = Self {
            socket: PathBuf::new(),
            world,
            live,
            server: None,
        };
        bench.listen();
        bench
    }

    fn listen(&mut self) {
        let ground = &self.live.core.ground;
        let policy = Policy::of(&ground.settings, &self.world.home()).unwrap();
        let sessions = OneSession::new(self.session(), self.live.launched.reloader(ground));
        let receiver = Receiver::new(policy, Arc::new(sessions), self.world.home());
        let run_dir = RunDir::of(&self.world.home());
        let server = ControlServer::start(receiver, &run_dir, SocketName::Serve).unwrap();
        self.socket = server.path().to_owned();
        self.server = Some(server);
    }

    pub(crate) fn session(&self) -> &Arc<Session> {
        self.live.session()
    }

    pub(crate) fn id(&self) -> &str {
        self.live.session().id()
    }

    pub(crate) fn socket(&self) -> &Path {
        &self.socket
    }

    /// The base folder of references.
    pub(crate) fn share(&self) -> PathBuf {
        self.world.home().join("share")
    }

    /// Has the session answer its inputs.
    pub(crate) fn converse(&self) -> Conversing {
        let session = self.session().clone();
        let (ending, thread) = (
            session.clone(),
            std::thread::spawn(move || {
                let _ = block_on(converse(&session));
            }),
        );
        Conversing {
            session: ending,
            thread: Some(thread),
        }
    }

    /// Ends the session and begins another process, as far as the socket is concerned.
    pub(crate) fn restart(self, more: &Value) -> Self {
        let (id, world) = (self.id().to_owned(), self.world.clone());
        drop(self);
        Self::in_world(world, more, Some(&id))
    }

    /// A message that types text, in the canonical form.
    pub(crate) fn stdin(&self, request_id: &str, text: &str) -> Value {
        json!({
            "type": "control.stdin.request",
            "v": 1,
            "request_id": request_id,
            "team": TEAM,
            "session_id": self.id(),
            "agent_id": "main",
            "sender": MEMBER,
            "sent_at": now(),
            "content": text,
        })
    }

    /// A message that interrupts, in the canonical form.
    pub(crate) fn interrupt(&self, request_id: &str) -> Value {
        json!({
            "type": "control.interrupt.request",
            "v": 1,
            "request_id": request_id,
            "team": TEAM,
            "session_id": self.id(),
            "agent_id": "main",
            "sender": MEMBER,
            "sent_at": now(),
            "signal": "interrupt",
        })
    }

    /// Sends a control message; gives the acknowledgment.
    pub(crate) fn ask(&self, message: &Value) -> Value {
        let mut reply = self.command("control", message);
        assert_eq!(reply["status"], "ok", "{reply} to {message}");
        reply["payload"].take()
    }

    /// Sends a command; gives the whole reply.
    pub(crate) fn command(&self, command: &str, payload: &Value) -> Value {
        let line = envelope(command, payload).to_string();
        exchange(&self.socket, format!("{line}\n").as_bytes())
    }

    /// Sends the message and expects this result; gives the detail.
    pub(crate) fn expect(&self, message: &Value, result: &str) -> String {
        let ack = self.ask(message);
        assert_eq!(ack["result"], result, "{ack} to {message}");
        ack["detail"].as_str().unwrap().to_owned()
    }

    pub(crate) fn records(&self, kind: &str) -> Vec<TranscriptRecord> {
        let mut records = transcript(self.session());
        records.retain(|record| record.kind == kind);
        records
    }

    /// What was typed, in order.
    pub(crate) fn inputs(&self) -> Vec<String> {
        let inputs = self.records("user_input").into_iter();
        inputs
            .map(|input| input.payload["text"].as_str().unwrap().to_owned())
            .collect()
    }

    /// The records of the session's trail about control requests, by kind.
    pub(crate) fn trail(&self, kind: &str) -> Vec<Map<String, Value>> {
        let trail = self.session().books().trail.as_ref().unwrap();
        let query = stud_host_api::audit::AuditQuery {
            class: Some("Control".to_owned()),
            kind: Some(kind.to_owned()),
            ..Default::default()
        };
        let records = trail.query(&query).unwrap().into_iter();
        records.map(|record| record.payload).collect()
    }

    /// The records about control requests that belong to no session.
    pub(crate) fn global_trail(&self) -> Vec<Value> {
        let text =
            std::fs::read_to_string(self.world.home().join("audit.jsonl")).unwrap_or_default();
        let lines = text
            .lines()
            .map(|line| serde_json::from_str::<Value>(line).unwrap());
        lines
            .filter(|record| record["class"] == "Control")
            .collect()
    }
}

impl Drop for Bench {
    fn drop(&mut self) {
        drop(self.server.take());
        let _ = self.live.session().close();
    }
}

/// A session that answers its inputs, until this is dropped.
pub(crate) struct Conversing {
    session: Arc<Session>,
    thread: Option<JoinHandle<()>>,
}

impl Drop for Conversing {
    fn drop(&mut self) {
        self.session.wind_down();
        self.session.cancel_turn();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Every record of a session.
pub(crate) fn transcript(session: &Session) -> Vec<TranscriptRecord> {
    let mut records = Vec::new();
    let mut after_seq = None;
    loop {
        let page = Page {
            after_seq,
            limit: Some(1000),
        };
        let view = session.view("test", page).unwrap();
        records.extend(view.records);
        after_seq = view.next_after_seq;
        if after_seq.is_none() {
            return records;
        }
    }
}

/// Waits until a turn runs that is not `other`; gives its id.
pub(crate) fn running_turn(session: &Session, other: Option<&str>) -> String {
    eventually("a turn", || {
        session
            .turn_id()
            .filter(|turn| Some(turn.as_str()) != other)
    })
}

pub(crate) fn envelope(command: &str, payload: &Value) -> Value {
    json!({"version": 1, "request_id": "exchange", "command": command, "payload": payload})
}

/// Now, as the protocol writes it.
pub(crate) fn now() -> String {
    rfc3339(SystemTime::now())
}

pub(crate) fn seconds_ago(seconds: u64) -> String {
    rfc3339(SystemTime::now() - Duration::from_secs(seconds))
}

pub(crate) fn seconds_ahead(seconds: u64) -> String {
    rfc3339(SystemTime::now() + Duration::from_secs(seconds))
}

/// Connects, and fails the test instead of hanging it.
pub(crate) fn connect(socket: &Path) -> UnixStream {
    let stream = UnixStream::connect(socket).unwrap();
    stream
        .set_read_timeout(Some(Duration::from_secs(60)))
        .unwrap();
    stream
        .set_write_timeout(Some(Duration::from_secs(60)))
        .unwrap();
    stream
}

/// Sends bytes and reads the reply, which is one line and the end.
pub(crate) fn exchange(socket: &Path, bytes: &[u8]) -> Value {
    let mut stream = connect(socket);
    stream.write_all(bytes).unwrap();
    reply(&mut stream)
}

pub(crate) fn reply(stream: &mut UnixStream) -> Value {
    let mut reply = String::new();
    stream.read_to_string(&mut reply).unwrap();
    let line = reply.strip_suffix('\n');
    let line = line.unwrap_or_else(|| panic!("no line in {reply:?}"));
    assert!(!line.contains('\n'), "one line in {reply:?}");
    serde_json::from_str(line).unwrap()
}

/// The message with a member changed; `null` removes it.
pub(crate) fn changed(message: &Value, member: &str, value: &Value) -> Value {
    let mut message = message.clone();
    match value {
        Value::Null => {
            message.as_object_mut().unwrap().remove(member);
        }
        value => message[member] = value.clone(),
    }
    message
}

/// A message in the canonical form as the baseline form has it.
pub(crate) fn baseline(message: &Value) -> Value {
    let mut message = message.clone();
    let members = message.as_object_mut().unwrap();
    let kind = members.remove("type").unwrap();
    let action = if kind == "control.stdin.request" {
        "stdin"
    } else {
        "interrupt"
    };
    members.insert("action".to_owned(), action.into());
    members.remove("signal");
    if let Some(content) = members.remove("content") {
        members.insert("payload".to_owned(), content);
    }
    message
}
