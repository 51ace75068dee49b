//! Servers on their way up, and the first turn that would like them to be there.

use std::time::Duration;

use stud_abi::CancellationToken;

use crate::executor::or_cancelled;
use crate::platform;
use crate::sync::{Mutex, Promise, lock, promise};
use crate::timeout::with_timeout;
use crate::timer::Timer;

/// How many are on their way, and who waits for them.
#[derive(Default)]
pub(super) struct Starting(Mutex<Inner>);

#[derive(Default)]
struct Inner {
    pending: usize,
    /// In nanoseconds of the process.
    until: u64,
    waiting: Vec<Promise<()>>,
}

impl Starting {
    /// Nothing waits longer than `grace` from now on.
    pub(super) fn begin(&self, grace: Duration) {
        let grace = u64::try_from(grace.as_nanos()).unwrap_or(u64::MAX);
        lock(&self.0).until = platform::ticks().saturating_add(grace);
    }

    /// One more is on its way.
    pub(super) fn add(&self) {
        lock(&self.0).pending += 1;
    }

    /// One is there, or will not be.
    pub(super) fn done(&self) {
        let waiting = {
            let mut inner = lock(&self.0);
            inner.pending = inner.pending.saturating_sub(1);
            if inner.pending > 0 {
                return;
            }
            std::mem::take(&mut inner.waiting)
        };
        for waiting in waiting {
            waiting.keep(());
        }
    }

    /// Waits until all are there, but not for long.
    pub(super) async fn settled(&self, timer: &dyn Timer, called_off: &CancellationToken) {
        let (left, waiting) = {
            let mut inner = lock(&self.0);
            let left = inner.until.saturating_sub(platform::ticks());
            if inner.pending == 0 || left == 0 {
                return;
            }
            let (mine, waiting) = promise();
            inner.waiting.push(mine);
            (Duration::from_nanos(left), waiting)
        };
        let _ = or_cancelled(called_off, with_timeout(timer, left, waiting)).await;
    }
}
