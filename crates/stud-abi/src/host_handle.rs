//! The host as a plugin sees it: named operations with JSON in and out.
//!
//! Operations are named, not numbered, and new ones need no change here: a host that does not know a name says so.

use std::fmt;
use std::future::Future;
use std::sync::Arc;

use abi_stable::StableAbi;
use abi_stable::prefix_type::PrefixTypeTrait;
use abi_stable::std_types::RStr;

use crate::cancel::CancellationToken;
use crate::fault::Fault;
use crate::future::{self, Answer, BoxFuture, Reply};
use crate::shared::Shared;
use crate::text::Text;

/// What the host side implements for one plugin.
pub trait HostService: Send + Sync + 'static {
    /// An operation answered at once.
    fn call(&self, operation: &str, payload: &str) -> Result<String, Fault>;

    /// An operation that may take its time.
    fn call_async(&self, operation: &str, payload: String) -> BoxFuture<Result<String, Fault>>;

    /// A token of one of the host's scopes.
    fn token(&self, scope: &str) -> Result<CancellationToken, Fault>;

    /// Starts sending what `operation` names to `listener`; dropping the answer ends it.
    fn subscribe(&self, operation: &str, listener: Listener) -> Result<Guard, Fault>;
}

/// Something whose drop ends a subscription.
pub type Guard = Box<dyn Send + Sync>;

/// A function of the plugin that the host calls with JSON.
#[repr(C)]
#[derive(StableAbi, Clone)]
pub struct Listener {
    object: Shared,
    hear: extern "C" fn(&Shared, RStr<'_>) -> Reply<()>,
}

type Hear = dyn Fn(&str) + Send + Sync;

struct Hearer(Box<Hear>);

impl Listener {
    /// Wraps a function.
    pub fn new(hear: impl Fn(&str) + Send + Sync + 'static) -> Self {
        Self {
            object: Shared::new(Arc::new(Hearer(Box::new(hear)))),
            hear: hear_raw,
        }
    }

    /// Calls it.
    pub fn hear(&self, payload: &str) -> Result<(), Fault> {
        future::outcome((self.hear)(&self.object, payload.into()))
    }
}

extern "C" fn hear_raw(object: &Shared, payload: RStr<'_>) -> Reply<()> {
    // SAFETY: this function and the object are put into one listener by `Listener::new` alone.
    let hearer = unsafe { object.get::<Hearer>() };
    future::answer("subscription", || {
        (hearer.0)(payload.as_str());
        Ok(())
    })
}

#[repr(C)]
#[derive(StableAbi)]
#[sabi(kind(Prefix(prefix_ref = HostTableRef, prefix_fields = HostTablePrefix)))]
struct HostTable {
    call: extern "C" fn(&Shared, RStr<'_>, RStr<'_>) -> Reply<Text>,
    call_async: extern "C" fn(&Shared, RStr<'_>, RStr<'_>) -> Answer<Text>,
    token: extern "C" fn(&Shared, RStr<'_>) -> Reply<CancellationToken>,
    #[sabi(last_prefix_field)]
    subscribe: extern "C" fn(&Shared, RStr<'_>, Listener) -> Reply<Shared>,
}

/// One plugin's way to the host. Cheap to clone; valid for as long as anyone holds it.
#[repr(C)]
#[derive(StableAbi, Clone)]
pub struct HostHandle {
    object: Shared,
    table: HostTableRef,
}

struct Service(Box<dyn HostService>);

impl HostHandle {
    /// Wraps a host service for one plugin.
    pub fn new(service: impl HostService) -> Self {
        let table = HostTable {
            call,
            call_async,
            token,
            subscribe,
        };
        Self {
            object: Shared::new(Arc::new(Service(Box::new(service)))),
            table: table.leak_into_prefix(),
        }
    }

    /// An operation answered at once.
    pub fn call(&self, operation: &str, payload: &str) -> Result<String, Fault> {
        future::outcome(self.table.call()(
            &self.object,
            operation.into(),
            payload.into(),
        ))
    }

    /// An operation that may take its time.
    pub fn call_async(
        &self,
        operation: &str,
        payload: String,
    ) -> impl Future<Output = Result<String, Fault>> + Send + 'static + use<> {
        let future =
            self.table.call_async()(&self.object, operation.into(), payload.as_str().into());
        future::receive("host", future)
    }

    /// A token of one of the host's scopes.
    pub fn token(&self, scope: &str) -> Result<CancellationToken, Fault> {
        future::outcome(self.table.token()(&self.object, scope.into()))
    }

    /// Starts hearing what `operation` names; dropping the answer ends it.
    pub fn subscribe(&self, operation: &str, listener: Listener) -> Result<Guard, Fault> {
        let guard: Shared = future::outcome(self.table.subscribe()(
            &self.object,
            operation.into(),
            listener,
        ))?;
        Ok(Box::new(guard))
    }
}

extern "C" fn call(object: &Shared, operation: RStr<'_>, payload: RStr<'_>) -> Reply<Text> {
    // SAFETY: this function is in the table that `HostHandle::new` pairs with a `Service`.
    let service = unsafe { object.get::<Service>() };
    future::answer("host call", || {
        service.0.call(operation.as_str(), payload.as_str())
    })
}

extern "C" fn call_async(object: &Shared, operation: RStr<'_>, payload: RStr<'_>) -> Answer<Text> {
    // SAFETY: as in `call`.
    let service = unsafe { object.get::<Service>() };
    future::send("host call", || {
        service.0.call_async(operation.as_str(), payload.into())
    })
}

extern "C" fn token(object: &Shared, scope: RStr<'_>) -> Reply<CancellationToken> {
    // SAFETY: as in `call`.
    let service = unsafe { object.get::<Service>() };
    future::answer("host token", || service.0.token(scope.as_str()))
}

extern "C" fn subscribe(object: &Shared, operation: RStr<'_>, listener: Listener) -> Reply<Shared> {
    // SAFETY: as in `call`.
    let service = unsafe { object.get::<Service>() };
    future::answer("host subscribe", || {
        let guard = service.0.subscribe(operation.as_str(), listener)?;
        Ok(Shared::new(Arc::new(guard)))
    })
}

impl fmt::Debug for HostHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HostHandle").finish_non_exhaustive()
    }
}

impl fmt::Debug for Listener {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Listener").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout;
    use abi_stable::abi_stability::PrefixStableAbi as _;

    #[test]
    fn the_layout_is_the_one_on_record() {
        layout::assert_golden("host", HostTablePrefix::LAYOUT);
    }
}
