//! Screens of other processes: a UI plugin runs at the other end of a connection, and takes part in a session here.
//!
//! A connection whose line was `admin.attach` continues with one JSON object on each line, in both directions. The screen
//! calls the operations of the Host API that it needs, and is sent events and prompts.
//!
//! | From the screen | Members | What it does |
//! |---|---|---|
//! | `call` | `id`, `operation`, `payload` | calls an operation; answered by `reply` |
//! | `wait` | `id`, `operation`, `payload` | the same for one that may take its time |
//! | `listen` | `id`, `operation` | hears a feed; each item comes as `item` |
//!
//! | To the screen | Members | What it tells |
//! |---|---|---|
//! | `reply` | `id`, and `value` or `fault` | what came of a call |
//! | `item` | `id`, `value` | an item of a feed |
//! | `event` | `seq`, `name`, `correlationId`, `payload` | what happened |
//! | `prompt` | `request` | a prompt, as the Interaction Protocol has it |
//! | `promptOver` | `interactionId` | the prompt is settled, or another screen answers it |

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::thread;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use stud_abi::{CancellationSource, CancellationToken, Fault, HostHandle, Listener};
use stud_contract_interaction::{PROTOCOL_VERSION, Request, Response};
use stud_contract_meta::{Error, Result as CoreResult};
use stud_core::events::{Event, Service, Subscriber};
use stud_core::executor::{block_on, spawn};
use stud_core::interactions::Interactor;
use stud_core::session::Session;
use stud_diagnostics::codes;
use stud_host_api::BoxFuture;

/// The operations that a screen may call. The environment is that of the screen's own process, so none of it is told.
const ALLOWED: [&str; 14] = [
    "commands.complete",
    "commands.dispatch",
    "commands.list",
    "config.readOwn",
    "interaction.availability",
    "interaction.respond",
    "metrics.snapshot",
    "metrics.subscribe",
    "metrics.subscribeToTokens",
    "session.append",
    "session.read",
    "workspace.correlationId",
    "workspace.projectRoot",
    "workspace.sessionId",
];

/// How many lines may wait for a screen. One that is further behind is disconnected.
const MOST_WAITING: usize = 1 << 16;

/// The longest line of a screen.
const LONGEST_LINE: u64 = 4 << 20;

/// How long a screen may take to take a line.
const STALLED: Duration = Duration::from_secs(30);

/// What a screen of another process uses of a session.
pub struct ScreenHost {
    /// The session.
    pub session: Arc<Session>,
    /// The plugin that runs there.
    pub ext_id: String,
    /// Its host here.
    pub host: HostHandle,
}

impl std::fmt::Debug for ScreenHost {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ScreenHost")
            .field("ext_id", &self.ext_id)
            .finish_non_exhaustive()
    }
}

/// A line of a screen.
#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "camelCase")]
pub(crate) enum FromScreen {
    /// Calls an operation.
    Call {
        id: u64,
        operation: String,
        payload: String,
    },
    /// Calls an operation that may take its time.
    Wait {
        id: u64,
        operation: String,
        payload: String,
    },
    /// Hears a feed.
    Listen { id: u64, operation: String },
}

/// A line to a screen.
#[derive(Debug, Serialize, Deserialize)]
#[serde(
    tag = "type",
    rename_all = "camelCase",
    rename_all_fields = "camelCase"
)]
pub(crate) enum ToScreen {
    Reply {
        id: u64,
        #[serde(skip_serializing_if = "Option::is_none")]
        value: Option<String>,
        #[serde(skip_serializing_if = "Option::is_none")]
        fault: Option<Value>,
    },
    Item {
        id: u64,
        value: String,
    },
    Event {
        seq: u64,
        name: String,
        correlation_id: String,
        payload: String,
    },
    Prompt {
        request: Value,
    },
    PromptOver {
        interaction_id: String,
    },
}

/// The way to a screen. Nothing that happens in the session waits for it.
#[derive(Clone)]
struct Outbox {
    lines: SyncSender<String>,
    stream: Arc<UnixStream>,
}

impl Outbox {
    fn send(&self, line: &ToScreen) {
        let Ok(line) = serde_json::to_string(line) else {
            return;
        };
        if let Err(TrySendError::Full(_)) = self.lines.try_send(line) {
            // It reads the transcript again when it comes back.
            let _ = self.stream.shutdown(Shutdown::Both);
        }
    }

    fn reply(&self, id: u64, reply: Result<String, Fault>) {
        let (value, fault) = match reply {
            Ok(value) => (Some(value), None),
            Err(fault) => (None, Some(fault_members(&fault))),
        };
        self.send(&ToScreen::Reply { id, value, fault });
    }
}

/// A screen as subscriber and interactor.
struct Seat {
    ext_id: String,
    outbox: Outbox,
}

impl Subscriber for Seat {
    fn ext_id(&self) -> &str {
        &self.ext_id
    }

    fn hear(&self, event: &Event) -> CoreResult<()> {
        self.outbox.send(&ToScreen::Event {
            seq: event.seq,
            name: event.name.to_string(),
            correlation_id: event.correlation_id.to_string(),
            payload: event.payload.to_string(),
        });
        Ok(())
    }
}

