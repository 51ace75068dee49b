//! The thirteen services across the plugin boundary.
//!
//! [`serve`] turns a [`HostApi`] into the handle that a plugin is given, and [`connect`] turns that handle back into a
//! [`HostApi`] inside the plugin. What lies between is named operations with JSON, so that either side may be older
//! than the other.
//!
//! | What | How it crosses |
//! |---|---|
//! | a call | `service.call` in camel case, such as `env.get` or `session.openChild` |
//! | its arguments | a JSON object: the call's own type where it takes one, its parameters by name otherwise |
//! | its result | the JSON of the result's type; `null` for nothing |
//! | a failure | class, code, message and context, unchanged |
//! | `workspace` | one operation for each of its four facts, since each can fail alone: `workspace.sessionId`, … |
//! | `session.state_slot` | `session.stateSlot` asks for leave; `session.stateSlot.read` and `.write` name the slot again |
//! | `cancellation.token` | a token of the boundary, by the name of its scope |
//! | `metrics.snapshot` | the plugin says which revision it has, and gets `null` as long as that is the newest |
//! | `metrics.subscribe`, `metrics.subscribeToTokens` | a listener; dropping the subscription drops what feeds it |
//!
//! A host that does not know an operation answers `ExtensionHost/NotImplemented`, whose context names the `operation`.
//! What one side cannot read is `Validation/ShapeInvalid`, whose context names the `operation`, the `part` (`request`
//! or `reply`), the `field` as a JSON Pointer, and what was `expected` there. It never says what was found, since that
//! may be a secret. Two requests have codes of their own for this: those of [`ContextFragment::read`] and
//! [`Payload::read`].
//!
//! [`ContextFragment::read`]: crate::context::ContextFragment::read
//! [`Payload::read`]: stud_contract_interaction::Payload::read

use std::sync::Arc;

use stud_abi::HostHandle;

use crate::HostApi;

mod json;
mod snapshot;
mod operation;
mod answer;
mod ask;

pub(crate) use ask::Asking;

/// What the reference says of an operation.
#[cfg(feature = "schema")]
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct OperationInfo {
    /// Its name: the service and the call.
    pub name: &'static str,
    /// When the host answers: `at once`, `in time` or `again and again`.
    pub timing: &'static str,
    /// The type of the arguments.
    pub request: &'static str,
    /// The type of the result.
    pub reply: &'static str,
    /// What it does.
    pub doc: &'static str,
}

/// Every operation, in the order of the table. `cancellation.token` is not one: a token has its own way.
#[cfg(feature = "schema")]
pub fn operations() -> &'static [OperationInfo] {
    operation::REFERENCE
}

/// The schemas of the arguments that have no type of their own in a service.
#[cfg(feature = "schema")]
pub fn arguments() -> Vec<(&'static str, schemars::Schema)> {
    use schemars::schema_for;
    vec![
        ("Name", schema_for!(operation::Name)),
        ("Key", schema_for!(operation::Key)),
        ("Id", schema_for!(operation::Id)),
        ("Slot", schema_for!(operation::Slot)),
        ("SlotWrite", schema_for!(operation::SlotWrite)),
        ("Draft", schema_for!(operation::Draft)),
        ("Dispatch", schema_for!(operation::Dispatch)),
        ("Known", schema_for!(snapshot::Known)),
    ]
}

/// The host's half: a handle for the one plugin that `host` is for.
pub fn serve(host: Arc<dyn HostApi>) -> HostHandle {
    HostHandle::new(answer::Answering::new(host))
}

/// The plugin's half: the host behind a handle.
pub fn connect(handle: HostHandle) -> Arc<dyn HostApi> {
    Arc::new(Asking::new(handle))
}

#[cfg(test)]
mod tests;
