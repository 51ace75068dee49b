//! Plugins of every category, run through their entries.
#![forbid(unsafe_code)]
#![cfg(feature = "testing")]
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "the plugins are part of their tests"
)]
#![expect(
    clippy::unused_async,
    reason = "handlers may be async without waiting for anything"
)]

#[path = "all/manifest.rs"]
mod manifest;
#[path = "all/schema.rs"]
mod schema;
#[path = "all/lifecycle.rs"]
mod lifecycle;
#[path = "all/tool.rs"]
mod tool;
#[path = "all/tool_prompt.rs"]
mod tool_prompt;
#[path = "all/command.rs"]
mod command;
#[path = "all/hook.rs"]
mod hook;
#[path = "all/ui.rs"]
mod ui;
#[path = "all/services.rs"]
mod services;
#[path = "all/serving.rs"]
mod serving;
#[cfg(feature = "tokio")]
#[path = "all/tokio.rs"]
mod tokio;
