//! Interactors: who is asked, one prompt after the other.

use std::collections::VecDeque;
use std::sync::Arc;

use serde_json::json;
use stud_abi::CancellationSource;
use stud_contract_interaction::Response;
use stud_contract_meta::{Error, Result};
use stud_diagnostics::codes;

use super::{Current, Interactor, Prompt, Prompts, Stage, Table};
use crate::planted::{Fault, planted};
use crate::sync::{Mutex, Promise, Promised, lock, promise};
use crate::timer::Alarm;
use crate::work;

/// How many answers of the wrong shape an interactor may give to one prompt before it is no longer asked.
const SECOND_CHANCES: u32 = 3;

/// An interactor's place. It sees one prompt at a time.
pub(super) struct Seat {
    interactor: Arc<dyn Interactor>,
    desk: Mutex<Desk>,
}

#[derive(Default)]
struct Desk {
    waiting: VecDeque<Arc<Prompt>>,
    /// Whether somebody drives this seat.
    busy: bool,
    /// The call that is going on.
    call: Option<Call>,
    /// Whether it gets no more prompts, because it is about to leave.
    leaving: bool,
    gone: bool,
    /// The prompt it answered by itself while it was being asked. What it returns to the call is then no answer.
    answered: Option<String>,
    /// Those who wait until nothing is going on here.
    idle: Vec<Promise<()>>,
}

/// A call to an interactor.
struct Call {
    /// The prompt it is about.
    prompt: String,
    off: CancellationSource,
    /// Rings when the prompt has been over for too long.
    overdue: Option<Alarm>,
}

impl Seat {
    /// What calls off the call about this prompt.
    pub(super) fn call_of(&self, id: &str) -> Option<CancellationSource> {
        let desk = lock(&self.desk);
        let call = desk.call.as_ref().filter(|call| call.prompt == id);
        call.map(|call| call.off.clone())
    }

    /// Lets `alarm` ring unless the call about this prompt returns first.
    pub(super) fn watch(&self, id: &str, alarm: Alarm) {
        let mut desk = lock(&self.desk);
        if let Some(call) = desk.call.as_mut().filter(|call| call.prompt == id) {
            call.overdue = Some(alarm);
        }
    }

    /// Asks nothing more of an interactor that is still at this prompt; gives those who wait for it. Nothing if it is
    /// not.
    pub(super) fn abandon(&self, id: &str) -> Option<Vec<Promise<()>>> {
        let mut desk = lock(&self.desk);
        desk.call.as_ref().filter(|call| call.prompt == id)?;
        desk.waiting.clear();
        Some(std::mem::take(&mut desk.idle))
    }

    /// Whether somebody drives this seat.
    pub(super) fn is_busy(&self) -> bool {
        lock(&self.desk).busy
    }

    pub(super) fn ext_id(&self) -> &str {
        self.interactor.ext_id()
    }
}

impl Table {
    /// The interactors that know the prompt's kind.
    pub(super) fn seats_for(&self, prompt: &Prompt) -> Vec<Arc<Seat>> {
        let since = prompt.request.kind().since();
        self.seats
            .iter()
            .filter(|seat| seat.interactor.protocol_minor() >= since)
            .cloned()
            .collect()
    }

    /// Gives an interactor its place; gives what it has to be asked at once.
    pub(super) fn welcome(&mut self, seat: &Arc<Seat>) -> Option<Arc<Prompt>> {
        if self.closed {
            return None;
        }
        self.seats.push(seat.clone());
        self.attended = true;
        self.grace = None;
        match &self.current {
            Some(Current {
                prompt,
                stage: Stage::Open,
                ..
            }) if seat.interactor.protocol_minor() >= prompt.request.kind().since() => {
                Some(prompt.clone())
            }
            _ => None,
        }
    }
}

impl Prompts {
    /// Adds an interactor. It is asked at once what is being asked.
    pub fn join(&self, interactor: Arc<dyn Interactor>) {
        let seat = Arc::new(Seat {
            interactor,
            desk: Mutex::default(),
        });
        let open = lock(&self.table).welcome(&seat);
        if let Some(prompt) = open {
            self.offer(&seat, &prompt);
        }
    }

    /// Takes an interactor out. What it was asked stays open for the others, and for it if it comes back.
    pub fn leave(&self, ext_id: &str) {
        self.unseat(ext_id);
        self.mind_absence();
    }

    /// Takes an interactor out that will not come back. If nobody else is there, nobody is.
    pub fn depart(&self, ext_id: &str) {
        self.unseat(ext_id);
        self.give_up_waiting(None);
    }

    fn unseat(&self, ext_id: &str) {
        let gone = {
            let mut table = lock(&self.table);
            let left = |seat: &mut Arc<Seat>| seat.ext_id() == ext_id;
            let mut gone: Vec<_> = table.seats.extract_if(.., left).collect();
            gone.extend(table.stuck.extract_if(.., left));
            gone
        };
        for seat in gone {
            let (call, idle) = {
                let mut desk = lock(&seat.desk);
                desk.gone = true;
                desk.waiting.clear();
                (desk.call.take(), std::mem::take(&mut desk.idle))
            };
            if let Some(call) = call {
                call.off.cancel();
            }
            for waiting in idle {
                waiting.keep(());
            }
        }
    }

    /// Lets an interactor finish the prompt it shows, and gives it no other.
    pub fn see_out(&self, ext_id: &str) -> impl Future<Output = ()> + Send + use<> {
        for seat in lock(&self.table)
            .seats
            .iter()
            .filter(|seat| seat.ext_id() == ext_id)
        {
            let mut desk = lock(&seat.desk);
            desk.leaving = true;
            desk.waiting.clear();
        }
        self.idle(ext_id)
    }

