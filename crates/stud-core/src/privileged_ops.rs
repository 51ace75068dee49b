//! Deeds: what only stud's own commands have core do. Each has a room of its own.
//!
//! The commands are plugins: they read what was typed, ask the person and show what came of it. Whether a plugin may
//! have a deed done at all is for its host to say, before anything here is asked.

use std::sync::Arc;

use serde_json::{Value, json};
use stud_contract_meta::{Error, Result};
use stud_host_api::commands::Deed;
use stud_host_api::refusal::{self, Phase};

use crate::environment::Environment;
use crate::executor::block_on;
use crate::register::PluginRuntime;
use crate::session::Session;
use crate::subagents;

mod health;
mod leaving;
mod machine;
mod network;
mod params;
mod reloading;
mod sessions;
mod switching;
mod trust;

pub(crate) use reloading::replace;

use network::List;

/// Where a deed is done: the session, what it stands on, and what it takes to run its plugins.
pub(crate) struct Site {
    pub(crate) session: Arc<Session>,
    pub(crate) ground: Arc<Environment>,
    pub(crate) means: PluginRuntime,
}

impl Site {
    /// Puts on record what a command has done, and then does it. If it fails, that is on record too.
    async fn on_record<T>(
        &self,
        class: &str,
        payload: Value,
        act: impl Future<Output = Result<T>>,
    ) -> Result<T> {
        let correlation_id = self.session.correlation_id();
        let books = self.session.books();
        books.audit(class, None, &correlation_id, payload.clone());
        let done = act.await;
        if let Err(error) = &done {
            books.audit_failed(class, None, &correlation_id, payload, error);
        }
        done
    }

    /// Puts something on record that the command had done.
    fn audit(&self, class: &str, kind: Option<&str>, payload: Value) {
        let correlation_id = self.session.correlation_id();
        let books = self.session.books();
        books.audit(class, kind, &correlation_id, payload);
    }

    /// Whether a plugin runs a command right now.
    fn is_busy(&self, ext_id: &str) -> bool {
        self.session.commands().called_off(ext_id).is_some()
    }
}

/// Does what a command asked for, and gives what came of it.
pub(crate) async fn perform(site: Site, deed: Deed) -> Result<Value> {
    match deed {
        Deed::SwitchModel { provider, model } => switching::switch(&site, provider, model).await,
        Deed::Params { set } if set.is_empty() => params::show(&site),
        Deed::Params { set } => params::set(&site, set).await,
        Deed::ListSessions {} => sessions::list(&site).await,
        Deed::ListTrust {} => trust::list(&site),
        Deed::GrantTrust { path } => trust::grant(&site, &path).await,
        Deed::RevokeTrust { path } => trust::revoke(&site, &path).await,
        Deed::ClearMcpTrust { server } => trust::clear_mcp(&site, &server).await,
        Deed::ShowNetworkPolicy {} => Ok(network::show(&site)),
        Deed::AllowHost { host } => network::add(&site, List::Allow, &host).await,
        Deed::DenyHost { host } => network::add(&site, List::Deny, &host).await,
        Deed::SaveAndClose { drain_timeout_ms } => {
            leaving::save_and_close(&site, drain_timeout_ms).await
        }
        Deed::Leave {} => Ok(leaving::leave(&site)),
        Deed::CancelTurn {} => Ok(json!({"cancelled": site.session.cancel_turn()})),
        Deed::ListAgents {} => Ok(subagents::list(&site.session)),
        Deed::CancelAgent { subagent_id } => subagents::cancel(&site.session, &subagent_id),
        Deed::Reload { ext_id: Some(id) } => reloading::one(Arc::new(site), id).await,
        Deed::Reload { ext_id: None } => reloading::all(Arc::new(site)).await,
        Deed::AttachMachine { id } => machine::attach(&site, &id).await,
        Deed::DetachMachine {} => machine::detach(&site).await,
        Deed::MachineStatus {} => Ok(machine::status(&site)),
        Deed::Health {
            turn_count_in_audit,
        } => Ok(health::report(&site, turn_count_in_audit)),
        // A deed that this core does not know cannot have come through its own Host API.
        _ => Err(not_ready()),
    }
}

/// Reloads a plugin of a session for a request from outside.
pub(crate) fn reload_plugin(
    session: Arc<Session>,
    ground: Arc<Environment>,
    means: PluginRuntime,
    id: &str,
) -> Result<Value> {
    let site = Site {
        session,
        ground,
        means,
    };
    let deed = Deed::Reload {
        ext_id: Some(id.to_owned()),
    };
    block_on(perform(site, deed))
}

/// `ExtensionHost/NotReady`: not implemented yet.
fn not_ready() -> Error {
    refusal::not_ready("commands", Phase::Active)
}
