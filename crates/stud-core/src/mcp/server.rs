//! One server of a session: whether it is trusted, whether it is there, and what it offers.
//!
//! ```text
//! link ─► trusted? ─► connect ─► what it offers ─► still what was trusted? ─► in the registries
//!           │ asked                                          │ asked again
//!           └── no process and no socket before a yes        └── nothing of it is used before a yes
//! ```
//!
//! Operations on a server are serialized by its gate.

use std::sync::{Arc, Weak};

use stud_contract_meta::{Error, Result};
use stud_diagnostics::{Diagnostic, codes};
use stud_host_api::metrics::McpStatus;

use super::catalog::ServerCatalog;
use super::config::{ServerConfig, Transport};
use super::connection::{Connection, ConnectionError, Reach, ServerAddress, Watch};
use super::deps::ServerDeps;
use super::environment::resolve;
use super::fingerprint;
use super::sanitize::shown;
use super::terms::McpDefaults;
use super::tools::RemoteTools;
use super::trust::TrustEntry;
use crate::executor::{self, or_cancelled};
use crate::fifo_lock::FifoLock;
use crate::ledger::closed;
use crate::platform;
use crate::plugin_scope::Scope;
use crate::sync::{Mutex, lock};
use crate::timeout::with_timeout;

mod admission;
mod broken;
mod decision;

/// One server.
pub(super) struct Server {
    pub(super) config: ServerConfig,
    pub(super) means: Arc<ServerDeps>,
    /// What a decision to trust it is bound to.
    fingerprint: String,
    state: Mutex<ServerState>,
    gate: Arc<FifoLock>,
    this: Weak<Self>,
}

#[derive(Default)]
struct ServerState {
    trust: TrustState,
    link: Option<Link>,
    /// How many connections there have been.
    generation: u64,
    /// Whether the last one broke and was not handled yet.
    broken: Option<Arc<dyn Connection>>,
    /// Attempts since the last connection that held.
    attempts: u32,
    /// When the last connection was made.
    connected_at: u64,
    /// How often all attempts were in vain, and what was said then.
    vain: u32,
    failure: Option<Error>,
    status: McpStatus,
    last_error: Option<String>,
    tools: Option<Arc<RemoteTools>>,
    stock: ServerCatalog,
    /// Whether a refresh of its catalog is in progress.
    looking: bool,
    closed: bool,
}

/// What was decided about a server in this session.
#[derive(Debug, Clone, Default)]
enum TrustState {
    /// Nothing.
    #[default]
    Unknown,
    /// It is trusted for good, by the list of a scope.
    Listed(Scope, TrustEntry),
    /// It is trusted as long as the session lasts.
    Once,
    /// It comes with stud.
    Bundled,
    /// The user denied it.
    Refused,
}

/// A connection, and which one it is.
#[derive(Clone)]
pub(super) struct Link {
    pub(super) connection: Arc<dyn Connection>,
    pub(super) generation: u64,
}

/// What can be seen of a server.
#[derive(Debug, Clone)]
pub(super) struct Look {
    pub(super) status: McpStatus,
    pub(super) last_error: Option<String>,
    pub(super) tools: Option<Arc<RemoteTools>>,
    pub(super) stock: ServerCatalog,
    pub(super) trusted: bool,
}

impl Server {
    pub(super) fn new(config: ServerConfig, means: Arc<ServerDeps>) -> Arc<Self> {
        Arc::new_cyclic(|this| Self {
            fingerprint: fingerprint::of_config(&config),
            config,
            means,
            state: Mutex::default(),
            gate: Arc::default(),
            this: this.clone(),
        })
    }

    pub(super) fn id(&self) -> &str {
        &self.config.id
    }

    pub(super) fn terms(&self) -> &McpDefaults {
        &self.means.terms
    }

    pub(super) fn look(&self) -> Look {
        let state = lock(&self.state);
        Look {
            status: state.status,
            last_error: state.last_error.clone(),
            tools: state.tools.clone(),
            stock: state.stock.clone(),
            trusted: !matches!(state.trust, TrustState::Unknown | TrustState::Refused),
        }
    }

