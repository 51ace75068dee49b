//! Where work runs: threads that are hired when needed and kept for the next job.
//!
//! A plugin's code may block or never return, so it runs here and never on a thread that others depend on. Core has no
//! other executor: a future is driven by the thread that waits for it.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::Poll;

use stud_abi::CancellationToken;

use crate::sync::{Mutex, Promised, lock, promise};

#[cfg(not(shuttle))]
pub use threads::block_on;
#[cfg(not(shuttle))]
pub use threads::{pause, spawn, within};

#[cfg(shuttle)]
pub use shuttle::future::block_on;

/// Runs a job on a thread of its own.
#[cfg(shuttle)]
pub fn spawn(job: impl FnOnce() + Send + 'static) {
    shuttle::thread::spawn(job);
}

/// Runs `work` at once: a model has no time that could run out.
#[cfg(shuttle)]
#[expect(clippy::unnecessary_wraps, reason = "elsewhere it may not end in time")]
pub fn within<T: Send + 'static>(
    _: std::time::Duration,
    work: impl FnOnce() -> T + Send + 'static,
) -> Option<T> {
    Some(work())
}

/// Lets others go first.
#[cfg(shuttle)]
pub fn pause(time: std::time::Duration) {
    crate::clock::pass(time);
    shuttle::thread::yield_now();
}

#[cfg(not(shuttle))]
mod threads {
    use std::future::Future;
    use std::pin::pin;
    use std::sync::{Arc, Mutex, MutexGuard, PoisonError, mpsc};
    use std::task::{Context, Poll, Wake, Waker};
    use std::thread::{self, Thread};
    use std::time::Duration;

    type Job = Box<dyn FnOnce() + Send>;

    /// Threads that wait for a job. One that never comes back from its job is never here again.
    static IDLE: Mutex<Vec<Worker>> = Mutex::new(Vec::new());

    /// More idle threads than this are let go.
    const KEPT: usize = 32;

    /// A thread, and where it finds its next job.
    ///
    /// A channel would wake the thread while it still holds the lock that the thread needs to leave: two more switches
    /// for every job.
    #[derive(Clone)]
    struct Worker {
        thread: Thread,
        next: Arc<Mutex<Option<Job>>>,
    }

    impl Worker {
        fn give(&self, job: Job) {
            *held(&self.next) = Some(job);
            self.thread.unpark();
        }

        fn take(&self) -> Job {
            loop {
                if let Some(job) = held(&self.next).take() {
                    return job;
                }
                thread::park();
            }
        }
    }

    /// Runs a job on a thread of its own.
    pub fn spawn(job: impl FnOnce() + Send + 'static) {
        let idle = held(&IDLE).pop();
        match idle {
            Some(worker) => worker.give(Box::new(job)),
            None => hire(Box::new(job)),
        }
    }

    /// Runs `work` on a thread of its own; nothing if it does not end in time.
    ///
    /// A plugin cannot be stopped, only left behind: a thread that never comes back is abandoned with what it holds.
    pub fn within<T: Send + 'static>(
        limit: Duration,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Option<T> {
        let (sender, receiver) = mpsc::sync_channel(1);
        spawn(move || {
            let _ = sender.send(work());
        });
        receiver.recv_timeout(limit).ok()
    }

    fn held<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
        mutex.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Has a new thread do a job, and stay for more.
    fn hire(job: Job) {
        let next = Arc::new(Mutex::new(Some(job)));
        let first = next.clone();
        let hired = thread::Builder::new()
            .name("stud-work".to_owned())
            .spawn(move || {
                let worker = Worker {
                    thread: thread::current(),
                    next,
                };
                loop {
                    worker.take()();
                    let mut idle = held(&IDLE);
                    if idle.len() >= KEPT {
                        return;
                    }
                    idle.push(worker.clone());
                }
            });
        if hired.is_err()
            && let Some(job) = held(&first).take()
        {
            // No thread is to be had. The caller's is better than none.
            job();
        }
    }

    /// Does nothing for a while.
    pub fn pause(time: Duration) {
        thread::sleep(time);
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
}

/// Where the code of a job comes from, which decides on whose thread it may run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CodeOrigin {
    /// The program's own, bundled plugins included. It is known to return, so the caller runs it.
    Bundled,
    /// A library's. It may block or never return, so it runs on a thread that can be abandoned.
    ThirdParty,
}

impl CodeOrigin {
    /// Runs `work` and waits for it; `None` if third-party code does not return in time.
    pub fn run_with_timeout<T: Send + 'static>(
        self,
        limit: std::time::Duration,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Option<T> {
        match self {
            Self::Bundled => Some(work()),
            Self::ThirdParty => within(limit, work),
        }
    }

    /// Drives `work`; `None` if third-party code breaks off.
    pub async fn drive<T: Send + 'static>(
        self,
        work: impl Future<Output = T> + Send + 'static,
    ) -> Option<T> {
        match self {
            // Boxed, so that what waits for it need not have room for it.
            Self::Bundled => Some(Box::pin(work).await),
            Self::ThirdParty => spawn_future(work).await,
        }
    }
}