impl Interactor for Seat {
    fn ext_id(&self) -> &str {
        &self.ext_id
    }

    fn protocol_minor(&self) -> u64 {
        let minor = PROTOCOL_VERSION.split('.').nth(1);
        minor.and_then(|minor| minor.parse().ok()).unwrap_or(0)
    }

    /// The screen answers with `interaction.respond`.
    fn ask<'a>(
        &'a self,
        request: &'a Request,
        cancelled: CancellationToken,
    ) -> BoxFuture<'a, CoreResult<Response>> {
        Box::pin(async move {
            self.outbox.send(&ToScreen::Prompt {
                request: json!(request),
            });
            cancelled.cancelled().await;
            self.outbox.send(&ToScreen::PromptOver {
                interaction_id: request.interaction_id.clone(),
            });
            Ok(Response::dismissed(request))
        })
    }
}

/// Lets a screen take part until its connection ends. `greeting` is the line that says that it does.
pub(crate) fn serve(stream: UnixStream, screen: ScreenHost, greeting: &str) {
    let Ok(outbox) = open(&stream, greeting) else {
        return;
    };
    let ScreenHost {
        session,
        ext_id,
        host,
    } = screen;
    let seat = Arc::new(Seat {
        ext_id: ext_id.clone(),
        outbox: outbox.clone(),
    });
    session.subscribe(seat.clone(), Service::Apart);
    session.prompts().join(seat);
    let ending = end_with(&session, &outbox);
    read(stream, &host, &outbox);
    ending.cancel();
    session.prompts().leave(&ext_id);
    session.bus().unsubscribe(&ext_id);
}

fn open(stream: &UnixStream, greeting: &str) -> std::io::Result<Outbox> {
    stream.set_nonblocking(false)?;
    stream.set_read_timeout(None)?;
    stream.set_write_timeout(Some(STALLED))?;
    let mut writing = stream.try_clone()?;
    writing.write_all(greeting.as_bytes())?;
    let (lines, queued) = sync_channel(MOST_WAITING);
    let outbox = Outbox {
        lines,
        stream: Arc::new(stream.try_clone()?),
    };
    thread::Builder::new()
        .name("stud-attached".to_owned())
        .spawn(move || write(writing, &queued))?;
    Ok(outbox)
}

fn write(mut stream: UnixStream, lines: &Receiver<String>) {
    while let Ok(mut line) = lines.recv() {
        line.push('\n');
        if stream.write_all(line.as_bytes()).is_err() {
            let _ = stream.shutdown(Shutdown::Both);
            return;
        }
    }
}

/// Ends the connection with the session. What this gives is cancelled when the connection has ended by itself.
fn end_with(session: &Session, outbox: &Outbox) -> CancellationSource {
    let (attached, stream) = (session.scope().child(), outbox.stream.clone());
    let over = attached.token();
    spawn(move || {
        block_on(over.cancelled());
        let _ = stream.shutdown(Shutdown::Both);
    });
    attached
}

/// Does what the screen asks for, until it is gone.
fn read(stream: UnixStream, host: &HostHandle, outbox: &Outbox) {
    let mut lines = BufReader::new(stream);
    let mut feeds = Vec::new();
    loop {
        let mut line = String::new();
        let read = (&mut lines).take(LONGEST_LINE).read_line(&mut line);
        match read {
            Ok(length) if length > 0 && line.ends_with('\n') => {}
            _ => return,
        }
        let Ok(asked) = serde_json::from_str::<FromScreen>(&line) else {
            return;
        };
        let (host, outbox) = (host.clone(), outbox.clone());
        match asked {
            FromScreen::Call {
                id,
                operation,
                payload,
            } => spawn(move || {
                let reply = allowed(&operation).and_then(|()| host.call(&operation, &payload));
                outbox.reply(id, reply);
            }),
            FromScreen::Wait {
                id,
                operation,
                payload,
            } => spawn(move || {
                let reply = allowed(&operation)
                    .and_then(|()| block_on(host.call_async(&operation, payload)));
                outbox.reply(id, reply);
            }),
            FromScreen::Listen { id, operation } => {
                let items = outbox.clone();
                let listener = Listener::new(move |item| {
                    let value = item.to_owned();
                    items.send(&ToScreen::Item { id, value });
                });
                let feed = allowed(&operation).and_then(|()| host.subscribe(&operation, listener));
                let reply = feed.map(|feed| {
                    feeds.push(feed);
                    "null".to_owned()
                });
                outbox.reply(id, reply);
            }
        }
    }
}

fn allowed(operation: &str) -> Result<(), Fault> {
    if ALLOWED.contains(&operation) {
        return Ok(());
    }
    let code = &codes::NOT_IMPLEMENTED;
    let message = format!("a screen of another process cannot use `{operation}`");
    let error = Error::new(code.class, code.name, message).with("operation", operation);
    Err(Fault::from(error))
}

/// A fault as it crosses the connection.
pub(crate) fn fault_members(fault: &Fault) -> Value {
    json!({
        "class": fault.class,
        "code": fault.code,
        "message": fault.message,
        "context": fault.context,
    })
}
