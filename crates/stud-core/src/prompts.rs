//! Prompts: typed questions that several interactors race to answer.
//!
//! One registry serves a session and all its children. A prompt waits in line, is put to every interactor at the same
//! time, and is settled exactly once: by the first `accepted` or `rejected`, by its asker who calls it off, by time, or
//! by the rules for when nobody is there. Whatever settles it goes through `Prompts::settle`, under one lock; whoever
//! comes second is told that it was answered already.
//!
//! ```text
//! raise → Queued → Announcing → Open → Settling → settled
//!                  recorded     asked   recorded
//! ```
//!
//! Nobody sees a prompt before its record is written, and no answer has any effect before its record is on the disk.

use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, Weak};
use std::time::Duration;

use stud_abi::{CancellationSource, CancellationToken};
use stud_contract_interaction::{Payload, Request, Response};
use stud_contract_meta::{Error, Result};
use stud_diagnostics::codes;
use stud_host_api::{BoxFuture, refusal};

use crate::books::Books;
use crate::events::Roused;
use crate::ids;
use crate::planted::{Fault, planted};
use crate::platform;
use crate::sync::{Mutex, Promise, Promised, lock, promise};
use crate::timer::{Alarm, Timer};

mod absence;
mod outcome;
mod raised;
mod seat;
mod stuck;

pub use absence::{Absence, HeadlessGrant};
pub use outcome::Outcome;
pub use raised::Raised;

use seat::Seat;

/// Answers prompts.
pub trait Interactor: Send + Sync {
    /// The plugin behind it.
    fn ext_id(&self) -> &str;

    /// The minor version of the protocol it was built for.
    fn protocol_minor(&self) -> u64;

    /// Puts a question to a person. `cancelled` fires when the answer is no longer wanted.
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
    pub books: Arc<Books>,
    /// Fires when the answer is no longer wanted.
    pub cancelled: CancellationToken,
    /// How long to wait once somebody has been asked. Nothing means forever.
    pub timeout: Option<Duration>,
    /// When the child session was opened, for one that asks.
    pub spawned_at: Option<u64>,
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
    seats: Vec<Arc<Seat>>,
    /// Those who did not let go of a prompt that was over.
    stuck: Vec<Arc<Seat>>,
    queue: Vec<Arc<Prompt>>,
    current: Option<Current>,
    /// The last prompts that were settled, to tell a late answer from a wrong one.
    settled: VecDeque<String>,
    arrivals: u64,
    /// Whether anybody was ever there to ask.
    attended: bool,
    /// How often everybody was away.
    absences: u64,
    /// Rings when those who left have been gone for too long.
    grace: Option<Alarm>,
    closed: bool,
}

/// How many settled prompts are remembered.
const REMEMBERED: usize = 1024;

struct Prompt {
    request: Request,
    asker: Asker,
    raised_at: u64,
    arrival: u64,
    /// Where the outcome goes.
    asked: Mutex<Option<Promise<Result<Response>>>>,
}

/// The prompt that is being asked.
struct Current {
    prompt: Arc<Prompt>,
    stage: Stage,
    timeout: Option<Alarm>,
}

enum Stage {
    /// Its record is on the way. What settles it meanwhile has to wait.
    Announcing(Option<Outcome>),
    /// Interactors have it.
    Open,
    /// It has its outcome, whose record is on the way.
    Settling,
}

impl Prompts {
    /// A registry nobody has joined yet.
    pub fn new(timer: Arc<dyn Timer>, absence: Absence) -> Arc<Self> {
        Arc::new_cyclic(|this| Self {
            table: Mutex::new(Table::default()),
            timer,
            absence,
            this: this.clone(),
        })
    }

