//! The other side: finding the process that has a session, and sending to it until the outcome is known.
//!
//! Every attempt of a logical send has the same `request_id` and `sent_at`, so that it takes effect once. A text above
//! the receiver's hard limit goes into a file beneath the receiver's base folder, and a reference to it is sent.

use std::fmt;
use std::fs;
use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use serde_json::{Map, Value, json};
use stud_core::audit::bootstrap::{self, Deed};
use stud_core::ids;
use stud_core::platform::{Durability, replace_file};

use crate::ack::ResultCode;
use crate::content_ref::sha256;
use crate::envelope::ENVELOPE_VERSION;
use crate::message::{ActionKind, SCHEMA_VERSION};
use crate::run_dir::{RunDir, connect_to, private_folder};
use crate::timestamp;
use crate::trail::CLASS;

/// The longest reply that is read.
const LONGEST_REPLY: u64 = 4 << 20;

/// What is sent.
#[derive(Debug, Clone)]
pub struct Outgoing {
    /// The name of the sender.
    pub sender: String,
    /// The team; that of the session, as the receiver tells it, when left out.
    pub team: Option<String>,
    /// Which session.
    pub session_id: String,
    /// Which agent of it.
    pub agent_id: String,
    /// The id of the logical send; a fresh one when left out.
    pub request_id: Option<String>,
    /// The text; nothing interrupts only.
    pub text: Option<Text>,
}

/// A text that is typed into a session.
#[derive(Debug, Clone)]
pub struct Text {
    /// The text, whole and with its line ends.
    pub content: String,
    /// Whether the running turn is cancelled for it.
    pub interrupt: bool,
}

impl Outgoing {
    fn kind(&self) -> ActionKind {
        match self.text {
            Some(_) => ActionKind::Stdin,
            None => ActionKind::Interrupt,
        }
    }
}

/// A session that a process has open.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LiveSession {
    /// Which session.
    pub session_id: String,
    /// Its team.
    pub team: String,
    /// The socket of its process.
    pub socket: PathBuf,
}

/// What came of a send.
#[derive(Debug, Clone)]
pub struct Delivery {
    /// The receiver's answer, unchanged.
    pub ack: Value,
    /// The word in it.
    pub result: ResultCode,
    /// How often it was sent.
    pub attempts: u32,
    /// What the sender should know besides.
    pub warnings: Vec<String>,
}

/// Why nothing came of a send, or why it is not known.
#[derive(Debug)]
pub enum SenderError {
    /// No process answers at any socket.
    Unreachable,
    /// The process that answers does not take control messages.
    Unsupported(String),
    /// It was sent, and no answer came in time. It may have been accepted; the same request sent again will tell.
    NoAnswer {
        /// The id to send again with.
        request_id: String,
        /// How often it was sent.
        attempts: u32,
    },
    /// The answer is not one of this protocol.
    Unreadable(String),
    /// The text could not be put into a file.
    Unwritten(io::Error),
}

/// Sends control messages to processes of this user.
#[derive(Debug, Clone)]
pub struct Sender {
    run_dir: RunDir,
    global_root: PathBuf,
    /// How long an acknowledgment is waited for.
    pub ack_timeout: Duration,
    /// How often a send is tried again.
    pub retries: u32,
    /// How long to wait before the first retry; twice as long before each further one.
    pub backoff: Duration,
}

/// How an exchange over a socket failed.
enum Failed {
    /// The socket is stale.
    Connect,
    /// It is connected, and no answer came.
    NoAnswer,
    Unreadable(String),
}

impl Sender {
    /// A sender to the processes that listen in `run_dir`. What it does is put on record in `global_root`.
    pub fn new(run_dir: RunDir, global_root: PathBuf, ack_timeout: Duration, retries: u32) -> Self {
        Self {
            run_dir,
            global_root,
            ack_timeout,
            retries,
            backoff: Duration::from_millis(200),
        }
    }

    /// Every session that a process has open.
    pub fn live_sessions(&self) -> Vec<LiveSession> {
        self.run_dir
            .sockets()
            .iter()
            .flat_map(|socket| self.sessions_at(socket))
            .collect()
    }

