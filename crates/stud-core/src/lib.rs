//! The host: from a file to an active plugin.
//!
//! Modules stand in the order in which they are used, and each uses only those before it.
#![forbid(unsafe_code)]

// The ground: the outside world, scopes, settings, trust.
pub mod platform;
pub mod scope;
mod nearest;
pub mod settings;
pub mod trust;
pub mod ground;
pub mod contracts;
pub mod watch;

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
pub mod retire;
pub mod reload;
pub mod report;

// The way back in, and the top.
pub mod host;
pub mod check;
pub mod startup;
