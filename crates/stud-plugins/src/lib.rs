//! From a file to an active plugin, and back.
//!
//! Each stage takes the type the one before it returns, and only its stage can make one. Modules stand in reading order,
//! and each uses only those before it.
#![forbid(unsafe_code)]

// The stages.
pub mod contracts; // The contract versions this core implements.
pub mod provenance; // What is known of one plugin while it passes the stages.
pub mod discover; // Lists plugin files.
pub mod inspect; // Reads the manifest section of a file.
pub mod validate; // Checks a manifest and its config.
pub mod layer; // Decides which plugin gets a contested id or name.
pub mod dependency_order; // Sorts plugins by dependency.
pub mod load; // Opens a library.
pub mod bind; // Compares the function table with the manifest.
pub mod identity; // Who a plugin is once it runs.
pub mod register; // Gives a plugin its identity and its host.
pub mod activate; // Creates an instance: init, activate; and calls it.

// What is made of them.
pub mod admission; // The way in: all of the stages above, composed.
pub mod provider_entry; // Which provider serves a settings entry.
pub mod registry; // Active plugins by id, category, tool, command and slot.
pub mod retire; // Deactivate and dispose.
pub mod unknown_ids; // Ids that no plugin has.
pub mod reload; // Replaces a plugin by its next generation.
pub mod report; // The list of plugins for people and scripts.
pub mod plugin_check; // `stud plugin check`.
pub mod startup; // The story: from discovered files to active plugins.