    fn sessions_at(&self, socket: &Path) -> Vec<LiveSession> {
        let listed = self.exchange(socket, "admin.sessions", &json!({}));
        let listed = listed.ok().and_then(Result::ok).unwrap_or_default();
        let sessions = listed["sessions"].as_array().into_iter().flatten();
        sessions
            .filter_map(|session| {
                Some(LiveSession {
                    session_id: session["session_id"].as_str()?.to_owned(),
                    team: session["team"].as_str()?.to_owned(),
                    socket: socket.to_owned(),
                })
            })
            .collect()
    }

    /// What the process behind a socket understands; the first that answers when none is given.
    pub fn capabilities(&self, socket: Option<&Path>) -> Result<Value, SenderError> {
        let sockets = match socket {
            Some(socket) => vec![socket.to_owned()],
            None => self.run_dir.sockets(),
        };
        for socket in sockets {
            match self.exchange(&socket, "capabilities", &json!({})) {
                Ok(Ok(capabilities)) => return Ok(capabilities),
                Ok(Err(code)) => return Err(SenderError::Unsupported(code)),
                Err(Failed::Connect | Failed::NoAnswer) => {}
                Err(Failed::Unreadable(why)) => return Err(SenderError::Unreadable(why)),
            }
        }
        Err(SenderError::Unreachable)
    }

    /// Has a process reload a plugin of a session; gives what it says about it.
    pub fn reload(&self, session: &LiveSession, ext_id: &str) -> Result<Value, SenderError> {
        let payload = json!({"session_id": session.session_id, "ext_id": ext_id});
        // A reload builds and starts a plugin, which takes longer than to accept a text.
        let patient = Self {
            ack_timeout: self.ack_timeout.max(Duration::from_secs(60)),
            ..self.clone()
        };
        match patient.exchange(&session.socket, "admin.reload", &payload) {
            Ok(Ok(reloaded)) => Ok(reloaded),
            Ok(Err(code)) => Err(SenderError::Unsupported(code)),
            Err(Failed::Connect) => Err(SenderError::Unreachable),
            Err(Failed::NoAnswer) => Err(SenderError::NoAnswer {
                request_id: String::new(),
                attempts: 1,
            }),
            Err(Failed::Unreadable(why)) => Err(SenderError::Unreadable(why)),
        }
    }

    /// Sends, and tries again while the outcome is not known.
    pub fn send(&self, outgoing: &Outgoing) -> Result<Delivery, SenderError> {
        let (socket, team) = self
            .target(&outgoing.session_id)
            .ok_or(SenderError::Unreachable)?;
        let capabilities = self.capabilities(Some(&socket))?;
        let mut parcel = Parcel::of(outgoing, team, &capabilities["control"])?;
        let sent = self.send_parcel(&mut parcel, outgoing, socket);
        // What was accepted was read from the file, and what was not needs a new one.
        if !matches!(sent, Err(SenderError::NoAnswer { .. }))
            && let Some(file) = &parcel.file
        {
            let _ = fs::remove_file(file);
        }
        sent
    }

    fn send_parcel(
        &self,
        parcel: &mut Parcel,
        outgoing: &Outgoing,
        mut socket: PathBuf,
    ) -> Result<Delivery, SenderError> {
        let mut wait = self.backoff;
        let mut attempts = 0;
        loop {
            attempts += 1;
            parcel.message["meta"]["retry_count"] = (attempts - 1).into();
            self.note(
                if attempts == 1 {
                    "ControlRequestSent"
                } else {
                    "ControlRequestRetried"
                },
                parcel,
                None,
                None,
            );
            let failure = match self.exchange(&socket, "control", &parcel.message) {
                Ok(Ok(ack)) => {
                    let word = ack["result"].as_str().unwrap_or_default();
                    let result = ResultCode::of(word).ok_or_else(|| {
                        SenderError::Unreadable(
                            "the acknowledgment has no known `result`".to_owned(),
                        )
                    })?;
                    self.note("ControlAckReceived", parcel, Some(&ack), None);
                    if result != ResultCode::Timeout || attempts > self.retries {
                        let warnings = parcel.warnings.clone();
                        return Ok(Delivery {
                            ack,
                            result,
                            attempts,
                            warnings,
                        });
                    }
                    "timeout"
                }
                Ok(Err(code)) => {
                    self.note("ControlSendFailed", parcel, None, Some(&code));
                    return Err(SenderError::Unsupported(code));
                }
                Err(Failed::Unreadable(why)) => {
                    self.note("ControlSendFailed", parcel, None, Some("unreadable"));
                    return Err(SenderError::Unreadable(why));
                }
                Err(Failed::Connect) => "unreachable",
                Err(Failed::NoAnswer) => "no_answer",
            };
            if attempts > self.retries {
                self.note("ControlSendFailed", parcel, None, Some(failure));
                return Err(SenderError::NoAnswer {
                    request_id: parcel.request_id.clone(),
                    attempts,
                });
            }
            thread::sleep(wait);
            wait = wait.saturating_mul(2);
            // The process may have been started anew meanwhile.
            if let Some((found, _)) = self.target(&outgoing.session_id) {
                socket = found;
            }
        }
    }

