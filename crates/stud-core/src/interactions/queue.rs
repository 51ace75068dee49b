//! The line: one prompt at a time is put to the interactors, the others wait their turn.

use std::sync::Arc;

use stud_contract_meta::Result;

use super::interactor_slot::InteractorSlot;
use super::outcome::{self, Outcome};
use super::stage::PromptStage;
use super::{Prompt, Prompts, Table};
use crate::events::PendingDelivery;
use crate::fault_injection::{Fault, planted};
use crate::sync::lock;
use crate::timer::Alarm;

/// The prompt that is being asked.
pub(super) struct Current {
    pub(super) prompt: Arc<Prompt>,
    pub(super) stage: PromptStage,
    pub(super) timeout: Option<Alarm>,
    /// Those who failed over it, and so will not answer it.
    pub(super) failed: Vec<Arc<InteractorSlot>>,
    /// Fires when all have failed and no other interactor has joined.
    pub(super) hopeless: Option<Alarm>,
}

impl Prompts {
    /// Takes the next prompt in line, if none is being asked.
    pub(super) fn advance(&self) {
        let (unwanted, next) = {
            let mut table = lock(&self.table);
            if table.current.is_some() {
                return;
            }
            let unwanted = table.unwanted();
            let next = table.next_in_line();
            table.current = next.clone().map(|prompt| Current {
                prompt,
                stage: PromptStage::Announcing(None),
                timeout: None,
                failed: Vec::new(),
                hopeless: None,
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
                current.stage = PromptStage::Settling;
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

    /// The prompt's record is written: now it may be published.
    fn announced(&self, prompt: Arc<Prompt>, written: Result<()>) {
        if let Err(error) = written {
            let mut table = lock(&self.table);
            if let Some(current) = &mut table.current {
                current.stage = PromptStage::Settling;
            }
            drop(table);
            return self.over(&prompt, Err(error), PendingDelivery::default());
        }
        // On its way before anyone is asked: an interactor that listens as well hears it first.
        let told = if planted(Fault::RaisedLate) {
            PendingDelivery::default()
        } else {
            outcome::publish_raised(&prompt)
        };
        let (early, seats) = {
            let mut table = lock(&self.table);
            let seats = table.seats_for(&prompt);
            let Some(current) = &mut table.current else {
                return;
            };
            let early = current.stage.announced();
            if early.is_none() {
                current.timeout = self.arm(&prompt);
            }
            table.note_asked(&prompt);
            (early, seats)
        };
        if let Some(outcome) = early {
            drop(told);
            return self.finish(prompt, outcome, true);
        }
        let at_rest = seats.into_iter().filter(|seat| seat.give(&prompt));
        self.dispatch(told, at_rest.collect());
        if planted(Fault::RaisedLate) {
            drop(outcome::publish_raised(&prompt));
        }
        self.check_attendance();
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
}

impl Table {
    /// Removes the prompts that were cancelled in the queue, so that they are never shown.
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
}
