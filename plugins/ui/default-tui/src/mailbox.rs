//! What the screen's thread is told by everyone else.

use std::collections::{BTreeMap, VecDeque};
use std::fs::File;
use std::io::Write as _;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use stud_sdk::host::metrics::RuntimeSnapshot;
use stud_sdk::interaction::Request;

use crate::app::Done;

/// Events beyond so many bytes are dropped; the end of an answer has all of its text.
const MOST_BYTES: usize = 6 << 20;

/// Something to take note of.
#[derive(Debug)]
pub(crate) enum Message {
    Event {
        name: String,
        payload: String,
    },
    Prompt(Box<Request>),
    PromptGone(String),
    Done(Box<Done>),
    Snapshot(Arc<RuntimeSnapshot>),
    /// The terminal may have another size.
    Resized,
    /// Something outside asked to stop the process for a while.
    Suspend,
    Close,
}

/// Messages in order, and a pipe that wakes the thread that waits for them.
#[derive(Debug)]
pub(crate) struct Mailbox {
    state: Mutex<State>,
    wake: File,
}

#[derive(Debug, Default)]
struct State {
    messages: VecDeque<Message>,
    bytes: usize,
    lost: bool,
    /// Prompts whose calls wait for their end.
    waiting: BTreeMap<String, Waiting>,
}

#[derive(Debug, Default)]
struct Waiting {
    is_done: bool,
    waker: Option<Waker>,
}

impl Mailbox {
    pub(crate) fn new(wake: File) -> Self {
        Self {
            state: Mutex::default(),
            wake,
        }
    }

    /// Puts a message in.
    pub(crate) fn post(&self, message: Message) {
        let mut state = self.lock();
        if let Message::Event { name, payload } = &message {
            let size = name.len() + payload.len();
            if state.bytes + size > MOST_BYTES {
                state.lost = true;
                return;
            }
            state.bytes += size;
        }
        let was_empty = state.messages.is_empty();
        state.messages.push_back(message);
        drop(state);
        if was_empty {
            // A full pipe wakes as well.
            let _ = (&self.wake).write(&[1]);
        }
    }

    pub(crate) fn done(&self, done: Done) {
        self.post(Message::Done(Box::new(done)));
    }

    /// Takes everything out, and whether something had to be dropped before.
    pub(crate) fn take(&self) -> (VecDeque<Message>, bool) {
        let mut state = self.lock();
        state.bytes = 0;
        let lost = std::mem::take(&mut state.lost);
        (std::mem::take(&mut state.messages), lost)
    }

    /// A prompt's call begins to wait.
    pub(crate) fn await_prompt(&self, id: &str) {
        self.lock()
            .waiting
            .insert(id.to_owned(), Waiting::default());
    }

    /// Whether a prompt's call may end.
    pub(crate) fn poll_prompt(&self, id: &str, cx: &Context<'_>) -> Poll<()> {
        match self.lock().waiting.get_mut(id) {
            Some(waiting) if !waiting.is_done => {
                waiting.waker = Some(cx.waker().clone());
                Poll::Pending
            }
            _ => Poll::Ready(()),
        }
    }

    /// Lets a prompt's call end.
    pub(crate) fn end_prompt(&self, id: &str) {
        let waker = {
            let mut state = self.lock();
            let waiting = state.waiting.get_mut(id);
            waiting.and_then(|waiting| {
                waiting.is_done = true;
                waiting.waker.take()
            })
        };
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    /// Whether a prompt waits.
    pub(crate) fn has_prompt(&self) -> bool {
        !self.lock().waiting.is_empty()
    }

    /// Whether the screen is to close.
    pub(crate) fn is_closing(&self) -> bool {
        self.lock()
            .messages
            .iter()
            .any(|message| matches!(message, Message::Close))
    }

    /// Lets the calls of all prompts end.
    pub(crate) fn end_prompts(&self) {
        let ids: Vec<String> = self.lock().waiting.keys().cloned().collect();
        for id in ids {
            self.end_prompt(&id);
        }
    }

    /// A prompt's call has ended.
    pub(crate) fn forget_prompt(&self, id: &str) {
        self.lock().waiting.remove(id);
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // Each change is whole before anything in it can panic.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
