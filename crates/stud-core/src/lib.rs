//! The host: from a file to an active plugin.
//!
//! Modules stand in the order in which they are used, and each uses only those before it.
#![forbid(unsafe_code)]

// The ground: the outside world, scopes, settings, trust.
pub mod platform;
pub mod scope;
pub mod nearest;
pub mod network;
pub mod settings;
pub mod trust;
pub mod ordering;
pub mod ground;
pub mod contracts;
pub mod limits;
mod sync;
mod gate;
mod planted;
pub mod work;
pub mod timer;
mod deadline;
mod canonical;
pub mod ids;
pub mod redact;
pub mod secrets;
pub mod audit;

// From a file to an active plugin. Each stage takes what the one before it gives.
pub mod track;
pub mod discover;
pub mod inspect;
pub mod validate;
pub mod layer;
pub mod order;
pub mod load;
pub mod bind;
pub mod activate;
pub mod call;
pub mod registry;
mod toolbox;
pub mod retire;
pub mod reload;
pub mod report;
pub mod negotiate;
pub mod params;
pub mod model;
mod tokens;

// A session: what is written down, who hears of it, who is asked.
pub mod store;
mod called_off;
pub mod ledger;
pub mod events;
pub mod books;
mod span;
pub mod prompts;
pub mod metrics;
pub mod audience;
pub mod prompt_registry;
pub mod resource_registry;
mod commands;
pub mod mcp;
pub mod approvals;
pub mod rules;
pub mod desk;
pub mod session;
pub mod attend;
pub mod context;
mod switch;
mod deeds;

// The way back in, and the top.
pub mod host;
pub mod check;
pub mod startup;
pub mod shelf;
pub mod launch;
mod hooks;
pub mod assistant;

#[cfg(shuttle)]
pub use planted::{Fault, Planted};
