//! Panics stop here, on both sides of the boundary.
//!
//! An unwinding panic must never cross an `extern "C"` function: the process would abort.
//! Every function the other side can call therefore runs inside `catch`, and the panic comes out as a [`Fault`].

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::mem::ManuallyDrop;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::sync::Once;

use crate::fault::Fault;

/// The code of a fault made from a panic; the host replaces it where it knows more.
pub const PANICKED: &str = "CallPanicked";

thread_local! {
    static DEPTH: Cell<u32> = const { Cell::new(0) };
    static PLACE: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Runs `call`; a panic becomes a fault that says what was being done.
pub(crate) fn catch<R>(doing: &str, call: impl FnOnce() -> Result<R, Fault>) -> Result<R, Fault> {
    catch_into(doing, call, Err)
}

/// Runs `call`, which gives what leaves the guard; `failed` makes the same of a panic.
pub(crate) fn catch_into<R>(
    doing: &str,
    call: impl FnOnce() -> R,
    failed: impl FnOnce(Fault) -> R,
) -> R {
    quietly(call).unwrap_or_else(|payload| failed(fault_of(doing, payload)))
}

/// Runs `call` with the panic hook kept silent.
fn quietly<R>(call: impl FnOnce() -> R) -> Result<R, Box<dyn Any + Send>> {
    // Finding a thread-local of a library costs a call, so it is done once.
    DEPTH.with(|depth| {
        depth.set(depth.get() + 1);
        let outcome = catch_unwind(AssertUnwindSafe(call));
        depth.set(depth.get() - 1);
        outcome
    })
}

/// Drops `value`; a panic in its destructor is swallowed, because there is no caller left to report it to.
pub(crate) fn drop_quietly<T>(value: T) {
    if !std::mem::needs_drop::<T>() {
        return;
    }
    let _ = catch("drop", || {
        drop(value);
        Ok(())
    });
}

/// Keeps the default message of a guarded panic off the terminal, once per library.
///
/// Each dynamic library has its own copy of the panic hook, so the host cannot do this for a plugin.
/// Panics outside a guard, in threads of the author's own, still reach the hook that was there before.
pub fn quiet_guarded_panics() {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let previous = take_hook();
        set_hook(Box::new(move |info| {
            if DEPTH.get() == 0 {
                previous(info);
            } else {
                PLACE.set(info.location().map(ToString::to_string));
            }
        }));
    });
}

fn fault_of(doing: &str, payload: Box<dyn Any + Send>) -> Fault {
    let said = payload
        .downcast_ref::<&str>()
        .map(|text| (*text).to_owned())
        .or_else(|| payload.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "a value that is not text".to_owned());
    // The payload's own destructor may panic, and a second panic here would abort: leak it then.
    let place = PLACE
        .take()
        .map_or_else(String::new, |place| format!(" at {place}"));
    let payload = ManuallyDrop::new(payload);
    if let Err(second) = quietly(|| drop(ManuallyDrop::into_inner(payload))) {
        // The payload of that panic may be no better than the first.
        let _ = ManuallyDrop::new(second);
    }
    Fault::new(
        "ExtensionHost",
        PANICKED,
        format!("panicked in `{doing}`{place}: {said}"),
    )
}
