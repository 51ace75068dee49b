//! Doing things later. One clock for a process, and one that stands still for tests.

use std::collections::BTreeMap;
use std::sync::{Arc, Condvar, Mutex, OnceLock, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use crate::executor;

type TimerJob = Box<dyn FnOnce() + Send>;

/// Runs jobs later.
pub trait Timer: Send + Sync {
    /// Runs `job` on some thread once `delay` has passed, unless the alarm is dropped first.
    fn after(&self, delay: Duration, job: TimerJob) -> Alarm;
}

/// A job that waits for its time. Dropping it calls the job off if it has not begun.
#[must_use = "dropping it calls the job off"]
pub struct Alarm {
    off: Option<TimerJob>,
}

impl Alarm {
    /// An alarm that `off` cancels.
    pub fn new(off: impl FnOnce() + Send + 'static) -> Self {
        Self {
            off: Some(Box::new(off)),
        }
    }

    /// Detaches the alarm: the job runs even after the handle is dropped.
    pub fn detach(mut self) {
        self.off = None;
    }
}

impl Drop for Alarm {
    fn drop(&mut self) {
        if let Some(off) = self.off.take() {
            off();
        }
    }
}

impl std::fmt::Debug for Alarm {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Alarm")
    }
}

static SYSTEM: OnceLock<Arc<SystemTimer>> = OnceLock::new();

/// The timer of this process: one thread, started by the first alarm.
pub fn system() -> Arc<dyn Timer> {
    SYSTEM
        .get_or_init(|| {
            let timer = Arc::new(SystemTimer::default());
            let thread = timer.clone();
            let spawned = thread::Builder::new()
                .name("stud-timer".to_owned())
                .spawn(move || thread.run());
            debug_assert!(
                spawned.is_ok(),
                "a process that cannot have one more thread"
            );
            timer
        })
        .clone()
}

#[derive(Default)]
struct SystemTimer {
    plan: Mutex<Plan>,
    changed: Condvar,
}

#[derive(Default)]
struct Plan {
    next: u64,
    jobs: BTreeMap<(Instant, u64), TimerJob>,
    /// When the thread looks again by itself; nothing if it does not, or is looking. Most alarms are cancelled before
    /// their time, so it may well look for one that is gone. That is one look for all that were set meanwhile, where to
    /// wake it for each would be one for each.
    looks: Option<Instant>,
}

impl SystemTimer {
    fn plan(&self) -> std::sync::MutexGuard<'_, Plan> {
        self.plan.lock().unwrap_or_else(PoisonError::into_inner)
    }

    #[expect(
        clippy::disallowed_methods,
        reason = "the timer of the system waits on the clock of the system"
    )]
    fn run(&self) {
        let mut plan = self.plan();
        loop {
            let now = Instant::now();
            let first = plan.jobs.first_entry();
            plan.looks = match first {
                Some(job) if job.key().0 <= now => {
                    let job = job.remove();
                    drop(plan);
                    // The job may wait or call a plugin, and the next one is due all the same.
                    executor::spawn(job);
                    plan = self.plan();
                    continue;
                }
                first => first.map(|job| job.key().0),
            };
            plan = if let Some(at) = plan.looks {
                let waited = self.changed.wait_timeout(plan, at - now);
                waited.unwrap_or_else(PoisonError::into_inner).0
            } else {
                let waited = self.changed.wait(plan);
                waited.unwrap_or_else(PoisonError::into_inner)
            };
            plan.looks = None;
        }
    }
}

impl Timer for SystemTimer {
    #[expect(
        clippy::disallowed_methods,
        reason = "the timer of the system waits on the clock of the system"
    )]
    fn after(&self, delay: Duration, job: TimerJob) -> Alarm {
        let at = Instant::now() + delay;
        let (key, is_early) = {
            let mut plan = self.plan();
            let key = (at, plan.next);
            plan.next += 1;
            plan.jobs.insert(key, job);
            (key, plan.looks.is_none_or(|looks| at < looks))
        };
        // Otherwise the thread looks before this one is due, and sees it then.
        if is_early {
            self.changed.notify_one();
        }
        Alarm::new(move || {
            // The timer of the process is never dropped, so looking it up finds this one.
            if let Some(timer) = SYSTEM.get() {
                // The job is dropped after the lock is released: it may own alarms itself.
                let job = timer.plan().jobs.remove(&key);
                drop(job);
            }
        })
    }
}

