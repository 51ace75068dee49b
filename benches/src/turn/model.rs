//! A model that says what a script has it say: chat completions over plain HTTP, streamed.
//!
//! It keeps nothing of a conversation: how far it has come is the number of tool results in the request.

use std::fmt::Write as _;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use serde_json::{Value, json};

use crate::home::fail;

/// What the model says.
#[derive(Debug, Clone, Default)]
pub(super) enum Script {
    /// A short answer.
    #[default]
    Text,
    /// It wants a tool so many times, and then answers.
    Tools { tool: &'static str, rounds: u32 },
    /// An answer in very many pieces.
    Long { pieces: u32 },
}

/// The model, on a port of its own.
pub(super) struct Model {
    port: u16,
    desk: Arc<Mutex<Desk>>,
}

#[derive(Default)]
struct Desk {
    script: Script,
    /// When the last call of a tool was sent.
    asked: Option<Instant>,
    /// How long each took to come back as a request, in milliseconds.
    gaps: Vec<f64>,
}

impl Model {
    pub(super) fn start() -> Self {
        let listening = TcpListener::bind((Ipv4Addr::LOCALHOST, 0));
        let (Ok(listener), desk) = (listening, Arc::<Mutex<Desk>>::default()) else {
            fail("there is no port on loopback");
        };
        let port = listener.local_addr().map_or(0, |address| address.port());
        let clerk = desk.clone();
        std::thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let desk = clerk.clone();
                std::thread::spawn(move || serve(&client, &desk));
            }
        });
        Self { port, desk }
    }

    pub(super) fn port(&self) -> u16 {
        self.port
    }

    /// Says this from now on.
    pub(super) fn follow(&self, script: &Script) {
        *lock(&self.desk) = Desk {
            script: script.clone(),
            ..Desk::default()
        };
    }

    /// How long calls took to come back.
    pub(super) fn gaps(&self) -> Vec<f64> {
        lock(&self.desk).gaps.clone()
    }
}

fn lock(desk: &Mutex<Desk>) -> std::sync::MutexGuard<'_, Desk> {
    desk.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Answers one request after another, until the client goes.
fn serve(client: &TcpStream, desk: &Mutex<Desk>) {
    let _ = client.set_nodelay(true);
    let mut reader = BufReader::new(client);
    let mut writer = client;
    while let Some((came, body)) = request(&mut reader) {
        let (events, asks) = {
            let mut desk = lock(desk);
            if let Some(asked) = desk.asked.take() {
                desk.gaps.push((came - asked).as_secs_f64() * 1e3);
            }
            answer(&desk.script, &body)
        };
        let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";
        let sent = writer.write_all(head.as_bytes()).and_then(|()| {
            let mut chunk = String::new();
            for event in events.iter().map(String::as_str).chain(["[DONE]"]) {
                chunk.clear();
                let _ = write!(chunk, "{:x}\r\ndata: {event}\n\n\r\n", event.len() + 8);
                writer.write_all(chunk.as_bytes())?;
            }
            if asks {
                lock(desk).asked = Some(Instant::now());
            }
            writer.write_all(b"0\r\n\r\n")
        });
        if sent.is_err() {
            return;
        }
    }
}

/// When the next request came, and what it says.
fn request(reader: &mut BufReader<&TcpStream>) -> Option<(Instant, Value)> {
    let mut length = 0;
    let mut came = None;
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).ok()? == 0 {
            return None;
        }
        came.get_or_insert_with(Instant::now);
        let line = line.trim_end().to_ascii_lowercase();
        if let Some(value) = line.strip_prefix("content-length:") {
            length = value.trim().parse().ok()?;
        }
        if line.is_empty() {
            break;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    Some((came?, serde_json::from_slice(&body).ok()?))
}

/// The pieces of an answer, and whether the last of them is a tool call.
fn answer(script: &Script, request: &Value) -> (Vec<String>, bool) {
    let messages = request["messages"]
        .as_array()
        .map_or(&[][..], Vec::as_slice);
    let results = messages.iter().filter(|message| message["role"] == "tool");
    let done = u32::try_from(results.count()).unwrap_or(u32::MAX);
    match script {
        Script::Tools { tool, rounds } if done < *rounds => {
            (vec![call(tool, done), finish("tool_calls")], true)
        }
        Script::Long { pieces } => {
            let mut events: Vec<String> = (0..*pieces)
                .map(|piece| said(&format!("{piece:05x}  ")))
                .collect();
            events.push(finish("stop"));
            (events, false)
        }
        Script::Text | Script::Tools { .. } => {
            let words = ["All ", "is ", "done", "."].map(said);
            (words.into_iter().chain([finish("stop")]).collect(), false)
        }
    }
}

fn said(words: &str) -> String {
    choice(&json!({"content": words}), &Value::Null)
}

fn call(tool: &str, round: u32) -> String {
    let arguments = match tool {
        "read" => json!({"path": format!("file-{:02}.txt", round % 64)}),
        _ => json!({"command": format!("echo {round}")}),
    };
    let function = json!({"name": tool, "arguments": arguments.to_string()});
    let call = json!({"index": 0, "id": format!("call_{round}"), "type": "function", "function": function});
    choice(&json!({"tool_calls": [call]}), &Value::Null)
}

fn finish(reason: &str) -> String {
    choice(&json!({}), &reason.into())
}

fn choice(delta: &Value, finish_reason: &Value) -> String {
    let choice = json!({"index": 0, "delta": delta, "finish_reason": finish_reason});
    json!({"id": "answer", "object": "chat.completion.chunk", "created": 0, "model": "script", "choices": [choice]})
        .to_string()
}
