//! How far a subscriber has heard, for those who wait until it has.

use std::sync::atomic::Ordering;

use crate::sync::{AtomicU64, Mutex, Promise, Promised, lock, promise};

/// How far a subscriber has heard. Recording an event costs two memory accesses while there is no waiter.
pub(super) struct Hearing {
    /// The last event it has heard.
    heard: AtomicU64,
    /// The first event that a waiter waits for.
    awaited: AtomicU64,
    waiting: Mutex<Vec<(u64, Promise<()>)>>,
}

/// No waiter.
const NONE: u64 = u64::MAX;

impl Hearing {
    /// Of one who begins behind this event.
    pub(super) fn after(seq: u64) -> Self {
        Self {
            heard: AtomicU64::new(seq),
            awaited: AtomicU64::new(NONE),
            waiting: Mutex::default(),
        }
    }

    /// It has heard an event.
    pub(super) fn note(&self, seq: u64) {
        self.heard.store(seq, Ordering::SeqCst);
        // Either this sees the waiter, or the new waiter sees the updated position.
        if seq < self.awaited.load(Ordering::SeqCst) {
            return;
        }
        let reached: Vec<_> = {
            let mut waiting = lock(&self.waiting);
            let reached = waiting.extract_if(.., |(due, _)| *due <= seq).collect();
            let next = waiting.iter().map(|(due, _)| *due).min();
            self.awaited.store(next.unwrap_or(NONE), Ordering::SeqCst);
            reached
        };
        for (_, promise) in reached {
            promise.keep(());
        }
    }

    /// What to wait for until it has heard this event; nothing if it has.
    pub(super) fn until(&self, due: u64) -> Option<Promised<()>> {
        let mut waiting = lock(&self.waiting);
        self.awaited.fetch_min(due, Ordering::SeqCst);
        if self.heard.load(Ordering::SeqCst) >= due {
            return None;
        }
        let (promise, promised) = promise();
        waiting.push((due, promise));
        Some(promised)
    }
}

#[cfg(test)]
#[cfg(not(shuttle))]
mod tests {
    use std::future::Future as _;
    use std::pin::pin;
    use std::task::{Context, Poll, Waker};

    use super::*;

    fn is_over(wait: &mut Promised<()>) -> bool {
        let mut cx = Context::from_waker(Waker::noop());
        matches!(pin!(wait).poll(&mut cx), Poll::Ready(_))
    }

    #[test]
    fn whoever_waits_goes_on_once_it_is_heard() {
        let hearing = Hearing::after(3);
        assert!(hearing.until(3).is_none());
        let mut five = hearing.until(5).unwrap();
        let mut seven = hearing.until(7).unwrap();
        hearing.note(4);
        assert!(!is_over(&mut five));
        hearing.note(6);
        assert!(is_over(&mut five));
        assert!(!is_over(&mut seven));
        hearing.note(7);
        assert!(is_over(&mut seven));
        assert!(hearing.until(7).is_none());
        hearing.note(8);
    }
}