/// A timer whose time passes when it is told to, for tests.
#[derive(Default)]
pub struct ManualTimer {
    plan: Arc<Mutex<ManualPlan>>,
}

#[derive(Default)]
struct ManualPlan {
    now: Duration,
    next: u64,
    jobs: BTreeMap<(Duration, u64), TimerJob>,
}

impl ManualTimer {
    /// Lets time pass, and runs what falls due on the way, in order.
    pub fn advance(&self, by: Duration) {
        let until = manual(&self.plan).now + by;
        loop {
            let due = {
                let mut plan = manual(&self.plan);
                let first = plan.jobs.first_entry().filter(|job| job.key().0 <= until);
                let due = first.map(|job| (job.key().0, job.remove()));
                plan.now = due.as_ref().map_or(until, |(at, _)| *at);
                due
            };
            match due {
                Some((_, job)) => job(),
                None => return,
            }
        }
    }

    /// How many jobs wait.
    pub fn waiting(&self) -> usize {
        manual(&self.plan).jobs.len()
    }
}

fn manual(plan: &Mutex<ManualPlan>) -> std::sync::MutexGuard<'_, ManualPlan> {
    plan.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Timer for ManualTimer {
    fn after(&self, delay: Duration, job: TimerJob) -> Alarm {
        let key = {
            let mut plan = manual(&self.plan);
            let key = (plan.now + delay, plan.next);
            plan.next += 1;
            plan.jobs.insert(key, job);
            key
        };
        let plan = Arc::downgrade(&self.plan);
        Alarm::new(move || {
            if let Some(plan) = plan.upgrade() {
                manual(&plan).jobs.remove(&key);
            }
        })
    }
}

impl std::fmt::Debug for ManualTimer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("ManualTimer")
    }
}

#[cfg(test)]
#[cfg(not(shuttle))]
mod tests {
    use super::*;
    use std::sync::mpsc;

    #[test]
    fn alarms_ring_in_the_order_of_their_times() {
        let (sender, receiver) = mpsc::channel();
        let timer = system();
        let ring = |word: &'static str, ms| {
            let sender = sender.clone();
            timer.after(
                Duration::from_millis(ms),
                Box::new(move || sender.send(word).unwrap()),
            )
        };
        let alarms = [ring("late", 40), ring("early", 1)];
        let off = ring("never", 20);
        drop(off);
        assert_eq!(receiver.recv(), Ok("early"));
        assert_eq!(receiver.recv(), Ok("late"));
        drop(alarms);
    }

    #[test]
    fn an_alarm_rings_whatever_was_called_off_before() {
        let (sender, receiver) = mpsc::channel();
        let timer = system();
        let ring = |word: &'static str, ms| {
            let sender = sender.clone();
            timer.after(
                Duration::from_millis(ms),
                Box::new(move || sender.send(word).unwrap()),
            )
        };
        for _ in 0..100 {
            drop(ring("never", 5));
            let _kept = [ring("second", 7), ring("first", 1)];
            // Each rings on a thread of its own, so on a busy machine either may be heard first.
            let mut heard = [receiver.recv().unwrap(), receiver.recv().unwrap()];
            heard.sort_unstable();
            assert_eq!(heard, ["first", "second"]);
        }
    }

    #[test]
    fn manual_time_passes_when_told() {
        let timer = ManualTimer::default();
        let (sender, receiver) = mpsc::channel();
        let ring = |word: &'static str, ms| {
            let sender = sender.clone();
            let job = Box::new(move || sender.send(word).unwrap());
            timer.after(Duration::from_millis(ms), job)
        };
        let _kept = [ring("b", 20), ring("a", 10)];
        drop(ring("never", 5));
        timer.advance(Duration::from_millis(15));
        assert_eq!(receiver.try_iter().collect::<Vec<_>>(), ["a"]);
        timer.advance(Duration::from_millis(15));
        assert_eq!(receiver.try_iter().collect::<Vec<_>>(), ["b"]);
        assert_eq!(timer.waiting(), 0);
    }
}