    /// Asks. The prompt is called off when the returned future is dropped.
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
            asked: Mutex::new(Some(promise)),
        })
    }

    fn enqueue(&self, prompt: Arc<Prompt>) {
        {
            let mut table = lock(&self.table);
            if table.closed {
                drop(table);
                prompt.keep(Err(crate::ledger::closed()));
                return;
            }
            table.queue.push(prompt);
        }
        self.advance();
    }

    /// Takes the next prompt in line, if none is being asked.
    fn advance(&self) {
        let (unwanted, next) = {
            let mut table = lock(&self.table);
            if table.current.is_some() {
                return;
            }
            let unwanted = table.unwanted();
            let next = table.next_in_line();
            table.current = next.clone().map(|prompt| Current {
                prompt,
                stage: Stage::Announcing(None),
                timeout: None,
            });
            (unwanted, next)
        };
        for prompt in unwanted {
            prompt.keep(Outcome::Cancelled.for_asker(&prompt));
        }
        let Some(prompt) = next else {
            return;
        };
        if let Some(outcome) = self.unasked(&prompt) {
            let mut table = lock(&self.table);
            if let Some(current) = &mut table.current {
                current.stage = Stage::Settling;
            }
            drop(table);
            return self.finish(prompt, outcome, false);
        }
        let this = self.this.clone();
        let records = vec![outcome::request_record(&prompt)];
        let announced = prompt.clone();
        prompt.asker.books.ledger.commit(
            records,
            stud_contract_session_store::Durability::Written,
            move |written| {
                if let Some(prompts) = this.upgrade()
                    && !planted(Fault::AskedEarly)
                {
                    prompts.announced(announced, written.map(drop));
                }
            },
        );
        if planted(Fault::AskedEarly) {
            self.announced(prompt, Ok(()));
        }
    }

    /// The prompt's record is written: now everybody may know.
    fn announced(&self, prompt: Arc<Prompt>, written: Result<()>) {
        if let Err(error) = written {
            let mut table = lock(&self.table);
            if let Some(current) = &mut table.current {
                current.stage = Stage::Settling;
            }
            drop(table);
            return self.over(&prompt, Err(error), Roused::default());
        }
        // In the stream before anyone is asked. But a person waits for the interactors, so they are woken first.
        let told = (!planted(Fault::RaisedLate)).then(|| outcome::publish_raised(&prompt));
        let (early, seats) = {
            let mut table = lock(&self.table);
            let seats = table.seats_for(&prompt);
            let Some(current) = &mut table.current else {
                return;
            };
            if let Stage::Announcing(Some(outcome)) =
                std::mem::replace(&mut current.stage, Stage::Open)
            {
                current.stage = Stage::Settling;
                (Some(outcome), seats)
            } else {
                current.timeout = self.arm(&prompt);
                (None, seats)
            }
        };
        if let Some(outcome) = early {
            return self.finish(prompt, outcome, true);
        }
        for seat in seats {
            self.offer(&seat, &prompt);
        }
        drop(told.unwrap_or_else(|| outcome::publish_raised(&prompt)));
        self.mind_absence();
    }

    fn arm(&self, prompt: &Prompt) -> Option<Alarm> {
        let limit = prompt.asker.timeout?;
        let (this, id) = (self.this.clone(), prompt.id().to_owned());
        let job = Box::new(move || {
            if let Some(prompts) = this.upgrade() {
                let _ = prompts.settle(&id, Outcome::TimedOut);
            }
        });
        Some(self.timer.after(limit, job))
    }

    /// An interactor's answer. When this returns without an error it has won and taken effect.
    pub fn respond<'a>(&'a self, ext_id: &str, response: Response) -> BoxFuture<'a, Result<()>> {
        let (id, settles) = (response.interaction_id.clone(), response.status.settles());
        let answered = self.answer(ext_id, response);
        if settles && answered.is_ok() {
            self.note_answer(ext_id, id);
        }
        Box::pin(async move {
            match answered?.await {
                Some(result) => result,
                None => Err(crate::ledger::closed()),
            }
        })
    }

    /// Takes an answer if it fits and is the first.
    fn answer(&self, ext_id: &str, response: Response) -> Result<Promised<Result<()>>> {
        let id = response.interaction_id.clone();
        let prompt = self.open(&id)?;
        if let Some(answer) = response.check(&prompt.request)? {
            outcome::learn(&prompt, &answer);
        }
        if !response.status.settles() {
            let (done, promised) = promise();
            done.keep(Ok(()));
            return Ok(promised);
        }
        let (done, promised) = promise();
        self.settle(
            &id,
            Outcome::Answered {
                ext_id: ext_id.to_owned(),
                response,
                done: Some(done),
            },
        )?;
        Ok(promised)
    }

    /// The prompt with this id, if it can still be answered.
    fn open(&self, id: &str) -> Result<Arc<Prompt>> {
        let table = lock(&self.table);
        match &table.current {
            Some(current) if current.prompt.id() == id => match current.stage {
                Stage::Settling => Err(refusal::interaction_already_answered(id)),
                Stage::Open | Stage::Announcing(_) => Ok(current.prompt.clone()),
            },
            _ if table.settled.iter().any(|settled| settled == id) => {
                Err(refusal::interaction_already_answered(id))
            }
            _ => Err(not_found(id)),
        }
    }

    /// Gives a prompt its outcome, unless it has one. This is the only place where that happens.
    fn settle(&self, id: &str, outcome: Outcome) -> Result<()> {
        enum Next {
            Finish(Arc<Prompt>, Outcome),
            Withdraw(Arc<Prompt>, Outcome),
        }
        let next = {
            let mut table = lock(&self.table);
            match &mut table.current {
                Some(current) if current.prompt.id() == id => match &mut current.stage {
                    Stage::Open => {
                        current.stage = Stage::Settling;
                        current.timeout = None;
                        Next::Finish(current.prompt.clone(), outcome)
                    }
                    Stage::Announcing(early @ None) => {
                        *early = Some(outcome);
                        return Ok(());
                    }
                    Stage::Settling if planted(Fault::TwoWinners) => {
                        Next::Finish(current.prompt.clone(), outcome)
                    }
                    Stage::Announcing(Some(_)) | Stage::Settling => {
                        return Err(refusal::interaction_already_answered(id));
                    }
                },
                _ => match table.queue.iter().position(|prompt| prompt.id() == id) {
                    Some(place) => Next::Withdraw(table.queue.remove(place), outcome),
                    None if table.settled.iter().any(|settled| settled == id) => {
                        return Err(refusal::interaction_already_answered(id));
                    }
                    None => return Err(not_found(id)),
                },
            }
        };
        match next {
            Next::Finish(prompt, outcome) => self.finish(prompt, outcome, true),
            // Nobody has seen it, so there is nothing to take back.
            Next::Withdraw(prompt, outcome) => prompt.keep(outcome.for_asker(&prompt)),
        }
        Ok(())
    }

    /// Writes the outcome down, and then lets it take effect.
    fn finish(&self, prompt: Arc<Prompt>, outcome: Outcome, raised: bool) {
        let this = self.this.clone();
        outcome.hide_secret(&prompt);
        let records = outcome.records(&prompt, raised);
        let durability = outcome.durability();
        let books = prompt.asker.books.clone();
        books.ledger.commit(records, durability, move |written| {
            // In the stream before the asker goes on, who is woken before those who deliver it.
            let (told, answer) = match written {
                Ok(_) => {
                    outcome.audit(&prompt);
                    let told = outcome.publish(&prompt, raised);
                    (told, outcome.for_asker(&prompt))
                }
                Err(error) if raised => (outcome::publish_cancelled(&prompt), Err(error)),
                Err(error) => (Roused::default(), Err(error)),
            };
            outcome.told(answer.as_ref().err().cloned());
            if let Some(prompts) = this.upgrade() {
                prompts.over(&prompt, answer, told);
            } else {
                prompt.keep(answer);
            }
        });
    }

    /// The prompt is settled: its asker goes on, dialogs close, and the next one in line is asked.
    fn over(&self, prompt: &Arc<Prompt>, answer: Result<Response>, told: Roused) {
        let calls = {
            let mut table = lock(&self.table);
            table.current = None;
            table.settled.push_back(prompt.id().to_owned());
            if table.settled.len() > REMEMBERED {
                table.settled.pop_front();
            }
            let calls = table.seats.iter().filter_map(|seat| {
                let call = seat.call_of(prompt.id())?;
                Some((seat.clone(), call))
            });
            calls.collect::<Vec<(Arc<Seat>, CancellationSource)>>()
        };
        prompt.keep(answer);
        drop(told);
        for (seat, call) in calls {
            if !planted(Fault::LosersForgotten) {
                call.cancel();
            }
            self.expect_back(&seat, prompt);
        }
        if !planted(Fault::LineStands) {
            self.advance();
        }
    }

    /// Ends every prompt, and takes no more.
    pub fn close(&self) {
        let (queue, current) = {
            let mut table = lock(&self.table);
            table.closed = true;
            table.grace = None;
            let current = table
                .current
                .as_ref()
                .map(|current| current.prompt.id().to_owned());
            (std::mem::take(&mut table.queue), current)
        };
        for prompt in queue {
            prompt.keep(Err(crate::ledger::closed()));
        }
        if let Some(id) = current {
            let _ = self.settle(&id, Outcome::Closed);
        }
    }

    /// How many prompts wait or are being asked.
    pub fn open_count(&self) -> usize {
        let table = lock(&self.table);
        table.queue.len() + usize::from(table.current.is_some())
    }
}

