//! The state machine that is attached to a session, and how far its workflow has come.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use stud_contract_meta::Result;
use stud_contract_session_store::{Durability, SmState};
use stud_contract_state_machine::{Stage, StageContext};

use super::Session;
use crate::activate::Active;
use crate::ledger::{Draft, closed};
use crate::sync::{AtomicU64, Mutex, lock, promise};

/// The kind of the records that say which machine is attached, and how far its workflow has come.
pub(super) const WORKFLOW: &str = "workflow";

/// The kind of the records that say which stages were entered after the last [`WORKFLOW`] record.
pub(super) const ENTERED: &str = "workflow_entered";

/// A machine that is attached.
#[derive(Debug)]
pub(crate) struct Machine {
    pub(crate) plugin: Arc<Active>,
    pub(crate) stages: Vec<Stage>,
    /// Where its workflow begins.
    pub(crate) entry: String,
}

impl Machine {
    pub(crate) fn id(&self) -> &str {
        self.plugin.identity().ext_id.as_str()
    }

    pub(crate) fn stage(&self, id: &str) -> Option<&Stage> {
        self.stages.iter().find(|stage| stage.id == id)
    }
}

/// What is on record of the machine of a session.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct WorkflowRecord {
    /// The machine that is attached; none after it was detached.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) sm_id: Option<String>,
    pub(crate) progress: WorkflowProgress,
}

/// How far the workflow of a machine has come.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "camelCase")]
pub(crate) enum WorkflowProgress {
    /// The next input begins it.
    #[default]
    Ready,
    /// It runs, or was cut off.
    Running(Box<Walk>),
    /// It has come to an end.
    Ended {
        /// `completed`, `failed` or `dropped`.
        status: String,
    },
}

/// A workflow between two stages: all that is needed to continue it in another process.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Walk {
    pub(crate) id: String,
    /// What is run next, the next one last.
    pub(crate) plans: Vec<StagePlan>,
    /// What the next stage begins with.
    pub(crate) context: StageContext,
    /// The stages that were entered and have not ended. After a crash they are not entered again unasked.
    pub(crate) entered: Vec<Entered>,
    pub(crate) stages_run: u32,
    pub(crate) compounds: u32,
    /// Whether an input began it.
    pub(crate) has_input: bool,
}

/// A stage to run, or several at once.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct StagePlan {
    /// One stage, or the siblings.
    pub(crate) stages: Vec<String>,
    pub(crate) is_parallel: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) join: Option<String>,
    /// The stages that led here, outermost first.
    pub(crate) stack: Vec<String>,
}

/// A stage that was entered.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Entered {
    pub(crate) stage_id: String,
    pub(crate) stage_execution_id: String,
}

/// What a turn of a state machine says of its stage.
#[derive(Debug, Clone, Default)]
pub(crate) struct StageTag {
    pub(crate) stage_id: Option<String>,
    pub(crate) attempt: Option<u32>,
    pub(crate) compound_turn_id: Option<String>,
    /// How the next stages run.
    pub(crate) execution: Option<String>,
}

/// The machine of a session.
#[derive(Default)]
pub(super) struct Attachment {
    seat: Mutex<Seat>,
    /// How many of its phases run.
    phases: AtomicU64,
}

#[derive(Default)]
struct Seat {
    machine: Option<Arc<Machine>>,
    /// What the session was left with. It stays on record until another machine takes its place.
    recorded: Option<SmState>,
    progress: WorkflowProgress,
    /// Whether the workflow begins without an input.
    begins_by_itself: bool,
}

impl Attachment {
    pub(super) fn holding(recorded: Option<SmState>, progress: WorkflowProgress) -> Self {
        Self {
            seat: Mutex::new(Seat {
                recorded,
                progress,
                ..Seat::default()
            }),
            phases: AtomicU64::new(0),
        }
    }

    /// As a snapshot keeps it.
    pub(super) fn record(&self) -> WorkflowRecord {
        let seat = lock(&self.seat);
        WorkflowRecord {
            sm_id: seat.recorded.as_ref().map(|sm| sm.sm_ext_id.clone()),
            progress: seat.progress.clone(),
        }
    }
}

/// A phase of the machine runs for as long as this lives.
pub(crate) struct PhaseGuard(Arc<Session>);

impl Drop for PhaseGuard {
    fn drop(&mut self) {
        self.0.attachment.phases.fetch_sub(1, Ordering::AcqRel);
    }
}

/// The reference of a machine that has kept nothing with the session. A store refuses an empty one, and no plugin has
/// this id.
pub(crate) const NO_SLOT: &str = "-";

impl Session {
    /// The machine that is attached.
    pub(crate) fn machine(&self) -> Option<Arc<Machine>> {
        lock(&self.attachment.seat).machine.clone()
    }

