//! What every server of a session needs from it.

use std::path::PathBuf;
use std::sync::{Arc, Weak};

use serde_json::{Value, json};
use stud_abi::CancellationToken;
use stud_contract_interaction::Payload;
use stud_contract_meta::{Error, Result};
use stud_diagnostics::Diagnostic;
use stud_host_api::BoxFuture;
use stud_host_api::metrics::{McpServerInfo, ToolInfo};

use super::binding::ResourceBinding;
use super::connection::Connector;
use super::terms::McpDefaults;
use super::trust::TrustLists;
use crate::ids;
use crate::interactions::{Asker, Prompts, Raised};
use crate::prompt_templates::PromptRegistry;
use crate::recorder::Recorder;
use crate::resources::ResourceRegistry;
use crate::runtime_snapshot::Collector;
use crate::timer::Timer;

/// The session, as far as servers have to do with it.
pub(crate) trait McpSession: Send + Sync {
    /// The id that ties together what happens now.
    fn correlation_id(&self) -> String;

    /// Tells of something that is wrong and stops nothing.
    fn report(&self, problem: &Diagnostic);

    /// Whether the gate would let a tool run now, without a prompt.
    fn is_preapproved(&self, tool: &str, key: &str) -> bool;

    /// Says something to the assistant. `origin` says where it comes from.
    fn say(&self, text: String, origin: Value) -> BoxFuture<'_, Result<u64>>;
}

/// What every server needs.
pub(super) struct ServerDeps {
    pub(super) connector: Arc<dyn Connector>,
    pub(super) lists: TrustLists,
    pub(super) terms: McpDefaults,
    /// Resources with limits of their own.
    pub(super) bindings: Vec<ResourceBinding>,
    /// Where servers run.
    pub(super) cwd: PathBuf,
    /// Whether the person approved everything in advance.
    pub(super) yolo: bool,
    pub(super) books: Arc<Recorder>,
    pub(super) metrics: Arc<Collector>,
    pub(super) prompts: Arc<Prompts>,
    pub(super) prompt_registry: Arc<PromptRegistry>,
    pub(super) resource_registry: Arc<ResourceRegistry>,
    pub(super) timer: Arc<dyn Timer>,
    /// Fires when the session ends.
    pub(super) over: CancellationToken,
    pub(super) around: Weak<dyn McpSession>,
}

impl ServerDeps {
    fn correlation_id(&self) -> String {
        let around = self.around.upgrade();
        around.map_or_else(ids::fresh, |around| around.correlation_id())
    }

    /// Puts on record what became of a server.
    pub(super) fn audit(&self, kind: &str, facts: Value) {
        self.books
            .audit("MCP", Some(kind), &self.correlation_id(), facts);
    }

    /// Puts on record whether a server is trusted, before anything comes of it.
    pub(super) fn audit_trust(&self, server_id: &str, decision: &str, scope: Option<&str>) {
        let mut facts = trust_facts(server_id, decision);
        if let Some(scope) = scope {
            facts["scope"] = scope.into();
        }
        self.books
            .audit("TrustDecision", None, &self.correlation_id(), facts);
    }

    /// Puts on record that a server could not be forgotten, and is as trusted as it was.
    pub(super) fn audit_untrust_failed(&self, server_id: &str, error: &Error) {
        let facts = trust_facts(server_id, "unknown");
        self.books
            .audit_failed("TrustDecision", None, &self.correlation_id(), facts, error);
    }

    pub(super) fn suppress(&self, reason: &str, error: &Error) {
        self.books.suppress(reason, &self.correlation_id(), error);
    }

    pub(super) fn report(&self, problem: &Diagnostic) {
        if let Some(around) = self.around.upgrade() {
            around.report(problem);
        }
    }

    /// Whether the gate would let a tool run now. A session that is gone lets nothing run.
    pub(super) fn is_preapproved(&self, tool: &str, key: &str) -> bool {
        let around = self.around.upgrade();
        around.is_some_and(|around| around.is_preapproved(tool, key))
    }

    /// Asks the person, on core's own account and for as long as the session lasts.
    pub(super) fn ask(&self, payload: Payload) -> Raised {
        let asker = Asker {
            ext_id: None,
            correlation_id: self.correlation_id(),
            books: self.books.clone(),
            cancelled: self.over.clone(),
            timeout: None,
            spawned_at: None,
            tool_call_id: None,
        };
        self.prompts.raise(asker, payload)
    }

    /// Puts a server and its tools into the snapshot, in the place of what was there of it.
    pub(super) fn show(&self, info: McpServerInfo, mut tools: Vec<ToolInfo>) {
        let own = format!("mcp:{}:", info.id);
        let is_own = |tool: &ToolInfo| {
            let key = tool.approval_key.as_deref();
            key.is_some_and(|key| key.starts_with(&own))
        };
        self.metrics.update(|picture| {
            let items = &mut picture.tools.items;
            for old in items.extract_if(.., |tool| is_own(tool)) {
                if let Some(tool) = tools.iter_mut().find(|tool| tool.id == old.id) {
                    tool.invocations = old.invocations;
                }
            }
            items.append(&mut tools);
            let servers = &mut picture.mcp.servers;
            match servers.iter_mut().find(|server| server.id == info.id) {
                Some(server) => *server = info,
                None => servers.push(info),
            }
        });
    }
}

fn trust_facts(server_id: &str, decision: &str) -> Value {
    json!({"serverId": server_id, "subject": "mcp", "decision": decision})
}
