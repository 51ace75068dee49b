//! What a server offers, held against what was trusted, and put where it can be found.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use stud_contract_meta::Result;
use stud_host_api::metrics::McpServerInfo;

use super::{Server, TrustState};
use crate::executor::{block_on, or_cancelled, spawn};
use crate::mcp::catalog::ServerCatalog;
use crate::mcp::fingerprint;
use crate::mcp::registration;
use crate::mcp::sanitize::shown;
use crate::mcp::tools::RemoteTools;
use crate::sync::lock;
use crate::timeout::sleep;

/// A server that says that its lists have changed is looked at this often at most.
const PAUSE: Duration = Duration::from_millis(500);

impl Server {
    /// Takes what a server offers into the session. Tools that are not those that were trusted are asked about.
    ///
    /// # Errors
    ///
    /// `Session/MCPUntrusted` if the user denies it, or no interactor is attached.
    pub(super) async fn admit(&self, stock: ServerCatalog) -> Result<()> {
        let seen = fingerprint::of_tools(&stock.tools);
        let trust = lock(&self.state).trust.clone();
        if let TrustState::Listed(scope, mut entry) = trust {
            let known = entry.tools.clone().unwrap_or_default();
            let changes = changes(&known, &seen);
            let is_first = entry.tools.is_none() || entry.fingerprint.is_none();
            let keeps = if is_first || changes.is_empty() {
                true
            } else {
                self.withdraw();
                let changes = changes.join(", ");
                let question = format!(
                    "The tools of the MCP server `{}` are not those that you trusted: {changes}. Trust it as it is now?",
                    self.id()
                );
                self.ask(question).await?
            };
            // One that is gone stays known: if it comes back as another one, that is a change.
            let tools = known.into_iter().chain(seen).collect();
            if keeps && entry.tools.as_ref() != Some(&tools) {
                entry.tools = Some(tools);
                entry.fingerprint = Some(self.fingerprint.clone());
                self.keep(scope, entry);
            }
        }
        self.offer(stock);
        Ok(())
    }

    fn offer(&self, stock: ServerCatalog) {
        let Some(server) = self.this.upgrade() else {
            return;
        };
        let (tools, left_out) = stock.usable_tools(self.id());
        self.tell_left_out(&left_out);
        registration::enter(&server, &stock);
        let tools = Arc::new(RemoteTools::of(&server, tools));
        {
            let mut state = lock(&self.state);
            state.tools = Some(tools);
            state.stock = stock;
        }
        self.show();
    }

    /// Takes back everything it offers.
    pub(super) fn withdraw(&self) {
        {
            let mut state = lock(&self.state);
            state.tools = None;
            state.stock = ServerCatalog::default();
        }
        registration::withdraw(self);
        self.show();
    }

    /// Shows how it stands to everyone who looks.
    pub(in crate::mcp) fn show(&self) {
        let look = self.look();
        let tools = look.tools.as_ref().map(|tools| tools.info(&self.means));
        let info = McpServerInfo {
            id: self.id().to_owned(),
            transport: self.config.transport.as_str().to_owned(),
            status: look.status,
            prompt_count: look.stock.prompts.len() as u64,
            resource_count: look.stock.resources.len() as u64,
            tool_count: tools.as_ref().map_or(0, Vec::len) as u64,
            last_error: look.last_error,
        };
        self.means.show(info, tools.unwrap_or_default());
    }

    /// The server says that a list of its is another one now. However often it says so, one look is enough.
    pub(super) fn changed(&self, generation: u64) {
        {
            let mut state = lock(&self.state);
            let current = state.link.as_ref().map(|link| link.generation);
            if state.looking || state.closed || current != Some(generation) {
                return;
            }
            state.looking = true;
        }
        if let Some(server) = self.this.upgrade() {
            spawn(move || block_on(server.look_again()));
        }
    }

    async fn look_again(&self) {
        let means = &self.means;
        let _ = or_cancelled(&means.over, sleep(&*means.timer, PAUSE)).await;
        let _pass = self.gate.enter().await;
        let link = {
            let mut state = lock(&self.state);
            state.looking = false;
            state.link.clone().filter(|_| !state.closed)
        };
        let Some(link) = link else { return };
        let looked = match self.take_stock(&link).await {
            Ok(stock) => self.admit(stock).await,
            Err(error) => Err(error),
        };
        if let Err(error) = looked {
            lock(&self.state).link = None;
            self.hang_up(&link.connection, error.message()).await;
            self.failed(&error);
        }
    }
}

/// What is not as it was, in words. A tool that is gone is harmless.
fn changes(known: &BTreeMap<String, String>, seen: &BTreeMap<String, String>) -> Vec<String> {
    const SHOWN: usize = 10;
    let all = seen
        .iter()
        .filter_map(|(name, digest)| match known.get(name) {
            Some(before) if before == digest => None,
            Some(_) => Some(format!("`{}` is described in another way", shown(name))),
            None => Some(format!("`{}` is new", shown(name))),
        });
    let mut changes: Vec<String> = all.collect();
    if changes.len() > SHOWN {
        let more = changes.len() - SHOWN;
        changes.truncate(SHOWN);
        changes.push(format!("and {more} more"));
    }
    changes
}