/// Drives `work` on a thread of its own, which may never return; the caller can stop waiting.
pub fn spawn_future<T: Send + 'static>(
    work: impl Future<Output = T> + Send + 'static,
) -> Promised<T> {
    let (promise, promised) = promise();
    spawn(move || promise.keep(block_on(work)));
    promised
}

/// Waits for `work` until it is cancelled; `None` if it is cancelled first.
pub async fn or_cancelled<T>(
    called_off: &CancellationToken,
    work: impl Future<Output = T>,
) -> Option<T> {
    let mut work = pin!(work);
    let mut called_off = pin!(called_off.cancelled());
    poll_fn(|cx| match work.as_mut().poll(cx) {
        Poll::Ready(done) => Poll::Ready(Some(done)),
        Poll::Pending => called_off.as_mut().poll(cx).map(|()| None),
    })
    .await
}

/// Futures that continue at the same time, and whose results come in the order in which they were put in.
pub struct FuturesOrdered<F: Future>(VecDeque<Progress<F>>);

enum Progress<F: Future> {
    Going(Pin<Box<F>>),
    Done(F::Output),
}

impl<F: Future> FuturesOrdered<F> {
    /// The next result; nothing when all have been given.
    pub async fn next(&mut self) -> Option<F::Output> {
        poll_fn(|cx| {
            for one in &mut self.0 {
                if let Progress::Going(future) = one
                    && let Poll::Ready(output) = future.as_mut().poll(cx)
                {
                    *one = Progress::Done(output);
                }
            }
            match self.0.pop_front() {
                None => Poll::Ready(None),
                Some(Progress::Done(output)) => Poll::Ready(Some(output)),
                Some(going) => {
                    self.0.push_front(going);
                    Poll::Pending
                }
            }
        })
        .await
    }
}

impl<F: Future> std::fmt::Debug for FuturesOrdered<F> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("InOrder")
    }
}

impl<F: Future> FromIterator<F> for FuturesOrdered<F> {
    fn from_iter<I: IntoIterator<Item = F>>(futures: I) -> Self {
        let futures = futures.into_iter().map(Box::pin);
        Self(futures.map(Progress::Going).collect())
    }
}

/// A queue with one reader: what is posted is handled in order, never two at a time, and all that has gathered at once.
///
/// It needs no thread while it is empty.
pub struct Mailbox<M> {
    mail: Mutex<Mail<M>>,
    reader: Mutex<Box<dyn FnMut(VecDeque<M>) + Send>>,
    pace: Pace,
}

/// How long a reader takes, and so on whose thread it may run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pace {
    /// It blocks on nothing but perhaps a disk. The poster that finds the mailbox unattended processes its own mail, which is
    /// mostly done before another thread would be awake.
    Prompt,
    /// It may wait, or call a plugin. It runs on a thread that can be abandoned.
    Leisurely,
}

struct Mail<M> {
    waiting: VecDeque<M>,
    /// Whether a reader is at work or on its way.
    attended: bool,
}

impl<M: Send + 'static> Mailbox<M> {
    /// A mailbox that `reader` empties.
    pub fn new(pace: Pace, reader: impl FnMut(VecDeque<M>) + Send + 'static) -> Arc<Self> {
        Arc::new(Self {
            mail: Mutex::new(Mail {
                waiting: VecDeque::new(),
                attended: false,
            }),
            reader: Mutex::new(Box::new(reader)),
            pace,
        })
    }

    /// Leaves a message and does not wait for others to be read.
    pub fn post(self: &Arc<Self>, message: M) {
        let calls = {
            let mut mail = lock(&self.mail);
            mail.waiting.push_back(message);
            !std::mem::replace(&mut mail.attended, true)
        };
        // One batch is the poster's own message and what came with it. The rest is not its business.
        let more = calls && (self.pace == Pace::Leisurely || !self.read_all(1));
        if more {
            let mailbox = self.clone();
            spawn(move || {
                mailbox.read_all(usize::MAX);
            });
        }
    }

    /// Reads so many batches; returns whether the mailbox is empty, and then it is unattended.
    fn read_all(&self, batches: usize) -> bool {
        let mut reader = lock(&self.reader);
        let _left = Left(&self.mail);
        for read in 0.. {
            let batch = {
                let mut mail = lock(&self.mail);
                if mail.waiting.is_empty() {
                    mail.attended = false;
                    return true;
                }
                if read == batches {
                    break;
                }
                std::mem::take(&mut mail.waiting)
            };
            reader(batch);
        }
        false
    }
}

/// A reader that panics leaves a mailbox that the next message finds unattended, not one that is deaf for good.
struct Left<'a, M>(&'a Mutex<Mail<M>>);

impl<M> Drop for Left<'_, M> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            lock(self.0).attended = false;
        }
    }
}

impl<M> std::fmt::Debug for Mailbox<M> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Mailbox")
    }
}
