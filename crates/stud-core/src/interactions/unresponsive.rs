//! Interactors that do not return from a settled prompt.
//!
//! A plugin cannot be forced to return. One that does not is removed, as if it had left, so that neither the next prompt
//! nor a reload waits for it; should it return after all, it takes its place again.

use std::sync::Arc;

use stud_contract_meta::Error;
use stud_diagnostics::codes;

use super::interactor_slot::InteractorSlot;
use super::{Prompt, Prompts};
use crate::sync::lock;

impl Prompts {
    /// The prompt is over, so the interactor's call about it should be too, before long.
    pub(super) fn expect_back(&self, seat: &Arc<InteractorSlot>, prompt: &Arc<Prompt>) {
        let (this, awaited, over) = (self.this.clone(), seat.clone(), prompt.clone());
        let job = Box::new(move || {
            if let Some(prompts) = this.upgrade() {
                prompts.overdue(&awaited, &over);
            }
        });
        let alarm = self.timer.after(self.absence.letting_go, job);
        seat.watch(prompt.id(), alarm);
    }

    fn overdue(&self, seat: &Arc<InteractorSlot>, prompt: &Prompt) {
        let waiting = {
            let mut table = lock(&self.table);
            let place = table
                .seats
                .iter()
                .position(|other| Arc::ptr_eq(other, seat));
            let Some(place) = place else {
                return;
            };
            let Some(waiting) = seat.abandon(prompt.id()) else {
                return;
            };
            let seat = table.seats.remove(place);
            table.stuck.push(seat);
            waiting
        };
        for waiting in waiting {
            waiting.keep(());
        }
        let code = &codes::CALL_STUCK;
        let message = format!(
            "`{}` did not return from a prompt that is settled",
            seat.ext_id()
        );
        let error = Error::new(code.class, code.name, message)
            .with("extId", seat.ext_id())
            .with("interactionId", prompt.id());
        let reason = format!("the interactor `{}` did not return", seat.ext_id());
        let books = &prompt.asker.books;
        books.suppress(&reason, &prompt.request.correlation_id, &error);
        self.check_attendance();
    }

    /// The interactor's calls are done. If it was given up, it is welcome again.
    ///
    /// It may have been asked again before this is said, and given up over that. Then it is not back yet.
    pub(super) fn is_back(&self, seat: &Arc<InteractorSlot>) {
        let open = {
            let mut table = lock(&self.table);
            let place = table
                .stuck
                .iter()
                .position(|other| Arc::ptr_eq(other, seat) && !seat.is_busy());
            let Some(place) = place else {
                return;
            };
            table.stuck.remove(place);
            // Atomically: a concurrent removal would otherwise find it in neither place.
            table.welcome(seat)
        };
        if let Some(prompt) = open {
            self.offer(seat, &prompt);
        }
    }
}
