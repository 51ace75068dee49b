//! Cancellation: one side says stop, the other sees it at once or waits for it.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::task::{Context, Poll, Waker};

use abi_stable::StableAbi;
use async_ffi::{FfiFuture, FutureExt};

use crate::shared::Shared;

/// The side that can call work off.
///
/// Sources form a tree: cancelling one cancels everything made from it, and never what it was made from.
#[derive(Clone)]
pub struct CancellationSource(Arc<Node>);

/// The side that looks. Cheap to clone; may cross the boundary in either direction.
#[repr(C)]
#[derive(StableAbi, Clone)]
pub struct CancellationToken {
    node: Shared,
    is_cancelled: extern "C" fn(&Shared) -> bool,
    cancelled: extern "C" fn(&Shared) -> FfiFuture<()>,
}

#[derive(Default)]
struct Node {
    cancelled: AtomicBool,
    waiting: Mutex<Waiting>,
}

#[derive(Default)]
struct Waiting {
    next: u64,
    wakers: Vec<(u64, Waker)>,
    children: Vec<Weak<Node>>,
}

impl CancellationSource {
    /// A source of its own.
    pub fn new() -> Self {
        Self(Arc::default())
    }

    /// A source that is also cancelled when this one is. Born cancelled if this one already is.
    #[must_use]
    pub fn child(&self) -> Self {
        let child = Self::new();
        let mut waiting = self.0.lock();
        if self.0.cancelled.load(Ordering::Acquire) {
            drop(waiting);
            child.cancel();
        } else {
            waiting.children.retain(|child| child.strong_count() > 0);
            waiting.children.push(Arc::downgrade(&child.0));
        }
        child
    }

    /// Cancels everything that watches this source or a child of it. Idempotent.
    pub fn cancel(&self) {
        self.0.cancel();
    }

    /// Whether [`CancellationSource::cancel`] was called here or further up.
    pub fn is_cancelled(&self) -> bool {
        self.0.cancelled.load(Ordering::Acquire)
    }

    /// A token to hand out.
    pub fn token(&self) -> CancellationToken {
        CancellationToken {
            node: Shared::new(self.0.clone()),
            is_cancelled,
            cancelled,
        }
    }
}

impl Default for CancellationSource {
    fn default() -> Self {
        Self::new()
    }
}

impl CancellationToken {
    /// A token that never fires.
    pub fn never() -> Self {
        CancellationSource::new().token()
    }

    /// Whether the work was cancelled.
    pub fn is_cancelled(&self) -> bool {
        (self.is_cancelled)(&self.node)
    }

    /// Ready once the work is cancelled; immediately if it already is.
    pub fn cancelled(&self) -> impl Future<Output = ()> + Send + 'static + use<> {
        (self.cancelled)(&self.node)
    }
}

impl Node {
    fn lock(&self) -> MutexGuard<'_, Waiting> {
        // The list stays whole whatever panicked while it was held.
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn cancel(&self) {
        let (children, wakers) = {
            let mut waiting = self.lock();
            if self.cancelled.swap(true, Ordering::AcqRel) {
                return;
            }
            (
                std::mem::take(&mut waiting.children),
                std::mem::take(&mut waiting.wakers),
            )
        };
        for child in children.iter().filter_map(Weak::upgrade) {
            child.cancel();
        }
        for (_, waker) in wakers {
            waker.wake();
        }
    }
}

extern "C" fn is_cancelled(node: &Shared) -> bool {
    // SAFETY: this function and the object are put into one token by `CancellationSource::token` alone.
    let node = unsafe { node.get::<Node>() };
    node.cancelled.load(Ordering::Acquire)
}

extern "C" fn cancelled(node: &Shared) -> FfiFuture<()> {
    // SAFETY: as in `is_cancelled`.
    let node = unsafe { node.arc::<Node>() };
    Cancelled { node, place: None }.into_ffi()
}

struct Cancelled {
    node: Arc<Node>,
    place: Option<u64>,
}

impl Future for Cancelled {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let this = &mut *self;
        let mut waiting = this.node.lock();
        if this.node.cancelled.load(Ordering::Acquire) {
            return Poll::Ready(());
        }
        let known = this
            .place
            .and_then(|place| waiting.wakers.iter_mut().find(|(id, _)| *id == place));
        if let Some((_, waker)) = known {
            waker.clone_from(cx.waker());
        } else {
            let place = waiting.next;
            waiting.next += 1;
            waiting.wakers.push((place, cx.waker().clone()));
            this.place = Some(place);
        }
        Poll::Pending
    }
}

impl Drop for Cancelled {
    fn drop(&mut self) {
        if let Some(place) = self.place {
            self.node.lock().wakers.retain(|(id, _)| *id != place);
        }
    }
}

impl fmt::Debug for CancellationSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CancellationSource")
            .field("cancelled", &self.is_cancelled())
            .finish()
    }
}

impl fmt::Debug for CancellationToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CancellationToken")
            .field("cancelled", &self.is_cancelled())
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cancelling_reaches_descendants_and_no_ancestor() {
        let session = CancellationSource::new();
        let turn = session.child();
        let tool = turn.child();
        turn.cancel();
        assert!(tool.token().is_cancelled());
        assert!(!session.token().is_cancelled());
    }

    #[test]
    fn a_child_of_a_cancelled_source_is_born_cancelled() {
        let turn = CancellationSource::new();
        turn.cancel();
        assert!(turn.child().is_cancelled());
    }

    #[test]
    fn waiting_ends_when_the_source_fires_and_leaves_nothing_behind() {
        let source = CancellationSource::new();
        let mut wait = Box::pin(source.token().cancelled());
        let mut cx = Context::from_waker(Waker::noop());
        assert!(wait.as_mut().poll(&mut cx).is_pending());
        drop(source.token().cancelled());
        assert_eq!(source.0.lock().wakers.len(), 1);
        source.cancel();
        assert!(wait.as_mut().poll(&mut cx).is_ready());
    }
}
