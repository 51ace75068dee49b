//! Races, tried out: what prompts, sessions, the ledger and the event bus promise, in very many orders of events.
//!
//! These are models. A scheduler decides at every lock and every atomic which thread continues, so a test is run again
//! and again with another order each time, and an order that breaks a promise can be repeated exactly. Nothing here
//! knows real time, threads of the system or files.
//!
//! The program is empty unless it is built for models: `cargo xtask test races`.
#![cfg(shuttle)]
#![forbid(unsafe_code)]
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a model that cannot go on has failed"
)]
#![expect(
    clippy::similar_names,
    reason = "an asker, what it asked and the shelf are called what they are"
)]

mod explore;
mod clock;
mod shelf;
mod gate;
mod witness;
mod people;
mod room;
mod parlor;

mod answering;
mod calling_off;
mod children;
mod coming_and_going;
mod detaching;
mod recording;
mod hearing;
mod living;
mod granting;
mod planted;
