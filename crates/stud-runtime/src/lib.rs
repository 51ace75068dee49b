//! What the host runs on: locks, threads, timers and timeouts, and the limits that bound plugins.
//!
//! Under `cfg(shuttle)` locks, threads and the clock are those of a model checker, which runs the same code in every order
//! in which threads can meet. Modules stand in reading order, and each uses only those before it.
#![forbid(unsafe_code)]

pub mod clock; // Nanoseconds that never go back.
pub mod limits; // Timeouts and sizes that bound plugins.
pub mod fault_injection; // Faults that the race models inject.
pub mod sync; // Locks and one-shot channels, replaceable by the model checker.
pub mod fifo_lock; // A lock granted in order of arrival.
pub mod executor; // Threads, mailboxes and futures.
pub mod timer; // Running a job later; stands still in tests.
pub mod timeout; // Futures with a timeout.
