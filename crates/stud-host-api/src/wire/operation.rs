//! The table of operations, from which both halves are made.

use std::path::PathBuf;
use std::sync::Arc;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use stud_abi::BoxFuture;
use stud_contract_interaction::{ApprovalScope, Payload, Response};
use stud_contract_meta::Result;

use super::json::{self, Part};
use super::snapshot::{Known, Newest, Revised};
use crate::audit::{ActiveSubagent, AuditEvent, AuditQuery, AuditRecord};
use crate::commands::{CommandArgs, CommandRef, CommandResult, Completion, Deed};
use crate::config::Destination;
use crate::context::{Compacted, Compacting, ContextFragment};
use crate::events::{Event, EventType, LogEntry};
use crate::interaction::{Availability, ToolApprovalKey};
use crate::metrics::TokenDelta;
use crate::prompt::{Prompt, PromptFilter, PromptRef};
use crate::resource::{Resource, ResourceFilter, ResourceRef};
use crate::session::{
    Appended, ChildOutcome, OpenChild, Page, SessionRecord, SessionView, SlotValue,
};
use crate::{HostApi, Severity};

/// A call of one of the services.
pub(super) trait Operation {
    const NAME: &'static str;
    type Request: Serialize;
    type Reply: Serialize + DeserializeOwned;

    /// Reads the request in the host's half.
    fn read(payload: &str) -> Result<Self::Request>;
}

/// An operation that the host answers at once.
pub(super) trait AtOnce: Operation {}

/// An operation that may take its time.
pub(super) trait InTime: Operation {}

/// Something that the host sends again and again.
pub(super) trait Feed {
    const NAME: &'static str;
    type Item: Serialize + DeserializeOwned;
}

/// The name of the call for tokens, which have their own way across the boundary.
pub(super) const TOKEN: &str = "cancellation.token";

/// What answering takes.
#[derive(Clone)]
pub(super) struct Served {
    pub(super) host: Arc<dyn HostApi>,
    pub(super) newest: Arc<Newest>,
}

