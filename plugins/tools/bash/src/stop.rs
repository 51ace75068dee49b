//! A cancellation that can be waited for together with pipes.

use std::io::{PipeReader, PipeWriter, Result, Write as _, pipe};
use std::os::fd::{AsFd, BorrowedFd};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Wake, Waker};

use stud_sdk::CancellationToken;

/// Readable once the call is cancelled.
pub(crate) struct Stop {
    reader: PipeReader,
    /// Kept, because a pipe without a writer would look as if it had rung.
    _ring: Arc<Ring>,
    /// Knows the waker for as long as this lives.
    _called_off: Pin<Box<dyn Future<Output = ()> + Send>>,
}

/// Wakes the reader of the pipe by writing into it.
struct Ring(PipeWriter);

impl Wake for Ring {
    fn wake(self: Arc<Self>) {
        // It fails only when the reader is gone.
        let _ = (&self.0).write(&[1]);
    }
}

impl Stop {
    pub(crate) fn watch(token: &CancellationToken) -> Result<Self> {
        let (reader, writer) = pipe()?;
        let ring = Arc::new(Ring(writer));
        let waker = Waker::from(ring.clone());
        let mut called_off: Pin<Box<dyn Future<Output = ()> + Send>> = Box::pin(token.cancelled());
        // The first poll leaves the waker behind, unless it is too late for that.
        if called_off
            .as_mut()
            .poll(&mut Context::from_waker(&waker))
            .is_ready()
        {
            ring.clone().wake();
        }
        Ok(Self {
            reader,
            _ring: ring,
            _called_off: called_off,
        })
    }
}

impl AsFd for Stop {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.reader.as_fd()
    }
}
