//! Files of the workspace and nothing beyond it.
//!
//! The tools that touch files share two promises, and this crate keeps both.
//!
//! **Nothing outside the workspace is read or written.** The workspace is the folder the session runs in. A path is
//! first brought into one form by its text alone ([`Workspace::place`]); that form decides the approval key, and nothing
//! else is opened afterwards. Then the path is walked, one part at a time: each directory is opened relative to the one
//! before it and never through a symbolic link, and links are read and followed by hand. So a link that leads out, and
//! a directory that becomes one between two steps, are refused where they are met: no step trusts what an earlier look
//! has seen. The same walk serves every system, whether or not its kernel could confine a whole path at once, because
//! it has to look at every directory anyway.
//!
//! **Nothing in stud's home or below any `.stud` is read or written.** Settings never reach a model, and no tool call
//! widens what tool calls may do. The home, the `.stud` of the workspace and the folders of all projects that a person has
//! decided about are known by device and inode, wherever they lie, and so is what links directly in them lead to; another
//! name for one does not help. Any other `.stud` further down is known by its name.
//!
//! A hard link to a file directly in one of these folders is not read either, as it is the same file. Hard links to
//! files further down in them, and to files outside the workspace, are beyond both promises: the system does not tell
//! which other names a file has.
//!
//! This crate is for Unix systems, as its descriptors are.
#![forbid(unsafe_code)]

mod failure;
mod place;
mod workspace;
mod own;
mod root;
mod text;
mod contents;
mod target;
mod lock;
mod draft;
mod replacement;
mod rules;
mod tree;
#[cfg(test)]
mod swapping;

pub use contents::{Contents, Excerpt};
pub use draft::{Change, replace_all};
pub use failure::invalid;
pub use lock::{Held, lock};
pub use place::Place;
pub use replacement::{Replacement, replace};
pub use target::Target;
pub use text::{cut, shown};
pub use tree::{Entry, Kind, Look, Looked, Tree};
pub use workspace::{Files, Workspace};
