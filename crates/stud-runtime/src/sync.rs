//! What shared state is built from. Under `cfg(shuttle)` a model checker takes the place of the standard library and
//! tries the orders in which threads can meet.

#[cfg(not(shuttle))]
pub use std::sync::{
    Mutex, MutexGuard,
    atomic::{AtomicBool, AtomicU64},
};

#[cfg(shuttle)]
pub use shuttle::sync::{
    Mutex, MutexGuard,
    atomic::{AtomicBool, AtomicU64},
};

use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, PoisonError};
use std::task::{Context, Poll, Waker};

/// Locks, also after a holder panicked: what is guarded here is whole between any two statements.
pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A oneshot channel: one side waits for a value, the other sends it.
pub fn promise<T>() -> (Promise<T>, Promised<T>) {
    let cell = Arc::new(Mutex::new(Cell::Open(None)));
    (Promise(cell.clone()), Promised(cell))
}

enum Cell<T> {
    Open(Option<Waker>),
    Kept(T),
    /// The value was taken, or the sender is gone.
    Over,
}

/// The side that owes the value.
pub struct Promise<T>(Arc<Mutex<Cell<T>>>);

/// The side that waits. It gives nothing if the promise was dropped unkept.
pub struct Promised<T>(Arc<Mutex<Cell<T>>>);

impl<T> Promise<T> {
    /// Gives the value.
    pub fn keep(self, value: T) {
        self.settle(Cell::Kept(value));
    }

    fn settle(&self, to: Cell<T>) {
        let waiting = {
            let mut cell = lock(&self.0);
            match &mut *cell {
                Cell::Open(waker) => {
                    let waker = waker.take();
                    *cell = to;
                    waker
                }
                Cell::Kept(_) | Cell::Over => None,
            }
        };
        if let Some(waiting) = waiting {
            waiting.wake();
        }
    }
}

impl<T> Drop for Promise<T> {
    fn drop(&mut self) {
        self.settle(Cell::Over);
    }
}

impl<T> Future for Promised<T> {
    type Output = Option<T>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<T>> {
        let mut cell = lock(&self.0);
        match std::mem::replace(&mut *cell, Cell::Over) {
            Cell::Open(_) => {
                *cell = Cell::Open(Some(cx.waker().clone()));
                Poll::Pending
            }
            Cell::Kept(value) => Poll::Ready(Some(value)),
            Cell::Over => Poll::Ready(None),
        }
    }
}

impl<T> std::fmt::Debug for Promised<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Promised")
    }
}

impl<T> std::fmt::Debug for Promise<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Promise")
    }
}

#[cfg(test)]
#[cfg(not(shuttle))]
mod tests {
    use super::*;
    use crate::executor::block_on;

    #[test]
    fn a_kept_promise_gives_its_value_once() {
        let (promise, promised) = promise();
        promise.keep(7);
        assert_eq!(block_on(promised), Some(7));
    }

    #[test]
    fn a_broken_promise_ends_the_wait() {
        let (promise, promised) = promise::<u8>();
        let waiter = std::thread::spawn(|| block_on(promised));
        drop(promise);
        assert_eq!(waiter.join().unwrap(), None);
    }
}
