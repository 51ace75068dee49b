//! A session: what one person and one assistant do together, from its start to its end, over any number of processes.
//!
//! The session is a handful of parts that each guard one thing. The [`Ledger`](crate::ledger::Ledger) is its only
//! writer; whatever changes the session goes through it as a record, and takes effect when the record is safe.

use std::borrow::Cow;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock, Weak};
use std::time::Duration;

use serde_json::{Value, json};
use stud_abi::{CancellationSource, CancellationToken};
use stud_contract_interaction::Payload;
use stud_contract_meta::{Error, Result};
use stud_contract_session_store::{Durability, SmState};
use stud_diagnostics::{Diagnostic, Severity, codes};
use stud_host_api::events::{CoreEvent, LogEntry, SubagentAborted};
use stud_host_api::metrics::{DiagnosticItem, ExtensionInfo, Level};
use stud_host_api::session::SessionView;

use crate::activate::Active;
use crate::audit::{Index, Trail};
use crate::commands::Commands;
use crate::events::{Bus, Service, Subscriber};
use crate::ids;
use crate::interactions::{Asker, Prompts, Raised};
use crate::ledger::{Draft, transcript_record};
use crate::limits::Limits;
use crate::mcp::Mcp;
use crate::platform;
use crate::plugin_scope::Scope;
use crate::prompt_templates::PromptRegistry;
use crate::recorder::{Listener, Recorder};
use crate::registry::Registry;
use crate::report::PluginReport;
use crate::request_state::RequestState;
use crate::resources::ResourceRegistry;
use crate::runtime_snapshot::{Collector, Reader, Roster, source};
use crate::store::Store;
use crate::sync::{Mutex, Promise, lock};
use crate::timer::Timer;
use crate::tool_registry::ToolRegistry;
use crate::turn_policy::TurnPolicy;

mod active_model;
mod attachment;
mod compacting;
mod message;
mod conversation;
mod lifecycle_audit;
mod commands;
mod inputs;
mod mcp_port;
mod deferred_jobs;
mod audit_sync;
mod config;
mod snapshot;
mod damage;
mod journal_growth;
mod plugin_readers;
mod resume;
mod control;
mod scopes;
mod slots;
mod state;
mod open;
mod turn;
mod patience;
mod lineage;
mod caller;
pub mod transcript_file;
mod child;
mod audit_recovery;
mod child_recovery;
mod crash_recovery;
pub mod archive;

pub(crate) use attachment::{
    Entered, Machine, NO_SLOT, StagePlan, StageTag, Walk, WorkflowProgress,
};
pub(crate) use child::{ChildBirth, ChildEnd, child_books, tell};
pub(crate) use compacting::{Compaction, Segment};
pub use config::SessionConfig;
pub use control::{AcceptedControl, Claim, ControlKey, ControlSlot, TurnEffect, accepted_earlier};
pub(crate) use deferred_jobs::{Job, Moment};
pub use inputs::Input;
pub(crate) use inputs::blank;
pub(crate) use lineage::{Child, ChildRunner, ChildState, Envelope, Subagents};
pub(crate) use message::{Kept, Size};
pub use open::{in_use, open};
pub(crate) use resume::SessionSummary;
pub use slots::Slot;
pub use state::{State, Trigger};
pub use stud_host_api::session::SecurityMode;
pub use turn::{Ending, Turn, TurnHandle};

use active_model::ActiveModel;
use attachment::Attachment;
use control::ControlLog;
use conversation::Conversation;
use inputs::Inputs;
use journal_growth::JournalGrowth;
use lineage::Lineage;
use scopes::Scopes;
use slots::Slots;
use snapshot::Saved;
use state::Progress;

/// What is settled when a session begins.
#[derive(Debug, Clone)]
pub struct Facts {
    /// Which session.
    pub session_id: String,
    /// Its project's `.stud` folder.
    pub project_root: PathBuf,
    /// How tool calls are gated, from its start to its end.
    pub mode: SecurityMode,
    /// When it began.
    pub created_at: String,
    /// The state machine it was left with. It stays on record until another one takes its place.
    pub machine: Option<SmState>,
}