    /// The machine as the manifest of a snapshot names it. The reference is [`NO_SLOT`] as long as the machine has kept
    /// nothing.
    pub(crate) fn machine_on_record(&self) -> Option<SmState> {
        let mut recorded = lock(&self.attachment.seat).recorded.clone()?;
        if self
            .machine()
            .is_some_and(|machine| machine.id() == recorded.sm_ext_id)
        {
            let has_slot = self.slots.has(&recorded.sm_ext_id);
            recorded.state_slot_ref = if has_slot {
                recorded.sm_ext_id.clone()
            } else {
                NO_SLOT.to_owned()
            };
        }
        Some(recorded)
    }

    /// How far the workflow has come.
    pub(crate) fn workflow_progress(&self) -> WorkflowProgress {
        lock(&self.attachment.seat).progress.clone()
    }

    /// Whether the workflow continues or begins without an input.
    pub fn workflow_begins_by_itself(&self) -> bool {
        let seat = lock(&self.attachment.seat);
        let is_due = match seat.progress {
            WorkflowProgress::Ready => seat.begins_by_itself,
            WorkflowProgress::Running(_) => true,
            WorkflowProgress::Ended { .. } => false,
        };
        seat.machine.is_some() && is_due
    }

    /// Whether the next input is for the machine and not for the model.
    pub(crate) fn workflow_takes_input(&self) -> bool {
        let seat = lock(&self.attachment.seat);
        seat.machine.is_some() && !matches!(seat.progress, WorkflowProgress::Ended { .. })
    }

    /// Lets a machine that is active take the seat, or empties it.
    pub(crate) async fn seat_machine(
        &self,
        machine: Option<Arc<Machine>>,
        progress: WorkflowProgress,
        begins_by_itself: bool,
    ) -> Result<()> {
        let recorded = machine.as_ref().map(|machine| SmState {
            sm_ext_id: machine.id().to_owned(),
            state_slot_ref: machine.id().to_owned(),
        });
        let record = WorkflowRecord {
            sm_id: machine.as_ref().map(|machine| machine.id().to_owned()),
            progress: progress.clone(),
        };
        let take_seat = move |session: &Self| {
            let mut seat = lock(&session.attachment.seat);
            seat.machine = machine;
            seat.recorded = recorded;
            seat.progress = progress;
            seat.begins_by_itself = begins_by_itself;
        };
        if self.books.ledger.last_seq() == 0 {
            // A session in which nothing happens is not kept. The first stage puts the machine on record.
            take_seat(self);
            return Ok(());
        }
        self.commit_workflow(WORKFLOW, json!(record), take_seat)
            .await
    }

    /// Gives a machine that is on record its seat back: in a resumed session, or after a reload.
    pub(crate) fn reseat_machine(&self, machine: Arc<Machine>) {
        lock(&self.attachment.seat).machine = Some(machine);
    }

    /// Puts on record how far the workflow has come.
    pub(crate) async fn keep_progress(&self, progress: WorkflowProgress) -> Result<()> {
        let sm_id = self.machine().map(|machine| machine.id().to_owned());
        let record = WorkflowRecord {
            sm_id,
            progress: progress.clone(),
        };
        self.commit_workflow(WORKFLOW, json!(record), move |session| {
            lock(&session.attachment.seat).progress = progress;
        })
        .await
    }

    /// Puts on record that stages are entered, before anything of them runs.
    pub(crate) async fn enter_stages(&self, entered: Vec<Entered>) -> Result<()> {
        self.commit_workflow(ENTERED, json!({"stages": entered}), move |session| {
            let mut seat = lock(&session.attachment.seat);
            if let WorkflowProgress::Running(walk) = &mut seat.progress {
                walk.entered = entered;
            }
        })
        .await
    }

    async fn commit_workflow(
        &self,
        kind: &'static str,
        payload: Value,
        then: impl FnOnce(&Self) + Send + 'static,
    ) -> Result<()> {
        let session = self.this.upgrade().ok_or_else(closed)?;
        let (done, result) = promise();
        let draft = Draft {
            kind,
            correlation_id: self.turn_id(),
            ext_id: None,
            payload,
        };
        let written = move |written: Result<u64>| {
            if written.is_ok() {
                then(&session);
            }
            done.keep(written.map(drop));
        };
        let ledger = &self.books.ledger;
        ledger.commit(vec![draft], Durability::Written, written);
        result.await.unwrap_or_else(|| Err(closed()))
    }

    /// Notes that a phase of the machine runs, so that the machine may ask the person.
    pub(crate) fn machine_phase(self: &Arc<Self>) -> PhaseGuard {
        self.attachment.phases.fetch_add(1, Ordering::AcqRel);
        PhaseGuard(self.clone())
    }

    /// Whether this plugin is the machine that is attached, and one of its phases runs.
    pub(crate) fn is_at_stage_boundary(&self, ext_id: &str) -> bool {
        let is_attached = self.machine().is_some_and(|machine| machine.id() == ext_id);
        is_attached && self.attachment.phases.load(Ordering::Acquire) > 0
    }
}
