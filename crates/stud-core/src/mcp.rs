//! The client for MCP servers: one for a session, and everything remote goes through it.
//!
//! A server is a stranger's program or address. Nothing of it is started before a person trusts it; what it offers
//! enters the session's registries; what it says is untrusted text, even when the server is trusted. A dead server is reported, and
//! the others are unaffected.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Weak};
use std::time::Duration;

use stud_abi::CancellationToken;
use stud_contract_meta::{Error, Result};
use stud_diagnostics::{Diagnostic, codes};
use stud_host_api::metrics::McpStatus;

mod reconnect;
mod terms;
mod sanitize;
mod binding;
mod config;
mod connection;
mod environment;
mod fingerprint;
mod trust;
mod status;
mod catalog;
mod startup_barrier;
mod deps;
mod tools;
mod server;
mod fetch;
mod registration;
mod prompt_commands;

pub use binding::{Bound, ResourceBinding};
pub use config::{Configured, ServerConfig, Transport, configured};
pub use connection::{
    Connection, ConnectionError, Connector, Part, PromptArgument, PromptDescriptor, PromptMessage,
    Reach, ResourceContent, ResourceDescriptor, ServerAddress, ToolAnswer, ToolDescriptor, Watch,
};
pub use fetch::Consumed;
pub use reconnect::Policy;
pub use status::{Surveyed, Trust, survey};
pub use terms::McpDefaults;

pub(crate) use deps::McpSession;

use deps::ServerDeps;
use prompt_commands::PromptCommands;
use server::Server;
use startup_barrier::Starting;
use trust::TrustLists;

use crate::commands::CommandSource;
use crate::environment::Environment;
use crate::executor::{self, FuturesOrdered, block_on};
use crate::interactions::Prompts;
use crate::prompt_templates::PromptRegistry;
use crate::recorder::Recorder;
use crate::resources::ResourceRegistry;
use crate::runtime_snapshot::Collector;
use crate::timeout::with_timeout;
use crate::timer::{self, Timer};
use crate::tool_registry::{ToolRef, ToolSource};

/// What a session's client stands on.
#[derive(Debug, Clone)]
pub struct Setup {
    /// Who speaks the protocol.
    pub connector: Arc<dyn Connector>,
    /// The servers there are.
    pub configured: Configured,
    /// What the operator set.
    pub terms: McpDefaults,
    lists: TrustLists,
    cwd: PathBuf,
}

impl Setup {
    /// What is configured in `ground`.
    pub fn of(ground: &Environment, connector: Arc<dyn Connector>) -> Self {
        let root = &ground.places.project_root;
        Self {
            connector,
            configured: configured(ground),
            terms: McpDefaults::read(&ground.settings),
            lists: TrustLists::of(ground),
            cwd: root.parent().unwrap_or(root).to_owned(),
        }
    }
}

/// What the client needs from its session.
pub(crate) struct McpPorts {
    pub(crate) books: Arc<Recorder>,
    pub(crate) metrics: Arc<Collector>,
    pub(crate) prompts: Arc<Prompts>,
    pub(crate) prompt_registry: Arc<PromptRegistry>,
    pub(crate) resource_registry: Arc<ResourceRegistry>,
    pub(crate) timer: Arc<dyn Timer>,
    pub(crate) over: CancellationToken,
    pub(crate) around: Weak<dyn McpSession>,
    pub(crate) yolo: bool,
}

/// The client of one session.
#[derive(Default)]
pub struct Mcp {
    servers: BTreeMap<String, Arc<Server>>,
    /// Nothing where no server is configured.
    means: Option<Arc<ServerDeps>>,
    starting: Arc<Starting>,
}

/// The status of a server, for health reports.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Health {
    /// The server.
    pub server: String,
    /// Whether it is trusted.
    pub trusted: bool,
    /// Whether it is connected.
    pub healthy: bool,
}

impl Mcp {
    /// A client that has started nothing yet.
    pub(crate) fn new(setup: Option<Setup>, around: McpPorts) -> Self {
        let Some(setup) = setup.filter(|setup| !setup.configured.servers.is_empty()) else {
            return Self::default();
        };
        let means = Arc::new(ServerDeps {
            connector: setup.connector,
            lists: setup.lists,
            terms: setup.terms,
            bindings: setup.configured.bindings,
            cwd: setup.cwd,
            yolo: around.yolo,
            books: around.books,
            metrics: around.metrics,
            prompts: around.prompts,
            prompt_registry: around.prompt_registry,
            resource_registry: around.resource_registry,
            timer: around.timer,
            over: around.over,
            around: around.around,
        });
        let servers = setup.configured.servers.into_iter();
        Self {
            servers: servers
                .map(|(id, config)| (id, Server::new(config, means.clone())))
                .collect(),
            means: Some(means),
            starting: Arc::default(),
        }
    }

    /// Starts every server that is trusted, each by itself, and asks about the others if an interactor is attached.
    ///
    /// Does not block. Returns the problems that are known immediately.
    pub(crate) fn start(&self) -> Vec<Diagnostic> {
        let Some(means) = &self.means else {
            return Vec::new();
        };
        self.starting.begin(means.terms.grace);
        let mut problems = Vec::new();
        for server in self.servers.values() {
            server.show();
            let (server, starting) = (server.clone(), self.starting.clone());
            match server.standing() {
                Ok(None) => starting.add(),
                Ok(Some(_)) if means.yolo => starting.add(),
                // It waits for a person, and a turn does not wait with it.
                Ok(Some(_)) if means.prompts.is_attended() => {
                    executor::spawn(move || drop(block_on(server.relink())));
                    continue;
                }
                Ok(Some(_)) => {
                    problems.push(server.diagnosed(&server.unattended()));
                    continue;
                }
                Err(error) => {
                    problems.push(server.diagnosed(&error));
                    continue;
                }
            }
            executor::spawn(move || {
                drop(block_on(server.relink()));
                starting.done();
            });
        }
        problems
    }

