//! What the macros write code against. No part of it is for authors, and any of it may change.

pub mod schema;
pub mod version;
pub mod category;
pub mod plugin;
pub mod manifest;
pub mod fault;
mod log;
pub mod runtime;
pub mod json;
pub mod config;
pub mod life;
pub mod glue;
pub mod returned;
pub mod tool;
pub mod command;
pub mod hook;
pub mod ui;
pub mod provider;
pub mod logger;
pub mod state_machine;
pub mod session_store;
pub mod context_provider;

pub use serde;
pub use stud_abi::export_plugin;
pub use stud_abi::tables;
pub use stud_host_api::BoxFuture;
