//! The smallest executor: one future, one thread.

use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};

struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// Runs a future to its end on this thread.
///
/// For threads of a plugin's own, such as one that reads a keyboard and hands what it reads to the host. Inside a
/// handler use `.await`: a handler that blocks delays its caller.
///
/// ```
/// assert_eq!(stud_sdk::block_on(async { 1 + 1 }), 2);
/// ```
pub fn block_on<T>(future: impl Future<Output = T>) -> T {
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
