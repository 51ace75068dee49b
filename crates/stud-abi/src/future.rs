//! Async calls: a future made on one side, polled and dropped by the other.

use std::future::Future;
use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use abi_stable::StableAbi;
use abi_stable::std_types::{RBox, RErr, ROk, RResult};
use async_ffi::{FfiFuture, FutureExt};

use crate::fault::{Fault, RFault};
use crate::guard;
use crate::text::Text;

/// What a call gives back: JSON text, or a fault. The fault is boxed, because the text is what usually comes.
pub(crate) type Reply<T = Text> = RResult<T, RBox<RFault>>;

/// A boxed future in plain Rust types.
pub type BoxFuture<T> = Pin<Box<dyn Future<Output = T> + Send>>;

/// What an async call gives back: most are done at once, and need no future on the other side.
#[repr(C)]
#[derive(StableAbi)]
pub(crate) enum Answer<R> {
    /// Done while it was being made.
    Now(Reply<R>),
    /// To be polled.
    Later(FfiFuture<Reply<R>>),
}

/// Runs a call that is answered at once.
///
/// A fault is boxed inside the guard: it is large, and room for one would be moved out of every call that has none.
pub(crate) fn answer<T, R: From<T>>(
    doing: &str,
    call: impl FnOnce() -> Result<T, Fault>,
) -> Reply<R> {
    let outcome = guard::catch_into(doing, || call().map_err(boxed), |fault| Err(boxed(fault)));
    match outcome {
        Ok(value) => ROk(value.into()),
        Err(fault) => RErr(fault),
    }
}

fn reply<T, R: From<T>>(outcome: Result<T, Fault>) -> Reply<R> {
    match outcome {
        Ok(value) => ROk(value.into()),
        Err(fault) => RErr(boxed(fault)),
    }
}

#[cold]
fn boxed(fault: Fault) -> RBox<RFault> {
    RBox::new(fault.into())
}

pub(crate) fn outcome<R, T: From<R>>(reply: Reply<R>) -> Result<T, Fault> {
    match reply {
        ROk(value) => Ok(value.into()),
        RErr(fault) => Err(RBox::into_inner(fault).into()),
    }
}

/// Sends a future across: making, polling and dropping it are all guarded.
///
/// It is polled once right here. The caller would poll it immediately anyway, and a future that is ready is spared
/// every further trip over the boundary.
pub(crate) fn send<F, T, R>(doing: &'static str, make: impl FnOnce() -> F) -> Answer<R>
where
    F: Future<Output = Result<T, Fault>> + Send + 'static,
    R: From<T> + Send + 'static,
    T: 'static,
{
    // Kept outside the guarded part, so that a panic in it does not also run the destructor of what panicked.
    let mut started: Option<ManuallyDrop<Pin<Box<F>>>> = None;
    let polled = guard::catch(doing, || {
        let future = started.insert(ManuallyDrop::new(Box::pin(make())));
        let polled = future
            .as_mut()
            .poll(&mut Context::from_waker(Waker::noop()));
        if polled.is_ready() {
            drop(started.take().map(ManuallyDrop::into_inner));
        }
        Ok(polled)
    });
    let started = started.map(ManuallyDrop::into_inner);
    match (polled, started) {
        (Ok(Poll::Ready(outcome)), _) => Answer::Now(reply(outcome)),
        (Ok(Poll::Pending), Some(inner)) => {
            let guarded = Guarded {
                doing,
                inner: ManuallyDrop::new(inner),
            };
            Answer::Later(MapReply(guarded, PhantomData).into_ffi())
        }
        (Err(fault), started) => {
            guard::drop_quietly(started);
            Answer::Now(reply::<T, R>(Err(fault)))
        }
        // What is pending has been started.
        (Ok(Poll::Pending), None) => Answer::Now(reply::<T, R>(Err(Fault::new(
            "ExtensionHost",
            guard::PANICKED,
            doing,
        )))),
    }
}

/// Receives the answer to an async call from the other side.
///
/// A peer without guards may report a panic from its poll function; that becomes a fault here too.
pub(crate) fn receive<R, T>(
    doing: &'static str,
    answer: Answer<R>,
) -> impl Future<Output = Result<T, Fault>> + Send + 'static
where
    R: Send + 'static,
    T: From<R> + 'static,
{
    match answer {
        Answer::Now(reply) => Received::Now(Some(reply)),
        Answer::Later(future) => Received::Later(Guarded {
            doing,
            inner: ManuallyDrop::new(Outcome(future, PhantomData)),
        }),
    }
}

/// A future whose poll and drop cannot unwind.
struct Guarded<F> {
    doing: &'static str,
    inner: ManuallyDrop<F>,
}

impl<F, T> Future for Guarded<F>
where
    F: Future<Output = Result<T, Fault>> + Unpin,
{
    type Output = Result<T, Fault>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = &mut *self;
        match guard::catch(this.doing, || Ok(Pin::new(&mut *this.inner).poll(cx))) {
            Ok(poll) => poll,
            Err(fault) => Poll::Ready(Err(fault)),
        }
    }
}

