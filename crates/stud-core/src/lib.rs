//! The host: loads plugins and runs the sessions in which they take part.
//!
//! Modules stand in the order in which they are used, and each uses only those before it.
#![forbid(unsafe_code)]

// The ground: the outside world, scopes, settings, trust.
pub mod platform; // The clock, the environment variables and the folders of the process.
pub mod plugin_scope; // Where a plugin or a setting comes from: bundled, global or project.
pub mod did_you_mean; // The known word closest to a mistyped one.
pub mod network_policy; // Which hosts tools may reach.
pub mod settings; // `settings.json` of each scope, layered and checked.
pub mod trust; // Which projects are trusted.
pub mod hook_order; // `ordering.json`: the order of the hooks of a slot.
pub mod environment; // Folders, trust and settings of one run, resolved.
pub mod contracts; // The contract versions this core implements.
pub mod limits; // Timeouts and sizes that bound plugins.
mod sync; // Locks, replaceable by the model checker.
mod fifo_lock; // A lock granted in order of arrival.
mod fault_injection; // Faults that the race models inject.
pub mod executor; // Threads, mailboxes and futures.
pub mod timer; // Running a job later; stands still in tests.
mod timeout; // Futures with a timeout.
mod canonical; // Canonical JSON and its digest.
pub mod ids; // UUIDv7 identifiers.
pub mod redact; // Removing secrets from what is recorded.
pub mod secrets; // Resolving secret references.
pub mod audit; // The audit trail.

// From a file to an active plugin. Each stage takes what the one before it gives.
pub mod provenance; // What is known of one plugin while it passes the stages.
pub mod discover; // Lists plugin files.
pub mod inspect; // Reads the manifest section of a file.
pub mod validate; // Checks a manifest and its config.
pub mod layer; // Decides which plugin gets a contested id or name.
pub mod dependency_order; // Sorts plugins by dependency.
pub mod load; // Opens a library.
pub mod bind; // Compares the function table with the manifest.
pub mod activate; // Creates an instance: init, activate.
pub mod plugin_call; // Calls into an active plugin.
pub mod registry; // Active plugins by id, category, tool, command and slot.
mod tool_registry; // The tools of plugins and MCP servers.
pub mod retire; // Deactivate and dispose.
pub mod reload; // Replaces a plugin by its next generation.
pub mod report; // The list of plugins for people and scripts.
pub mod model_capabilities; // What a session needs of a model, compared with what it claims.
pub mod params; // Parameters of a model request.
pub mod model; // Which model of which provider.
mod tokens; // Counting tokens.

// A session: what is written down, who hears of it, who is asked.
pub mod store; // The active session store, or memory.
mod cancellation; // Which scope was cancelled, and by whom.
pub mod ledger; // The transcript and its single writer.
pub mod events; // The event bus.
pub mod recorder; // Transcript, audit trail and events of one session.
mod span; // Durations of core's own work.
pub mod interactions; // Prompts that interactors race to answer.
pub mod runtime_snapshot; // The metrics that plugins read.
pub mod visibility; // Which extensions may see a registered entry.
pub mod prompt_templates; // Registered prompt texts.
pub mod resources; // Registered resources with limits.
mod commands; // Slash commands.
pub mod mcp; // MCP servers of a session.
pub mod approvals; // Remembered approvals and what they cover.
pub mod turn_policy; // Timeouts, retries and gates for every turn.
pub mod request_state; // What is kept from one model request to the next.
pub mod session; // The session: inputs, turns, slots, snapshots.
pub mod participants; // UIs and loggers as subscribers and interactors.
pub mod context; // Assembles a model request and makes it fit.
mod model_switch; // Changes model, provider entry or parameters.
mod privileged_ops; // Operations reserved for bundled commands.

// The way back in, and the top.
pub mod host; // The host services of one plugin in one session.
pub mod plugin_check; // `stud plugin check`.
pub mod startup; // From discovered files to active plugins.
pub mod stored_sessions; // Stored sessions, read from outside a session.
pub mod launch; // From prepared plugins to a running session.
mod hooks; // Guards, transforms and observers of a turn.
pub mod assistant; // The turn: six stages in a loop.

#[cfg(shuttle)]
pub use fault_injection::{Fault, Planted};