    /// The socket of the process that has the session, and the session's team; failing that, of one that can tell why
    /// there is none.
    fn target(&self, session_id: &str) -> Option<(PathBuf, Option<String>)> {
        let live = self.live_sessions();
        if let Some(session) = live
            .into_iter()
            .find(|session| session.session_id == session_id)
        {
            return Some((session.socket, Some(session.team)));
        }
        let mut sockets = self.run_dir.sockets().into_iter();
        let answers = |socket: &PathBuf| self.exchange(socket, "capabilities", &json!({})).is_ok();
        sockets.find(answers).map(|socket| (socket, None))
    }

    /// One line there and one back. The inner error is the code that the receiver answers with.
    fn exchange(
        &self,
        socket: &Path,
        command: &str,
        payload: &Value,
    ) -> Result<Result<Value, String>, Failed> {
        let line = json!({
            "version": ENVELOPE_VERSION,
            "request_id": ids::fresh(),
            "command": command,
            "payload": payload,
        });
        let mut stream = connect_to(socket).map_err(|_| Failed::Connect)?;
        let timeout = Some(self.ack_timeout);
        let configured = stream
            .set_write_timeout(timeout)
            .and_then(|()| stream.set_read_timeout(timeout));
        let sent = configured.and_then(|()| stream.write_all(format!("{line}\n").as_bytes()));
        sent.map_err(|_| Failed::NoAnswer)?;
        let mut reply = String::new();
        let mut reader = BufReader::new(stream.take(LONGEST_REPLY));
        reader.read_line(&mut reply).map_err(|_| Failed::NoAnswer)?;
        if !reply.ends_with('\n') {
            return Err(Failed::NoAnswer);
        }
        let mut reply: Value = serde_json::from_str(&reply)
            .map_err(|_| Failed::Unreadable("the reply is not JSON".to_owned()))?;
        match reply["status"].as_str() {
            Some("ok") => Ok(Ok(reply["payload"].take())),
            Some("error") => Ok(Err(reply["error"]["code"]
                .as_str()
                .unwrap_or("unknown")
                .to_owned())),
            _ => Err(Failed::Unreadable("the reply has no `status`".to_owned())),
        }
    }

    /// Puts what the sender did on record; never the text.
    fn note(
        &self,
        kind: &'static str,
        parcel: &Parcel,
        ack: Option<&Value>,
        failure: Option<&str>,
    ) {
        let mut facts = Map::new();
        for member in ["request_id", "team", "session_id", "agent_id", "sender"] {
            facts.insert(member.to_owned(), parcel.message[member].clone());
        }
        facts.insert(
            "retry_count".to_owned(),
            parcel.message["meta"]["retry_count"].clone(),
        );
        if let Some(ack) = ack {
            for member in ["result", "duplicate", "detail"] {
                facts.insert(member.to_owned(), ack[member].clone());
            }
        }
        if let Some(failure) = failure {
            facts.insert("failure".to_owned(), failure.into());
        }
        let deed = Deed {
            kind,
            class: Some(CLASS),
            payload: facts.into(),
        };
        let _ = bootstrap::note(&self.global_root, &[deed], Durability::Written);
    }
}

/// A message that is ready to be sent, as often as it takes.
struct Parcel {
    request_id: String,
    message: Value,
    file: Option<PathBuf>,
    warnings: Vec<String>,
}