    /// A connection to it: the open one, or a new one. Dropping the future does not stop the attempt.
    pub(super) async fn link(&self) -> Result<Link> {
        if let Some(link) = self.standing_link() {
            return Ok(link);
        }
        let server = self.this.upgrade().ok_or_else(closed)?;
        let linked = executor::spawn_future(async move { server.relink().await });
        linked.await.unwrap_or_else(|| Err(closed()))
    }

    fn standing_link(&self) -> Option<Link> {
        lock(&self.state).link.clone()
    }

    /// The same on this thread.
    pub(super) async fn relink(&self) -> Result<Link> {
        let vain = lock(&self.state).vain;
        let _pass = self.gate.enter().await;
        let broken = {
            let mut state = lock(&self.state);
            if state.closed {
                return Err(closed());
            }
            if let Some(link) = &state.link {
                return Ok(link.clone());
            }
            // All attempts were just made.
            if let Some(failure) = state.failure.clone().filter(|_| state.vain != vain) {
                return Err(failure);
            }
            state.broken.take()
        };
        if let Some(old) = broken {
            return self.mend(old).await;
        }
        lock(&self.state).attempts = 0;
        let linked = match self.settle_trust().await {
            Ok(()) => self.connect().await,
            Err(error) => Err(error),
        };
        linked.inspect_err(|error| self.failed(error))
    }

    /// Connects once, and looks what the server offers.
    async fn connect(&self) -> Result<Link> {
        self.set_status(McpStatus::Connecting, None);
        let target = ServerAddress {
            server_id: self.id().to_owned(),
            reach: self.reach()?,
            timeout: self.terms().connect,
        };
        let generation = {
            let mut state = lock(&self.state);
            state.generation += 1;
            state.generation
        };
        let ear = Arc::new(ServerNotifications {
            server: self.this.clone(),
            generation,
        });
        let means = &self.means;
        let opening = means.connector.connect(target, ear);
        let opened = self.within(self.terms().connect, opening).await?;
        let connection = opened.map_err(|trouble| self.connection_lost(&shown(trouble.words())))?;
        let facts =
            serde_json::json!({"serverId": self.id(), "transport": self.config.transport.as_str()});
        means.audit("MCPServerConnected", facts);
        let link = Link {
            connection,
            generation,
        };
        let admitted = match self.take_stock(&link).await {
            Ok(stock) => self.admit(stock).await,
            Err(error) => Err(error),
        };
        if let Err(error) = admitted {
            self.hang_up(&link.connection, error.message()).await;
            return Err(error);
        }
        {
            let mut state = lock(&self.state);
            state.link = Some(link.clone());
            state.connected_at = platform::ticks();
        }
        self.set_status(McpStatus::Connected, None);
        Ok(link)
    }

    /// Waits for a server, but not for long, and not longer than the session lasts.
    async fn within<T>(
        &self,
        limit: std::time::Duration,
        work: impl Future<Output = T>,
    ) -> Result<T> {
        let means = &self.means;
        let done = or_cancelled(&means.over, with_timeout(&*means.timer, limit, work)).await;
        match done {
            None => Err(closed()),
            Some(Some(done)) => Ok(done),
            Some(None) => {
                let limit = limit.as_millis();
                Err(self.connection_lost(&format!("it did not answer within {limit} ms")))
            }
        }
    }

    async fn take_stock(&self, link: &Link) -> Result<ServerCatalog> {
        let connection = &link.connection;
        let listing = async {
            Ok(ServerCatalog {
                tools: connection.list_tools().await?,
                prompts: connection.list_prompts().await?,
                resources: connection.list_resources().await?,
            })
        };
        let listed = self.within(self.terms().connect, listing).await?;
        let stock: ServerCatalog = listed.map_err(|trouble: ConnectionError| {
            let why = shown(trouble.words());
            self.connection_lost(&format!("it does not say what it offers: {why}"))
        })?;
        let (stock, left_out) = stock.sift();
        self.tell_left_out(&left_out);
        Ok(stock)
    }

    fn tell_left_out(&self, left_out: &[String]) {
        const SHOWN: usize = 20;
        for what in left_out.iter().take(SHOWN) {
            let message = format!("of the MCP server `{}` this is left out: {what}", self.id());
            let problem = Diagnostic::warning(&codes::MCP_OFFER_INVALID, message);
            self.means.report(&problem.of(format!("mcp:{}", self.id())));
        }
    }

