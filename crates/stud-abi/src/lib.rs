//! The boundary between stud and its plugins.
//!
//! A plugin is a dynamic library from a third party, possibly built with another compiler.
//! This crate is all that the two sides share in memory, and the only one with `unsafe` in it.
//!
//! | What crosses | How | Module |
//! |---|---|---|
//! | the manifest | JSON in a link section, read from the file | [`section`] |
//! | the way in | one exported static | [`entry`] |
//! | a category's functions | a table that grows at its end, its layout checked at load | [`tables`] |
//! | arguments, results, config | UTF-8 JSON | [`tables`] |
//! | calls back into the host | named operations with JSON | [`host_handle`] |
//! | a call that takes time | a future the other side polls | [`future`] |
//! | the pieces of an answer | a stream | [`stream`] |
//! | "stop" | a token | [`cancel`] |
//! | a failure | class, code, message, context as text | [`fault`] |
//!
//! Panics do not cross: [`guard`] turns each into a fault, in calls, polls and drops, on both sides.
//! Libraries are never unloaded: threads, thread-locals and tables of a plugin may outlive every handle the host has.
//!
//! No type of the crates this boundary is built with appears in a public signature, so that it can be replaced
//! without touching a contract, the SDK or an author's code.
#![expect(unsafe_code, reason = "this crate is the boundary")]
#![expect(
    clippy::ptr_as_ptr,
    clippy::cast_ptr_alignment,
    clippy::expl_impl_clone_on_copy,
    reason = "the derives of abi_stable write such code"
)]

pub mod fault; // A failure as it crosses: four strings.
pub mod guard; // Panics stop here, on both sides.
mod shared; // A reference-counted object whose type only its maker knows.
mod text; // A text that one side makes and the other reads.
pub mod future; // A future made on one side and polled on the other.
pub mod cancel; // Cancellation tokens.
pub mod stream; // A stream of small pieces.
pub mod call; // What every call carries.
pub mod host_handle; // The host as a plugin sees it.
pub mod section; // The `.stud` section: sixteen fixed bytes, then the manifest.
pub mod entry; // The one symbol that a plugin exports.
mod layout; // Comparing the layouts of two sides, type by type.
pub mod tables; // One function table per category.
#[cfg(feature = "load")]
pub mod library; // Checking and opening a plugin's file.

pub use call::{CallContext, EventHeader};
pub use cancel::{CancellationSource, CancellationToken};
pub use entry::{EmbeddedPlugin, EntryError, PluginEntry};
pub use fault::Fault;
pub use future::BoxFuture;
pub use host_handle::{HostHandle, HostService, Listener};
pub use stream::{BoxStream, Stream, StreamItem, StreamSource};
pub use tables::{Category, Export, Instance};
