//! Prompts that stay open after the tool that asked is gone.
//!
//! A tool whose prompt runs out of time may tell the model that the answer comes later. The call is over then, and the
//! prompt blocks nothing: it has left the queue and no interactor is asked about it. One answer is still taken. It
//! does not change what the tool returned; it becomes something the person says, in one commit with its record, so a
//! process that ends in between loses neither or both.
//!
//! ```text
//! timed out → overdue → Announcing → Open → Settling → settled
//!             the tool  recorded            recorded, with what the person says
//!             decides
//! ```

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::{Arc, Weak};

use serde_json::json;
use stud_abi::CancellationToken;
use stud_contract_interaction::Request;
use stud_contract_meta::Result;
use stud_contract_session_store::Durability;

use super::outcome::{self, Outcome};
use super::render_answer::{LateAnswer, Words};
use super::stage::PromptStage;
use super::{Asker, Prompt, Prompts, Table};
use crate::ledger::{Draft, closed};
use crate::platform;
use crate::recorder::Recorder;
use crate::sync::{AtomicBool, Mutex, lock};

/// Takes what the person says after all, as an input of the session whose tool asked.
pub trait Inbox: Send + Sync {
    /// Keeps a place for an input whose record is on the way.
    fn reserve(&self) -> Result<()>;

    /// The record is written, or nothing comes of the place that was kept.
    fn arrive(&self, answer: Option<LateAnswer>);
}

/// The call of a tool: the session, the plugin, the id of the call.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct ToolCall {
    session_id: String,
    ext_id: String,
    id: String,
}

/// A prompt that is open without a waiting caller.
pub(super) struct Detached {
    prompt: Arc<Prompt>,
    inbox: Weak<dyn Inbox>,
    pub(super) stage: PromptStage,
}

impl Detached {
    pub(super) fn prompt(&self) -> &Arc<Prompt> {
        &self.prompt
    }

    /// What it takes to settle it, once it has its outcome.
    pub(super) fn settling(&self) -> (Arc<Prompt>, Weak<dyn Inbox>) {
        (self.prompt.clone(), self.inbox.clone())
    }
}

impl Prompt {
    /// The call that a tool's own prompt belongs to.
    pub(super) fn tool_call(&self) -> Option<ToolCall> {
        let id = self.request.payload.tool_call_id()?;
        Some(ToolCall {
            session_id: self.asker.books.session_id.clone(),
            ext_id: self.asker.ext_id.clone()?,
            id: id.to_owned(),
        })
    }
}

impl Table {
    /// The session ends: nothing more is answered here, and what has no outcome is open when the session is resumed.
    /// Gives outcomes that came before there was anything to settle.
    pub(super) fn leave_detached(&mut self) -> Vec<Outcome> {
        let (settling, left): (BTreeMap<_, _>, BTreeMap<_, _>) = std::mem::take(&mut self.detached)
            .into_iter()
            .partition(|(_, detached)| matches!(detached.stage, PromptStage::Settling));
        self.detached = settling;
        let mut early = Vec::new();
        for (id, detached) in left {
            self.settled.forget(&id);
            if let PromptStage::Announcing(Some(outcome)) = detached.stage {
                early.push(outcome);
            }
        }
        early
    }

    /// A tool's prompt is put to those who are here.
    pub(super) fn note_asked(&mut self, prompt: &Prompt) {
        self.asked.extend(prompt.tool_call());
    }

    /// Whether the tool's call has asked before.
    pub(super) fn asks_again(&self, prompt: &Prompt) -> bool {
        prompt
            .tool_call()
            .is_some_and(|call| self.asked.contains(&call))
    }

    /// The tool asks again, so the prompt before is done with.
    pub(super) fn supersede(&mut self, prompt: &Prompt) {
        if let Some(call) = prompt.tool_call() {
            self.overdue.remove(&call);
        }
    }

    /// A tool's prompt ran out of time. What becomes of it is up to the tool.
    pub(super) fn ran_out(&mut self, prompt: &Arc<Prompt>) {
        if let Some(call) = prompt.tool_call() {
            self.overdue.insert(call, prompt.clone());
        }
    }
}

impl Prompts {
    /// The tool's call is over and the answer may come later: the last prompt it waited for in vain stays open.
    /// Gives whether there is one.
    pub fn detach(
        &self,
        books: &Recorder,
        ext_id: &str,
        call: &str,
        inbox: Weak<dyn Inbox>,
    ) -> bool {
        let prompt = {
            let mut table = lock(&self.table);
            let call = tool_call(books, ext_id, call);
            table.asked.remove(&call);
            let overdue = table.overdue.remove(&call);
            let Some(prompt) = overdue.filter(|_| !table.closed) else {
                return false;
            };
            let detached = Detached {
                prompt: prompt.clone(),
                inbox,
                stage: PromptStage::Announcing(None),
            };
            table.detached.insert(prompt.id().to_owned(), detached);
            prompt
        };
        let this = self.this.clone();
        let record = vec![detached_record(&prompt)];
        let ledger = prompt.asker.books.ledger.clone();
        ledger.commit(record, Durability::Written, move |written| {
            if let Some(prompts) = this.upgrade() {
                prompts.detached_is_written(&prompt, written.map(drop));
            }
        });
        true
    }

