//! `stud serve` in a world of its own, and clients of it.
#![expect(
    clippy::expect_used,
    clippy::panic,
    reason = "a test that cannot go on says why and ends"
)]

use std::fmt::Write as _;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tungstenite::client::IntoClientRequest as _;
use tungstenite::{Message, WebSocket};

use crate::fixture;
use crate::world::World;

/// More than anything takes on a machine that is busy with other things.
const LIMIT: Duration = Duration::from_secs(60);

/// A server that runs.
#[derive(Debug)]
pub struct Served {
    child: Child,
    /// The line it printed when it listened.
    pub line: Value,
}

/// A client of it.
#[derive(Debug)]
pub struct Client {
    socket: WebSocket<TcpStream>,
    /// What it was sent so far, for messages of tests that fail.
    seen: Vec<String>,
}

/// The answer to a plain HTTP request.
#[derive(Debug)]
pub struct Fetched {
    /// The status.
    pub status: u16,
    /// The headers as they came.
    pub headers: String,
    /// The body.
    pub body: String,
}

impl World {
    /// A world in which the fixture tools are installed.
    ///
    /// # Panics
    ///
    /// When the library cannot be put there.
    pub fn with_fixture_tools() -> Self {
        let mut world = Self::new();
        let library = fixture("fixture-tools");
        world.link("home/tools/libfixture_tools.so", &library);
        let state = world.path("state");
        std::fs::create_dir_all(&state).expect("a folder for what tools leave");
        world.set("STUD_FIXTURE_STATE", &state.to_string_lossy());
        world
    }

    /// Starts a server at a port of its own.
    pub fn serve(&self) -> Served {
        self.serve_with(&[])
    }

    /// The same with more arguments.
    ///
    /// # Panics
    ///
    /// When it does not say where it listens.
    pub fn serve_with(&self, arguments: &[&str]) -> Served {
        let mut child = self
            .command()
            .args(["serve", "--listen", "127.0.0.1:0"])
            .args(arguments)
            .stdout(Stdio::piped())
            .spawn()
            .expect("stud starts");
        let mut line = String::new();
        let stdout = child.stdout.take().expect("its output is a pipe");
        let read = BufReader::new(stdout).read_line(&mut line);
        read.expect("it says where it listens");
        let line = serde_json::from_str(&line).unwrap_or_else(|_| panic!("no line: {line:?}"));
        Served { child, line }
    }
}

impl Served {
    /// The port it listens at.
    pub fn port(&self) -> u16 {
        let address = self.line["listening"].as_str().unwrap_or_default();
        let port = address
            .rsplit(':')
            .next()
            .and_then(|port| port.parse().ok());
        port.unwrap_or_default()
    }

    /// The token it printed.
    pub fn token(&self) -> String {
        self.line["token"].as_str().unwrap_or_default().to_owned()
    }

    /// Its process.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// A client that has said hello and answers prompts.
    pub fn client(&self) -> Client {
        self.client_with(json!({"supported": true, "enabled": true}))
    }

    /// A client that stands otherwise to prompts.
    pub fn client_with(&self, interaction: Value) -> Client {
        let mut client = self.connect();
        client.send(json!({"type": "hello", "interaction": interaction}));
        client.until_type("hello_ack");
        client
    }

    /// A client that has said nothing yet.
    ///
    /// # Panics
    ///
    /// When it is refused.
    pub fn connect(&self) -> Client {
        let bearer = format!("Bearer {}", self.token());
        self.try_connect("/ws", &[("authorization", &bearer)])
            .expect("the client is let in")
    }

    /// A client with these headers, or the status it is refused with.
    ///
    /// # Errors
    ///
    /// The status of a refusal.
    ///
    /// # Panics
    ///
    /// When there is no answer at all.
    pub fn try_connect(&self, path: &str, headers: &[(&str, &str)]) -> Result<Client, u16> {
        let address = format!("ws://127.0.0.1:{}{path}", self.port());
        let mut request = address.into_client_request().expect("an address");
        for (name, value) in headers {
            let name: tungstenite::http::HeaderName = name.parse().expect("a name");
            request
                .headers_mut()
                .insert(name, value.parse().expect("a value"));
        }
        let stream = TcpStream::connect(("127.0.0.1", self.port())).expect("it listens");
        stream.set_read_timeout(Some(LIMIT)).expect("a limit");
        match tungstenite::client(request, stream) {
            Ok((socket, _)) => Ok(Client {
                socket,
                seen: Vec::new(),
            }),
            Err(tungstenite::HandshakeError::Failure(tungstenite::Error::Http(response))) => {
                Err(response.status().as_u16())
            }
            Err(error) => panic!("no answer: {error}"),
        }
    }

