//! Waiting, for plugins that need no runtime for anything else.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::pin::Pin;
use std::sync::{Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::task::{Context, Poll, Waker};
use std::thread;
use std::time::{Duration, Instant};

/// Waits for some time without holding a thread.
///
/// All waits of a plugin share one thread, started by the first of them.
/// Put a wait that may be long into [`CxExt::unless_cancelled`](crate::CxExt::unless_cancelled).
///
#[cfg_attr(feature = "testing", doc = "```")]
#[cfg_attr(not(feature = "testing"), doc = "```ignore")]
/// use std::time::Duration;
/// use stud_sdk::prelude::*;
/// use stud_sdk::testing::{FakeHost, Harness};
/// use stud_sdk::time::sleep;
///
/// /// Answers after a while.
/// #[tool]
/// async fn after_a_while(cx: &Cx) -> Result<&'static str> {
///     cx.unless_cancelled(sleep(Duration::from_millis(5))).await?;
///     Ok("done")
/// }
///
/// # fn main() -> Result<()> {
/// let output = Harness::new(stud_plugin(), FakeHost::new()).tool("after_a_while", json!({}))?;
/// assert_eq!(output, Output::text("done"));
/// # Ok(())
/// # }
/// ```
#[expect(
    clippy::disallowed_methods,
    reason = "a plugin has no clock but the system's"
)]
pub fn sleep(duration: Duration) -> Sleep {
    Sleep {
        until: Instant::now().checked_add(duration),
        asked: None,
    }
}

/// What [`sleep`] gives: ready once the time has passed.
///
#[cfg_attr(feature = "testing", doc = "```")]
#[cfg_attr(not(feature = "testing"), doc = "```ignore")]
/// use std::time::Duration;
/// use stud_sdk::testing::block_on;
/// use stud_sdk::time::{Sleep, sleep};
///
/// let nap: Sleep = sleep(Duration::from_millis(1));
/// block_on(nap);
/// ```
#[derive(Debug)]
#[must_use = "nothing waits until it is awaited"]
pub struct Sleep {
    /// Nothing if the time is beyond what a clock can count.
    until: Option<Instant>,
    /// Whom the clock was last asked to wake.
    asked: Option<Waker>,
}

impl Future for Sleep {
    type Output = ();

    #[expect(
        clippy::disallowed_methods,
        reason = "a plugin has no clock but the system's"
    )]
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let Some(until) = self.until else {
            return Poll::Pending;
        };
        if Instant::now() >= until {
            return Poll::Ready(());
        }
        let known = self
            .asked
            .as_ref()
            .is_some_and(|waker| waker.will_wake(cx.waker()));
        if !known {
            self.asked = Some(cx.waker().clone());
            clock().ring(until, cx.waker().clone());
        }
        Poll::Pending
    }
}

/// One thread that wakes all waiters.
#[derive(Default)]
struct Clock {
    alarms: Mutex<Alarms>,
    changed: Condvar,
}

#[derive(Default)]
struct Alarms {
    next: u64,
    due: BinaryHeap<Reverse<(Instant, u64)>>,
    wakers: std::collections::BTreeMap<u64, Waker>,
}

fn clock() -> &'static Clock {
    static CLOCK: OnceLock<&'static Clock> = OnceLock::new();
    CLOCK.get_or_init(|| {
        let clock: &'static Clock = Box::leak(Box::default());
        // Without a thread nothing rings; the futures stay pending and can still be cancelled.
        let _ = thread::Builder::new()
            .name("stud-sdk-clock".to_owned())
            .spawn(|| clock.run());
        clock
    })
}

impl Clock {
    fn lock(&self) -> MutexGuard<'_, Alarms> {
        self.alarms.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn ring(&self, at: Instant, waker: Waker) {
        let mut alarms = self.lock();
        let id = alarms.next;
        alarms.next += 1;
        alarms.due.push(Reverse((at, id)));
        alarms.wakers.insert(id, waker);
        drop(alarms);
        self.changed.notify_one();
    }

    #[expect(
        clippy::disallowed_methods,
        reason = "a plugin has no clock but the system's"
    )]
    fn run(&self) {
        let mut alarms = self.lock();
        loop {
            let now = Instant::now();
            let mut ringing = Vec::new();
            while let Some(Reverse((at, id))) = alarms.due.peek().copied()
                && at <= now
            {
                alarms.due.pop();
                ringing.extend(alarms.wakers.remove(&id));
            }
            if !ringing.is_empty() {
                // A waker may come straight back with another wait.
                drop(alarms);
                ringing.into_iter().for_each(Waker::wake);
                alarms = self.lock();
                continue;
            }
            let pause = alarms
                .due
                .peek()
                .map(|Reverse((at, _))| at.duration_since(now));
            alarms = match pause {
                Some(pause) => {
                    self.changed
                        .wait_timeout(alarms, pause)
                        .unwrap_or_else(PoisonError::into_inner)
                        .0
                }
                None => self
                    .changed
                    .wait(alarms)
                    .unwrap_or_else(PoisonError::into_inner),
            };
        }
    }
}
