//! The host: runs the sessions in which plugins take part.
//!
//! Modules stand in the order in which they are used, and each uses only those before it.
#![forbid(unsafe_code)]

// What sessions stand on, by its old address.
pub use stud_config::{
    did_you_mean, environment, hook_order, network_policy, platform, plugin_scope, settings, trust,
};
use stud_plugins::provider_entry;
pub use stud_plugins::{
    activate, admission, bind, contracts, dependency_order, discover, identity, inspect, layer,
    load, plugin_check, provenance, register, registry, reload, report, retire, startup,
    unknown_ids, validate,
};
pub use stud_runtime::{executor, limits, timer};
use stud_runtime::{fault_injection, fifo_lock, sync, timeout};

// What is recorded, and what is kept out of it.
mod canonical; // Canonical JSON and its digest.
pub mod ids; // UUIDv7 identifiers.
pub mod redact; // Removing secrets from what is recorded.
pub mod secrets; // Resolving secret references.
pub mod audit; // The audit trail.

// The tools and the model of a session.
mod tool_registry; // The tools of plugins and MCP servers.
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
pub mod workflow; // Stages that a state machine drives the session through.
mod subagents; // Child sessions that the model opens.
mod privileged_ops; // Operations reserved for bundled commands.

// The way back in, and the top.
pub mod host; // The host services of one plugin in one session.
pub mod stored_sessions; // Stored sessions, read from outside a session.
pub mod launch; // From prepared plugins to a running session.
mod hooks; // Guards, transforms and observers of a turn.
pub mod assistant; // The turn: six stages in a loop.

#[cfg(shuttle)]
pub use fault_injection::{Fault, Planted};
