//! What happens without an interactor.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use stud_contract_interaction::{InteractionKind, Payload, Request, Response, Status};

use super::interactor_slot::InteractorSlot;
use super::{Current, Outcome, Prompt, PromptStage, Prompts, Table};
use crate::fault_injection::{Fault, planted};
pub use crate::settings::HeadlessGrant;
use crate::settings::{HeadlessSettings, InteractionSettings};
use crate::sync::lock;

/// What to do without a person.
#[derive(Debug, Clone)]
pub struct Absence {
    /// Whether the person said in advance that everything is approved. It is a flag of the launch, not a mode.
    pub yolo: bool,
    /// Whether the session has no terminal: a prompt that every interactor has dismissed is then settled at once by the
    /// rules for absence, because no person is there who could return to it.
    pub headless: bool,
    /// What becomes of a stage that wants a tool it was not given.
    pub grant_stage_tool: HeadlessGrant,
    /// How long those who left may stay away before they count as gone.
    pub grace: Duration,
    /// How long those who are here may keep a prompt that is over.
    pub letting_go: Duration,
}

impl Default for Absence {
    fn default() -> Self {
        Self {
            yolo: false,
            headless: false,
            grant_stage_tool: HeadlessSettings::default().grant_stage_tool.value,
            grace: InteractionSettings::default().interactor_grace.value,
            letting_go: Duration::from_secs(1),
        }
    }
}

impl Absence {
    /// What settles a prompt without an interactor.
    fn verdict(&self, request: &Request) -> Outcome {
        let kind = request.kind();
        if self.yolo {
            return automatic_answer(request);
        }
        match kind {
            _ if kind.is_of_tools() => Outcome::Unavailable,
            InteractionKind::GrantStageTool if self.grant_stage_tool == HeadlessGrant::Deny => {
                Outcome::Automatic {
                    response: accepted(request, json!({"outcome": "deny", "note": "headless"})),
                    decision: "deny",
                    reason: Some("headless"),
                }
            }
            _ => Outcome::Halted { hint: hint(kind) },
        }
    }

    /// Whether the person said yes in advance, also to those who could be asked.
    fn approved_in_advance(&self, kind: InteractionKind) -> bool {
        self.yolo && kind.is_core_only()
    }
}

/// The answer that `--yolo` stands for.
fn automatic_answer(request: &Request) -> Outcome {
    let (value, decision) = match &request.payload {
        Payload::Ask(_) => (json!({"text": ""}), "auto-answer"),
        // The asker of a secret gets none and has to fail.
        Payload::AuthDeviceCode(_) | Payload::AuthPassword(_) => (Value::Null, "auto-answer"),
        Payload::Select(_) => (json!({"index": 0}), "select-first"),
        Payload::Approve(_) => (json!({"decision": "approve", "allowOnce": true}), "approve"),
        Payload::Confirm(_) => (json!({"confirmed": true}), "approve"),
        Payload::GrantStageTool(_) | Payload::ApproveSubagentEnvelope(_) => {
            (json!({"outcome": "approve"}), "approve")
        }
        Payload::ToolApproval(_) => {
            let value = json!({"action": "approve", "approvalScope": "once"});
            (value, "approve")
        }
        // Form input is never invented.
        _ => return Outcome::Unavailable,
    };
    Outcome::Automatic {
        response: accepted(request, value),
        decision,
        reason: None,
    }
}

fn accepted(request: &Request, value: Value) -> Response {
    Response {
        status: Status::Accepted,
        value: Some(value),
        ..Response::dismissed(request)
    }
}

const fn hint(kind: InteractionKind) -> &'static str {
    match kind {
        InteractionKind::Ask => "no UI is attached; run with a UI",
        InteractionKind::AuthDeviceCode | InteractionKind::AuthPassword => {
            "it needs a person; run with a UI"
        }
        InteractionKind::Select => "run with a UI, or with `--yolo` to take the first choice",
        _ => "run with a UI, or with `--yolo` to approve in advance",
    }
}

impl Prompts {
    /// What settles a prompt before anyone is asked.
    pub(super) fn unasked(&self, prompt: &Prompt) -> Option<Outcome> {
        if self.absence.approved_in_advance(prompt.request.kind()) {
            return Some(automatic_answer(&prompt.request));
        }
        let table = lock(&self.table);
        // Those who left may come back. Those who are here and do not know the kind will not learn it. A tool is told
        // at once that it cannot ask, because it may do without; one that asks again waits for the earlier answer.
        let may_wait = !prompt.request.kind().is_of_tools() || table.asks_again(prompt);
        let is_awaited = table.attended || table.asks_again(prompt);
        let awaited = table.seats.is_empty() && is_awaited && may_wait;
        let nobody = table.seats_for(prompt).is_empty() && !awaited;
        nobody.then(|| self.absence.verdict(&prompt.request))
    }