impl Table {
    /// Takes out the prompts that were called off while they waited, so that nobody is shown them.
    fn unwanted(&mut self) -> Vec<Arc<Prompt>> {
        let called_off = |prompt: &mut Arc<Prompt>| prompt.asker.cancelled.is_cancelled();
        self.queue.extract_if(.., called_off).collect()
    }

    /// The prompt that was raised first. Of two children that asked at the same moment the older one comes first.
    fn next_in_line(&mut self) -> Option<Arc<Prompt>> {
        let first = self
            .queue
            .iter()
            .enumerate()
            .min_by(|(_, one), (_, other)| one.order(other))
            .map(|(place, _)| place)?;
        Some(self.queue.remove(first))
    }
}

impl Prompt {
    fn id(&self) -> &str {
        &self.request.interaction_id
    }

    fn order(&self, other: &Self) -> std::cmp::Ordering {
        let spawned = match (self.asker.spawned_at, other.asker.spawned_at) {
            (Some(one), Some(two)) => one.cmp(&two),
            _ => std::cmp::Ordering::Equal,
        };
        self.raised_at
            .cmp(&other.raised_at)
            .then(spawned)
            .then(self.arrival.cmp(&other.arrival))
    }

    fn keep(&self, answer: Result<Response>) {
        if let Some(asked) = lock(&self.asked).take() {
            asked.keep(answer);
        }
    }
}

/// The id belongs to no prompt of this session.
fn not_found(id: &str) -> Error {
    let code = &codes::INTERACTION_NOT_FOUND;
    Error::new(code.class, code.name, format!("there is no prompt `{id}`"))
        .with("interactionId", id)
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
