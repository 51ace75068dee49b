//! Settling: whatever ends a prompt, it ends it once.

use std::sync::atomic::Ordering;
use std::sync::{Arc, Weak};

use stud_abi::CancellationSource;
use stud_contract_interaction::{Response, Status};
use stud_contract_meta::{Error, Result};
use stud_diagnostics::codes;
use stud_host_api::{BoxFuture, refusal};

use super::detached::Inbox;
use super::interactor_slot::InteractorSlot;
use super::outcome::{self, Outcome};
use super::stage::{PromptStage, too_late};
use super::{Prompt, Prompts, Table, form_rules};
use crate::events::PendingDelivery;
use crate::fault_injection::{Fault, planted};
use crate::ledger::closed;
use crate::sync::{Promised, lock, promise};

impl Prompts {
    /// An interactor's answer. When this returns without an error it has won and taken effect.
    pub fn respond<'a>(&'a self, ext_id: &str, response: Response) -> BoxFuture<'a, Result<()>> {
        self.respond_for(ext_id, None, response)
    }

    /// The same for an interactor with several screens: `client_id` is the one that the answer came from.
    pub fn respond_for<'a>(
        &'a self,
        ext_id: &str,
        client_id: Option<String>,
        response: Response,
    ) -> BoxFuture<'a, Result<()>> {
        let (id, settles) = (response.interaction_id.clone(), response.status.settles());
        let answered = self.answer_for(ext_id, client_id, response);
        if settles && answered.is_ok() {
            self.note_answer(ext_id, id);
        }
        Box::pin(async move {
            match answered?.await {
                Some(result) => result,
                None => Err(closed()),
            }
        })
    }

    /// Takes an answer if it fits and is the first.
    pub(super) fn answer(&self, ext_id: &str, response: Response) -> Result<Promised<Result<()>>> {
        self.answer_for(ext_id, None, response)
    }

    fn answer_for(
        &self,
        ext_id: &str,
        client_id: Option<String>,
        response: Response,
    ) -> Result<Promised<Result<()>>> {
        let id = response.interaction_id.clone();
        let (prompt, tool_is_gone) = self.answerable(&id)?;
        if let Some(answer) = response.check(&prompt.request)? {
            outcome::learn(&prompt, &answer);
            if tool_is_gone {
                form_rules::check_late(&prompt.request, &answer)?;
            }
        }
        let (done, promised) = promise();
        if !response.status.settles() {
            done.keep(Ok(()));
            return Ok(promised);
        }
        self.settle(
            &id,
            Outcome::Answered {
                ext_id: ext_id.to_owned(),
                client_id,
                response,
                done: Some(done),
            },
        )?;
        Ok(promised)
    }

    /// The prompt with this id, if it can still be answered, and whether the tool that asked is gone.
    fn answerable(&self, id: &str) -> Result<(Arc<Prompt>, bool)> {
        let table = lock(&self.table);
        let (prompt, stage, tool_is_gone) = match (&table.current, table.detached.get(id)) {
            (Some(current), _) if current.prompt.id() == id => {
                (&current.prompt, &current.stage, false)
            }
            (_, Some(detached)) => (detached.prompt(), &detached.stage, true),
            _ => return Err(table.unanswerable(id)),
        };
        match stage {
            PromptStage::Settling => Err(too_late(prompt)),
            PromptStage::Open | PromptStage::Announcing(_) => Ok((prompt.clone(), tool_is_gone)),
        }
    }

    /// Ends a prompt whose answer is no longer needed, whether or not a caller waits for it.
    pub fn call_off(&self, id: &str) -> Result<()> {
        self.settle(id, Outcome::Cancelled)
    }

    /// Gives a prompt its outcome, unless it has one. This is the only place where that happens.
    pub(super) fn settle(&self, id: &str, outcome: Outcome) -> Result<()> {
        enum Next {
            Finish(Arc<Prompt>, Outcome),
            FinishLate(Arc<Prompt>, Weak<dyn Inbox>, Outcome),
            Withdraw(Arc<Prompt>, Outcome),
        }
        let next = {
            let mut table = lock(&self.table);
            if let Some(current) = &mut table.current
                && current.prompt.id() == id
            {
                let Some(outcome) = current.stage.settle(&current.prompt, outcome)? else {
                    return Ok(());
                };
                current.timeout = None;
                Next::Finish(current.prompt.clone(), outcome)
            } else if let Some(detached) = table.detached.get_mut(id) {
                let prompt = detached.prompt().clone();
                let Some(outcome) = detached.stage.settle(&prompt, outcome)? else {
                    return Ok(());
                };
                let (prompt, inbox) = detached.settling();
                Next::FinishLate(prompt, inbox, outcome)
            } else if let Some(place) = table.queue.iter().position(|prompt| prompt.id() == id) {
                Next::Withdraw(table.queue.remove(place), outcome)
            } else {
                return Err(table.unanswerable(id));
            }
        };
        match next {
            Next::Finish(prompt, outcome) => self.finish(prompt, outcome, true),
            Next::FinishLate(prompt, inbox, outcome) => {
                self.finish_late(&prompt, &inbox, outcome)?;
            }
            // It was never shown, so there is nothing to close.
            Next::Withdraw(prompt, outcome) => prompt.keep(outcome.for_asker(&prompt)),
        }
        Ok(())
    }

    /// Writes the outcome down, and then lets it take effect.
    pub(super) fn finish(&self, prompt: Arc<Prompt>, outcome: Outcome, raised: bool) {
        let this = self.this.clone();
        outcome.hide_secret(&prompt);
        let records = outcome.records(&prompt, raised);
        let durability = outcome.durability();
        let books = prompt.asker.books.clone();
        books.ledger.commit(records, durability, move |written| {
            // In the stream before the asker continues, which is woken before the delivery threads.
            let (told, answer) = match written {
                Ok(_) => {
                    outcome.audit(&prompt);
                    let told = outcome.publish(&prompt, raised);
                    (told, outcome.for_asker(&prompt))
                }
                Err(error) if raised => (outcome::publish_cancelled(&prompt), Err(error)),
                Err(error) => (PendingDelivery::default(), Err(error)),
            };
            outcome.told(answer.as_ref().err().cloned());
            if let Some(prompts) = this.upgrade() {
                prompts.over(&prompt, answer, told);
            } else {
                prompt.keep(answer);
            }
        });
    }

    /// The prompt is settled: its asker continues, dialogs close, and the next one in the queue is asked.
    pub(super) fn over(
        &self,
        prompt: &Arc<Prompt>,
        answer: Result<Response>,
        told: PendingDelivery,
    ) {
        let calls = {
            let mut table = lock(&self.table);
            table.current = None;
            table.remember(prompt);
            if matches!(&answer, Ok(answer) if answer.status.settles()) {
                prompt.answered.store(true, Ordering::Release);
            }
            if matches!(&answer, Ok(answer) if answer.status == Status::Timeout) {
                // Before the tool knows, because it may be done as soon as it does.
                table.ran_out(prompt);
            }
            let calls = table.seats.iter().filter_map(|seat| {
                let call = seat.call_of(prompt.id())?;
                Some((seat.clone(), call))
            });
            calls.collect::<Vec<(Arc<InteractorSlot>, CancellationSource)>>()
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
}

impl Table {
    /// From now on an answer to this prompt is late and not wrong.
    pub(super) fn remember(&mut self, prompt: &Prompt) {
        self.settled
            .add(prompt.id(), &prompt.request.correlation_id);
        if let Some(asker) = &prompt.asker.ext_id {
            *self.settled_of.entry(asker.clone()).or_default() += 1;
        }
    }

    /// Why a prompt that is not there cannot be answered.
    fn unanswerable(&self, id: &str) -> Error {
        if let Some(correlation_id) = self.settled.find(id) {
            refusal::interaction_already_answered(id, correlation_id)
        } else if self.closed {
            closed()
        } else {
            not_found(id)
        }
    }
}

/// The id belongs to no prompt of this session.
fn not_found(id: &str) -> Error {
    let code = &codes::INTERACTION_NOT_FOUND;
    Error::new(code.class, code.name, format!("there is no prompt `{id}`"))
        .with("interactionId", id)
}