    /// Sends a plain HTTP request.
    ///
    /// # Panics
    ///
    /// When there is no answer.
    pub fn fetch(&self, method: &str, path: &str, headers: &[(&str, &str)]) -> Fetched {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port())).expect("it listens");
        stream.set_read_timeout(Some(LIMIT)).expect("a limit");
        let mut request = format!("{method} {path} HTTP/1.1\r\nConnection: close\r\n");
        if !headers
            .iter()
            .any(|(name, _)| name.eq_ignore_ascii_case("host"))
        {
            let _ = write!(request, "Host: 127.0.0.1:{}\r\n", self.port());
        }
        for (name, value) in headers {
            let _ = write!(request, "{name}: {value}\r\n");
        }
        request.push_str("\r\n");
        stream.write_all(request.as_bytes()).expect("it is sent");
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).expect("there is an answer");
        let answer = String::from_utf8_lossy(&answer).into_owned();
        let (headers, body) = answer.split_once("\r\n\r\n").unwrap_or((&answer, ""));
        let status = headers.split(' ').nth(1).and_then(|word| word.parse().ok());
        Fetched {
            status: status.unwrap_or_default(),
            headers: headers.to_owned(),
            body: body.to_owned(),
        }
    }

    /// Asks it to end, and waits until it has. Gives its status.
    ///
    /// # Panics
    ///
    /// When it does not end.
    pub fn stop(mut self) -> i32 {
        self.signal("TERM");
        let began = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait().expect("it is there") {
                return status.code().unwrap_or(-1);
            }
            assert!(began.elapsed() < LIMIT, "it does not end");
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Ends it as a crash does.
    pub fn kill(mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    fn signal(&self, name: &str) {
        let pid = self.child.id().to_string();
        let sent = std::process::Command::new("kill")
            .args([&format!("-{name}"), pid.as_str()])
            .status();
        assert!(sent.is_ok_and(|status| status.success()), "it is there");
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Client {
    /// Sends a frame.
    ///
    /// # Panics
    ///
    /// When the connection is gone.
    pub fn send(&mut self, frame: Value) {
        self.send_text(&frame.to_string());
    }

    /// Sends a text frame as it is.
    ///
    /// # Panics
    ///
    /// When the connection is gone.
    pub fn send_text(&mut self, text: &str) {
        let sent = self.socket.send(Message::text(text));
        sent.expect("the server takes it");
    }

    /// Sends bytes.
    ///
    /// # Panics
    ///
    /// When the connection is gone.
    pub fn send_bytes(&mut self, bytes: &[u8]) {
        let sent = self.socket.send(Message::binary(bytes.to_vec()));
        sent.expect("the server takes it");
    }

    /// The next frame; nothing when the server has closed the connection.
    ///
    /// # Panics
    ///
    /// When none comes.
    pub fn next_frame(&mut self) -> Option<Value> {
        let began = Instant::now();
        loop {
            // The pings of the server keep a read from timing out.
            assert!(began.elapsed() < LIMIT, "no frame after {:#?}", self.seen);
            match self.socket.read() {
                Ok(Message::Text(text)) => {
                    self.seen.push(text.chars().take(400).collect());
                    return Some(serde_json::from_str(&text).expect("frames are JSON"));
                }
                Ok(Message::Close(_))
                | Err(tungstenite::Error::ConnectionClosed | tungstenite::Error::AlreadyClosed) => {
                    return None;
                }
                Ok(_) => {}
                Err(tungstenite::Error::Protocol(_)) => return None,
                Err(tungstenite::Error::Io(error))
                    if error.kind() == std::io::ErrorKind::ConnectionReset =>
                {
                    return None;
                }
                Err(error) => panic!("no frame ({error}) after {:#?}", self.seen),
            }
        }
    }

    /// The next frame that is meant; those before it are passed over.
    ///
    /// # Panics
    ///
    /// When none comes.
    pub fn until(&mut self, mut is_meant: impl FnMut(&Value) -> bool) -> Value {
        loop {
            let Some(frame) = self.next_frame() else {
                panic!("the connection was closed after {:#?}", self.seen);
            };
            if is_meant(&frame) {
                return frame;
            }
        }
    }

    /// The next frame of this type.
    pub fn until_type(&mut self, kind: &str) -> Value {
        self.until(|frame| frame["type"] == kind)
    }

    /// The payload of the next event of this type.
    pub fn event(&mut self, kind: &str) -> Value {
        let is_meant =
            |frame: &Value| frame["type"] == "chat_event" && frame["event"]["type"] == kind;
        self.until(is_meant)["event"]["payload"].clone()
    }

    /// The code of the next `error` frame.
    pub fn error(&mut self) -> String {
        let error = self.until_type("error");
        error["code"].as_str().unwrap_or_default().to_owned()
    }

    /// Every frame up to the answer to a ping that is sent now.
    pub fn until_now(&mut self) -> Vec<Value> {
        self.send(json!({"type": "ping"}));
        let mut frames = Vec::new();
        self.until(|frame| {
            let is_pong = frame["type"] == "pong";
            if !is_pong {
                frames.push(frame.clone());
            }
            is_pong
        });
        frames
    }

    /// The codes of the errors this client was sent, up to the answer to the last ping.
    pub fn refusals_before_pong(&mut self) -> Vec<String> {
        let mut codes: Vec<String> = self
            .seen
            .iter()
            .filter_map(|text| error_code(text))
            .collect();
        self.until(|frame| {
            codes.extend(error_code(&frame.to_string()));
            frame["type"] == "pong"
        });
        self.seen.clear();
        codes
    }

    /// Begins a session and takes part in it. Gives its id.
    pub fn session(&mut self) -> String {
        self.send(json!({"type": "session_create"}));
        let created = self.until_type("session_created");
        let id = created["sessionId"].as_str().unwrap_or_default().to_owned();
        self.subscribe(&id, 0);
        id
    }

    /// Takes part in a session, from the events after this one on.
    pub fn subscribe(&mut self, session_id: &str, since: u64) {
        self.send(json!({"type": "subscribe", "sessionId": session_id, "sinceSeq": since}));
        self.until_type("subscribed");
    }

    /// Says something in a session.
    pub fn say(&mut self, session_id: &str, text: &str) {
        self.send(json!({"type": "text_input", "sessionId": session_id, "text": text}));
    }

    /// The same, and waits for the end of the turn. Gives the events up to it.
    pub fn turn(&mut self, session_id: &str, text: &str) -> Vec<Value> {
        self.say(session_id, text);
        self.events_until("turn_end")
    }

    /// The events up to the next one of this type, that one included.
    pub fn events_until(&mut self, kind: &str) -> Vec<Value> {
        let mut events = Vec::new();
        self.until(|frame| {
            if frame["type"] != "chat_event" {
                return false;
            }
            events.push(frame.clone());
            frame["event"]["type"] == kind
        });
        events
    }

    /// Answers the prompt of a tool.
    pub fn answer(&mut self, session_id: &str, prompt: &Value, answer: Value) {
        let mut frame = json!({
            "type": "tool_interaction_response",
            "sessionId": session_id,
            "callId": prompt["toolCallId"],
            "interactionId": prompt["interactionId"],
        });
        for (member, value) in answer.as_object().into_iter().flatten() {
            frame[member] = value.clone();
        }
        self.send(frame);
    }

    /// Goes away without a word.
    pub fn vanish(self) {
        drop(self);
    }
}

/// The code in the text of an `error` frame.
fn error_code(text: &str) -> Option<String> {
    let frame: Value = serde_json::from_str(text).ok()?;
    let code = (frame["type"] == "error").then(|| frame["code"].as_str())??;
    Some(code.to_owned())
}