impl<F> Drop for Guarded<F> {
    fn drop(&mut self) {
        let inner = &mut self.inner;
        let _ = guard::catch("drop", || {
            // SAFETY: this is the destructor, so the field is dropped once and never used again.
            unsafe { ManuallyDrop::drop(inner) };
            Ok(())
        });
    }
}

struct MapReply<F, R>(Guarded<F>, PhantomData<fn() -> R>);

impl<F, T, R> Future for MapReply<F, R>
where
    F: Future<Output = Result<T, Fault>> + Unpin,
    R: From<T>,
{
    type Output = Reply<R>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        Pin::new(&mut self.0).poll(cx).map(reply)
    }
}

enum Received<R, T> {
    Now(Option<Reply<R>>),
    Later(Guarded<Outcome<R, T>>),
}

impl<R, T> Unpin for Received<R, T> {}

impl<R, T: From<R>> Future for Received<R, T> {
    type Output = Result<T, Fault>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        match &mut *self {
            // Polling again after the end is the caller's mistake; there is nothing more to say then.
            Self::Now(reply) => reply
                .take()
                .map_or(Poll::Pending, |reply| Poll::Ready(outcome(reply))),
            Self::Later(future) => Pin::new(future).poll(cx),
        }
    }
}

struct Outcome<R, T>(FfiFuture<Reply<R>>, PhantomData<fn() -> T>);

impl<R, T: From<R>> Future for Outcome<R, T> {
    type Output = Result<T, Fault>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        Pin::new(&mut self.0).poll(cx).map(outcome)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn poll_once<T>(future: impl Future<Output = T>) -> Poll<T> {
        let mut future = Box::pin(future);
        future
            .as_mut()
            .poll(&mut Context::from_waker(Waker::noop()))
    }

    #[test]
    fn a_value_comes_through() {
        let crossed = send::<_, String, Text>("test", || async { Ok("hello".to_owned()) });
        let back = receive::<Text, String>("test", crossed);
        assert_eq!(poll_once(back), Poll::Ready(Ok("hello".to_owned())));
    }

    #[test]
    fn a_panic_while_polling_is_a_fault() {
        guard::quiet_guarded_panics();
        let crossed = send::<_, String, Text>("execute", || async { panic!("boom") });
        let Poll::Ready(Err(fault)) = poll_once(receive::<Text, String>("execute", crossed)) else {
            panic!("expected a fault");
        };
        assert_eq!(fault.code, guard::PANICKED);
        assert!(
            fault.message.contains("`execute`") && fault.message.contains("boom"),
            "{fault:?}"
        );
    }

    #[test]
    fn a_panic_while_making_the_future_is_a_fault() {
        fn explode() -> std::future::Ready<Result<String, Fault>> {
            panic!("no future")
        }
        guard::quiet_guarded_panics();
        let crossed = send::<_, String, Text>("execute", explode);
        assert!(matches!(
            poll_once(receive::<Text, String>("x", crossed)),
            Poll::Ready(Err(_))
        ));
    }

    #[test]
    fn a_panic_while_dropping_does_not_abort() {
        struct Bomb;
        impl Drop for Bomb {
            fn drop(&mut self) {
                panic!("dropped");
            }
        }
        guard::quiet_guarded_panics();
        let crossed = send::<_, String, Text>("execute", || async {
            let _bomb = Bomb;
            std::future::pending().await
        });
        let mut received = Box::pin(receive::<Text, String>("execute", crossed));
        assert!(
            received
                .as_mut()
                .poll(&mut Context::from_waker(Waker::noop()))
                .is_pending()
        );
        drop(received);
    }
}
