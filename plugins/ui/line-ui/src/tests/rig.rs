//! A plugin with devices that a test can type on and look at.

use std::cell::RefCell;
use std::io::{self, PipeWriter, Write};
use std::os::fd::OwnedFd;
use std::sync::{Arc, Condvar, Mutex, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use stud_sdk::host::session::SessionRecord;
use stud_sdk::testing::{FakeHost, Harness};
use stud_sdk::ui::{Answer, Payload, Request, Response};
use stud_sdk::{Result, json};

use crate::devices::Devices;
use crate::keyboard::Keyboard;
use crate::screen::Output;

/// Longer than anything here takes, so that a test that would hang fails instead.
const PATIENCE: Duration = Duration::from_secs(30);

thread_local! {
    static LENT: RefCell<Option<Devices>> = const { RefCell::new(None) };
}

/// The devices that the test on this thread has laid out.
pub(crate) fn lent() -> Option<Devices> {
    LENT.take()
}

/// Lays out devices for the next plugin made on this thread.
pub(crate) fn lend(devices: Devices) {
    LENT.set(Some(devices));
}

/// What was written, as it is written.
#[derive(Clone, Default)]
pub(crate) struct Paper(Arc<(Mutex<Vec<u8>>, Condvar)>);

impl Paper {
    pub(crate) fn output(&self, is_terminal: bool) -> Output {
        let writer = Box::new(self.clone());
        Output {
            writer,
            is_terminal,
        }
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8(self.0.0.lock().unwrap().clone()).unwrap()
    }

    /// Waits until `text` has been written.
    pub(crate) fn wait_for(&self, text: &str) {
        let (written, changed) = &*self.0;
        let missing = |written: &mut Vec<u8>| !String::from_utf8_lossy(written).contains(text);
        let waited = changed.wait_timeout_while(written.lock().unwrap(), PATIENCE, missing);
        let (written, timeout) = waited.unwrap();
        let found = String::from_utf8_lossy(&written);
        assert!(!timeout.timed_out(), "no {text:?} in {found:?}");
    }
}

impl Write for Paper {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.0.lock().unwrap().extend_from_slice(bytes);
        self.0.1.notify_all();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Waits until something is the case.
pub(crate) fn eventually(what: &str, is_so: impl Fn() -> bool) {
    let start = Instant::now();
    while !is_so() {
        assert!(start.elapsed() < PATIENCE, "never: {what}");
        thread::yield_now();
    }
}

/// A running plugin.
pub(crate) struct Rig {
    pub(crate) harness: Arc<Harness>,
    pub(crate) text: Paper,
    pub(crate) notes: Paper,
    keys: Option<PipeWriter>,
}

impl Rig {
    /// One that reads from a pipe.
    pub(crate) fn new() -> Self {
        Self::with(FakeHost::new())
    }

    pub(crate) fn with(host: FakeHost) -> Self {
        let (input, keys) = io::pipe().unwrap();
        let rig = Self::on(input.into(), host, false);
        Self {
            keys: Some(keys),
            ..rig
        }
    }

    /// One that reads from `input`; both outputs are terminals, or neither is.
    pub(crate) fn on(input: OwnedFd, host: FakeHost, is_terminal: bool) -> Self {
        let (text, notes) = (Paper::default(), Paper::default());
        lend(Devices {
            keyboard: Keyboard::new(input),
            text: text.output(is_terminal),
            notes: notes.output(is_terminal),
        });
        let harness = Harness::new(crate::stud_plugin(), host);
        harness.start().unwrap();
        Self {
            harness: Arc::new(harness),
            text,
            notes,
            keys: None,
        }
    }

    pub(crate) fn types(&self, keys: &str) {
        self.types_bytes(keys.as_bytes());
    }

    pub(crate) fn types_bytes(&self, keys: &[u8]) {
        let mut input = self.keys.as_ref().unwrap();
        input.write_all(keys).unwrap();
    }

    /// Closes the other end of the pipe.
    pub(crate) fn hangs_up(&mut self) {
        self.keys = None;
    }

    /// Puts a question to the plugin, on a thread that waits for the answer.
    pub(crate) fn asks(&self, payload: impl Into<Payload>) -> Asked {
        let (harness, payload) = (self.harness.clone(), payload.into());
        let (tell, told) = mpsc::channel();
        thread::spawn(move || tell.send(harness.interact(payload)));
        Asked(told)
    }

    pub(crate) fn hears(&self, name: &str, payload: stud_sdk::Value) {
        self.harness.event(name, &payload).unwrap();
    }

    pub(crate) fn host(&self) -> &FakeHost {
        self.harness.host()
    }

    /// What has been sent to the session, once it is so many messages.
    pub(crate) fn sent(&self, count: usize) -> Vec<String> {
        eventually("enough messages", || self.host().appended().len() >= count);
        let sent = self
            .host()
            .appended()
            .into_iter()
            .map(|record| match record {
                SessionRecord::UserInput { text } => text,
                other => panic!("{other:?}"),
            });
        sent.collect()
    }

    /// Sends a line after which everything typed before has been dealt with.
    pub(crate) fn catches_up(&self) -> Vec<String> {
        let before = self.host().appended().len();
        self.types("that was all\n");
        let is_last = || {
            let appended = self.host().appended();
            let last = SessionRecord::UserInput {
                text: "that was all".to_owned(),
            };
            appended.len() > before && appended.last() == Some(&last)
        };
        eventually("the last line is sent", is_last);
        let mut sent = self.sent(0);
        sent.pop();
        sent
    }

    /// Asks, types `keys` once `shown` is on the screen, and gives what came back.
    pub(crate) fn gets(&self, payload: impl Into<Payload>, shown: &str, keys: &str) -> Response {
        let asked = self.asks(payload);
        self.notes.wait_for(shown);
        self.types(keys);
        asked.response()
    }
}

/// A question that has been put to the plugin.
pub(crate) struct Asked(mpsc::Receiver<Result<Response>>);

impl Asked {
    pub(crate) fn response(self) -> Response {
        self.0.recv_timeout(PATIENCE).unwrap().unwrap()
    }
}

/// The answer that `response` gives to `payload`, by the contract's own check.
pub(crate) fn answer(response: &Response, payload: &Payload) -> Option<Answer> {
    let request = Request::new(
        response.interaction_id.clone(),
        response.correlation_id.clone(),
        "2026-01-01T00:00:00.000Z",
        payload.clone(),
    );
    response.check(&request).unwrap()
}

/// The event that an interactor has settled a prompt.
pub(crate) fn answered_by(ext_id: &str, interaction_id: &str) -> stud_sdk::Value {
    json!({
        "correlationId": "turn-1",
        "interactionId": interaction_id,
        "status": "accepted",
        "extId": ext_id,
    })
}
