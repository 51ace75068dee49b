//! Deeds: what only stud's own commands have core do. Each has a room of its own.
//!
//! The commands are plugins: they read what was typed, ask the person and show what came of it. Whether a plugin may
//! have a deed done at all is for its host to say, before anything here is asked.

use std::sync::Arc;

use serde_json::Value;
use stud_contract_meta::{Error, Result};
use stud_host_api::commands::Deed;
use stud_host_api::refusal::{self, Phase};

use crate::activate::Means;
use crate::ground::Ground;
use crate::session::Session;

mod params;
mod switching;

/// Where a deed is done: the session, what it stands on, and what it takes to run its plugins.
pub(crate) struct Site {
    pub(crate) session: Arc<Session>,
    pub(crate) ground: Arc<Ground>,
    pub(crate) means: Means,
    /// The command that asks for it.
    pub(crate) caller: String,
}

/// Does what a command asked for, and gives what came of it.
pub(crate) async fn perform(site: Site, deed: Deed) -> Result<Value> {
    match deed {
        Deed::SwitchModel { provider, model } => switching::switch(&site, provider, model).await,
        Deed::Params { set } if set.is_empty() => params::show(&site),
        Deed::Params { set } => params::set(&site, set).await,
        _ => Err(not_ready()),
    }
}

/// `ExtensionHost/NotReady`: nobody is behind it yet.
fn not_ready() -> Error {
    refusal::not_ready("commands", Phase::Active)
}
