//! The plugin's half: calls of the services in, operations out.

use std::path::PathBuf;
use std::sync::Arc;

use serde_json::{Map, Value};
use stud_abi::{CancellationToken, HostHandle, Listener};
use stud_contract_interaction::{ApprovalScope, Payload, Response};
use stud_contract_meta::Result;

use super::json::{self, Part};
use super::operation::{
    self, Approve, AtOnce, Dispatch, Draft, Feed, Id, InTime, Key, Name, Nothing, OfSession,
    Operation, Slot, SlotWrite,
};
use super::snapshot::{Known, Newest};
use crate::audit::{ActiveSubagent, AuditEvent, AuditLogger, AuditQuery, AuditRecord};
use crate::cancellation::{CancellationFactory, Scope};
use crate::commands::{CommandArgs, CommandRef, CommandResult, CommandSurface, Completion, Deed};
use crate::config::{ConfigReader, Destination};
use crate::context::{Compacted, Compacting, ContextContributor, ContextFragment};
use crate::env::EnvReader;
use crate::events::{Event, EventPublisher, EventType, LogEntry};
use crate::interaction::{Availability, InteractionRequester, ToolApprovalKey};
use crate::metrics::{RuntimeReader, RuntimeSnapshot, SnapshotHandler, Subscription, TokenHandler};
use crate::prompt::{Prompt, PromptFilter, PromptReader, PromptRef};
use crate::resource::{Resource, ResourceFilter, ResourceReader, ResourceRef};
use crate::session::{
    Appended, ChildOutcome, OpenChild, Page, SessionAccessor, SessionRecord, SessionView,
    SlotValue, StateSlot,
};
use crate::workspace::WorkspaceInfo;
use crate::{BoxFuture, Severity};

/// Asks the host behind a handle.
pub(crate) struct Asking {
    handle: HostHandle,
    newest: Arc<Newest>,
}

impl Asking {
    pub(crate) fn new(handle: HostHandle) -> Self {
        Self {
            handle,
            newest: Arc::default(),
        }
    }

    /// Starts hearing a feed.
    fn hear<F: Feed>(
        &self,
        handler: impl Fn(F::Item) + Send + Sync + 'static,
    ) -> Result<Subscription> {
        let listener = Listener::new(move |text| {
            // A malformed item cannot be reported to a caller, and the next one may be valid.
            if let Ok(item) = json::read(F::NAME, Part::Reply, text) {
                handler(item);
            }
        });
        let guard = self.handle.subscribe(F::NAME, listener)?;
        Ok(Subscription::new(move || drop(guard)))
    }
}

/// Asks for an answer at once.
fn ask<O: AtOnce>(handle: &HostHandle, request: &O::Request) -> Result<O::Reply> {
    let reply = handle.call(O::NAME, &json::write(O::NAME, Part::Request, request)?)?;
    json::read(O::NAME, Part::Reply, &reply)
}

/// Asks for an answer in time.
fn wait<O: InTime>(
    handle: &HostHandle,
    request: &O::Request,
) -> BoxFuture<'static, Result<O::Reply>> {
    let call = json::write(O::NAME, Part::Request, request)
        .map(|payload| handle.call_async(O::NAME, payload));
    Box::pin(async { json::read(O::NAME, Part::Reply, &call?.await?) })
}

impl EnvReader for Asking {
    fn get(&self, name: &str) -> Result<Option<String>> {
        let name = name.to_owned();
        ask::<operation::EnvGet>(&self.handle, &Name { name })
    }

    fn require(&self, name: &str) -> Result<String> {
        let name = name.to_owned();
        ask::<operation::EnvRequire>(&self.handle, &Name { name })
    }
}

impl ConfigReader for Asking {
    fn read_own(&self) -> Result<Map<String, Value>> {
        ask::<operation::ConfigReadOwn>(&self.handle, &Nothing {})
    }

    fn read_global(&self, key: &str) -> Result<Value> {
        let key = key.to_owned();
        ask::<operation::ConfigReadGlobal>(&self.handle, &Key { key })
    }

