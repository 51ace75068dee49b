//! Prompts: typed questions that several interactors race to answer.
//!
//! One registry serves a session and all its children. A prompt waits in line, is put to every interactor at the same
//! time, and is settled exactly once: by the first `accepted` or `rejected`, by its asker who calls it off, by time, or
//! by the rules for an absent user. Whatever settles it goes through `Prompts::settle`, under one lock; an answer that
//! comes second is told that it was answered already.
//!
//! ```text
//! raise → Queued → Announcing → Open → Settling → settled
//!                  recorded     asked   recorded
//! ```
//!
//! A tool's prompt that runs out of time may stay open for one late answer, which `detached.rs` tells.
//!
//! No prompt is visible before its record is written, and no answer has any effect before its record is on the disk.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::{Arc, Weak};
use std::time::Duration;

use stud_abi::CancellationToken;
use stud_contract_interaction::{Payload, Request, Response};
use stud_contract_meta::Result;
use stud_host_api::BoxFuture;

use crate::ids;
use crate::ledger::closed;
use crate::platform;
use crate::recorder::Recorder;
use crate::sync::{AtomicBool, Mutex, Promise, lock, promise};
use crate::timer::{Alarm, Timer};

mod audience;
mod outcome;
mod stage;
mod pending;
mod interactor_slot;
mod queue;
mod dispatch;
mod unresponsive;
mod absence;
pub(crate) mod form_rules;
mod render_answer;
mod detached;
mod settled_log;
mod settling;

pub use absence::{Absence, HeadlessGrant};
pub use audience::Audience;
pub use detached::Inbox;
pub use outcome::Outcome;
pub use pending::Raised;
pub use render_answer::LateAnswer;

use detached::{Detached, ToolCall};
use interactor_slot::InteractorSlot;
use queue::Current;
use settled_log::Remembered;
use stage::PromptStage;

/// Answers prompts.
pub trait Interactor: Send + Sync {
    /// The plugin behind it.
    fn ext_id(&self) -> &str;

    /// The minor version of the protocol it was built for.
    fn protocol_minor(&self) -> u64;

    /// The last event that happened, for one who listens as well.
    fn news(&self) -> u64 {
        0
    }

    /// Waits until it has heard this event, but not for long; nothing if it has.
    fn catch_up(&self, _news: u64) -> Option<BoxFuture<'_, ()>> {
        None
    }

    /// Puts a question to a person. `cancelled` fires when the answer is no longer wanted, and has fired already when
    /// another interactor answered before this one could be asked.
    fn ask<'a>(
        &'a self,
        request: &'a Request,
        cancelled: CancellationToken,
    ) -> BoxFuture<'a, Result<Response>>;
}

/// Who asks, and where it is written down.
#[derive(Debug, Clone)]
pub struct Asker {
    /// The plugin; none when core asks on its own account.
    pub ext_id: Option<String>,
    /// The turn, or a fresh id outside one.
    pub correlation_id: String,
    /// The books of the session that asks.
    pub books: Arc<Recorder>,
    /// Fires when the answer is no longer wanted.
    pub cancelled: CancellationToken,
    /// The timeout once an interactor was asked. `None` means forever.
    pub timeout: Option<Duration>,
    /// When the child session was opened, for one that asks.
    pub spawned_at: Option<u64>,
    /// The tool call that is asked about, where the question itself does not name it.
    pub tool_call_id: Option<String>,
}

/// The prompts of a session and its children.
pub struct Prompts {
    table: Mutex<Table>,
    timer: Arc<dyn Timer>,
    absence: Absence,
    this: Weak<Self>,
}

#[derive(Default)]
struct Table {
    seats: Vec<Arc<InteractorSlot>>,
    /// Interactors that did not return from a settled prompt.
    stuck: Vec<Arc<InteractorSlot>>,
    queue: Vec<Arc<Prompt>>,
    current: Option<Current>,
    /// Tools' prompts that ran out of time, while their tools decide what becomes of them.
    overdue: BTreeMap<ToolCall, Arc<Prompt>>,
    /// Prompts that stay open though their tools are gone, by id.
    detached: BTreeMap<String, Detached>,
    /// The last prompts that were settled, to tell a late answer from a wrong one.
    settled: Remembered,
    /// How many prompts of each plugin were settled.
    settled_of: BTreeMap<String, u64>,
    arrivals: u64,
    /// Whether an interactor was ever attached.
    attended: bool,
    /// How often all interactors were absent.
    absences: u64,
    /// Rings when those who left have been gone for too long.
    grace: Option<Alarm>,
    /// The tools' calls that have asked and are not over.
    asked: BTreeSet<ToolCall>,
    /// How many screens stand behind interactors that have several, by the plugin.
    audiences: BTreeMap<String, Audience>,
    closed: bool,
}

