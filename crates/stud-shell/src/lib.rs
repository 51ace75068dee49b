//! Which commands a shell line runs, or that this cannot be told.
//!
//! Approvals and allowlists decide by this, so it fails closed: [`read`] gives commands only for a line of which every
//! part is understood, and [`runs_others`] says yes for every program that can run another one the way it is called.
#![forbid(unsafe_code)]

mod line; // A line as a list of simple commands.
mod programs; // Programs that run other programs.

pub use line::{Command, Word, quoted, read};
pub use programs::runs_others;
