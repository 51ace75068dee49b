//! What every stud extension declares, whatever its category.
//!
//! An extension is described by ten fields, checked in this order before any of its code runs:
//!
//! | Field | What it says |
//! |---|---|
//! | `kind` | one of the nine categories, see [`Kind`] |
//! | `contractVersion` | the version of the category's contract it was written against: [`SemVer`] |
//! | `requiredCoreVersion` | the core versions it accepts: [`Range`] |
//! | `lifecycle` | which of the four phases it takes part in: [`Phase`] |
//! | `configSchema` | the JSON Schema of its config; closed, of type object |
//! | `loadedCardinality`, `activeCardinality` | how many of it there may be: fixed by the category |
//! | `stateSlot` | the state it keeps over turns, or `null` |
//! | `discoveryRules` | the folder it belongs in |
//! | `reloadBehavior` | when a changed build may take its place |
//!
//! An extension that needs something of the model that answers says so in `modelNeeds`, a list of [`ModelNeed`]s.
//!
//! Besides these a [`Manifest`] has the members of its category, which that category's own crate describes.
//!
//! Everything stud reports is an [`Error`]: a class, a code, a message and a context.
#![forbid(unsafe_code)]

mod error;
mod ext_id;
mod version;
mod cardinality;
mod kind;
mod lifecycle;
mod manifest;
mod model_need;
pub mod strict_json;

pub use cardinality::{ActiveCardinality, LoadedCardinality};
pub use error::{Error, Result};
pub use ext_id::{ExtId, InvalidExtId};
pub use kind::Kind;
pub use lifecycle::{Phase, ReloadBehavior};
pub use manifest::{
    ABI_MEMBER, AbiDeclaration, COMMON_MEMBERS, DiscoveryRules, DriftPolicy, EventDeclaration,
    META_FIELDS, Manifest, Reference, SlotDeclaration,
};
pub use model_need::{Capability, ModelNeed, NeedLevel};
pub use version::{Range, SemVer};
