//! Running a plugin's code without waiting for it forever.

use std::future::Future;
use std::pin::pin;
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};
use std::time::Duration;

/// How long a plugin may take.
#[derive(Debug, Clone)]
pub struct Limits {
    /// For its entry and for each lifecycle phase.
    pub lifecycle: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            lifecycle: Duration::from_secs(5),
        }
    }
}

impl Limits {
    pub(crate) fn lifecycle_ms(&self) -> u64 {
        u64::try_from(self.lifecycle.as_millis()).unwrap_or(u64::MAX)
    }
}

type Job = Box<dyn FnOnce() + Send>;

/// Threads that wait for the next plugin to run. One that was left behind never comes back here.
static IDLE: Mutex<Vec<mpsc::Sender<Job>>> = Mutex::new(Vec::new());

/// Runs `work` on a thread of its own; nothing if it does not end in time.
///
/// A plugin cannot be stopped, only left behind: a thread that never comes back is abandoned with what it holds.
pub(crate) fn within<T: Send + 'static>(
    limit: Duration,
    work: impl FnOnce() -> T + Send + 'static,
) -> Option<T> {
    let idle = || IDLE.lock().unwrap_or_else(PoisonError::into_inner);
    let worker = idle().pop();
    let worker = match worker {
        Some(worker) => worker,
        None => hire()?,
    };
    let (sender, receiver) = mpsc::sync_channel(1);
    let job = Box::new(move || {
        let _ = sender.send(work());
    });
    worker.send(job).ok()?;
    let outcome = receiver.recv_timeout(limit).ok();
    if outcome.is_some() {
        idle().push(worker);
    }
    outcome
}

fn hire() -> Option<mpsc::Sender<Job>> {
    let (sender, jobs) = mpsc::channel::<Job>();
    let spawned = thread::Builder::new()
        .name("stud-plugin-call".to_owned())
        .spawn(move || {
            for job in jobs {
                job();
            }
        });
    spawned.ok().map(|_| sender)
}

/// Drives a future on this thread.
pub fn block_on<T>(future: impl Future<Output = T>) -> T {
    struct Unpark(Thread);
    impl Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    let mut cx = Context::from_waker(&waker);
    let mut future = pin!(future);
    loop {
        match future.as_mut().poll(&mut cx) {
            Poll::Ready(value) => return value,
            Poll::Pending => thread::park(),
        }
    }
}