    fn may_reach(&self, to: &Destination) -> Result<()> {
        ask::<operation::ConfigMayReach>(&self.handle, to)
    }
}

impl EventPublisher for Asking {
    fn publish(&self, event: Event) -> Result<()> {
        ask::<operation::EventsPublish>(&self.handle, &event)
    }

    fn list(&self) -> Result<Vec<EventType>> {
        ask::<operation::EventsList>(&self.handle, &Nothing {})
    }

    fn log_level(&self) -> Result<Option<Severity>> {
        ask::<operation::EventsLogLevel>(&self.handle, &Nothing {})
    }

    fn log(&self, entry: LogEntry) -> Result<()> {
        ask::<operation::EventsLog>(&self.handle, &entry)
    }
}

impl AuditLogger for Asking {
    fn record(&self, event: AuditEvent) -> BoxFuture<'_, Result<()>> {
        wait::<operation::AuditRecordOne>(&self.handle, &event)
    }

    fn query(&self, query: AuditQuery) -> BoxFuture<'_, Result<Vec<AuditRecord>>> {
        wait::<operation::AuditQueryAll>(&self.handle, &query)
    }

    fn active_subagents(&self) -> BoxFuture<'_, Result<Vec<ActiveSubagent>>> {
        wait::<operation::AuditActiveSubagents>(&self.handle, &Nothing {})
    }
}

impl InteractionRequester for Asking {
    fn request(&self, payload: Payload) -> BoxFuture<'_, Result<Response>> {
        wait::<operation::InteractionRequest>(&self.handle, &payload)
    }

    fn respond(&self, response: Response) -> BoxFuture<'_, Result<()>> {
        wait::<operation::InteractionRespond>(&self.handle, &response)
    }

    fn availability(&self) -> Result<Availability> {
        ask::<operation::InteractionAvailability>(&self.handle, &Nothing {})
    }

    fn approval(&self, of: ToolApprovalKey) -> BoxFuture<'_, Result<Option<ApprovalScope>>> {
        wait::<operation::InteractionApproval>(&self.handle, &of)
    }

    fn approve(&self, of: ToolApprovalKey, scope: ApprovalScope) -> BoxFuture<'_, Result<()>> {
        wait::<operation::InteractionApprove>(&self.handle, &Approve { of, scope })
    }

    fn clear_approvals(&self, session_id: String) -> BoxFuture<'_, Result<()>> {
        wait::<operation::InteractionClearApprovals>(&self.handle, &OfSession { session_id })
    }
}

impl CancellationFactory for Asking {
    fn token(&self, scope: Scope) -> Result<CancellationToken> {
        Ok(self.handle.token(scope.as_str())?)
    }
}

impl SessionAccessor for Asking {
    fn read(&self, page: Page) -> BoxFuture<'_, Result<SessionView>> {
        wait::<operation::SessionRead>(&self.handle, &page)
    }

    fn append(&self, record: SessionRecord) -> BoxFuture<'_, Result<Appended>> {
        wait::<operation::SessionAppend>(&self.handle, &record)
    }

    fn state_slot(&self, ext_id: &str) -> Result<Box<dyn StateSlot>> {
        let ext_id = ext_id.to_owned();
        let slot = Slot { ext_id };
        ask::<operation::SessionStateSlot>(&self.handle, &slot)?;
        let handle = self.handle.clone();
        Ok(Box::new(AskingSlot { handle, slot }))
    }

    fn open_child(&self, child: OpenChild) -> BoxFuture<'_, Result<ChildOutcome>> {
        wait::<operation::SessionOpenChild>(&self.handle, &child)
    }
}

/// A slot that the host has given leave to use.
struct AskingSlot {
    handle: HostHandle,
    slot: Slot,
}

impl StateSlot for AskingSlot {
    fn read(&self) -> BoxFuture<'_, Result<Option<SlotValue>>> {
        wait::<operation::SessionStateSlotRead>(&self.handle, &self.slot)
    }

    fn write(&self, value: SlotValue) -> BoxFuture<'_, Result<()>> {
        let ext_id = self.slot.ext_id.clone();
        wait::<operation::SessionStateSlotWrite>(&self.handle, &SlotWrite { ext_id, value })
    }
}

