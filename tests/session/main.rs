//! A session with real libraries in it, each of them reached through the boundary.
#![forbid(unsafe_code)]
#![cfg(test)]

mod stage;
mod race;
mod departure;
mod kinds;
mod secrets;
mod host;
mod events;
mod containment;
mod reload;
mod resume;
mod bench;
mod context;
mod models;
mod compaction;
mod late;
mod logs;
mod program;
