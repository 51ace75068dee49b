//! One runtime for all connections, on a thread of its own.

use std::pin::Pin;
use std::sync::OnceLock;
use std::task::{Context, Poll};

use stud_core::mcp::ConnectionError;
use tokio::runtime::{Builder, Handle};
use tokio::task::JoinHandle;

/// A runtime that the first work starts.
#[derive(Debug, Default)]
pub(crate) struct Runtime(OnceLock<tokio::runtime::Runtime>);

impl Runtime {
    fn handle(&self) -> Result<&Handle, ConnectionError> {
        if self.0.get().is_none() {
            let built = Builder::new_multi_thread()
                .worker_threads(1)
                .thread_name("stud-mcp")
                .enable_all()
                .build();
            let built = built.map_err(|error| {
                ConnectionError::Lost(format!("no thread can be had for it: {error}"))
            })?;
            // Another thread may have been faster; then this one is dropped.
            if let Err(spare) = self.0.set(built) {
                spare.shutdown_background();
            }
        }
        let runtime = self.0.get();
        let handle = runtime.map(tokio::runtime::Runtime::handle);
        handle.ok_or_else(|| ConnectionError::Lost("there is no runtime".to_owned()))
    }

    /// Does something that needs the runtime around it.
    pub(crate) fn enter<T>(&self, work: impl FnOnce() -> T) -> Result<T, ConnectionError> {
        let _inside = self.handle()?.enter();
        Ok(work())
    }

    /// Work on the runtime, awaited from another thread. Dropping it ends the work where it waits.
    pub(crate) fn run<T: Send + 'static>(
        &self,
        work: impl Future<Output = T> + Send + 'static,
    ) -> Task<T> {
        Task(self.handle().map(|handle| handle.spawn(work)))
    }
}

impl Drop for Runtime {
    fn drop(&mut self) {
        // Waiting here could deadlock with the dropping thread.
        if let Some(runtime) = self.0.take() {
            runtime.shutdown_background();
        }
    }
}

/// Work on the runtime.
pub(crate) struct Task<T>(Result<JoinHandle<T>, ConnectionError>);

impl<T> Future for Task<T> {
    type Output = Result<T, ConnectionError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        match &mut self.0 {
            Err(trouble) => Poll::Ready(Err(trouble.clone())),
            Ok(handle) => Pin::new(handle).poll(cx).map(|done| {
                done.map_err(|_| ConnectionError::Lost("the work on it was broken off".to_owned()))
            }),
        }
    }
}

impl<T> Drop for Task<T> {
    fn drop(&mut self) {
        if let Ok(handle) = &self.0 {
            handle.abort();
        }
    }
}
