//! Interactors: who is asked, one prompt after the other.

use std::collections::VecDeque;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Weak};

use serde_json::json;
use stud_abi::CancellationSource;
use stud_contract_interaction::Response;
use stud_contract_meta::{Error, Result};
use stud_diagnostics::codes;

use super::{Current, Interactor, Prompt, PromptStage, Prompts, Table};
use crate::executor;
use crate::fault_injection::{Fault, planted};
use crate::sync::{Mutex, Promise, Promised, lock, promise};
use crate::timer::Alarm;

/// How many answers of the wrong shape an interactor may give to one prompt before it is no longer asked.
const SECOND_CHANCES: u32 = 3;

/// An interactor's place. It sees one prompt at a time.
pub(super) struct InteractorSlot {
    interactor: Arc<dyn Interactor>,
    desk: Mutex<InteractorQueue>,
}

#[derive(Default)]
struct InteractorQueue {
    waiting: VecDeque<Given>,
    /// Whether a thread drives this slot.
    busy: bool,
    /// The running call.
    call: Option<InteractorCall>,
    /// Whether it gets no more prompts, because it is about to leave.
    leaving: bool,
    gone: bool,
    /// The prompt it answered by itself while it was being asked. What it returns to the call is then no answer.
    answered: Option<String>,
    /// Waiters for this slot to be idle.
    idle: Vec<Promise<()>>,
}

/// A prompt that an interactor is to be asked.
struct Given {
    prompt: Arc<Prompt>,
    /// The event that it has to have heard before.
    news: u64,
}

/// A call to an interactor.
struct InteractorCall {
    /// The prompt it is about.
    prompt: String,
    off: CancellationSource,
    /// Whether the interactor has been asked. It is to be when it has heard what happened before.
    begun: bool,
    /// Rings when the prompt has been over for too long.
    overdue: Option<Alarm>,
}

impl InteractorSlot {
    /// The cancellation source of the call for this prompt.
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

    /// Gives the interactor a prompt; returns whether the caller has to ask it, because no thread drives this slot.
    pub(super) fn give(&self, prompt: &Arc<Prompt>) -> bool {
        let news = self.interactor.news();
        let mut desk = lock(&self.desk);
        if desk.gone || desk.leaving {
            return false;
        }
        let prompt = prompt.clone();
        desk.waiting.push_back(Given { prompt, news });
        !std::mem::replace(&mut desk.busy, true) || planted(Fault::TwoAtOnce)
    }

    /// Whether a thread drives this slot.
    pub(super) fn is_busy(&self) -> bool {
        lock(&self.desk).busy
    }

    pub(super) fn ext_id(&self) -> &str {
        self.interactor.ext_id()
    }
}

impl Table {
    /// The interactors that know the prompt's kind.
    pub(super) fn seats_for(&self, prompt: &Prompt) -> Vec<Arc<InteractorSlot>> {
        let since = prompt.request.kind().since();
        self.seats
            .iter()
            .filter(|seat| seat.interactor.protocol_minor() >= since)
            .cloned()
            .collect()
    }

