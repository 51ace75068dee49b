//! The flows a person lives through, over the real program: what is told, asked, put on record and kept, in order.
//!
//! Each happens twice, once with the bundled plugins embedded and once with the same plugins as libraries.
#![forbid(unsafe_code)]
#![cfg(test)]

mod talk;
mod bench;
mod backend;

mod bundled_plugins;
mod first_run;
mod project_trust;
mod default_chat;
mod tool_call_cycle;
mod hook_interception;
mod hook_failure;
mod guard_deny;
mod input_hooks;
mod approvals;
mod parallel_approvals;
mod headless_run;
mod interaction_timeout;
mod bounds;
mod resume;
mod resume_with_drift;
mod scope_layering;
mod model_switch;
mod capability_mismatch;
mod params;
mod mcp;
mod slash_commands;
mod subagent_authority;
mod subagent_delegation;
mod reload_mid_turn;
mod network_policy;
mod compaction;
mod machine;
mod workflow;
mod workflow_faults;
mod machine_attaching;
mod bundled_machines;