/// Makes a type for each operation, and the two functions that answer them.
macro_rules! operations {
    (
        at once {$(
            $(#[doc = $now_doc:literal])+
            $now:ident $now_name:literal ($now_request:ty) -> $now_reply:ty:
                |$now_served:ident, $now_given:pat_param| $now_call:expr;
        )+}
        in time {$(
            $(#[doc = $later_doc:literal])+
            $later:ident $later_name:literal ($later_request:ty $(, $reader:path)?) -> $later_reply:ty:
                |$later_served:ident, $later_given:pat_param| $later_call:expr;
        )+}
        again and again {$(
            $(#[doc = $feed_doc:literal])+
            $feed:ident $feed_name:literal -> $item:ty;
        )+}
    ) => {
        $(
            operation!($now, $now_name, $now_request, $now_reply);
            impl AtOnce for $now {}
        )+
        $(
            operation!($later, $later_name, $later_request, $later_reply $(, $reader)?);
            impl InTime for $later {}
        )+
        $(
            pub(super) struct $feed;

            impl Feed for $feed {
                const NAME: &'static str = $feed_name;
                type Item = $item;
            }
        )+

        /// Answers an operation at once.
        pub(super) fn answer(served: &Served, operation: &str, payload: &str) -> Result<String> {
            match operation {
                $($now_name => {
                    let ($now_served, $now_given) = (served, $now::read(payload)?);
                    let reply: $now_reply = $now_call?;
                    json::write(operation, Part::Reply, &reply)
                })+
                _ => Err(json::not_implemented(operation)),
            }
        }

        /// Answers an operation in time.
        pub(super) fn answer_in_time(
            served: Served,
            operation: &str,
            payload: String,
        ) -> BoxFuture<Result<String>> {
            match operation {
                $($later_name => Box::pin(async move {
                    let ($later_served, $later_given) = (served, $later::read(&payload)?);
                    let reply: $later_reply = $later_call.await?;
                    json::write($later_name, Part::Reply, &reply)
                }),)+
                _ => Box::pin(std::future::ready(Err(json::not_implemented(operation)))),
            }
        }

        /// The reference of the operations above.
        #[cfg(feature = "schema")]
        pub(super) const REFERENCE: &[super::OperationInfo] = &[
            $(super::OperationInfo {
                name: $now_name,
                timing: "at once",
                request: stringify!($now_request),
                reply: stringify!($now_reply),
                doc: concat!($($now_doc),+),
            },)+
            $(super::OperationInfo {
                name: $later_name,
                timing: "in time",
                request: stringify!($later_request),
                reply: stringify!($later_reply),
                doc: concat!($($later_doc),+),
            },)+
            $(super::OperationInfo {
                name: $feed_name,
                timing: "again and again",
                request: "Nothing",
                reply: stringify!($item),
                doc: concat!($($feed_doc),+),
            },)+
        ];

        /// Every name above.
        #[cfg(test)]
        pub(super) const NAMES: &[&str] =
            &[$($now_name,)+ $($later_name,)+ $($feed_name,)+ TOKEN];
    };
}

macro_rules! operation {
    ($name:ident, $text:literal, $request:ty, $reply:ty $(, $reader:path)?) => {
        pub(super) struct $name;

        impl Operation for $name {
            const NAME: &'static str = $text;
            type Request = $request;
            type Reply = $reply;

            fn read(payload: &str) -> Result<Self::Request> {
                let request = json::read(Self::NAME, Part::Request, payload)?;
                $(let request = $reader(request).map_err(|error| error.with("operation", $text))?;)?
                Ok(request)
            }
        }
    };
}

operations! {
    at once {
        /// Reads an environment value by its name, or a secret of that name.
        EnvGet "env.get" (Name) -> Option<String>:
            |at, Name { name }| at.host.env().get(&name);
        /// The same, for a value that must be set.
        EnvRequire "env.require" (Name) -> String:
            |at, Name { name }| at.host.env().require(&name);
        /// Reads the plugin's own config.
        ConfigReadOwn "config.readOwn" (Nothing) -> Map<String, Value>:
            |at, Nothing {}| at.host.config().read_own();
        /// Reads one of the few global facts.
        ConfigReadGlobal "config.readGlobal" (Key) -> Value:
            |at, Key { key }| at.host.config().read_global(&key);
        /// Asks whether the network policy lets a host be reached.
        ConfigMayReach "config.mayReach" (Destination) -> ():
            |at, to| at.host.config().may_reach(&to);
        /// Publishes an event that the plugin's manifest declares.
        EventsPublish "events.publish" (Event) -> ():
            |at, event| at.host.events().publish(event);
        /// Lists every event that may come, with its owner and its schema.
        EventsList "events.list" (Nothing) -> Vec<EventType>:
            |at, Nothing {}| at.host.events().list();
        /// Says which screens could answer a prompt now.
        InteractionAvailability "interaction.availability" (Nothing) -> Availability:
            |at, Nothing {}| at.host.interaction().availability();
        /// Reads the least severity of log entries that the host takes.
        EventsLogLevel "events.logLevel" (Nothing) -> Option<Severity>:
            |at, Nothing {}| at.host.events().log_level();
        /// Hands a log entry to the loggers.
        EventsLog "events.log" (LogEntry) -> ():
            |at, entry| at.host.events().log(entry);
        /// Asks whether a state slot is the plugin's own.
        SessionStateSlot "session.stateSlot" (Slot) -> ():
            |at, Slot { ext_id }| at.host.session().state_slot(&ext_id).map(drop);
        /// The project's folder.
        WorkspaceProjectRoot "workspace.projectRoot" (Nothing) -> PathBuf:
            |at, Nothing {}| at.host.workspace().project_root();
        /// The folder of the user's own settings and plugins.
        WorkspaceGlobalRoot "workspace.globalRoot" (Nothing) -> PathBuf:
            |at, Nothing {}| at.host.workspace().global_root();
        /// The id of the running turn.
        WorkspaceCorrelationId "workspace.correlationId" (Nothing) -> Option<String>:
            |at, Nothing {}| at.host.workspace().correlation_id();
        /// The id of the session.
        WorkspaceSessionId "workspace.sessionId" (Nothing) -> String:
            |at, Nothing {}| at.host.workspace().session_id();
        /// Lists the slash commands.
        CommandsList "commands.list" (Nothing) -> Vec<CommandRef>:
            |at, Nothing {}| at.host.commands().list();
        /// Says what a draft of a command line could become.
        CommandsComplete "commands.complete" (Draft) -> Vec<Completion>:
            |at, Draft { input, cursor }| at.host.commands().complete(&input, cursor);
        /// Reads the runtime snapshot; `null` while the plugin has the newest.
        MetricsSnapshot "metrics.snapshot" (Known) -> Option<Revised>:
            |at, known| at.host.metrics().snapshot().map(|snapshot| at.newest.unless(&known, snapshot));
    }
    in time {
        /// Writes an audit record.
        AuditRecordOne "audit.record" (AuditEvent) -> ():
            |at, event| at.host.audit().record(event);
        /// Reads audit records.
        AuditQueryAll "audit.query" (AuditQuery) -> Vec<AuditRecord>:
            |at, query| at.host.audit().query(query);
        /// Lists the child sessions that run.
        AuditActiveSubagents "audit.activeSubagents" (Nothing) -> Vec<ActiveSubagent>:
            |at, Nothing {}| at.host.audit().active_subagents();
        /// Asks the user, and waits for the answer.
        InteractionRequest "interaction.request" (Payload, question) -> Response:
            |at, payload| at.host.interaction().request(payload);
        /// Answers a prompt, as an interactor.
        InteractionRespond "interaction.respond" (Response) -> ():
            |at, response| at.host.interaction().respond(response);
        /// Looks for an approval that the tool has kept.
        InteractionApproval "interaction.approval" (ToolApprovalKey) -> Option<ApprovalScope>:
            |at, of| at.host.interaction().approval(of);
        /// Keeps an approval of the tool's own.
        InteractionApprove "interaction.approve" (Approve) -> ():
            |at, Approve { of, scope }| at.host.interaction().approve(of, scope);
        /// Forgets the approvals that are kept for a session.
        InteractionClearApprovals "interaction.clearApprovals" (OfSession) -> ():
            |at, OfSession { session_id }| at.host.interaction().clear_approvals(session_id);
        /// Reads a page of the session's messages.
        SessionRead "session.read" (Page) -> SessionView:
            |at, page| at.host.session().read(page);
        /// Adds an input or a note to the session.
        SessionAppend "session.append" (SessionRecord) -> Appended:
            |at, record| at.host.session().append(record);
        /// Opens a child session, and waits for its outcome.
        SessionOpenChild "session.openChild" (OpenChild) -> ChildOutcome:
            |at, child| at.host.session().open_child(child);
        /// Reads the plugin's state slot.
        SessionStateSlotRead "session.stateSlot.read" (Slot) -> Option<SlotValue>:
            |at, Slot { ext_id }| at.host.session().state_slot(&ext_id)?.read();
        /// Writes the plugin's state slot.
        SessionStateSlotWrite "session.stateSlot.write" (SlotWrite) -> ():
            |at, SlotWrite { ext_id, value }| at.host.session().state_slot(&ext_id)?.write(value);
        /// Lists the registered prompt templates.
        PromptList "prompt.list" (PromptFilter) -> Vec<PromptRef>:
            |at, filter| at.host.prompt().list(filter);
        /// Reads a prompt template.
        PromptRead "prompt.read" (Id) -> Prompt:
            |at, Id { id }| at.host.prompt().read(&id);
        /// Lists the registered resources.
        ResourceList "resource.list" (ResourceFilter) -> Vec<ResourceRef>:
            |at, filter| at.host.resource().list(filter);
        /// Reads a resource.
        ResourceRead "resource.read" (Id) -> Resource:
            |at, Id { id }| at.host.resource().read(&id);
        /// Adds a fragment to the request that is being composed.
        ContextContribute "context.contribute" (ContextFragment, ContextFragment::read) -> ():
            |at, fragment| at.host.context().contribute(fragment);
        /// Compacts the conversation.
        ContextCompact "context.compact" (Compacting) -> Compacted:
            |at, how| at.host.context().compact(how);
        /// Runs a slash command, and waits for its result.
        CommandsDispatch "commands.dispatch" (Dispatch) -> CommandResult:
            |at, Dispatch { name, args }| at.host.commands().dispatch(&name, args);
        /// Asks core for a privileged operation.
        CommandsPerform "commands.perform" (Deed) -> Value:
            |at, deed| at.host.commands().perform(deed);
    }
    again and again {
        /// Sends each new runtime snapshot.
        MetricsSubscribe "metrics.subscribe" -> Revised;
        /// Sends each change of the token counts.
        MetricsSubscribeToTokens "metrics.subscribeToTokens" -> TokenDelta;
    }
}

/// Reads a question by its kind, so that what does not fit has the protocol's own code.
fn question(mut request: Value) -> Result<Payload> {
    let payload = request.get_mut("payload").map(Value::take);
    let kind = request.get("kind").and_then(Value::as_str);
    Payload::read(kind.unwrap_or_default(), payload.unwrap_or_default())
}

/// No arguments. An object, so that there may be some one day.
#[derive(Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub(super) struct Nothing {}

/// A name.
#[derive(Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub(super) struct Name {
    /// The name.
    pub(super) name: String,
}

/// A key.
#[derive(Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub(super) struct Key {
    /// The key.
    pub(super) key: String,
}

/// An id.
#[derive(Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub(super) struct Id {
    /// The id.
    pub(super) id: String,
}

/// An approval of a tool.
#[derive(Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub(super) struct Approve {
    /// What is approved.
    pub(super) of: ToolApprovalKey,
    /// For how long.
    pub(super) scope: ApprovalScope,
}

/// A session.
#[derive(Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub(super) struct OfSession {
    /// Which one.
    pub(super) session_id: String,
}

/// A state slot.
#[derive(Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub(super) struct Slot {
    /// The plugin whose slot it is.
    pub(super) ext_id: String,
}

/// What a state slot is to hold.
#[derive(Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub(super) struct SlotWrite {
    /// The plugin whose slot it is.
    pub(super) ext_id: String,
    /// The value.
    pub(super) value: SlotValue,
}

/// A draft of a command line.
#[derive(Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub(super) struct Draft {
    /// The draft, slash included.
    pub(super) input: String,
    /// A byte offset into it.
    pub(super) cursor: usize,
}

/// A command with its arguments.
#[derive(Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub(super) struct Dispatch {
    /// The command's name, without the slash.
    pub(super) name: String,
    /// What follows the name.
    pub(super) args: CommandArgs,
}