    /// Waits until an interactor is not in the middle of a prompt. Nothing is waited for if it never joined.
    pub fn idle(&self, ext_id: &str) -> impl Future<Output = ()> + Send + use<> {
        let mut waits: Vec<Promised<()>> = Vec::new();
        {
            let table = lock(&self.table);
            for seat in table.seats.iter().filter(|seat| seat.ext_id() == ext_id) {
                let mut desk = lock(&seat.desk);
                if desk.busy {
                    let (promise, promised) = promise();
                    desk.idle.push(promise);
                    waits.push(promised);
                }
            }
        }
        async move {
            for wait in waits {
                wait.await;
            }
        }
    }

    /// Whether an interactor of this id takes part. One that holds on to a prompt that is over still does: it is asked
    /// nothing, and an answer of its own is late and not out of place.
    pub fn has(&self, ext_id: &str) -> bool {
        let table = lock(&self.table);
        let mut seats = table.seats.iter().chain(&table.stuck);
        seats.any(|seat| seat.ext_id() == ext_id)
    }

    /// Puts a prompt to an interactor, after those it was given before.
    pub(super) fn offer(&self, seat: &Arc<Seat>, prompt: &Arc<Prompt>) {
        let rouse = {
            let mut desk = lock(&seat.desk);
            if desk.gone || desk.leaving {
                return;
            }
            desk.waiting.push_back(prompt.clone());
            !std::mem::replace(&mut desk.busy, true) || planted(Fault::TwoAtOnce)
        };
        if rouse {
            let (prompts, seat) = (self.this.clone(), seat.clone());
            work::spawn(move || {
                while let Some((prompt, call)) = next(&seat) {
                    let Some(prompts) = prompts.upgrade() else {
                        return;
                    };
                    // Whoever has left meanwhile is asked nothing more. Whoever is here sees what everyone else sees, also
                    // when another was quick: an answer that is not on record yet may still come to nothing.
                    if prompts.is_asked(&prompt) && !call.is_cancelled() {
                        let replied = prompts.ask(&seat, &prompt, &call);
                        if !replied && !call.is_cancelled() {
                            prompts.mind_failure(&seat, &prompt);
                        }
                    }
                }
                if let Some(prompts) = prompts.upgrade() {
                    prompts.is_back(&seat);
                }
            });
        }
    }

    /// Whether the prompt is the one that is being asked, and not over.
    fn is_asked(&self, prompt: &Prompt) -> bool {
        let table = lock(&self.table);
        let current = table.current.as_ref();
        current.is_some_and(|current| current.prompt.id() == prompt.id())
    }

    /// Asks one interactor, again if it answers what cannot be an answer. Gives whether it had anything to say.
    fn ask(&self, seat: &Seat, prompt: &Prompt, call: &CancellationSource) -> bool {
        for _ in 0..SECOND_CHANCES {
            let asked = seat.interactor.ask(&prompt.request, call.token());
            let answered = work::block_on(asked);
            match answered.and_then(|response| self.take(seat, prompt, response)) {
                Ok(()) => return true,
                Err(error) => {
                    let is_mismatch = error.code() == codes::INTERACTION_PAYLOAD_MISMATCH.name;
                    note_failure(seat, prompt, call, &error);
                    if !is_mismatch || call.is_cancelled() {
                        return false;
                    }
                }
            }
        }
        false
    }

    /// An interactor answered otherwise than by returning from its call.
    pub(super) fn note_answer(&self, ext_id: &str, id: String) {
        let table = lock(&self.table);
        if let Some(seat) = table.seats.iter().find(|seat| seat.ext_id() == ext_id) {
            lock(&seat.desk).answered = Some(id);
        }
    }

    fn take(&self, seat: &Seat, prompt: &Prompt, response: Response) -> Result<()> {
        response.check(&prompt.request)?;
        let has_answered = lock(&seat.desk).answered.as_deref() == Some(prompt.id());
        if !response.status.settles() || has_answered {
            return Ok(());
        }
        // The interactor's part ends here; the answer takes effect once it is on record.
        self.answer(seat.ext_id(), response).map(drop)
    }
}

fn note_failure(seat: &Seat, prompt: &Prompt, call: &CancellationSource, error: &Error) {
    let books = &prompt.asker.books;
    let correlation_id = &prompt.request.correlation_id;
    if error.code() == codes::INTERACTION_ALREADY_ANSWERED.name {
        // Losing the race is no failure, but it is known who did.
        let payload = json!({
            "interactionId": prompt.id(),
            "requestKind": prompt.request.kind().as_str(),
            "extId": seat.ext_id(),
            "code": "Session/InteractionAlreadyAnswered",
        });
        books.audit(
            "Interaction",
            Some("InteractionLate"),
            correlation_id,
            payload,
        );
    } else if !call.is_cancelled() {
        let reason = format!("the interactor `{}` did not answer", seat.ext_id());
        let error = error.clone().with("extId", seat.ext_id());
        books.suppress(&reason, correlation_id, &error);
    }
}

/// The next prompt at a seat, with what calls it off; the seat is idle if there is none.
fn next(seat: &Seat) -> Option<(Arc<Prompt>, CancellationSource)> {
    let idle = {
        let mut desk = lock(&seat.desk);
        desk.call = None;
        if let Some(prompt) = desk.waiting.pop_front() {
            let off = CancellationSource::new();
            desk.call = Some(Call {
                prompt: prompt.id().to_owned(),
                off: off.clone(),
                overdue: None,
            });
            return Some((prompt, off));
        }
        desk.busy = false;
        std::mem::take(&mut desk.idle)
    };
    for waiting in idle {
        waiting.keep(());
    }
    None
}
