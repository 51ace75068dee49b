//! What is settled before the first plugin is looked for: folders, settings, trust, policies.
//!
//! Modules stand in reading order, and each uses only those before it.
#![forbid(unsafe_code)]

pub mod platform; // The clock, the environment variables and the folders of the process.
pub mod plugin_scope; // Where a plugin or a setting comes from: bundled, global or project.
pub mod did_you_mean; // The known word closest to a mistyped one.
pub mod network_policy; // Which hosts tools may reach.
pub mod settings; // `settings.json` of each scope, layered and checked.
pub mod trust; // Which projects are trusted.
pub mod hook_order; // `ordering.json`: the order of the hooks of a slot.
pub mod environment; // Folders, trust and settings of one run, resolved.
