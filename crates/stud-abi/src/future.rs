//! Async calls: a future made on one side, polled and dropped by the other.

use std::future::Future;
use std::mem::ManuallyDrop;
use std::pin::Pin;
use std::task::{Context, Poll};

use abi_stable::std_types::{RErr, ROk, RResult, RString};
use async_ffi::{FfiFuture, FutureExt};

use crate::fault::{Fault, RFault};
use crate::guard;

/// What a call gives back: JSON text, or a fault.
pub(crate) type Reply<T = RString> = RResult<T, RFault>;

/// A boxed future in plain Rust types.
pub type BoxFuture<T> = Pin<Box<dyn Future<Output = T> + Send>>;

pub(crate) fn reply<T, R: From<T>>(outcome: Result<T, Fault>) -> Reply<R> {
    match outcome {
        Ok(value) => ROk(value.into()),
        Err(fault) => RErr(fault.into()),
    }
}

pub(crate) fn outcome<R, T: From<R>>(reply: Reply<R>) -> Result<T, Fault> {
    match reply {
        ROk(value) => Ok(value.into()),
        RErr(fault) => Err(fault.into()),
    }
}

/// Sends a future across: making, polling and dropping it are all guarded.
pub(crate) fn send<F, T, R>(doing: &'static str, make: impl FnOnce() -> F) -> FfiFuture<Reply<R>>
where
    F: Future<Output = Result<T, Fault>> + Send + 'static,
    R: From<T> + Send + 'static,
    T: 'static,
{
    match guard::catch(doing, || Ok(make())) {
        Ok(inner) => {
            let guarded = Guarded {
                doing,
                inner: ManuallyDrop::new(inner),
            };
            MapReply(guarded, std::marker::PhantomData).into_ffi()
        }
        Err(fault) => std::future::ready(RErr(fault.into())).into_ffi(),
    }
}

/// Receives a future from the other side.
///
/// A peer without guards may report a panic from its poll function; that becomes a fault here too.
pub(crate) fn receive<R, T>(
    doing: &'static str,
    future: FfiFuture<Reply<R>>,
) -> impl Future<Output = Result<T, Fault>> + Send + 'static
where
    R: Send + 'static,
    T: From<R> + 'static,
{
    Guarded {
        doing,
        inner: ManuallyDrop::new(Received(future, std::marker::PhantomData)),
    }
}

/// A future whose poll and drop cannot unwind.
struct Guarded<F> {
    doing: &'static str,
    inner: ManuallyDrop<F>,
}

impl<F, T> Future for Guarded<F>
where
    F: Future<Output = Result<T, Fault>>,
{
    type Output = Result<T, Fault>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        // SAFETY: `inner` is never moved out of `self` before drop, and `doing` is not pinned.
        let this = unsafe { self.get_unchecked_mut() };
        // SAFETY: `this` came from a pinned reference, so the field is pinned with it.
        let inner = unsafe { Pin::new_unchecked(&mut *this.inner) };
        match guard::catch(this.doing, || Ok(inner.poll(cx))) {
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

struct MapReply<F, R>(Guarded<F>, std::marker::PhantomData<fn() -> R>);

impl<F, T, R> Future for MapReply<F, R>
where
    F: Future<Output = Result<T, Fault>>,
    R: From<T>,
{
    type Output = Reply<R>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        // SAFETY: the first field is structurally pinned: it is never moved out of `self`.
        let inner = unsafe { self.map_unchecked_mut(|this| &mut this.0) };
        inner.poll(cx).map(reply)
    }
}

struct Received<R, T>(FfiFuture<Reply<R>>, std::marker::PhantomData<fn() -> T>);

impl<R, T: From<R>> Future for Received<R, T> {
    type Output = Result<T, Fault>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        Pin::new(&mut self.0).poll(cx).map(outcome)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::task::Waker;

    fn poll_once<T>(future: impl Future<Output = T>) -> Poll<T> {
        let mut future = Box::pin(future);
        future
            .as_mut()
            .poll(&mut Context::from_waker(Waker::noop()))
    }

    #[test]
    fn a_value_comes_through() {
        let crossed = send::<_, String, RString>("test", || async { Ok("hello".to_owned()) });
        let back = receive::<RString, String>("test", crossed);
        assert_eq!(poll_once(back), Poll::Ready(Ok("hello".to_owned())));
    }

    #[test]
    fn a_panic_while_polling_is_a_fault() {
        guard::quiet_guarded_panics();
        let crossed = send::<_, String, RString>("execute", || async { panic!("boom") });
        let Poll::Ready(Err(fault)) = poll_once(receive::<RString, String>("execute", crossed))
        else {
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
        let crossed = send::<_, String, RString>("execute", explode);
        assert!(matches!(
            poll_once(receive::<RString, String>("x", crossed)),
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
        let crossed = send::<_, String, RString>("execute", || async {
            let _bomb = Bomb;
            std::future::pending().await
        });
        let mut received = Box::pin(receive::<RString, String>("execute", crossed));
        assert!(
            received
                .as_mut()
                .poll(&mut Context::from_waker(Waker::noop()))
                .is_pending()
        );
        drop(received);
    }
}
