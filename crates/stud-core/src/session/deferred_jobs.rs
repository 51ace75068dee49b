//! Jobs deferred until the session is idle.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use super::Session;
use crate::activate::Active;
use crate::sync::{lock, promise};
use crate::timeout::with_timeout;

/// A moment of a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Moment {
    /// Between two of its stages.
    Boundary,
    /// After its end, and before the next one begins.
    End,
}

/// What is done then. It may give a plugin that takes the place of one that the turn began with.
pub(crate) type Job = Box<dyn FnOnce() -> Option<Arc<Active>> + Send>;

/// What waits, each in the order in which it came.
#[derive(Default)]
pub(super) struct Waiting {
    boundary: Vec<Job>,
    end: Vec<Job>,
}

impl Waiting {
    /// A turn that is over has no boundary any more.
    pub(super) fn take_all(&mut self) -> Vec<Job> {
        let mut all = std::mem::take(&mut self.boundary);
        all.append(&mut self.end);
        all
    }

    /// The next end of a turn.
    fn next_end(&mut self) -> impl Future<Output = ()> + Send + use<> {
        let (done, end) = promise();
        self.end.push(Box::new(move || {
            done.keep(());
            None
        }));
        async move {
            end.await;
        }
    }
}

impl Session {
    /// Keeps a job for a moment of the running turn. Gives it back if none runs: then any moment will do.
    pub(crate) fn defer(&self, moment: Moment, job: Job) -> Result<(), Job> {
        let mut progress = lock(&self.progress);
        if progress.turn.is_none() {
            return Err(job);
        }
        match moment {
            Moment::Boundary => progress.waiting.boundary.push(job),
            Moment::End => progress.waiting.end.push(job),
        }
        Ok(())
    }

    /// Keeps a job for the end of the turn that runs or comes next.
    pub(crate) fn after_a_turn(&self, job: Job) {
        lock(&self.progress).waiting.end.push(job);
    }

    /// What was to be done at this boundary.
    pub(crate) fn due_at_boundary(&self) -> Vec<Job> {
        std::mem::take(&mut lock(&self.progress).waiting.boundary)
    }

    /// Waits until no turn runs and nothing that was said is unanswered. Gives how many turns ended meanwhile, and
    /// nothing if it takes longer than `patience`.
    pub(crate) async fn drain(&self, patience: Duration) -> Option<u64> {
        let drained = async {
            let mut turns = 0;
            while let Some(end) = self.next_end() {
                end.await;
                turns += 1;
            }
            turns
        };
        with_timeout(&*self.timer, patience, drained).await
    }

    /// The turn that runs and has no answer yet. One that has its answer is waited for, and so are those after it.
    pub(crate) async fn turn_under_way(&self) -> Option<String> {
        /// Within this, an answer whose last word was seen is at its end. Until then that word is like any other.
        const LAST_WORD: Duration = Duration::from_millis(250);
        while let Some((turn, end)) = self.end_of_turn() {
            let mut end = pin!(end);
            let ended = with_timeout(&*self.timer, LAST_WORD, end.as_mut()).await;
            if ended.is_some() {
                continue;
            }
            if !self.has_answered(&turn) {
                return Some(turn);
            }
            end.await;
        }
        None
    }

    /// The turn that runs, and its end.
    fn end_of_turn(&self) -> Option<(String, impl Future<Output = ()> + Send + use<>)> {
        let mut progress = lock(&self.progress);
        let turn = progress.turn.clone()?;
        Some((turn, progress.waiting.next_end()))
    }

    fn has_answered(&self, turn: &str) -> bool {
        let progress = lock(&self.progress);
        progress.turn.as_deref() != Some(turn) || progress.is_answered
    }

    /// The end of the next turn, if one runs or is to come.
    fn next_end(&self) -> Option<impl Future<Output = ()> + Send + use<>> {
        let mut progress = lock(&self.progress);
        // A turn counts as running before its input counts as answered, so there is no moment between the two.
        let is_idle =
            progress.turn.is_none() && self.inputs.waiting().is_empty() && !self.has_inputs();
        if is_idle {
            return None;
        }
        Some(progress.waiting.next_end())
    }
}

impl std::fmt::Debug for Waiting {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Waiting")
            .field("boundary", &self.boundary.len())
            .field("end", &self.end.len())
            .finish()
    }
}