    /// Starts to wait for the interactors that left, if no other is attached.
    pub(super) fn check_attendance(&self) {
        let mut table = lock(&self.table);
        if table.closed || !table.seats.is_empty() || table.grace.is_some() {
            return;
        }
        if !table.attended {
            // They went for good while the record of a prompt was on the way.
            drop(table);
            return self.give_up_waiting(None);
        }
        table.absences += 1;
        let (this, absence) = (self.this.clone(), table.absences);
        let job = Box::new(move || {
            if let Some(prompts) = this.upgrade() {
                prompts.give_up_waiting(Some(absence));
            }
        });
        table.grace = Some(self.timer.after(self.absence.grace, job));
    }

    /// An interactor failed over the prompt that is being asked, as one does that has crashed or lost its person. Once all
    /// have, no interactor is left that could answer, and the prompt waits as long as it would for those that left.
    pub(super) fn mind_failure(&self, seat: &Arc<InteractorSlot>, prompt: &Arc<Prompt>) {
        let mut table = lock(&self.table);
        let Some(current) = table.asking(prompt) else {
            return;
        };
        current.failed.push(seat.clone());
        if current.hopeless.is_some() {
            return;
        }
        let (this, open) = (self.this.clone(), prompt.clone());
        let job = Box::new(move || {
            if let Some(prompts) = this.upgrade() {
                prompts.give_up_on(&open);
            }
        });
        if table.is_hopeless(prompt)
            && let Some(current) = table.asking(prompt)
        {
            current.hopeless = Some(self.timer.after(self.absence.grace, job));
        }
    }

    /// An interactor dismissed the prompt that is being asked. With a terminal the prompt stays open; without one it is
    /// settled as soon as no interactor is left that could still answer it.
    pub(super) fn mind_dismissal(&self, seat: &Arc<InteractorSlot>, prompt: &Arc<Prompt>) {
        if !self.absence.headless {
            return;
        }
        let is_hopeless = {
            let mut table = lock(&self.table);
            let Some(current) = table.open(prompt) else {
                return;
            };
            current.failed.push(seat.clone());
            table.is_hopeless(prompt)
        };
        if is_hopeless {
            // An answer that came first has settled the prompt already.
            let _ = self.settle(prompt.id(), self.absence.verdict(&prompt.request));
        }
    }

    /// All interactors that were asked have failed, and unless a new one joined meanwhile, none is attached.
    fn give_up_on(&self, prompt: &Arc<Prompt>) {
        {
            let mut table = lock(&self.table);
            let hopeless = table.is_hopeless(prompt);
            match table.asking(prompt) {
                // The new one may fail too.
                Some(current) if !hopeless => current.hopeless = None,
                Some(_) => {}
                None => return,
            }
            if !hopeless {
                return;
            }
        }
        let _ = self.settle(prompt.id(), self.absence.verdict(&prompt.request));
    }

    /// No interactor came back: from now on none is attached, until one joins.
    ///
    /// The alarm of an `absence` may ring when that one is over and another has begun, and then it means nothing.
    pub(super) fn give_up_waiting(&self, absence: Option<u64>) {
        let verdict = {
            let mut table = lock(&self.table);
            if !table.seats.is_empty() || table.closed {
                return;
            }
            let is_stale = |number| number != table.absences || table.grace.is_none();
            if absence.is_some_and(is_stale) && !planted(Fault::StaleAlarm) {
                return;
            }
            table.grace = None;
            table.attended = false;
            match &table.current {
                // A tool's prompt keeps waiting, for as long as the tool said.
                Some(Current {
                    prompt,
                    stage: PromptStage::Open,
                    ..
                }) if !prompt.request.kind().is_of_tools() => {
                    let verdict = self.absence.verdict(&prompt.request);
                    Some((prompt.id().to_owned(), verdict))
                }
                _ => None,
            }
        };
        if let Some((id, verdict)) = verdict {
            let _ = self.settle(&id, verdict);
        }
    }
}

impl Table {
    /// The prompt, if it is the one that is being asked. A tool's own prompt keeps waiting, for as long as the tool said.
    fn asking(&mut self, prompt: &Prompt) -> Option<&mut Current> {
        let current = self.open(prompt);
        current.filter(|_| !prompt.request.kind().is_of_tools())
    }

    /// The prompt, if it is the one that is being asked.
    fn open(&mut self, prompt: &Prompt) -> Option<&mut Current> {
        let is_asked = |current: &&mut Current| {
            current.prompt.id() == prompt.id() && matches!(current.stage, PromptStage::Open)
        };
        self.current.as_mut().filter(is_asked)
    }

    /// Whether everyone who could answer the prompt has failed over it.
    fn is_hopeless(&self, prompt: &Prompt) -> bool {
        let failed = self.current.iter().flat_map(|current| &current.failed);
        let failed: Vec<&Arc<InteractorSlot>> = failed.collect();
        let has_failed =
            |seat: &Arc<InteractorSlot>| failed.iter().any(|other| Arc::ptr_eq(other, seat));
        self.seats_for(prompt).iter().all(has_failed)
    }
}