    /// Waits for servers that are still starting, but only shortly after the launch.
    pub(crate) async fn settled(&self, called_off: &CancellationToken) {
        if let Some(means) = &self.means {
            self.starting.settled(&*means.timer, called_off).await;
        }
    }

    /// The tools of the servers that are there, by server.
    pub(crate) fn tools(&self) -> Vec<Arc<dyn ToolSource>> {
        let tools = self
            .servers
            .values()
            .filter_map(|server| server.look().tools);
        tools.map(|tools| tools as Arc<dyn ToolSource>).collect()
    }

    /// A tool by the name a model knows it by. The server it belongs to is connected to if it is not.
    ///
    /// # Errors
    ///
    /// Why that server cannot be used.
    pub(crate) async fn tool(&self, name: &str) -> Result<Option<ToolRef>> {
        let candidates = self.servers.values().filter(|server| {
            let prefix = sanitize::tool_name(server.id(), "");
            name.starts_with(&prefix)
        });
        for server in candidates {
            server.link().await?;
            let tools = server.look().tools;
            let found = tools.and_then(|giver| ToolRef::at(giver, name));
            if found.is_some() {
                return Ok(found);
            }
        }
        Ok(None)
    }

    /// The prompts of the servers that are there, as slash commands.
    pub(crate) fn commands(&self) -> Vec<Arc<dyn CommandSource>> {
        let handlers = self.servers.values().filter_map(|server| {
            let prompts = server.look().stock.prompts;
            let any = !prompts.is_empty();
            any.then(|| Arc::new(PromptCommands::of(server, prompts)) as Arc<dyn CommandSource>)
        });
        handlers.collect()
    }

    /// Connects to the servers that may have a prompt for the command of this name.
    ///
    /// # Errors
    ///
    /// Why such a server cannot be used.
    pub(crate) async fn fetch_command(
        &self,
        name: &str,
        called_off: &CancellationToken,
    ) -> Result<()> {
        let candidates = self.servers.values().filter(|server| {
            let own = sanitize::command_name(server.id(), "");
            name.strip_prefix(&own)
                .is_some_and(|rest| rest.starts_with("__"))
        });
        let candidates: Vec<_> = candidates.collect();
        if !candidates.is_empty() {
            self.settled(called_off).await;
        }
        for server in candidates {
            server.link().await?;
        }
        Ok(())
    }

    /// How every server stands, by id.
    pub fn health(&self) -> Vec<Health> {
        let servers = self.servers.values();
        servers
            .map(|server| {
                let look = server.look();
                Health {
                    server: server.id().to_owned(),
                    trusted: look.trusted,
                    healthy: look.status == McpStatus::Connected,
                }
            })
            .collect()
    }

    /// Gets the messages of a server's prompt.
    ///
    /// # Errors
    ///
    /// `Validation/MCPServerNotRegistered`, `Session/MCPUntrusted`, `Validation/PromptMissing`.
    pub async fn consume(
        &self,
        server_id: &str,
        name: &str,
        args: BTreeMap<String, String>,
    ) -> Result<Consumed> {
        fetch::prompt(self.server(server_id)?, name, args).await
    }

    /// Reads a server's resource, as far as its binding goes.
    ///
    /// # Errors
    ///
    /// `Validation/MCPServerNotRegistered`, `Session/MCPUntrusted`, `ProviderTransient/MCPConnectionLost`,
    /// `Validation/ResourceMissing`.
    pub async fn bind(&self, binding: ResourceBinding) -> Result<Bound> {
        fetch::resource(self.server(&binding.server_id)?, binding).await
    }

    /// Forgets that a server is trusted, in both scopes, and ends its connection: its next use asks as the first did.
    ///
    /// Gives whether it was trusted.
    ///
    /// # Errors
    ///
    /// `Validation/MCPServerNotRegistered`, `Session/MCPTrustUnavailable`.
    pub async fn forget(&self, server_id: &str) -> Result<bool> {
        let server = self.server(server_id)?;
        server.means.audit_trust(server_id, "unknown", None);
        let was_trusted = server.means.lists.forget(server_id);
        let was_trusted = was_trusted.inspect_err(|error| {
            server.means.audit_untrust_failed(server_id, error);
        })?;
        server.forget().await;
        Ok(was_trusted)
    }

    fn server(&self, server_id: &str) -> Result<&Arc<Server>> {
        self.servers.get(server_id).ok_or_else(|| {
            let code = &codes::MCP_SERVER_NOT_REGISTERED;
            let message = format!("there is no MCP server `{}`", sanitize::shown(server_id));
            Error::new(code.class, code.name, message).with("serverId", server_id)
        })
    }

    /// Ends every connection, and every process behind one. A server that does not let go is not waited for long.
    pub(crate) fn close(&self) {
        const LONGEST: Duration = Duration::from_secs(5);
        let closing = self.servers.values().map(|server| server.close());
        let mut closing: FuturesOrdered<_> = closing.collect();
        let all = async { while closing.next().await.is_some() {} };
        // In the time of the system: a clock that stands still would stand still here too.
        block_on(with_timeout(&*timer::system(), LONGEST, all));
    }
}

impl std::fmt::Debug for Mcp {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_set().entries(self.servers.keys()).finish()
    }
}
