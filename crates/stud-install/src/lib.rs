//! Installs, updates and removes plugins below a scope root.
//!
//! Each operation is a transaction: the new library is staged, put through the whole pipeline, and moved into place with
//! one rename. A process that is killed at any moment leaves the old plugin or the new one; the next operation completes
//! or drops what was begun.
#![forbid(unsafe_code)]

mod refusal; // The diagnostics of this crate.
pub mod rights; // What a plugin declares that a user should agree to.
pub mod lock_file; // What is installed, from where, with which digests.
pub mod source; // From a file, a folder or an archive to one library.
mod staging; // The working folder, its journal, and recovery.
pub mod install; // Install, update and remove.
pub mod bisect; // The smallest set of plugins with which a command fails.
