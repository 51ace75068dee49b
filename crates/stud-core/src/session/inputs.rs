//! The queue of unanswered user inputs.

use std::collections::VecDeque;

use serde_json::{Value, json};
use stud_contract_meta::{Error, Kind, Result};
use stud_contract_session_store::Durability;
use stud_contract_ui::Role;
use stud_diagnostics::codes;

use super::Session;
use crate::fault_injection::{Fault, planted};
use crate::interactions::{Inbox, LateAnswer};
use crate::ledger::{Draft, closed};
use crate::sync::{Mutex, Promise, lock, promise};
use crate::validate::Members;

/// Something the person said.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Input {
    /// Its place in the transcript.
    pub seq: u64,
    /// The plugin it came through.
    pub ext_id: String,
    /// As typed.
    pub text: String,
    /// The prompt it answers, when the tool that asked was gone by then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub caused_by: Option<String>,
}

/// The `kind` of an origin that names a control request, and the author of its records.
pub(super) const CONTROL: &str = "control";

/// How many inputs may wait.
const LONGEST_QUEUE: usize = 256;

/// The queue of inputs. One reader takes them, at the boundaries of turns.
#[derive(Default)]
pub(super) struct Inputs(Mutex<Queue>);

#[derive(Default)]
struct Queue {
    waiting: VecDeque<Input>,
    /// The input that was taken and whose turn is not on record yet.
    taken: Option<Input>,
    /// Inputs whose records are on the way.
    coming: usize,
    reader: Option<Promise<()>>,
    /// No more come; those that wait are still taken.
    ended: bool,
    /// None is taken any more.
    closed: bool,
}

impl Inputs {
    pub(super) fn holding(waiting: Vec<Input>) -> Self {
        Self(Mutex::new(Queue {
            waiting: waiting.into(),
            ..Queue::default()
        }))
    }

    /// Keeps a place for an input whose record is on the way.
    fn reserve(&self) -> Result<()> {
        self.reserve_within(LONGEST_QUEUE)
    }

    /// The same where fewer may wait.
    pub(super) fn reserve_within(&self, capacity: usize) -> Result<()> {
        let mut queue = lock(&self.0);
        if queue.closed || queue.ended {
            return Err(closed());
        }
        let capacity = capacity.min(LONGEST_QUEUE);
        if queue.waiting.len() + queue.coming >= capacity {
            return Err(queue_full(capacity));
        }
        queue.coming += 1;
        Ok(())
    }

    fn arrive(&self, input: Option<Input>) {
        self.arrive_at(input, false);
    }

    /// The input whose place was kept is on record, or is not going to be. One that goes `first` is taken next.
    pub(super) fn arrive_at(&self, input: Option<Input>, first: bool) {
        let reader = {
            let mut queue = lock(&self.0);
            queue.coming -= 1;
            match input {
                Some(input) if first => queue.waiting.push_front(input),
                input => queue.waiting.extend(input),
            }
            (!planted(Fault::SleepingReader))
                .then(|| queue.reader.take())
                .flatten()
        };
        if let Some(reader) = reader {
            reader.keep(());
        }
    }

    /// What was acknowledged and has no turn on record.
    pub(super) fn waiting(&self) -> Vec<Input> {
        let queue = lock(&self.0);
        queue.taken.iter().chain(&queue.waiting).cloned().collect()
    }

    /// The turn of the input that was taken is on record.
    pub(super) fn begun(&self) {
        lock(&self.0).taken = None;
    }

    pub(super) fn close(&self) {
        self.stop(|queue| queue.closed = true);
    }

    fn stop(&self, how: impl FnOnce(&mut Queue)) {
        let reader = {
            let mut queue = lock(&self.0);
            how(&mut queue);
            queue.reader.take()
        };
        if let Some(reader) = reader {
            reader.keep(());
        }
    }
}

/// What a person answers to a tool that is gone is said to the session.
impl Inbox for Session {
    fn reserve(&self) -> Result<()> {
        self.inputs.reserve()
    }

    fn arrive(&self, answer: Option<LateAnswer>) {
        self.inputs.arrive(answer.map(|answer| Input {
            seq: answer.seq,
            ext_id: answer.ext_id,
            text: answer.text,
            caused_by: Some(answer.interaction_id),
        }));
    }
}

/// There is nothing to answer.
pub(crate) fn blank() -> Error {
    let code = &codes::USER_INPUT_INVALID;
    Error::new(code.class, code.name, "the input is blank")
}

