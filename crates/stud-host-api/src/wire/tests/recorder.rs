//! A host that writes down what it is asked and answers what it was told to.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};
use stud_abi::{CancellationSource, CancellationToken};
use stud_contract_interaction::{ApprovalScope, Payload, Response};
use stud_contract_meta::{Error, Result};

use crate::BoxFuture;
use crate::Severity;
use crate::audit::{ActiveSubagent, AuditEvent, AuditLogger, AuditQuery, AuditRecord};
use crate::cancellation::{CancellationFactory, Scope};
use crate::commands::{CommandArgs, CommandRef, CommandResult, CommandSurface, Completion, Deed};
use crate::config::{ConfigReader, Destination};
use crate::context::{Compacted, Compacting, ContextContributor, ContextFragment};
use crate::env::EnvReader;
use crate::events::{Event, EventPublisher, EventType, LogEntry};
use crate::interaction::{Availability, InteractionRequester, ToolApprovalKey};
use crate::metrics::{
    RuntimeReader, RuntimeSnapshot, SnapshotHandler, Subscription, TokenDelta, TokenHandler,
};
use crate::prompt::{Prompt, PromptFilter, PromptReader, PromptRef};
use crate::resource::{Resource, ResourceFilter, ResourceReader, ResourceRef};
use crate::session::{
    Appended, ChildOutcome, OpenChild, Page, SessionAccessor, SessionRecord, SessionView,
    SlotValue, StateSlot,
};
use crate::workspace::WorkspaceInfo;

#[derive(Clone, Default)]
pub(super) struct Recorder(Arc<State>);

#[derive(Default)]
struct State {
    asked: Mutex<Vec<(&'static str, Value)>>,
    answer: Mutex<Value>,
    failure: Mutex<Option<Error>>,
    turn: CancellationSource,
    snapshot: Mutex<Arc<RuntimeSnapshot>>,
    snapshot_handler: Handler<SnapshotHandler>,
    token_handler: Handler<TokenHandler>,
}

type Handler<T> = Arc<Mutex<Option<T>>>;

impl Recorder {
    pub(super) fn answer_with(&self, answer: Value) {
        *self.0.answer.lock().unwrap() = answer;
    }

    pub(super) fn fail_with(&self, error: Error) {
        *self.0.failure.lock().unwrap() = Some(error);
    }

    /// Everything asked since the last time.
    pub(super) fn asked(&self) -> Vec<(&'static str, Value)> {
        std::mem::take(&mut self.0.asked.lock().unwrap())
    }

    pub(super) fn cancel_turn(&self) {
        self.0.turn.cancel();
    }

    pub(super) fn set_snapshot(&self, snapshot: Arc<RuntimeSnapshot>) {
        *self.0.snapshot.lock().unwrap() = snapshot;
    }

    /// Tells the subscriber, if there is one.
    pub(super) fn tell(&self) -> bool {
        let snapshot = self.0.snapshot.lock().unwrap().clone();
        let handler = self.0.snapshot_handler.lock().unwrap();
        handler.as_ref().map(|tell| tell(snapshot)).is_some()
    }

    /// Tells the subscriber to tokens, if there is one.
    pub(super) fn tell_tokens(&self, delta: TokenDelta) -> bool {
        let handler = self.0.token_handler.lock().unwrap();
        handler.as_ref().map(|tell| tell(delta)).is_some()
    }

    fn note(&self, operation: &'static str, given: Value) -> Result<()> {
        self.0.asked.lock().unwrap().push((operation, given));
        match &*self.0.failure.lock().unwrap() {
            Some(error) => Err(error.clone()),
            None => Ok(()),
        }
    }

    fn now<T: DeserializeOwned>(&self, operation: &'static str, given: Value) -> Result<T> {
        self.note(operation, given)?;
        Ok(serde_json::from_value(self.0.answer.lock().unwrap().clone()).unwrap())
    }

    fn later<T: DeserializeOwned + Send + 'static>(
        &self,
        operation: &'static str,
        given: Value,
    ) -> BoxFuture<'static, Result<T>> {
        Box::pin(std::future::ready(self.now(operation, given)))
    }

    fn subscribed<T: Send + 'static>(
        &self,
        operation: &'static str,
        place: &Handler<T>,
        handler: T,
    ) -> Result<Subscription> {
        self.note(operation, Value::Null)?;
        *place.lock().unwrap() = Some(handler);
        let place = Arc::clone(place);
        Ok(Subscription::new(move || {
            drop(place.lock().unwrap().take());
        }))
    }
}

impl EnvReader for Recorder {
    fn get(&self, name: &str) -> Result<Option<String>> {
        self.now("env.get", json!(name))
    }

    fn require(&self, name: &str) -> Result<String> {
        self.now("env.require", json!(name))
    }
}

impl ConfigReader for Recorder {
    fn read_own(&self) -> Result<Map<String, Value>> {
        self.now("config.readOwn", Value::Null)
    }

    fn read_global(&self, key: &str) -> Result<Value> {
        self.now("config.readGlobal", json!(key))
    }

    fn may_reach(&self, to: &Destination) -> Result<()> {
        self.now("config.mayReach", json!(to))
    }
}

impl EventPublisher for Recorder {
    fn publish(&self, event: Event) -> Result<()> {
        self.now("events.publish", json!(event))
    }

    fn list(&self) -> Result<Vec<EventType>> {
        self.now("events.list", Value::Null)
    }

    fn log_level(&self) -> Result<Option<Severity>> {
        self.now("events.logLevel", Value::Null)
    }

    fn log(&self, entry: LogEntry) -> Result<()> {
        self.now("events.log", json!(entry))
    }
}

