//! The boundary between stud and its plugins.
//!
//! A plugin is a dynamic library made by someone else, perhaps with another compiler.
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

pub mod fault;
pub mod guard;
mod shared;
mod text;
pub mod future;
pub mod cancel;
pub mod stream;
pub mod call;
pub mod host_handle;
pub mod section;
pub mod entry;
mod layout;
pub mod tables;
#[cfg(feature = "load")]
pub mod library;

pub use call::{CallContext, EventHeader};
pub use cancel::{CancellationSource, CancellationToken};
pub use entry::{EmbeddedPlugin, EntryError, PluginEntry};
pub use fault::Fault;
pub use future::BoxFuture;
pub use host_handle::{HostHandle, HostService, Listener};
pub use stream::{BoxStream, Stream, StreamItem, StreamSource};
pub use tables::{Category, Export, Instance};
