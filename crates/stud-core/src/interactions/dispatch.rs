//! Going round: a prompt reaches its interactors with as few changes of threads as can be.
//!
//! To wake a thread takes longer than anything else that a prompt needs. So the thread that delivers a prompt to subscribers goes
//! on to ask an interactor, and wakes the thread for the next one first. None of them waits
//! for what another says.

use std::collections::VecDeque;
use std::sync::{Arc, Weak};
use std::time::Duration;

use super::Prompts;
use super::interactor_slot::{self, InteractorSlot};
use crate::events::PendingDelivery;
use crate::executor;
use crate::fault_injection::{Fault, planted};
use crate::sync::{Mutex, lock};
use crate::timer::Alarm;

/// How long a subscriber may hold up the interactor that is asked by the thread that lets it hear. It is what makes one
/// slow.
const HELD_UP: Duration = Duration::from_millis(20);

/// An interactor that the first free thread asks.
struct First {
    seat: Option<Arc<InteractorSlot>>,
    /// Fires when a subscriber has delayed the thread that was to ask.
    held_up: Option<Alarm>,
}

impl Prompts {
    /// Asks these interactors. Each waits by itself until it has heard what they are told.
    pub(super) fn dispatch(&self, told: PendingDelivery, mut seats: VecDeque<Arc<InteractorSlot>>) {
        let Some(seat) = seats.pop_front() else {
            return;
        };
        let first = Arc::new(Mutex::new(First {
            seat: Some(seat),
            held_up: None,
        }));
        let (prompts, awaited) = (self.this.clone(), first.clone());
        let may_wait = told.and_then(move || ask_first(&prompts, &awaited));
        if !seats.is_empty() {
            let prompts = self.this.clone();
            executor::spawn(move || ask_all(&prompts, seats));
        }
        if !may_wait || planted(Fault::HeldUp) {
            return;
        }
        let (prompts, awaited) = (self.this.clone(), first.clone());
        let job = Box::new(move || ask_first(&prompts, &awaited));
        let alarm = self.timer.after(HELD_UP, job);
        let mut first = lock(&first);
        // Otherwise a thread has taken it, and the alarm is dropped.
        if first.seat.is_some() {
            first.held_up = Some(alarm);
        }
    }
}

/// Asks the first interactor, unless a thread does already.
fn ask_first(prompts: &Weak<Prompts>, first: &Mutex<First>) {
    let (seat, held_up) = {
        let mut first = lock(first);
        (first.seat.take(), first.held_up.take())
    };
    drop(held_up);
    if let Some(seat) = seat {
        interactor_slot::attend(prompts, &seat);
    }
}

/// Asks the first of them on this thread, and wakes another for the rest before.
fn ask_all(prompts: &Weak<Prompts>, mut seats: VecDeque<Arc<InteractorSlot>>) {
    let Some(first) = seats.pop_front() else {
        return;
    };
    if !seats.is_empty() {
        let prompts = prompts.clone();
        executor::spawn(move || ask_all(&prompts, seats));
    }
    interactor_slot::attend(prompts, &first);
}