/// Whether the payload of an input says that it goes before the others.
pub(super) fn goes_first(payload: &Value) -> bool {
    let origin = &payload["origin"];
    origin["kind"] == CONTROL && origin["interrupt"] == true
}

/// `Session/InputQueueFull`: so many inputs wait that no more are taken.
fn queue_full(limit: usize) -> Error {
    let code = &codes::INPUT_QUEUE_FULL;
    let message = format!("{limit} inputs are waiting already");
    Error::new(code.class, code.name, message).with("limit", limit)
}

impl Session {
    /// Whether an attached UI can submit user input.
    pub fn can_be_typed_to(&self) -> bool {
        let plugins = self.plugins();
        let mut uis = plugins.of_kind(Kind::Ui).into_iter();
        uis.any(|plugin| {
            let identity = plugin.identity();
            // One that only draws in another brings nothing by itself.
            let stands_alone = match &*identity.members {
                Members::Ui(ui) => ui.roles.iter().any(|role| *role != Role::Region),
                _ => false,
            };
            stands_alone && identity.life.word() == "active"
        })
    }

    /// The call of a tool is over. If it said that the answer may come later, the prompt it waited for stays open.
    pub(crate) fn tool_is_done(&self, ext_id: &str, tool_call_id: &str, returned: Option<&Value>) {
        let may_come_later = |value: &Value| value["pending"] == true && value["queued"] == true;
        // Nothing can be said to a child session later.
        if returned.is_some_and(may_come_later) && !self.is_child() {
            let inbox = self.this.clone();
            self.prompts
                .detach(&self.books, ext_id, tool_call_id, inbox);
        } else {
            self.prompts
                .forget_overdue(&self.books, ext_id, tool_call_id);
        }
    }

    /// Takes something the person said. When this returns, it will be answered even if the power fails now.
    ///
    /// # Errors
    ///
    /// `Validation/InputInvalid` for nothing but blank space, `Session/InputQueueFull`, and what the store says.
    pub async fn submit(&self, ext_id: &str, text: String) -> Result<u64> {
        self.submit_from(ext_id, text, None).await
    }

    /// The same for something whose words the person did not choose; `origin` says whose they are.
    pub(crate) async fn submit_from(
        &self,
        ext_id: &str,
        text: String,
        origin: Option<Value>,
    ) -> Result<u64> {
        let text = text.trim().to_owned();
        if text.is_empty() {
            return Err(blank());
        }
        self.inputs.reserve()?;
        let mut payload = json!({"text": text});
        if let Some(origin) = origin {
            payload["origin"] = origin;
        }
        let draft = Draft {
            kind: "user_input",
            ext_id: Some(ext_id.to_owned()),
            payload,
            ..Draft::default()
        };
        let (done, result) = promise();
        let (session, ext_id) = (self.this.clone(), ext_id.to_owned());
        let then = move |written: Result<u64>| {
            if let Some(session) = session.upgrade() {
                let input = written.as_ref().ok().map(|seq| Input {
                    seq: *seq,
                    ext_id,
                    text,
                    caused_by: None,
                });
                session.inputs.arrive(input);
            }
            done.keep(written);
        };
        self.books
            .ledger
            .commit(vec![draft], Durability::Synced, then);
        if planted(Fault::AckedEarly) {
            return Ok(self.books.ledger.last_seq() + 1);
        }
        result.await.unwrap_or_else(|| Err(closed()))
    }

    /// The next input, as soon as there is one. Nothing once the session ends.
    pub async fn next_input(&self) -> Option<Input> {
        loop {
            let wait = {
                let mut queue = lock(&self.inputs.0);
                if queue.closed {
                    return None;
                }
                if let Some(input) = queue.waiting.pop_front() {
                    queue.taken = Some(input.clone());
                    return Some(input);
                }
                if queue.ended && queue.coming == 0 {
                    return None;
                }
                let (promise, promised) = promise();
                queue.reader = Some(promise);
                promised
            };
            wait.await;
        }
    }

    /// Whether inputs wait or are on their way.
    pub fn has_inputs(&self) -> bool {
        let queue = lock(&self.inputs.0);
        !queue.waiting.is_empty() || queue.coming > 0
    }

    /// Takes no more inputs. Those that wait are still answered.
    pub fn end_of_input(&self) {
        self.inputs.stop(|queue| queue.ended = true);
    }

    /// Takes no more inputs and begins no more turns. Those that wait are answered when the session is resumed.
    pub fn wind_down(&self) {
        self.inputs.close();
    }
}
