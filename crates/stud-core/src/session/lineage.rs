//! What makes a session the child of another, and which children of a tree of sessions run.
//!
//! A tree of sessions is an orchestrator and all children below it. Each child that was asked for is entered here
//! before a person is asked about it, and removed when it ends: [`Subagents::ending`] gives the entry to the first caller
//! alone, so that each child has one terminal record.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::{Arc, OnceLock, Weak};

use stud_abi::CancellationSource;
use stud_host_api::BoxFuture;

use super::{Ending, Input, Session};
use crate::model::Model;
use crate::recorder::Recorder;
use crate::sync::{Mutex, Promise, lock, promise};
use crate::tool_registry::{ToolRef, ToolSource};

/// What a child session was opened with.
#[derive(Debug)]
pub(crate) struct Lineage {
    /// How deep it is; a child of the orchestrator is at 1.
    pub(crate) depth: u32,
    /// The tools it may use without a prompt.
    pub(crate) envelope: Envelope,
    /// When it was opened, on the clock that orders prompts.
    pub(crate) spawned_at: u64,
    /// The orchestrator of the tree.
    pub(crate) root: Weak<Session>,
}

/// The tools that a person allowed a child, as they were when it was opened.
///
/// A tool of the same name that another plugin gives later is not one of them.
#[derive(Debug, Default)]
pub(crate) struct Envelope(BTreeMap<String, Arc<dyn ToolSource>>);

impl Envelope {
    /// Exactly these tools.
    pub(crate) fn of(tools: impl IntoIterator<Item = ToolRef>) -> Self {
        let named = |found: ToolRef| (found.tool().name.clone(), found.giver);
        Self(tools.into_iter().map(named).collect())
    }

    /// Whether this tool, of this giver, is one of them.
    pub(crate) fn holds(&self, tool: &str, giver: &Arc<dyn ToolSource>) -> bool {
        let is_same =
            |known: &Arc<dyn ToolSource>| std::ptr::addr_eq(Arc::as_ptr(known), Arc::as_ptr(giver));
        self.0.get(tool).is_some_and(is_same)
    }
}

/// How far a child has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ChildState {
    /// It passed the checks.
    Requested,
    /// A person is asked about its tools.
    EnvelopeApproval,
    /// It may begin.
    Spawned,
    /// It works.
    Running,
}

impl ChildState {
    /// The word on every wire.
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Requested => "requested",
            Self::EnvelopeApproval => "envelopeApproval",
            Self::Spawned => "spawned",
            Self::Running => "running",
        }
    }
}

/// A child that was asked for and has not ended.
#[derive(Debug, Clone)]
pub(crate) struct Child {
    pub(crate) subagent_id: String,
    pub(crate) parent_session_id: String,
    pub(crate) depth: u32,
    pub(crate) label: Option<String>,
    pub(crate) model: Model,
    pub(crate) requested_envelope: Vec<String>,
    pub(crate) state: ChildState,
    /// Where everything about it is written down.
    pub(crate) books: Arc<Recorder>,
    /// The turn in which it was asked for.
    pub(crate) correlation_id: String,
    /// Ends the child and everything below it, and nothing above.
    pub(crate) scope: CancellationSource,
    /// Its session, once there is one.
    pub(crate) session: Weak<Session>,
}

/// Lets a child do its task.
pub(crate) trait ChildRunner: Send + Sync {
    /// Answers the one input of a child. Gives its last words and how it ended.
    fn run(
        &self,
        child: Arc<Session>,
        model: Model,
        input: Input,
    ) -> BoxFuture<'static, (String, Ending)>;
}

/// The children of one tree of sessions.
#[derive(Default)]
pub(crate) struct Subagents {
    table: Mutex<ChildTable>,
    runner: OnceLock<Arc<dyn ChildRunner>>,
}

#[derive(Default)]
struct ChildTable {
    /// By their ids, which are in the order they were made.
    children: BTreeMap<String, Child>,
    /// Those whose terminal record is being written.
    ending: BTreeSet<String>,
    /// Callers that wait until a child is over.
    waiting: Vec<Promise<()>>,
}

impl Subagents {
    /// Settles what lets children do their tasks. The first call counts.
    pub(crate) fn run_by(&self, runner: impl FnOnce() -> Arc<dyn ChildRunner>) {
        let _ = self.runner.get_or_init(runner);
    }

    /// What lets children do their tasks; nothing outside a turn.
    pub(crate) fn runner(&self) -> Option<Arc<dyn ChildRunner>> {
        self.runner.get().cloned()
    }

    /// Enters a child that was asked for.
    pub(crate) fn enter(&self, child: Child) {
        let id = child.subagent_id.clone();
        lock(&self.table).children.insert(id, child);
    }

    /// Notes how far a child has come. Gives whether it still is on its way.
    pub(crate) fn is_now(&self, id: &str, state: ChildState) -> bool {
        match lock(&self.table).children.get_mut(id) {
            Some(child) => {
                child.state = state;
                true
            }
            None => false,
        }
    }

    /// Notes the session of a child. Gives whether the child still is on its way.
    pub(crate) fn opened(&self, id: &str, session: &Arc<Session>) -> bool {
        match lock(&self.table).children.get_mut(id) {
            Some(child) => {
                child.session = Arc::downgrade(session);
                true
            }
            None => false,
        }
    }

    /// A child whose end is to be put on record. Only the first caller gets it.
    pub(super) fn ending(&self, id: &str) -> Option<Child> {
        let mut table = lock(&self.table);
        let child = table.children.get(id).cloned()?;
        table.ending.insert(id.to_owned()).then_some(child)
    }

    /// Removes a child that never began, and of which nothing is left to say.
    pub(crate) fn forget(&self, id: &str) -> bool {
        let is_known = self.ending(id).is_some();
        if is_known {
            self.ended(id);
        }
        is_known
    }

    /// Removes a child whose end is on record.
    pub(super) fn ended(&self, id: &str) {
        let waiting = {
            let mut table = lock(&self.table);
            table.children.remove(id);
            table.ending.remove(id);
            std::mem::take(&mut table.waiting)
        };
        for waiting in waiting {
            waiting.keep(());
        }
    }

    /// The children that were asked for and have not ended, oldest first.
    pub(crate) fn all(&self) -> Vec<Child> {
        lock(&self.table).children.values().cloned().collect()
    }

    /// Whether no child is on its way.
    pub(crate) fn is_empty(&self) -> bool {
        lock(&self.table).children.is_empty()
    }

    /// Waits until no child of this session is on its way.
    pub(crate) async fn over_of(&self, parent_session_id: &str) {
        loop {
            let next = {
                let mut table = lock(&self.table);
                let mut children = table.children.values();
                if !children.any(|child| child.parent_session_id == parent_session_id) {
                    return;
                }
                let (promise, promised) = promise();
                table.waiting.push(promise);
                promised
            };
            next.await;
        }
    }
}

impl fmt::Debug for Subagents {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list()
            .entries(self.all().iter().map(|child| &child.subagent_id))
            .finish()
    }
}
