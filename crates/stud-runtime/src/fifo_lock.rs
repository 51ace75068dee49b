//! One at a time, in the order they came.

use std::collections::VecDeque;
use std::sync::Arc;

use crate::sync::{Mutex, Promise, lock, promise};

/// Admits one at a time. Waiters do not block a thread.
#[derive(Debug, Default)]
pub struct FifoLock(Mutex<Queue>);

#[derive(Debug, Default)]
struct Queue {
    taken: bool,
    waiting: VecDeque<Promise<Pass>>,
}

/// Leave to be inside. Dropping it lets the next one in.
#[derive(Debug)]
pub struct Pass(Arc<FifoLock>);

impl FifoLock {
    /// Waits for its turn. A waiter that is dropped does not delay the others.
    pub async fn enter(self: &Arc<Self>) -> Pass {
        let waiting = {
            let mut queue = lock(&self.0);
            if std::mem::replace(&mut queue.taken, true) {
                let (mine, waiting) = promise();
                queue.waiting.push_back(mine);
                Some(waiting)
            } else {
                None
            }
        };
        match waiting {
            None => Pass(self.clone()),
            // The gate keeps every promise, because it outlives those who wait at it.
            Some(waiting) => waiting.await.unwrap_or_else(|| Pass(self.clone())),
        }
    }
}

impl Drop for Pass {
    fn drop(&mut self) {
        let next = {
            let mut queue = lock(&self.0.0);
            let next = queue.waiting.pop_front();
            queue.taken = next.is_some();
            next
        };
        if let Some(next) = next {
            // If the waiter is gone, the pass is dropped at once and the next one is admitted.
            next.keep(Self(self.0.clone()));
        }
    }
}