    /// Gives an interactor its place; gives what it has to be asked at once.
    pub(super) fn welcome(&mut self, seat: &Arc<InteractorSlot>) -> Option<Arc<Prompt>> {
        if self.closed {
            return None;
        }
        self.seats.push(seat.clone());
        self.attended = true;
        self.grace = None;
        match &self.current {
            Some(Current {
                prompt,
                stage: PromptStage::Open,
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
        let seat = Arc::new(InteractorSlot {
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
        self.check_attendance();
    }

    /// Removes an interactor that will not come back. It may have been the last one.
    pub fn depart(&self, ext_id: &str) {
        self.unseat(ext_id);
        self.give_up_waiting(None);
    }

    fn unseat(&self, ext_id: &str) {
        let gone = {
            let mut table = lock(&self.table);
            let left = |seat: &mut Arc<InteractorSlot>| seat.ext_id() == ext_id;
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
    pub fn drain_interactor(&self, ext_id: &str) -> impl Future<Output = ()> + Send + use<> {
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
    pub(super) fn offer(&self, seat: &Arc<InteractorSlot>, prompt: &Arc<Prompt>) {
        if seat.give(prompt) {
            let (prompts, seat) = (self.this.clone(), seat.clone());
            executor::spawn(move || attend(&prompts, &seat));
        }
    }

    /// Whether every prompt has been shown to those it was put to, as far as they can be shown anything.
    pub(crate) fn are_shown(&self) -> bool {
        let table = lock(&self.table);
        table.seats.iter().all(|seat| {
            let desk = lock(&seat.desk);
            desk.waiting.is_empty() && desk.call.as_ref().is_none_or(|call| call.begun)
        })
    }

    /// Whether no interactor is in the middle of a prompt.
    pub(crate) fn are_idle(&self) -> bool {
        let table = lock(&self.table);
        table.seats.iter().all(|seat| !seat.is_busy())
    }

    /// Whether the interactor is to be asked what it was given.
    ///
    /// Every attached interactor is asked, also when another has answered already: it then sees that the prompt is
    /// settled by a call that is cancelled from the start. An interactor that has left is asked nothing more, and a prompt that was
    /// cancelled before it was shown is not shown.
    fn begin(
        &self,
        seat: &Arc<InteractorSlot>,
        prompt: &Arc<Prompt>,
        call: &CancellationSource,
    ) -> bool {
        let is_over = {
            let table = lock(&self.table);
            let current = table.current.as_ref();
            let is_over = current.is_none_or(|current| current.prompt.id() != prompt.id());
            let mut desk = lock(&seat.desk);
            let was_answered = prompt.answered.load(Ordering::Acquire);
            let is_off = is_over && (!was_answered || planted(Fault::LosersUnasked));
            match &mut desk.call {
                Some(call) if !is_off && call.prompt == prompt.id() => call.begun = true,
                _ => return false,
            }
            is_over
        };
        if is_over {
            call.cancel();
            self.expect_back(seat, prompt);
        }
        true
    }

    /// Asks one interactor, again if it answers what cannot be an answer.
    fn ask(&self, seat: &InteractorSlot, prompt: &Prompt, call: &CancellationSource) -> Replied {
        for _ in 0..SECOND_CHANCES {
            let asked = seat.interactor.ask(&prompt.request, call.token());
            let answered = executor::block_on(asked);
            let settles = |response: &Response| response.status.settles();
            let is_answer = answered.as_ref().is_ok_and(settles);
            match answered.and_then(|response| self.take(seat, prompt, response)) {
                Ok(()) if is_answer => return Replied::Answered,
                Ok(()) => return Replied::Dismissed,
                Err(error) => {
                    let is_mismatch = error.code() == codes::INTERACTION_PAYLOAD_MISMATCH.name;
                    note_failure(seat, prompt, call, &error);
                    if !is_mismatch || call.is_cancelled() {
                        return Replied::Failed;
                    }
                }
            }
        }
        Replied::Failed
    }

    /// An interactor answered otherwise than by returning from its call.
    pub(super) fn note_answer(&self, ext_id: &str, id: String) {
        let table = lock(&self.table);
        if let Some(seat) = table.seats.iter().find(|seat| seat.ext_id() == ext_id) {
            lock(&seat.desk).answered = Some(id);
        }
    }

    fn take(&self, seat: &InteractorSlot, prompt: &Prompt, response: Response) -> Result<()> {
        let has_answered = lock(&seat.desk).answered.as_deref() == Some(prompt.id());
        if !response.status.settles() || has_answered {
            return response.check(&prompt.request).map(drop);
        }
        // The interactor's part ends here; the answer takes effect once it is on record.
        self.answer(seat.ext_id(), response).map(drop)
    }
}

/// What an interactor made of a prompt.
enum Replied {
    /// It answered.
    Answered,
    /// It leaves the prompt to the others.
    Dismissed,
    /// It gave nothing that could be used.
    Failed,
}

fn note_failure(seat: &InteractorSlot, prompt: &Prompt, call: &CancellationSource, error: &Error) {
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

/// Asks an interactor what it was given, one prompt after the other, until nothing is left.
pub(super) fn attend(prompts: &Weak<Prompts>, seat: &Arc<InteractorSlot>) {
    while let Some((given, call)) = next(seat) {
        if let Some(behind) = seat.interactor.catch_up(given.news) {
            executor::block_on(behind);
        }
        let Some(prompts) = prompts.upgrade() else {
            return;
        };
        if prompts.begin(seat, &given.prompt, &call) {
            let replied = prompts.ask(seat, &given.prompt, &call);
            match replied {
                _ if call.is_cancelled() => {}
                Replied::Answered => {}
                Replied::Dismissed => prompts.mind_dismissal(seat, &given.prompt),
                Replied::Failed => prompts.mind_failure(seat, &given.prompt),
            }
        }
    }
    if let Some(prompts) = prompts.upgrade() {
        prompts.is_back(seat);
    }
}

/// The next prompt of a slot, with its cancellation source; without one the slot is idle.
fn next(seat: &InteractorSlot) -> Option<(Given, CancellationSource)> {
    let idle = {
        let mut desk = lock(&seat.desk);
        desk.call = None;
        if let Some(given) = desk.waiting.pop_front() {
            let off = CancellationSource::new();
            desk.call = Some(InteractorCall {
                prompt: given.prompt.id().to_owned(),
                off: off.clone(),
                begun: false,
                overdue: None,
            });
            return Some((given, off));
        }
        desk.busy = false;
        std::mem::take(&mut desk.idle)
    };
    for waiting in idle {
        waiting.keep(());
    }
    None
}