struct Prompt {
    request: Request,
    asker: Asker,
    raised_at: u64,
    arrival: u64,
    /// Whether an answer settled it.
    answered: AtomicBool,
    /// Where the outcome goes.
    asked: Mutex<Option<Promise<Result<Response>>>>,
}

impl Prompts {
    /// A registry without interactors.
    pub fn new(timer: Arc<dyn Timer>, absence: Absence) -> Arc<Self> {
        Arc::new_cyclic(|this| Self {
            table: Mutex::new(Table::default()),
            timer,
            absence,
            this: this.clone(),
        })
    }

    /// Raises a prompt. It is cancelled when the returned future is dropped.
    pub fn raise(&self, asker: Asker, payload: Payload) -> Raised {
        let (promise, promised) = promise();
        let prompt = self.enter(asker, payload, promise);
        let id = prompt.request.interaction_id.clone();
        let cancelled = prompt.asker.cancelled.clone();
        self.enqueue(prompt);
        Raised::new(self.this.clone(), id, promised, &cancelled)
    }

    fn enter(
        &self,
        asker: Asker,
        payload: Payload,
        promise: Promise<Result<Response>>,
    ) -> Arc<Prompt> {
        let issued_at = platform::rfc3339(platform::now());
        let mut request = Request::new(
            ids::fresh(),
            asker.correlation_id.clone(),
            issued_at,
            payload,
        );
        if let Some(child) = &asker.books.parentage {
            request = request.from_subagent(&child.parent_session_id, &child.subagent_id);
        }
        let arrival = {
            let mut table = lock(&self.table);
            table.arrivals += 1;
            table.arrivals
        };
        Arc::new(Prompt {
            request,
            asker,
            raised_at: platform::ticks(),
            arrival,
            answered: AtomicBool::new(false),
            asked: Mutex::new(Some(promise)),
        })
    }

    fn enqueue(&self, prompt: Arc<Prompt>) {
        {
            let mut table = lock(&self.table);
            if table.closed {
                drop(table);
                prompt.keep(Err(closed()));
                return;
            }
            table.supersede(&prompt);
            table.queue.push(prompt);
        }
        self.advance();
    }

    /// Ends every prompt, and takes no more. Those that stay open are answered when the session is resumed.
    pub fn close(&self) {
        let (queue, current, early) = {
            let mut table = lock(&self.table);
            table.closed = true;
            table.grace = None;
            table.overdue.clear();
            let early = table.leave_detached();
            let current = table
                .current
                .as_ref()
                .map(|current| current.prompt.id().to_owned());
            (std::mem::take(&mut table.queue), current, early)
        };
        for prompt in queue {
            prompt.keep(Err(closed()));
        }
        for outcome in early {
            outcome.told(Some(closed()));
        }
        if let Some(id) = current {
            let _ = self.settle(&id, Outcome::Closed);
        }
    }

    /// Whether an interactor is attached, or was and may come back.
    pub(crate) fn is_attended(&self) -> bool {
        let table = lock(&self.table);
        !table.seats.is_empty() || table.attended
    }

    /// The prompts that wait or are being asked, in the order of their turn.
    pub fn open(&self) -> Vec<Request> {
        let table = lock(&self.table);
        let current = table.current.iter().map(|current| &current.prompt);
        let open = current.chain(&table.queue);
        open.map(|prompt| prompt.request.clone()).collect()
    }

    /// How many prompts wait or are being asked.
    pub fn open_count(&self) -> usize {
        let table = lock(&self.table);
        table.queue.len() + usize::from(table.current.is_some())
    }
}

impl Prompt {
    fn id(&self) -> &str {
        &self.request.interaction_id
    }

    fn keep(&self, answer: Result<Response>) {
        if let Some(asked) = lock(&self.asked).take() {
            asked.keep(answer);
        }
    }
}

impl fmt::Debug for Prompts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Prompts")
            .field("open", &self.open_count())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
#[cfg(not(shuttle))]
mod tests;

impl Prompts {
    /// Whether a plugin waits for an answer, or for its turn to ask.
    pub(crate) fn is_asking(&self, ext_id: &str) -> bool {
        let table = lock(&self.table);
        let current = table.current.iter().map(|current| &current.prompt);
        let mut prompts = table.queue.iter().chain(current);
        prompts.any(|prompt| prompt.asker.ext_id.as_deref() == Some(ext_id))
    }

    /// How many of a plugin's prompts were settled so far.
    pub(crate) fn settled_of(&self, ext_id: &str) -> u64 {
        let table = lock(&self.table);
        table.settled_of.get(ext_id).copied().unwrap_or_default()
    }
}
