//! What a fake host knows and what it has written down.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::path::PathBuf;
use std::sync::Arc;

use serde_json::{Map, Value};
use stud_abi::CancellationSource;
use stud_contract_interaction::{ApprovalScope, Payload, Request, Response};
use stud_contract_meta::Result;
use stud_host_api::Severity;
use stud_host_api::audit::AuditRecord;
use stud_host_api::cancellation::Scope;
use stud_host_api::commands::{CommandArgs, CommandRef, CommandResult, Deed};
use stud_host_api::context::{Compacted, Compacting, ContextFragment};
use stud_host_api::events::{Event, LogEntry};
use stud_host_api::interaction::Availability;
use stud_host_api::metrics::{RuntimeSnapshot, SnapshotHandler, TokenHandler};
use stud_host_api::prompt::Prompt;
use stud_host_api::resource::{Resource, ResourceRef};
use stud_host_api::session::{
    ChildOutcome, OpenChild, SecurityMode, SessionRecord, SlotValue, TranscriptRecord,
};

use super::clock;
use super::script::Script;

/// The session every test runs in.
pub(crate) const SESSION: &str = "session-1";

/// Everything behind one fake host.
pub(crate) struct Record {
    pub(crate) plugin: PluginFacts,
    pub(crate) now_ms: u64,
    pub(crate) env: BTreeMap<String, String>,
    pub(crate) config: Map<String, Value>,
    pub(crate) globals: BTreeMap<String, Value>,
    /// Hosts that the network policy denies.
    pub(crate) out_of_reach: Vec<String>,
    pub(crate) project_root: PathBuf,
    pub(crate) global_root: PathBuf,
    pub(crate) mode: SecurityMode,
    pub(crate) script: Script,
    pub(crate) asked: Vec<Payload>,
    /// The kinds that the plugin tried to raise, also those that were refused.
    pub(crate) attempted: Vec<&'static str>,
    /// The prompts the plugin was shown.
    pub(crate) shown: Vec<Request>,
    /// The ids of prompts that take no answer any more.
    pub(crate) settled: BTreeSet<String>,
    pub(crate) responded: Vec<Response>,
    /// How many of the next answers come too late.
    pub(crate) late: usize,
    pub(crate) availability: Availability,
    /// What the tool keeps, by its keys.
    pub(crate) approvals: Vec<(String, ApprovalScope)>,
    pub(crate) published: Vec<Event>,
    pub(crate) audited: Vec<AuditRecord>,
    pub(crate) appended: Vec<SessionRecord>,
    pub(crate) transcript: Vec<TranscriptRecord>,
    pub(crate) slot: Option<SlotValue>,
    pub(crate) prompts: Vec<Prompt>,
    pub(crate) resources: Vec<(ResourceRef, Resource)>,
    pub(crate) contributed: Vec<ContextFragment>,
    /// What the plugin asked for.
    pub(crate) compactions: Vec<Compacting>,
    /// What it gets.
    pub(crate) compacted: Result<Compacted>,
    /// The least severity of log entries it takes.
    pub(crate) log_level: Option<Severity>,
    pub(crate) logged: Vec<LogEntry>,
    pub(crate) commands: Vec<(CommandRef, CommandResult)>,
    pub(crate) dispatched: Vec<(String, CommandArgs)>,
    /// What the plugin had done.
    pub(crate) performed: Vec<Deed>,
    /// What comes of it, one after the other.
    pub(crate) outcomes: VecDeque<Result<Value>>,
    /// The child sessions that the plugin asked for.
    pub(crate) children: Vec<OpenChild>,
    /// How they end, one after the other.
    pub(crate) child_outcomes: VecDeque<Result<ChildOutcome>>,
    pub(crate) snapshot: Arc<RuntimeSnapshot>,
    pub(crate) snapshot_handlers: Vec<(u64, Arc<SnapshotHandler>)>,
    pub(crate) token_handlers: Vec<(u64, Arc<TokenHandler>)>,
    pub(crate) next_handler: u64,
    pub(crate) session_scope: CancellationSource,
    pub(crate) turn_scope: CancellationSource,
    pub(crate) tool_scope: CancellationSource,
}