    fn reach(&self) -> Result<Reach> {
        let redactor = &self.means.books.redactor;
        let resolve =
            |place, values| resolve(self.id(), place, values, redactor, platform::env_value);
        Ok(match &self.config.transport {
            Transport::Stdio { command, args, env } => Reach::Process {
                command: command.clone(),
                args: args.clone(),
                env: resolve("env", env)?,
                cwd: self.means.cwd.clone(),
            },
            Transport::StreamableHttp { url, headers } => Reach::Http {
                url: url.clone(),
                headers: resolve("headers", headers)?,
            },
        })
    }

    /// Ends a connection that is not to be used.
    async fn hang_up(&self, connection: &Arc<dyn Connection>, why: &str) {
        connection.close().await;
        let facts = serde_json::json!({"serverId": self.id(), "reason": shown(why)});
        self.means.audit("MCPServerDisconnected", facts);
    }

    /// The server is unavailable, which is reported once for each attempt.
    fn failed(&self, error: &Error) {
        let untrusted = error.code() == codes::MCP_UNTRUSTED.name;
        let status = if untrusted {
            McpStatus::Disconnected
        } else {
            McpStatus::Error
        };
        self.withdraw();
        // The caller that sees the failure finds out why.
        if error.class() != "Cancellation" {
            self.means.report(&self.diagnosed(error));
        }
        self.set_status(status, Some(error.message()));
    }

    /// The same as a diagnostic that names the server.
    pub(super) fn diagnosed(&self, error: &Error) -> Diagnostic {
        let all = codes::ALL.iter();
        let code = all
            .copied()
            .find(|code| code.name == error.code() && code.class.as_str() == error.class());
        let code = code.unwrap_or(&codes::MCP_CONNECTION_LOST);
        Diagnostic::warning(code, error.message())
            .of(format!("mcp:{}", self.id()))
            .with("serverId", self.id())
    }

    fn set_status(&self, status: McpStatus, error: Option<&str>) {
        {
            let mut state = lock(&self.state);
            state.status = status;
            // The last error stays to be read after the server has come back.
            if let Some(error) = error {
                let error = self.means.books.redactor.text(error);
                state.last_error = Some(shown(&error));
            }
        }
        self.show();
    }

    /// Ends it with the session. Its running work is cancelled and awaited.
    pub(super) async fn close(&self) {
        lock(&self.state).closed = true;
        let _pass = self.gate.enter().await;
        let (link, broken) = {
            let mut state = lock(&self.state);
            (state.link.take(), state.broken.take())
        };
        self.withdraw();
        if let Some(link) = link {
            self.hang_up(&link.connection, "the session ends").await;
        }
        if let Some(broken) = broken {
            broken.close().await;
        }
        self.set_status(McpStatus::Disconnected, None);
    }

    /// `ProviderTransient/MCPConnectionLost`, with this said about it.
    pub(super) fn connection_lost(&self, why: &str) -> Error {
        let code = &codes::MCP_CONNECTION_LOST;
        let message = format!("the MCP server `{}` is not available: {why}", self.id());
        Error::new(code.class, code.name, message).with("serverId", self.id())
    }

    /// The server no longer has a tool of this name.
    pub(super) fn lacks(&self, tool: &str) -> Error {
        let code = &codes::TOOL_NOT_REGISTERED;
        let message = format!(
            "the MCP server `{}` has no tool `{}`",
            self.id(),
            shown(tool)
        );
        Error::new(code.class, code.name, message).with("toolName", tool)
    }
}

/// Hears what one connection says by itself.
struct ServerNotifications {
    server: Weak<Server>,
    generation: u64,
}

impl Watch for ServerNotifications {
    fn lost(&self, why: String) {
        if let Some(server) = self.server.upgrade() {
            server.lost(self.generation, &why);
        }
    }

    fn changed(&self) {
        if let Some(server) = self.server.upgrade() {
            server.changed(self.generation);
        }
    }
}

impl std::fmt::Debug for Server {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Server")
            .field("id", &self.id())
            .finish_non_exhaustive()
    }
}