/// A plugin that does not take part, as a snapshot lists it; nothing while its category is not known.
fn disabled(report: &PluginReport) -> Option<ExtensionInfo> {
    Some(ExtensionInfo {
        id: report.ext_id.clone(),
        kind: report.kind?.as_str().to_owned(),
        contract_version: report.contract_version.clone().unwrap_or_default(),
        source: source(report.scope),
        active: false,
    })
}

/// One session.
pub struct Session {
    facts: Facts,
    books: Arc<Recorder>,
    store: Arc<dyn Store>,
    prompts: Arc<Prompts>,
    metrics: Arc<Collector>,
    progress: Mutex<Progress>,
    inputs: Inputs,
    control: ControlLog,
    slots: Slots,
    conversation: Mutex<Conversation>,
    scopes: Scopes,
    plugins: Mutex<Arc<Registry>>,
    choice: ActiveModel,
    /// Its state machine.
    attachment: Attachment,
    /// Who waits for the first of them.
    rising: Mutex<Option<Vec<Promise<()>>>>,
    /// How often they were changed.
    revision: AtomicU64,
    /// What was found of plugins that do not take part, when the session began.
    refused: Mutex<Vec<PluginReport>>,
    /// Plugins that a reload disabled, as they last were, and why.
    down: Mutex<Vec<(Arc<Active>, PluginReport)>>,
    /// What of it was not what was written, when it was opened.
    damage: Vec<Diagnostic>,
    commands: Commands,
    prompt_registry: Arc<PromptRegistry>,
    resource_registry: Arc<ResourceRegistry>,
    /// The servers it uses.
    mcp: Arc<Mcp>,
    /// Set for a child session.
    lineage: Option<Lineage>,
    /// The children of the tree this session belongs to.
    subagents: Arc<Subagents>,
    /// What is to be told of children whose process ended early.
    crashed: Mutex<Vec<SubagentAborted>>,
    /// What plugins watch the session through, so that it can end with them.
    readers: Mutex<Vec<(String, Arc<Reader>)>>,
    /// What the last snapshot knew.
    saved: Mutex<Saved>,
    /// Where the head of its audit trail is kept besides.
    index: Option<Index>,
    /// How much its journal has grown since.
    growth: Arc<JournalGrowth>,
    /// Where its requests are put together.
    desk: RequestState,
    tool_timeout: Duration,
    timer: Arc<dyn Timer>,
    rules: TurnPolicy,
    most_reprompts: u32,
    limits: Limits,
    this: Weak<Self>,
}

/// How a plugin's host finds the session it belongs to: not there before it is open, and gone once it is over.
#[derive(Debug, Clone, Default)]
pub struct SessionLink(Arc<OnceLock<Weak<Session>>>);

impl SessionLink {
    /// The session, if it is open.
    pub fn get(&self) -> Option<Arc<Session>> {
        self.0.get()?.upgrade()
    }

    /// The session of the tree for which the plugin works now.
    pub(crate) fn here(&self, ext_id: &str) -> Option<Arc<Session>> {
        Some(self.get()?.caller(ext_id))
    }

    pub(crate) fn set(&self, session: &Arc<Session>) {
        // A link is made for one session, so it is only ever set once.
        let _ = self.0.set(Arc::downgrade(session));
    }
}

impl Session {
    /// What is settled.
    pub fn facts(&self) -> &Facts {
        &self.facts
    }

    /// Which session.
    pub fn id(&self) -> &str {
        &self.facts.session_id
    }

    /// Where it writes down what happens.
    pub fn books(&self) -> &Arc<Recorder> {
        &self.books
    }

    /// Its event bus.
    pub fn bus(&self) -> &Arc<Bus> {
        &self.books.bus
    }