/// What the host knows of the plugin from its manifest. Without a plugin everything is allowed.
#[derive(Debug, Default)]
pub(crate) struct PluginFacts {
    pub(crate) ext_id: String,
    pub(crate) kind: Option<String>,
    pub(crate) roles: Vec<String>,
    pub(crate) interaction_kinds: Vec<String>,
    /// The events it declares, each with its schema.
    pub(crate) events: Vec<(String, Value)>,
    pub(crate) disposed: bool,
}

impl Record {
    pub(crate) fn new() -> Self {
        let session_scope = CancellationSource::new();
        let turn_scope = session_scope.child();
        let tool_scope = turn_scope.child();
        Self {
            plugin: PluginFacts::default(),
            now_ms: clock::START_MS,
            env: BTreeMap::new(),
            config: Map::new(),
            globals: BTreeMap::from([("coreVersion".to_owned(), env!("CARGO_PKG_VERSION").into())]),
            out_of_reach: Vec::new(),
            project_root: PathBuf::from("/project/.stud"),
            global_root: PathBuf::from("/users/user/.stud"),
            mode: SecurityMode::Ask,
            script: Script::default(),
            asked: Vec::new(),
            attempted: Vec::new(),
            shown: Vec::new(),
            settled: BTreeSet::new(),
            responded: Vec::new(),
            late: 0,
            availability: Availability {
                available: true,
                supported_count: 1,
                enabled_count: 1,
            },
            approvals: Vec::new(),
            published: Vec::new(),
            audited: Vec::new(),
            appended: Vec::new(),
            transcript: Vec::new(),
            slot: None,
            prompts: Vec::new(),
            resources: Vec::new(),
            contributed: Vec::new(),
            compactions: Vec::new(),
            compacted: Ok(Compacted::default()),
            log_level: None,
            logged: Vec::new(),
            commands: Vec::new(),
            dispatched: Vec::new(),
            performed: Vec::new(),
            outcomes: VecDeque::new(),
            children: Vec::new(),
            child_outcomes: VecDeque::new(),
            snapshot: Arc::default(),
            snapshot_handlers: Vec::new(),
            token_handlers: Vec::new(),
            next_handler: 0,
            session_scope,
            turn_scope,
            tool_scope,
        }
    }

    pub(crate) fn now(&self) -> String {
        clock::text(self.now_ms)
    }

    /// Whether the plugin is of one of these categories, as far as is known.
    pub(crate) fn is_one_of(&self, kinds: &[&str]) -> bool {
        self.plugin
            .kind
            .as_deref()
            .is_none_or(|kind| kinds.contains(&kind))
    }

    /// Whether the plugin answers prompts, as far as is known.
    pub(crate) fn is_interactor(&self) -> bool {
        let plugin = &self.plugin;
        plugin.kind.is_none() || plugin.roles.iter().any(|role| role == "interactor")
    }

    pub(crate) fn scope(&self, scope: Scope) -> &CancellationSource {
        match scope {
            Scope::Session => &self.session_scope,
            Scope::Turn => &self.turn_scope,
            Scope::Tool => &self.tool_scope,
        }
    }

    pub(crate) fn kind(&self) -> &str {
        self.plugin.kind.as_deref().unwrap_or_default()
    }
}

impl PluginFacts {
    /// Reads what matters to the host out of a manifest.
    pub(crate) fn read(manifest: &Value) -> Self {
        let text = |value: &Value| value.as_str().map(str::to_owned);
        let list = |member: &str, name: fn(&Value) -> &Value| -> Vec<String> {
            let items = manifest[member].as_array().into_iter().flatten();
            items.filter_map(|item| text(name(item))).collect()
        };
        Self {
            ext_id: text(&manifest["extId"]).unwrap_or_default(),
            kind: text(&manifest["kind"]),
            roles: list("roles", |role| role),
            interaction_kinds: list("interactionKinds", |kind| kind),
            events: events(manifest),
            disposed: false,
        }
    }
}

fn events(manifest: &Value) -> Vec<(String, Value)> {
    let declared = manifest["events"].as_array().into_iter().flatten();
    let entry = |event: &Value| {
        let name = event["name"].as_str()?;
        Some((name.to_owned(), event["schema"].clone()))
    };
    declared.filter_map(entry).collect()
}
