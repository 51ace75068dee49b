//! Where an author's code runs: inside the plugin's own runtime, if it has one.
//!
//! The host polls a plugin's futures, and the host's runtime is invisible to them: each library has its own copy of
//! tokio. With the feature `tokio` every poll, every drop and every direct call therefore happens inside a runtime of
//! the plugin's own, started when it is first needed. A plugin that is linked into the program shares its runtime.
//!
//! With the feature `tracing` the same calls happen inside the plugin's log.

use std::pin::Pin;
use std::task::{Context, Poll};

use stud_abi::{BoxStream, StreamItem, StreamSource};
use stud_host_api::BoxFuture;

use super::fault::Reply;
use super::log::Log;

/// Runs `call` where an author's code may spawn and set timers.
pub(crate) fn within<T>(log: &Log, call: impl FnOnce() -> T) -> T {
    let _heard = log.enter();
    #[cfg(feature = "tokio")]
    let _entered = entered::enter();
    call()
}

/// The same for every poll of a future, and for its drop.
pub(crate) fn future<T: 'static>(log: Log, future: BoxFuture<'static, T>) -> BoxFuture<'static, T> {
    if cfg!(any(feature = "tokio", feature = "tracing")) {
        let inner = Some(future);
        Box::pin(Within { log, inner })
    } else {
        future
    }
}

/// The same for every item of a stream, and for its drop.
pub(crate) fn stream(log: Log, stream: BoxStream) -> BoxStream {
    if cfg!(any(feature = "tokio", feature = "tracing")) {
        let inner = Some(stream);
        Box::pin(Within { log, inner })
    } else {
        stream
    }
}

/// Something pinned whose use and drop happen within the runtime.
struct Within<T> {
    log: Log,
    inner: Option<T>,
}

impl<T> Future for Within<BoxFuture<'static, T>> {
    type Output = T;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<T> {
        let this = &mut *self;
        within(&this.log, || match &mut this.inner {
            Some(future) => future.as_mut().poll(cx),
            None => Poll::Pending,
        })
    }
}

impl StreamSource for Within<BoxStream> {
    fn poll_next(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Reply<StreamItem>>> {
        let this = &mut *self;
        within(&this.log, || match &mut this.inner {
            Some(stream) => stream.as_mut().poll_next(cx),
            None => Poll::Ready(None),
        })
    }
}

impl<T> Drop for Within<T> {
    fn drop(&mut self) {
        let inner = self.inner.take();
        within(&self.log, || drop(inner));
    }
}

#[cfg(feature = "tokio")]
mod entered {
    use std::sync::OnceLock;

    use tokio::runtime::{Builder, EnterGuard, Handle, Runtime};

    /// Enters the runtime that is there, or else the plugin's own.
    ///
    /// Nothing is entered when the system refuses a thread; the author's code then fails by itself and says why.
    pub(super) fn enter() -> Option<EnterGuard<'static>> {
        static OWN: OnceLock<Option<Runtime>> = OnceLock::new();
        if Handle::try_current().is_ok() {
            return None;
        }
        let own = OWN.get_or_init(|| {
            Builder::new_multi_thread()
                .worker_threads(1)
                .thread_name("stud-plugin")
                .enable_all()
                .build()
                .ok()
        });
        own.as_ref().map(Runtime::enter)
    }
}
