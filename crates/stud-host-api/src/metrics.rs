//! What stud looks like from inside, right now.
//!
//! A picture with no authority: reading it or watching it changes nothing.
//! It holds no environment values, no settings, no secrets and no stack traces.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use serde::{Deserialize, Serialize};
use stud_contract_meta::Result;

mod item;
mod slice;

pub use item::{
    Capabilities, DiagnosticItem, ExtensionInfo, HookInfo, HookKind, HookPoint, Invocations, Level,
    McpServerInfo, McpStatus, NextResult, ProviderInfo, RegionInfo, Sensitivity, Source, ToolInfo,
    UiInfo,
};
pub use slice::{
    ContextSlice, DiagnosticsSlice, ExtensionsSlice, HooksSlice, McpSlice, ProjectTrust,
    ProviderSlice, RuntimeSnapshot, SessionSlice, StateMachineSlice, TokensSlice, ToolsSlice,
    UiSlice,
};

/// How long changes are collected before [`RuntimeReader::subscribe`] tells of them, unless configured otherwise.
pub const DEBOUNCE_MS: u64 = 60;

/// How many diagnostics a snapshot keeps, unless configured otherwise.
pub const RECENT_DIAGNOSTICS: usize = 50;

/// Gets a snapshot after each change. It must return soon, since others wait behind it.
pub type SnapshotHandler = Box<dyn Fn(Arc<RuntimeSnapshot>) + Send + Sync>;

/// Gets every piece of a model's answer as it streams in. It must return at once.
pub type TokenHandler = Box<dyn Fn(TokenDelta) + Send + Sync>;

/// Reads the runtime's state. It does no I/O: components push their changes here.
pub trait RuntimeReader: Send + Sync {
    /// The state as of now. The same [`Arc`] comes back until something changes, so renderers can compare pointers.
    fn snapshot(&self) -> Result<Arc<RuntimeSnapshot>>;

    /// Calls `handler` after changes, at most once per [`DEBOUNCE_MS`], until the subscription is dropped.
    fn subscribe(&self, handler: SnapshotHandler) -> Result<Subscription>;

    /// Calls `handler` for every piece of streamed output, undelayed, until the subscription is dropped.
    fn subscribe_to_tokens(&self, handler: TokenHandler) -> Result<Subscription>;
}

/// A piece of streamed output.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct TokenDelta {
    /// Input tokens of this turn so far.
    pub input_tokens: u64,
    /// Output tokens of this turn so far, this piece included.
    pub output_tokens: u64,
    /// The text that came.
    pub delta: String,
}

/// Ends a subscription when it is dropped.
#[must_use = "dropping it ends the subscription"]
pub struct Subscription {
    // The lock is never taken: it only makes this `Sync`, so that a plugin can keep it in a field.
    end: Mutex<Option<Box<dyn FnOnce() + Send>>>,
}

impl Subscription {
    /// A subscription that `end` ends.
    pub fn new(end: impl FnOnce() + Send + 'static) -> Self {
        Self {
            end: Mutex::new(Some(Box::new(end))),
        }
    }

    /// Ends it now.
    pub fn unsubscribe(self) {}
}

impl Drop for Subscription {
    fn drop(&mut self) {
        let end = self
            .end
            .get_mut()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        if let Some(end) = end {
            end();
        }
    }
}

impl fmt::Debug for Subscription {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Subscription").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