impl AuditLogger for Recorder {
    fn record(&self, event: AuditEvent) -> BoxFuture<'_, Result<()>> {
        self.later("audit.record", json!(event))
    }

    fn query(&self, query: AuditQuery) -> BoxFuture<'_, Result<Vec<AuditRecord>>> {
        self.later("audit.query", json!(query))
    }

    fn active_subagents(&self) -> BoxFuture<'_, Result<Vec<ActiveSubagent>>> {
        self.later("audit.activeSubagents", Value::Null)
    }
}

impl InteractionRequester for Recorder {
    fn request(&self, payload: Payload) -> BoxFuture<'_, Result<Response>> {
        self.later("interaction.request", json!(payload))
    }

    fn respond(&self, response: Response) -> BoxFuture<'_, Result<()>> {
        self.later("interaction.respond", json!(response))
    }

    fn availability(&self) -> Result<Availability> {
        self.now("interaction.availability", Value::Null)
    }

    fn approval(&self, of: ToolApprovalKey) -> BoxFuture<'_, Result<Option<ApprovalScope>>> {
        self.later("interaction.approval", json!(of))
    }

    fn approve(&self, of: ToolApprovalKey, scope: ApprovalScope) -> BoxFuture<'_, Result<()>> {
        self.later("interaction.approve", json!([of, scope]))
    }

    fn clear_approvals(&self, session_id: String) -> BoxFuture<'_, Result<()>> {
        self.later("interaction.clearApprovals", json!(session_id))
    }
}

impl CancellationFactory for Recorder {
    fn token(&self, scope: Scope) -> Result<CancellationToken> {
        self.note("cancellation.token", json!(scope))?;
        Ok(self.0.turn.token())
    }
}

impl SessionAccessor for Recorder {
    fn read(&self, page: Page) -> BoxFuture<'_, Result<SessionView>> {
        self.later("session.read", json!(page))
    }

    fn append(&self, record: SessionRecord) -> BoxFuture<'_, Result<Appended>> {
        self.later("session.append", json!(record))
    }

    fn state_slot(&self, ext_id: &str) -> Result<Box<dyn StateSlot>> {
        self.note("session.stateSlot", json!(ext_id))?;
        Ok(Box::new(self.clone()))
    }

    fn open_child(&self, child: OpenChild) -> BoxFuture<'_, Result<ChildOutcome>> {
        self.later("session.openChild", json!(child))
    }
}

impl StateSlot for Recorder {
    fn read(&self) -> BoxFuture<'_, Result<Option<SlotValue>>> {
        self.later("session.stateSlot.read", Value::Null)
    }

    fn write(&self, value: SlotValue) -> BoxFuture<'_, Result<()>> {
        self.later("session.stateSlot.write", json!(value))
    }
}

impl WorkspaceInfo for Recorder {
    fn project_root(&self) -> Result<PathBuf> {
        self.now("workspace.projectRoot", Value::Null)
    }

    fn global_root(&self) -> Result<PathBuf> {
        self.now("workspace.globalRoot", Value::Null)
    }

    fn correlation_id(&self) -> Result<Option<String>> {
        self.now("workspace.correlationId", Value::Null)
    }

    fn session_id(&self) -> Result<String> {
        self.now("workspace.sessionId", Value::Null)
    }
}

impl PromptReader for Recorder {
    fn list(&self, filter: PromptFilter) -> BoxFuture<'_, Result<Vec<PromptRef>>> {
        self.later("prompt.list", json!(filter))
    }

    fn read<'a>(&'a self, id: &'a str) -> BoxFuture<'a, Result<Prompt>> {
        self.later("prompt.read", json!(id))
    }
}

impl ResourceReader for Recorder {
    fn list(&self, filter: ResourceFilter) -> BoxFuture<'_, Result<Vec<ResourceRef>>> {
        self.later("resource.list", json!(filter))
    }

    fn read<'a>(&'a self, id: &'a str) -> BoxFuture<'a, Result<Resource>> {
        self.later("resource.read", json!(id))
    }
}

impl ContextContributor for Recorder {
    fn contribute(&self, fragment: ContextFragment) -> BoxFuture<'_, Result<()>> {
        self.later("context.contribute", json!(fragment))
    }

    fn compact(&self, how: Compacting) -> BoxFuture<'_, Result<Compacted>> {
        self.later("context.compact", json!(how))
    }
}

impl CommandSurface for Recorder {
    fn list(&self) -> Result<Vec<CommandRef>> {
        self.now("commands.list", Value::Null)
    }

    fn complete(&self, input: &str, cursor: usize) -> Result<Vec<Completion>> {
        self.now("commands.complete", json!([input, cursor]))
    }

    fn dispatch<'a>(
        &'a self,
        name: &'a str,
        args: CommandArgs,
    ) -> BoxFuture<'a, Result<CommandResult>> {
        self.later("commands.dispatch", json!([name, args]))
    }

    fn perform(&self, deed: Deed) -> BoxFuture<'_, Result<Value>> {
        self.later("commands.perform", json!(deed))
    }
}

impl RuntimeReader for Recorder {
    fn snapshot(&self) -> Result<Arc<RuntimeSnapshot>> {
        self.note("metrics.snapshot", Value::Null)?;
        Ok(self.0.snapshot.lock().unwrap().clone())
    }

    fn subscribe(&self, handler: SnapshotHandler) -> Result<Subscription> {
        self.subscribed("metrics.subscribe", &self.0.snapshot_handler, handler)
    }

    fn subscribe_to_tokens(&self, handler: TokenHandler) -> Result<Subscription> {
        self.subscribed("metrics.subscribeToTokens", &self.0.token_handler, handler)
    }
}
