//! A UI that logs events, approves what it is asked to approve, and fills in the forms of tools.
#![forbid(unsafe_code)]

use std::fs::File;
use std::io::Write as _;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use stud_sdk::interaction::{ApproveAnswer, Decision};
use stud_sdk::prelude::*;
use stud_sdk::ui::{Event, Payload, Request, Response, Status};

/// What the operator sets.
#[derive(Config)]
struct Options {
    /// The file that gets a line for each event and each prompt.
    log: PathBuf,
}

/// Approves everything and gives every form the title `Frozen`.
#[ui(id = "frozen-ui", config = Options, init = Screen::open)]
struct Screen {
    log: Mutex<File>,
}

impl Screen {
    fn open(_host: Host, options: Options) -> Result<Self> {
        let log = File::options().create(true).append(true).open(options.log);
        Ok(Self {
            log: Mutex::new(log.map_err(Error::failed)?),
        })
    }

    fn line(&self, line: &Value) -> Result<()> {
        let mut log = self.log.lock().unwrap_or_else(PoisonError::into_inner);
        writeln!(log, "{line}").map_err(Error::failed)
    }
}

impl Subscriber for Screen {
    fn on_event(&self, event: &Event<'_>) -> Result<()> {
        let payload: Value = serde_json::from_str(event.payload.as_ref()).map_err(Error::failed)?;
        self.line(&json!({"event": event.name, "payload": payload}))
    }
}

impl Interactor for Screen {
    async fn on_interaction(&self, request: Request, _cx: &Cx) -> Result<Response> {
        self.line(&json!({"prompt": request.kind().as_str(), "request": request}))?;
        Ok(match &request.payload {
            Payload::Approve(_) => Response::accepted(
                &request,
                ApproveAnswer {
                    decision: Decision::Approve,
                    allow_once: Some(true),
                    scope: None,
                },
            ),
            Payload::ToolInput(_) => Response {
                status: Status::Accepted,
                value: Some(json!({"action": "submit", "input": {"title": "Frozen"}})),
                ..Response::dismissed(&request)
            },
            _ => Response::dismissed(&request),
        })
    }
}
