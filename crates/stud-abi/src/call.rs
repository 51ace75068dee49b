//! What every call carries, and the few shapes a function in a table may have.

use std::fmt;
use std::sync::Arc;

use abi_stable::StableAbi;
use abi_stable::std_types::RStr;

use crate::cancel::CancellationToken;
use crate::future::{Answer, Reply};
use crate::shared::Shared;
use crate::stream::RStream;
use crate::text::Text;

/// What a plugin is told about the call it is serving. Cheap to clone: one count goes up.
#[repr(C)]
#[derive(StableAbi, Clone)]
pub struct CallContext {
    told: Shared,
    cancellation: for<'a> extern "C" fn(&'a Shared) -> &'a CancellationToken,
    ids: for<'a> extern "C" fn(&'a Shared) -> RStr<'a>,
}

struct Told {
    cancellation: CancellationToken,
    ids: String,
}

impl CallContext {
    /// A context: when to stop, and the ids of session, turn and tool call as a JSON object.
    pub fn new(cancellation: CancellationToken, ids: impl Into<String>) -> Self {
        let ids = ids.into();
        Self {
            told: Shared::new(Arc::new(Told { cancellation, ids })),
            cancellation: read_cancellation,
            ids: read_ids,
        }
    }

    /// A context outside any session that is never cancelled.
    pub fn detached() -> Self {
        Self::new(CancellationToken::never(), "{}")
    }

    /// Fires when the call is no longer wanted.
    pub fn cancellation(&self) -> &CancellationToken {
        (self.cancellation)(&self.told)
    }

    /// Ids of the session, turn and tool call as a JSON object; `{}` outside a session.
    pub fn ids(&self) -> &str {
        (self.ids)(&self.told).as_str()
    }
}

extern "C" fn read_cancellation(told: &Shared) -> &CancellationToken {
    // SAFETY: this function and the object are put into one context by `CallContext::new` alone.
    let told = unsafe { told.get::<Told>() };
    &told.cancellation
}

extern "C" fn read_ids(told: &Shared) -> RStr<'_> {
    // SAFETY: as in `read_cancellation`.
    let told = unsafe { told.get::<Told>() };
    told.ids.as_str().into()
}

impl fmt::Debug for CallContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CallContext")
            .field("cancellation", &self.cancellation())
            .field("ids", &self.ids())
            .finish()
    }
}

/// What happened, without its payload: enough for a subscriber to decide whether to parse any further.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EventHeader<'a> {
    /// Place in the stream; strictly increasing.
    pub seq: u64,
    /// The event's name.
    pub name: &'a str,
    /// The turn it belongs to.
    pub correlation_id: &'a str,
}

/// [`EventHeader`] with a fixed layout.
#[repr(C)]
#[derive(StableAbi)]
pub(crate) struct REventHeader<'a> {
    pub(crate) seq: u64,
    pub(crate) name: RStr<'a>,
    pub(crate) correlation_id: RStr<'a>,
}

/// A question answered at once: object, subject, payload.
#[repr(transparent)]
#[derive(StableAbi, Clone, Copy)]
pub(crate) struct AskCall {
    pub(crate) run: extern "C" fn(&Shared, RStr<'_>, RStr<'_>) -> Reply,
}

/// A call that may take its time: object, subject, payload, context.
#[repr(transparent)]
#[derive(StableAbi, Clone, Copy)]
pub(crate) struct AsyncCall {
    pub(crate) run: extern "C" fn(&Shared, RStr<'_>, RStr<'_>, CallContext) -> Answer<Text>,
}

/// Something that happened: object, header, payload.
#[repr(transparent)]
#[derive(StableAbi, Clone, Copy)]
pub(crate) struct EventCall {
    pub(crate) run: extern "C" fn(&Shared, &REventHeader<'_>, RStr<'_>) -> Reply<()>,
}

/// A call answered piece by piece: object, payload, context.
#[repr(transparent)]
#[derive(StableAbi, Clone, Copy)]
pub(crate) struct StreamCall {
    pub(crate) run: extern "C" fn(&Shared, RStr<'_>, CallContext) -> Answer<RStream>,
}
