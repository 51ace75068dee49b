//! One command after the other, except for those that a command runs itself.

use std::collections::VecDeque;

use stud_abi::CancellationToken;
use stud_contract_meta::{Error, Result};
use stud_diagnostics::codes;

use crate::sync::{Mutex, Promise, Promised, lock, promise};

/// How many commands may run inside one another. More than anyone means to, and few enough for any stack.
pub(super) const DEEPEST: u32 = 16;

/// The line in which the commands of a session stand.
///
/// A command runs once all before it are done. One that is run by a running command does not stand behind its own
/// runner, who waits for it: it runs as soon as the runner has no other command inside it.
#[derive(Default)]
pub(super) struct CommandQueue(Mutex<QueueState>);

#[derive(Default)]
struct QueueState {
    next: u64,
    /// Outermost first.
    running: Vec<Running>,
    waiting: VecDeque<WaitingCommand>,
}

struct Running {
    number: u64,
    depth: u32,
    task: Option<Task>,
}

struct WaitingCommand {
    number: u64,
    depth: u32,
    /// The command it runs inside of.
    inside: Option<u64>,
    called: Promise<()>,
}

/// What is known of a running command.
#[derive(Clone)]
pub(super) struct Task {
    /// The plugin that runs it.
    pub(super) ext_id: String,
    pub(super) correlation_id: String,
    /// Fires when it is cancelled.
    pub(super) called_off: CancellationToken,
}

/// A place in the line. It is given up when this is dropped, at whatever point.
pub(super) struct Place<'a> {
    line: &'a CommandQueue,
    number: u64,
    turn: Option<Promised<()>>,
    /// What the command runs inside of.
    pub(super) inside: Option<Task>,
}

impl CommandQueue {
    /// Joins: inside the command that `caller` runs right now, or at the end.
    ///
    /// A plugin that runs a command and dispatches another cannot be told from one that does so for other reasons
    /// meanwhile. Both run inside, so that no command ever waits for itself.
    pub(super) fn join(&self, caller: &str, name: &str) -> Result<Place<'_>> {
        let mut standing = lock(&self.0);
        let outer = standing.run_by(caller);
        let (inside, depth) = match outer {
            Some(outer) => (Some(outer.number), outer.depth + 1),
            None => (None, 0),
        };
        let task = outer.and_then(|outer| outer.task.clone());
        if depth >= DEEPEST {
            return Err(too_deep(name, depth + 1));
        }
        standing.next += 1;
        let number = standing.next;
        let (promise, turn) = promise();
        standing.waiting.push_back(WaitingCommand {
            number,
            depth,
            inside,
            called: promise,
        });
        let next = standing.admit();
        drop(standing);
        call(next);
        Ok(Place {
            line: self,
            number,
            turn: Some(turn),
            inside: task,
        })
    }

    /// Whether a command runs.
    pub(super) fn is_busy(&self) -> bool {
        !lock(&self.0).running.is_empty()
    }

    /// The cancellation source of the innermost command that this plugin is running.
    pub(super) fn called_off(&self, ext_id: &str) -> Option<CancellationToken> {
        let standing = lock(&self.0);
        let task = standing.run_by(ext_id)?.task.as_ref()?;
        Some(task.called_off.clone())
    }
}

impl Place<'_> {
    /// Waits until it is this command's turn.
    pub(super) async fn called(&mut self) {
        if let Some(turn) = self.turn.take() {
            turn.await;
        }
    }

    /// Says what runs here now.
    pub(super) fn begin(&self, task: Task) {
        let mut standing = lock(&self.line.0);
        let here = standing
            .running
            .iter_mut()
            .find(|running| running.number == self.number);
        if let Some(here) = here {
            here.task = Some(task);
        }
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        let mut standing = lock(&self.line.0);
        let number = self.number;
        standing.running.retain(|running| running.number != number);
        standing.waiting.retain(|waiting| waiting.number != number);
        let next = standing.admit();
        drop(standing);
        call(next);
    }
}

impl QueueState {
    fn run_by(&self, ext_id: &str) -> Option<&Running> {
        let runs = |running: &&Running| match &running.task {
            Some(task) => task.ext_id == ext_id,
            None => false,
        };
        self.running.iter().rev().find(runs)
    }

    /// Lets the next one run, if there is one whose turn it is.
    fn admit(&mut self) -> Option<Promise<()>> {
        let place = self.waiting.iter().position(|next| self.may_run(next))?;
        let next = self.waiting.remove(place)?;
        self.running.push(Running {
            number: next.number,
            depth: next.depth,
            task: None,
        });
        Some(next.called)
    }

    fn may_run(&self, next: &WaitingCommand) -> bool {
        let innermost = self.running.last().map(|running| running.number);
        // A runner that did not wait for its nested commands has left the queue, and they are queued without a parent.
        innermost.is_none() || innermost == next.inside
    }
}

/// Wakes the next one, outside the lock: a wake-up runs the waiter's code.
fn call(next: Option<Promise<()>>) {
    if let Some(next) = next {
        next.keep(());
    }
}

fn too_deep(name: &str, depth: u32) -> Error {
    let code = &codes::REENTRANT_DELIVERY;
    let message = format!("`{name}` would run {depth} commands deep, and {DEEPEST} is the limit");
    Error::new(code.class, code.name, message)
        .with("kind", "command")
        .with("depth", depth)
        .with("limit", DEEPEST)
}
