//! Subagents: child sessions that the model opens with the bundled tool `delegate`.
//!
//! ```text
//! preflight → envelope prompt → spawned → running → completed | halted | aborted
//! depth, model, tools   │ denied: no child, and the parent's model is told
//! ```
//!
//! A child is a session of its own ([`open_child`](crate::session::Session::open_child)) with one turn in it. It has its
//! own transcript and its own approvals, and shares with its parent the plugins, the event stream, the audit trail and
//! the queue of prompts, in which everything of it says whose it is. The tools of its envelope run without a prompt for
//! as long as it lives; every other call passes the same gate as a call of its parent, and guards judge all of them.

mod preflight;
mod opening;
mod overview;

pub(crate) use opening::open;
pub(crate) use overview::{cancel, list};
pub(crate) use preflight::{Preflight, preflight};