impl WorkspaceInfo for Asking {
    fn project_root(&self) -> Result<PathBuf> {
        ask::<operation::WorkspaceProjectRoot>(&self.handle, &Nothing {})
    }

    fn global_root(&self) -> Result<PathBuf> {
        ask::<operation::WorkspaceGlobalRoot>(&self.handle, &Nothing {})
    }

    fn correlation_id(&self) -> Result<Option<String>> {
        ask::<operation::WorkspaceCorrelationId>(&self.handle, &Nothing {})
    }

    fn session_id(&self) -> Result<String> {
        ask::<operation::WorkspaceSessionId>(&self.handle, &Nothing {})
    }
}

impl PromptReader for Asking {
    fn list(&self, filter: PromptFilter) -> BoxFuture<'_, Result<Vec<PromptRef>>> {
        wait::<operation::PromptList>(&self.handle, &filter)
    }

    fn read<'a>(&'a self, id: &'a str) -> BoxFuture<'a, Result<Prompt>> {
        let id = id.to_owned();
        wait::<operation::PromptRead>(&self.handle, &Id { id })
    }
}

impl ResourceReader for Asking {
    fn list(&self, filter: ResourceFilter) -> BoxFuture<'_, Result<Vec<ResourceRef>>> {
        wait::<operation::ResourceList>(&self.handle, &filter)
    }

    fn read<'a>(&'a self, id: &'a str) -> BoxFuture<'a, Result<Resource>> {
        let id = id.to_owned();
        wait::<operation::ResourceRead>(&self.handle, &Id { id })
    }
}

impl ContextContributor for Asking {
    fn contribute(&self, fragment: ContextFragment) -> BoxFuture<'_, Result<()>> {
        wait::<operation::ContextContribute>(&self.handle, &fragment)
    }

    fn compact(&self, how: Compacting) -> BoxFuture<'_, Result<Compacted>> {
        wait::<operation::ContextCompact>(&self.handle, &how)
    }
}

impl CommandSurface for Asking {
    fn list(&self) -> Result<Vec<CommandRef>> {
        ask::<operation::CommandsList>(&self.handle, &Nothing {})
    }

    fn complete(&self, input: &str, cursor: usize) -> Result<Vec<Completion>> {
        let input = input.to_owned();
        ask::<operation::CommandsComplete>(&self.handle, &Draft { input, cursor })
    }

    fn dispatch<'a>(
        &'a self,
        name: &'a str,
        args: CommandArgs,
    ) -> BoxFuture<'a, Result<CommandResult>> {
        let name = name.to_owned();
        wait::<operation::CommandsDispatch>(&self.handle, &Dispatch { name, args })
    }

    fn perform(&self, deed: Deed) -> BoxFuture<'_, Result<Value>> {
        wait::<operation::CommandsPerform>(&self.handle, &deed)
    }
}

impl RuntimeReader for Asking {
    fn snapshot(&self) -> Result<Arc<RuntimeSnapshot>> {
        let last = self.newest.last();
        let revision = last.as_ref().map(|last| last.revision);
        match (
            ask::<operation::MetricsSnapshot>(&self.handle, &Known { revision })?,
            last,
        ) {
            (Some(sent), _) => Ok(self.newest.keep(sent)),
            (None, Some(last)) => Ok(last.snapshot),
            (None, None) => {
                let name = operation::MetricsSnapshot::NAME;
                Err(json::unreadable(
                    name,
                    Part::Reply,
                    "",
                    "a snapshot, since none came before",
                ))
            }
        }
    }

    fn subscribe(&self, handler: SnapshotHandler) -> Result<Subscription> {
        // What is heard here is what `snapshot` gives afterwards, as the same object.
        let newest = Arc::clone(&self.newest);
        self.hear::<operation::MetricsSubscribe>(move |sent| handler(newest.keep(sent)))
    }

    fn subscribe_to_tokens(&self, handler: TokenHandler) -> Result<Subscription> {
        self.hear::<operation::MetricsSubscribeToTokens>(handler)
    }
}