    /// The tool's call is over, and with it the prompt it waited for in vain.
    pub fn forget_overdue(&self, books: &Recorder, ext_id: &str, call: &str) {
        let call = tool_call(books, ext_id, call);
        let mut table = lock(&self.table);
        table.overdue.remove(&call);
        table.asked.remove(&call);
    }

    /// Takes up a prompt that stayed open when the process before this one ended.
    pub fn reopen(
        &self,
        books: &Arc<Recorder>,
        ext_id: Option<String>,
        request: Request,
        inbox: Weak<dyn Inbox>,
    ) {
        let asker = Asker {
            ext_id,
            correlation_id: request.correlation_id.clone(),
            books: books.clone(),
            cancelled: CancellationToken::never(),
            timeout: None,
            spawned_at: None,
            tool_call_id: None,
        };
        let id = request.interaction_id.clone();
        let prompt = Arc::new(Prompt {
            request,
            asker,
            raised_at: platform::ticks(),
            arrival: 0,
            answered: AtomicBool::new(false),
            asked: Mutex::new(None),
        });
        let detached = Detached {
            prompt,
            inbox,
            stage: PromptStage::Open,
        };
        lock(&self.table).detached.insert(id, detached);
    }

    /// The prompts that stay open without a waiting caller, oldest first.
    pub fn detached(&self) -> Vec<Request> {
        let table = lock(&self.table);
        let open = table.detached.values();
        let open = open.filter(|detached| matches!(detached.stage, PromptStage::Open));
        open.map(|detached| detached.prompt.request.clone())
            .collect()
    }

    fn detached_is_written(&self, prompt: &Arc<Prompt>, written: Result<()>) {
        let (early, inbox) = {
            let mut table = lock(&self.table);
            let Entry::Occupied(mut entry) = table.detached.entry(prompt.id().to_owned()) else {
                // The session ended meanwhile. It is open again when the session is resumed.
                return;
            };
            let early = entry.get_mut().stage.announced();
            let inbox = entry.get().inbox.clone();
            if written.is_err() {
                // Nothing says that it is open, so it is not.
                entry.remove();
            }
            (early, inbox)
        };
        match (written, early) {
            (Ok(()), early) => {
                outcome::publish_detached(prompt);
                if let Some(outcome) = early {
                    // The interactor is told through its channel.
                    let _ = self.finish_late(prompt, &inbox, outcome);
                }
            }
            (Err(error), Some(outcome)) => outcome.told(Some(error)),
            (Err(_), None) => {}
        }
    }

    /// Writes the outcome of a detached prompt down, and with it what the person says.
    pub(super) fn finish_late(
        &self,
        prompt: &Arc<Prompt>,
        inbox: &Weak<dyn Inbox>,
        outcome: Outcome,
    ) -> Result<()> {
        let said = outcome.in_words(prompt);
        let mut place = None;
        if said.is_some() {
            let kept = inbox.upgrade().ok_or_else(closed);
            match kept.and_then(|inbox| inbox.reserve().map(|()| inbox)) {
                Ok(inbox) => place = Some(inbox),
                Err(error) => {
                    self.open_again(prompt);
                    outcome.told(Some(error.clone()));
                    return Err(error);
                }
            }
        }
        let mut records = outcome.records(prompt, /*raised*/ true);
        for record in &mut records {
            record.payload["late"] = true.into();
        }
        records.extend(said.as_ref().map(Words::draft));
        let durability = outcome.durability();
        let (this, prompt) = (self.this.clone(), prompt.clone());
        let ledger = prompt.asker.books.ledger.clone();
        ledger.commit(records, durability, move |written| {
            if written.is_ok() {
                outcome.audit(&prompt);
                drop(outcome.publish(&prompt, /*raised*/ true));
            }
            if let Some(prompts) = this.upgrade() {
                match &written {
                    Ok(_) => {
                        let mut table = lock(&prompts.table);
                        table.detached.remove(prompt.id());
                        table.remember(&prompt);
                    }
                    Err(_) => prompts.open_again(&prompt),
                }
            }
            if let Some(place) = place {
                let answer = said.zip(written.as_ref().ok().copied());
                place.arrive(answer.map(|(said, seq)| said.at(seq, &prompt)));
            }
            outcome.told(written.err());
        });
        Ok(())
    }

    /// Nothing came of an outcome, so another one may.
    fn open_again(&self, prompt: &Prompt) {
        let mut table = lock(&self.table);
        if table.closed {
            table.detached.remove(prompt.id());
        } else if let Some(detached) = table.detached.get_mut(prompt.id()) {
            detached.stage = PromptStage::Open;
        }
    }
}

fn tool_call(books: &Recorder, ext_id: &str, call: &str) -> ToolCall {
    ToolCall {
        session_id: books.session_id.clone(),
        ext_id: ext_id.to_owned(),
        id: call.to_owned(),
    }
}

/// It holds all that is needed to take the prompt up again in another process.
fn detached_record(prompt: &Prompt) -> Draft {
    let mut payload = json!({
        "interactionId": prompt.id(),
        "requestKind": prompt.request.kind().as_str(),
        "request": prompt.request,
    });
    if let Some(asker) = &prompt.asker.ext_id {
        payload["askedBy"] = asker.as_str().into();
    }
    Draft {
        kind: "interaction_detached",
        payload,
        ..outcome::draft(prompt)
    }
}
