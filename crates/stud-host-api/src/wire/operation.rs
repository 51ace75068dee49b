//! The table of operations, from which both halves are made.

use std::path::PathBuf;
use std::sync::Arc;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use stud_abi::BoxFuture;
use stud_contract_interaction::{Payload, Response};
use stud_contract_meta::Result;

use super::json::{self, Part};
use super::snapshot::{Known, Newest, Revised};
use crate::HostApi;
use crate::audit::{ActiveSubagent, AuditEvent, AuditQuery, AuditRecord};
use crate::commands::{CommandArgs, CommandRef, CommandResult, Completion, Deed};
use crate::config::Destination;
use crate::context::{Compacted, Compacting, ContextFragment};
use crate::events::Event;
use crate::metrics::TokenDelta;
use crate::prompt::{Prompt, PromptFilter, PromptRef};
use crate::resource::{Resource, ResourceFilter, ResourceRef};
use crate::session::{
    Appended, ChildOutcome, OpenChild, Page, SessionRecord, SessionView, SlotValue,
};

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
            $now:ident $now_name:literal ($now_request:ty) -> $now_reply:ty:
                |$now_served:ident, $now_given:pat_param| $now_call:expr;
        )+}
        in time {$(
            $later:ident $later_name:literal ($later_request:ty $(, $reader:path)?) -> $later_reply:ty:
                |$later_served:ident, $later_given:pat_param| $later_call:expr;
        )+}
        again and again {$(
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
        EnvGet "env.get" (Name) -> Option<String>:
            |at, Name { name }| at.host.env().get(&name);
        EnvRequire "env.require" (Name) -> String:
            |at, Name { name }| at.host.env().require(&name);
        ConfigReadOwn "config.readOwn" (Nothing) -> Map<String, Value>:
            |at, Nothing {}| at.host.config().read_own();
        ConfigReadGlobal "config.readGlobal" (Key) -> Value:
            |at, Key { key }| at.host.config().read_global(&key);
        ConfigMayReach "config.mayReach" (Destination) -> ():
            |at, to| at.host.config().may_reach(&to);
        EventsPublish "events.publish" (Event) -> ():
            |at, event| at.host.events().publish(event);
        SessionStateSlot "session.stateSlot" (Slot) -> ():
            |at, Slot { ext_id }| at.host.session().state_slot(&ext_id).map(drop);
        WorkspaceProjectRoot "workspace.projectRoot" (Nothing) -> PathBuf:
            |at, Nothing {}| at.host.workspace().project_root();
        WorkspaceGlobalRoot "workspace.globalRoot" (Nothing) -> PathBuf:
            |at, Nothing {}| at.host.workspace().global_root();
        WorkspaceCorrelationId "workspace.correlationId" (Nothing) -> Option<String>:
            |at, Nothing {}| at.host.workspace().correlation_id();
        WorkspaceSessionId "workspace.sessionId" (Nothing) -> String:
            |at, Nothing {}| at.host.workspace().session_id();
        CommandsList "commands.list" (Nothing) -> Vec<CommandRef>:
            |at, Nothing {}| at.host.commands().list();
        CommandsComplete "commands.complete" (Draft) -> Vec<Completion>:
            |at, Draft { input, cursor }| at.host.commands().complete(&input, cursor);
        MetricsSnapshot "metrics.snapshot" (Known) -> Option<Revised>:
            |at, known| at.host.metrics().snapshot().map(|snapshot| at.newest.unless(&known, snapshot));
    }
    in time {
        AuditRecordOne "audit.record" (AuditEvent) -> ():
            |at, event| at.host.audit().record(event);
        AuditQueryAll "audit.query" (AuditQuery) -> Vec<AuditRecord>:
            |at, query| at.host.audit().query(query);
        AuditActiveSubagents "audit.activeSubagents" (Nothing) -> Vec<ActiveSubagent>:
            |at, Nothing {}| at.host.audit().active_subagents();
        InteractionRequest "interaction.request" (Payload, question) -> Response:
            |at, payload| at.host.interaction().request(payload);
        InteractionRespond "interaction.respond" (Response) -> ():
            |at, response| at.host.interaction().respond(response);
        SessionRead "session.read" (Page) -> SessionView:
            |at, page| at.host.session().read(page);
        SessionAppend "session.append" (SessionRecord) -> Appended:
            |at, record| at.host.session().append(record);
        SessionOpenChild "session.openChild" (OpenChild) -> ChildOutcome:
            |at, child| at.host.session().open_child(child);
        SessionStateSlotRead "session.stateSlot.read" (Slot) -> Option<SlotValue>:
            |at, Slot { ext_id }| at.host.session().state_slot(&ext_id)?.read();
        SessionStateSlotWrite "session.stateSlot.write" (SlotWrite) -> ():
            |at, SlotWrite { ext_id, value }| at.host.session().state_slot(&ext_id)?.write(value);
        PromptList "prompt.list" (PromptFilter) -> Vec<PromptRef>:
            |at, filter| at.host.prompt().list(filter);
        PromptRead "prompt.read" (Id) -> Prompt:
            |at, Id { id }| at.host.prompt().read(&id);
        ResourceList "resource.list" (ResourceFilter) -> Vec<ResourceRef>:
            |at, filter| at.host.resource().list(filter);
        ResourceRead "resource.read" (Id) -> Resource:
            |at, Id { id }| at.host.resource().read(&id);
        ContextContribute "context.contribute" (ContextFragment, ContextFragment::read) -> ():
            |at, fragment| at.host.context().contribute(fragment);
        ContextCompact "context.compact" (Compacting) -> Compacted:
            |at, how| at.host.context().compact(how);
        CommandsDispatch "commands.dispatch" (Dispatch) -> CommandResult:
            |at, Dispatch { name, args }| at.host.commands().dispatch(&name, args);
        CommandsPerform "commands.perform" (Deed) -> Value:
            |at, deed| at.host.commands().perform(deed);
    }
    again and again {
        MetricsSubscribe "metrics.subscribe" -> Revised;
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
pub(super) struct Nothing {}

#[derive(Serialize, Deserialize)]
pub(super) struct Name {
    pub(super) name: String,
}

#[derive(Serialize, Deserialize)]
pub(super) struct Key {
    pub(super) key: String,
}

#[derive(Serialize, Deserialize)]
pub(super) struct Id {
    pub(super) id: String,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Slot {
    pub(super) ext_id: String,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct SlotWrite {
    pub(super) ext_id: String,
    pub(super) value: SlotValue,
}

#[derive(Serialize, Deserialize)]
pub(super) struct Draft {
    pub(super) input: String,
    pub(super) cursor: usize,
}

#[derive(Serialize, Deserialize)]
pub(super) struct Dispatch {
    pub(super) name: String,
    pub(super) args: CommandArgs,
}