impl Parcel {
    fn of(outgoing: &Outgoing, team: Option<String>, control: &Value) -> Result<Self, SenderError> {
        let kind = outgoing.kind();
        let actions = control["actions"].as_array().into_iter().flatten();
        let interrupts = outgoing.text.as_ref().is_some_and(|text| text.interrupt);
        let is_known = actions.clone().any(|action| action == kind.as_str());
        if !is_known || (interrupts && control["stdin_interrupt"] != true) {
            let what = if is_known {
                "stdin with interrupt"
            } else {
                kind.as_str()
            };
            return Err(SenderError::Unsupported(what.to_owned()));
        }
        let request_id = outgoing.request_id.clone().unwrap_or_else(ids::fresh);
        let team = outgoing.team.clone().or(team).unwrap_or_default();
        let mut message = json!({
            "type": kind.request_type(),
            "v": SCHEMA_VERSION,
            "request_id": request_id,
            "team": team,
            "session_id": outgoing.session_id,
            "agent_id": outgoing.agent_id,
            "sender": outgoing.sender,
            "sent_at": timestamp::now_text(),
            "meta": {"ui_source": "cli", "retry_count": 0},
        });
        let mut parcel_file = None;
        let mut warnings = Vec::new();
        match &outgoing.text {
            None => message["signal"] = "interrupt".into(),
            Some(text) => {
                let bytes = text.content.len() as u64;
                let limit = |name: &str| control[name].as_u64().unwrap_or(u64::MAX);
                if bytes > limit("hard_limit_bytes") {
                    let file = by_reference(
                        text,
                        &control["content_ref"],
                        &team,
                        &request_id,
                        &mut message,
                    );
                    parcel_file = Some(file.map_err(SenderError::Unwritten)?);
                } else {
                    if bytes > limit("soft_limit_bytes") {
                        warnings.push(format!(
                            "the text has {bytes} bytes, more than the {} that are usual",
                            limit("soft_limit_bytes")
                        ));
                    }
                    message["content"] = text.content.as_str().into();
                }
                message["content_encoding"] = "utf-8".into();
                message["interrupt"] = text.interrupt.into();
            }
        }
        Ok(Self {
            request_id,
            message,
            file: parcel_file,
            warnings,
        })
    }
}

/// Puts a text into a file beneath the receiver's base folder, and a reference to it into the message.
fn by_reference(
    text: &Text,
    content_ref: &Value,
    team: &str,
    request_id: &str,
    message: &mut Value,
) -> io::Result<PathBuf> {
    let base = content_ref["base"].as_str().unwrap_or_default();
    let largest = content_ref["max_bytes"].as_u64().unwrap_or(u64::MAX);
    if text.content.len() as u64 > largest {
        let what = format!(
            "the text has {} bytes, and the receiver takes {largest} at most",
            text.content.len()
        );
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, what));
    }
    // The receiver refuses such names; they must not lead elsewhere before it can.
    let is_plain = |name: &str| {
        !name.is_empty() && !name.contains(['/', '\\', '\0']) && !name.starts_with('.')
    };
    if !is_plain(team) || !is_plain(request_id) {
        let what = "the team and the request id must be names without slashes";
        return Err(io::Error::new(io::ErrorKind::InvalidInput, what));
    }
    let folder = Path::new(base).join(team).join("input");
    private_folder(&folder)?;
    let path = folder.join(format!("{request_id}.txt"));
    replace_file(&path, text.content.as_bytes(), 0o600, Durability::Synced)?;
    message["content_ref"] = json!({
        "path": path,
        "size_bytes": text.content.len(),
        "sha256": sha256(text.content.as_bytes()),
        "mime": "text/plain; charset=utf-8",
    });
    message["meta"]["oversize_strategy"] = "content_ref".into();
    Ok(path)
}

impl fmt::Display for SenderError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreachable => f.write_str("no process of stud listens at a control socket"),
            Self::Unsupported(what) => write!(f, "the receiver does not take this: {what}"),
            Self::NoAnswer { attempts, .. } => {
                write!(f, "no answer came after {attempts} attempts")
            }
            Self::Unreadable(why) => write!(f, "the answer cannot be read: {why}"),
            Self::Unwritten(error) => write!(f, "the text cannot be sent by reference: {error}"),
        }
    }
}

impl std::error::Error for SenderError {}