    /// Delivers every event from now on to a subscriber.
    pub fn subscribe(&self, subscriber: Arc<dyn Subscriber>, service: Service) {
        self.books.bus.subscribe(subscriber, service);
    }

    /// Delivers every audit record and diagnostic from now on to a listener.
    pub(crate) fn listen(&self, listener: impl Listener + 'static) {
        self.books.listen(listener);
    }

    /// Hands what a plugin says to the loggers, without its secrets.
    pub(crate) fn log(&self, ext_id: &str, entry: LogEntry) {
        self.books.log(ext_id, &self.correlation_id(), entry);
    }

    /// What of it was not what was written, when it was opened.
    pub fn damage(&self) -> &[Diagnostic] {
        &self.damage
    }

    /// Its audit trail, if it keeps one.
    pub fn trail(&self) -> Option<&Trail> {
        self.books.trail.as_deref()
    }

    /// A text without the secrets that the session resolved.
    pub fn redacted<'a>(&self, text: &'a str) -> Cow<'a, str> {
        self.books.redactor.text(text)
    }

    /// Its prompts, and those of its children.
    pub fn prompts(&self) -> &Arc<Prompts> {
        &self.prompts
    }

    /// Where its requests are put together.
    pub(crate) fn desk(&self) -> &RequestState {
        &self.desk
    }

    /// How long plugins may take.
    pub(crate) fn limits(&self) -> &Limits {
        &self.limits
    }

    /// What it looks like from inside.
    pub fn metrics(&self) -> &Arc<Collector> {
        &self.metrics
    }

    /// What holds in every turn.
    pub fn rules(&self) -> &TurnPolicy {
        &self.rules
    }

    /// The clock.
    pub(crate) fn timer(&self) -> &Arc<dyn Timer> {
        &self.timer
    }

    /// Its slash commands.
    pub(crate) fn commands(&self) -> &Commands {
        &self.commands
    }

    /// The prompts that stud, MCP servers and context providers contributed.
    pub fn prompt_registry(&self) -> &Arc<PromptRegistry> {
        &self.prompt_registry
    }

    /// The resources that were bound.
    pub fn resource_registry(&self) -> &Arc<ResourceRegistry> {
        &self.resource_registry
    }

    /// The MCP servers it uses.
    pub fn mcp(&self) -> &Mcp {
        &self.mcp
    }

    /// The tools of these plugins, and those of servers as of now.
    pub(crate) fn toolbox(&self, plugins: &Registry) -> ToolRegistry {
        ToolRegistry::of(plugins, self.mcp.tools())
    }

    /// The plugins as of now. A turn keeps those it began with.
    pub fn plugins(&self) -> Arc<Registry> {
        lock(&self.plugins).clone()
    }

    /// Changes the plugins, for the turns to come.
    pub fn set_plugins(&self, registry: Registry) {
        let unasked = self.rules.yolo || self.facts.mode == SecurityMode::Yolo;
        let roster = Roster::of_registry(&registry, |plugin, tool| {
            let is_bundled = plugin.scope == Scope::Bundled;
            let is_read = || {
                self.rules
                    .is_unasked_read(self.facts.mode, &tool.name, is_bundled)
            };
            unasked || !tool.gated || is_read()
        });
        *lock(&self.plugins) = Arc::new(registry);
        self.revision.fetch_add(1, Ordering::AcqRel);
        self.metrics.extensions_changed(roster);
        let waiting = lock(&self.rising).take();
        for early in waiting.into_iter().flatten() {
            early.keep(());
        }
    }

    /// Which set of plugins this is; it changes with each.
    pub(crate) fn revision_id(&self) -> String {
        self.revision.load(Ordering::Acquire).to_string()
    }

    /// Keeps the reports of plugins that do not take part, for health reports.
    pub(crate) fn remember_refused(&self, reports: Vec<PluginReport>) {
        let disabled = reports.iter().filter_map(disabled).collect();
        *lock(&self.refused) = reports;
        self.metrics
            .update(|picture| picture.extensions.disabled = disabled);
    }

    /// What became of the plugins that do not take part.
    pub fn refused(&self) -> Vec<PluginReport> {
        let mut reports = lock(&self.refused).clone();
        reports.extend(lock(&self.down).iter().map(|(_, report)| report.clone()));
        reports
    }

    /// A plugin did not come up again when it was reloaded.
    pub(crate) fn is_down(&self, plugin: Arc<Active>, report: PluginReport) {
        self.is_back(plugin.identity().ext_id.as_str());
        lock(&self.down).push((plugin, report));
    }

    /// A plugin came up again.
    pub(crate) fn is_back(&self, ext_id: &str) {
        let is_other = |plugin: &Active| plugin.identity().ext_id.as_str() != ext_id;
        lock(&self.down).retain(|(plugin, _)| is_other(plugin));
    }

    /// The plugins that did not come up again.
    pub(crate) fn down(&self) -> Vec<Arc<Active>> {
        let down = lock(&self.down);
        down.iter().map(|(plugin, _)| plugin.clone()).collect()
    }

    /// How many turns there were, and which was the last.
    pub(crate) fn turns(&self) -> (u64, Option<String>) {
        let progress = lock(&self.progress);
        (progress.turn_count, progress.last_turn.clone())
    }

    /// Where it is kept.
    pub fn store(&self) -> &Arc<dyn Store> {
        &self.store
    }

    /// The id that ties together what happens now: the turn's, or a fresh one outside any.
    pub fn correlation_id(&self) -> String {
        self.turn_id().unwrap_or_else(ids::fresh)
    }

    /// How many turns are on record, in all its processes.
    pub fn turn_count(&self) -> u64 {
        lock(&self.progress).turn_count
    }

    /// The turn that runs.
    pub fn turn_id(&self) -> Option<String> {
        lock(&self.progress).turn.clone()
    }

    /// Adds a record in a plugin's name, shown in the transcript and never sent to a model.
    pub async fn note(&self, ext_id: &str, text: String) -> Result<u64> {
        let draft = Draft {
            kind: "note",
            correlation_id: self.turn_id(),
            ext_id: Some(ext_id.to_owned()),
            payload: json!({"text": text}),
        };
        self.books
            .ledger
            .append(vec![draft], Durability::Written)
            .await
    }

    /// The session as `ext_id` may see it, with one page of its transcript.
    pub fn view(&self, ext_id: &str, page: stud_host_api::session::Page) -> Result<SessionView> {
        /// More than this is not handed out at a time.
        const LARGEST_PAGE: u32 = 1000;
        let limit = page.limit.unwrap_or(100).min(LARGEST_PAGE);
        let mut view = SessionView {
            session_id: self.id().to_owned(),
            mode: self.facts.mode,
            created_at: self.facts.created_at.clone(),
            turn_count: self.turn_count(),
            last_seq: self.books.ledger.last_seq(),
            ..SessionView::default()
        };
        if limit == 0 || view.last_seq == 0 {
            return Ok(view);
        }
        let page = self.books.ledger.page(stud_host_api::session::Page {
            after_seq: page.after_seq,
            limit: Some(limit),
        })?;
        view.next_after_seq = page.next_after_seq;
        view.records = page
            .records
            .into_iter()
            .map(transcript_record)
            // A slot is its owner's alone.
            .filter(|record| record.kind != "slot" || record.ext_id.as_deref() == Some(ext_id))
            .collect();
        Ok(view)
    }

    /// Asks, for a plugin or on core's own account.
    pub fn ask(
        &self,
        ext_id: Option<&str>,
        cancelled: CancellationToken,
        payload: Payload,
    ) -> Raised {
        self.ask_about(None, ext_id, cancelled, payload)
    }

    /// The same about a tool call that the question does not name.
    pub(crate) fn ask_about(
        &self,
        tool_call_id: Option<&str>,
        ext_id: Option<&str>,
        cancelled: CancellationToken,
        payload: Payload,
    ) -> Raised {
        let asker = Asker {
            ext_id: ext_id.map(str::to_owned),
            correlation_id: self.correlation_id(),
            books: self.books.clone(),
            cancelled,
            timeout: self.patience(&payload),
            spawned_at: self.lineage.as_ref().map(|lineage| lineage.spawned_at),
            tool_call_id: tool_call_id.map(str::to_owned),
        };
        self.prompts.raise(asker, payload)
    }

    /// Only a tool's own prompts run out of time by themselves.
    fn patience(&self, payload: &Payload) -> Option<Duration> {
        let asked_for = match payload {
            Payload::ToolInput(input) => input.timeout_ms,
            Payload::ToolApproval(approval) => approval.timeout_ms,
            _ => return None,
        };
        match asked_for {
            Some(timeout) => timeout.as_millis().map(Duration::from_millis),
            None => Some(self.tool_timeout),
        }
    }

    /// Whether a plugin may put this to the person. A tool that is never content would keep them at one form for good.
    pub(crate) fn may_ask(&self, ext_id: &str, payload: &Payload) -> Result<()> {
        // Only who asks again has something to say about the answer before.
        let (call, asks_again) = match payload {
            Payload::ToolInput(asked) => (
                &asked.tool_call_id,
                asked.error.is_some()
                    || asked.error_summary.is_some()
                    || !asked.field_errors.is_empty(),
            ),
            Payload::ToolApproval(asked) => (
                &asked.tool_call_id,
                asked.error.is_some() || asked.error_summary.is_some(),
            ),
            _ => return Ok(()),
        };
        let limit = self.most_reprompts;
        if !asks_again || self.scopes.asks_again(ext_id, call) <= limit {
            return Ok(());
        }
        let code = &codes::REPROMPT_LIMIT;
        let message = format!("asked {limit} times again, in vain");
        Err(Error::new(code.class, code.name, message)
            .with("toolCallId", call.as_str())
            .with("limit", limit))
    }

    /// The cancellation source of the whole session.
    pub fn scope(&self) -> &CancellationSource {
        self.scopes.session()
    }

    /// The tokens that plugins ask for.
    pub(crate) fn scopes(&self) -> &Scopes {
        &self.scopes
    }

    /// Shows something that is wrong to everyone who looks.
    fn diagnose(&self, item: DiagnosticItem) {
        self.books.diagnose(&item);
        self.metrics.diagnostic(item);
    }

    /// Tells of something that is wrong with a plugin and stops nothing.
    pub fn report(&self, problem: &Diagnostic) {
        let ext_id = problem.ext_id.clone().unwrap_or_else(|| "core".to_owned());
        self.diagnose(DiagnosticItem {
            at: platform::rfc3339(platform::now()),
            level: match problem.severity {
                Severity::Error => Level::Error,
                Severity::Warning => Level::Warn,
            },
            source: ext_id,
            code: Some(problem.code.to_string()),
            message: self.books.redactor.text(&problem.message).into_owned(),
        });
    }

    /// The conversation, oldest first.
    pub fn conversation(&self) -> Vec<serde_json::Map<String, Value>> {
        lock(&self.conversation).messages()
    }

    /// The same, shared, with what was found out about each message.
    pub(crate) fn history(&self) -> Vec<Arc<Kept>> {
        lock(&self.conversation).history()
    }

    fn publish_state(&self, event: &impl CoreEvent) {
        self.books.publish(&self.correlation_id(), event);
    }
}

/// `Session/IllegalTransition`: the session cannot do that from where it is.
fn illegal(from: State, trigger: Trigger) -> Error {
    let code = &codes::ILLEGAL_TRANSITION;
    let message = format!("a session that is {from} cannot {trigger}");
    Error::new(code.class, code.name, message)
        .with("from", from.as_str())
        .with("trigger", trigger.as_str())
}

impl std::fmt::Debug for Session {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Session")
            .field("facts", &self.facts)
            .finish_non_exhaustive()
    }
}
