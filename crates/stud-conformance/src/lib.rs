//! What a plugin has to do, as named and dated cases, and a report of how it fares.
//!
//! The cases are listed in `cases.txt`. They run against a [`Plugin`](subject::Plugin), which makes instances of a real
//! plugin, each in a host of its own. There are three doors: `stud_sdk::conformance!()` in an author's tests,
//! `stud plugin check --conformance` for a library, and `cargo xtask conformance` for the bundled plugins.
#![forbid(unsafe_code)]

pub mod subject; // A plugin as the cases see it.
pub mod configs; // The three configs of a plugin.
pub mod sample; // Values that a JSON Schema accepts.
pub mod case; // A case, its verdict, and what it is given.
mod threads; // The threads of this process.
mod cases; // Every case.
pub mod report; // The report, as text, JSON and JUnit.
pub mod run; // Runs the cases of a plugin.

pub use cases::all;
