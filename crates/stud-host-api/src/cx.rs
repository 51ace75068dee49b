//! What a plugin is handed with every call.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use stud_abi::{CancellationToken, HostHandle};

use crate::HostApi;
use crate::audit::AuditLogger;
use crate::cancellation::CancellationFactory;
use crate::commands::CommandSurface;
use crate::config::ConfigReader;
use crate::context::ContextContributor;
use crate::env::EnvReader;
use crate::events::EventPublisher;
use crate::interaction::InteractionRequester;
use crate::metrics::RuntimeReader;
use crate::prompt::PromptReader;
use crate::resource::ResourceReader;
use crate::session::SessionAccessor;
use crate::wire::{self, Asking};
use crate::workspace::WorkspaceInfo;

/// The host of one plugin in one session. Cheap to clone, and free to be kept.
///
/// Its services are those of [`HostApi`]. It is a type of its own and not a trait object, so that a plugin carries the
/// code of the services it uses and of no other.
#[derive(Clone)]
pub struct Host(Arc<Asking>);

/// Which session, turn and tool call a call belongs to.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct CallIds {
    /// The session; absent outside one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    /// The turn; absent outside one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub correlation_id: Option<String>,
    /// The tool call, for the tool that serves it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_call_id: Option<String>,
}

/// The context of one call: whom to ask, when to stop, what it is part of.
#[derive(Debug, Clone)]
pub struct Cx {
    host: Host,
    cancellation: CancellationToken,
    ids: CallIds,
}

impl Host {
    /// The host behind a handle, as a plugin gets it.
    pub fn connect(handle: HostHandle) -> Self {
        Self(Arc::new(Asking::new(handle)))
    }

    /// A host in the same program, reached the way a plugin reaches its own.
    pub fn new(host: Arc<dyn HostApi>) -> Self {
        Self::connect(wire::serve(host))
    }

    /// See [`HostApi::env`].
    pub fn env(&self) -> &dyn EnvReader {
        &*self.0
    }

    /// See [`HostApi::config`].
    pub fn config(&self) -> &dyn ConfigReader {
        &*self.0
    }

    /// See [`HostApi::events`].
    pub fn events(&self) -> &dyn EventPublisher {
        &*self.0
    }

    /// See [`HostApi::audit`].
    pub fn audit(&self) -> &dyn AuditLogger {
        &*self.0
    }

    /// See [`HostApi::interaction`].
    pub fn interaction(&self) -> &dyn InteractionRequester {
        &*self.0
    }

    /// See [`HostApi::cancellation`].
    pub fn cancellation(&self) -> &dyn CancellationFactory {
        &*self.0
    }

    /// See [`HostApi::session`].
    pub fn session(&self) -> &dyn SessionAccessor {
        &*self.0
    }

    /// See [`HostApi::workspace`].
    pub fn workspace(&self) -> &dyn WorkspaceInfo {
        &*self.0
    }

    /// See [`HostApi::prompt`].
    pub fn prompt(&self) -> &dyn PromptReader {
        &*self.0
    }

    /// See [`HostApi::resource`].
    pub fn resource(&self) -> &dyn ResourceReader {
        &*self.0
    }

    /// See [`HostApi::context`].
    pub fn context(&self) -> &dyn ContextContributor {
        &*self.0
    }

    /// See [`HostApi::commands`].
    pub fn commands(&self) -> &dyn CommandSurface {
        &*self.0
    }

    /// See [`HostApi::metrics`].
    pub fn metrics(&self) -> &dyn RuntimeReader {
        &*self.0
    }
}

impl fmt::Debug for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Host").finish_non_exhaustive()
    }
}

impl Cx {
    /// A context.
    pub const fn new(host: Host, cancellation: CancellationToken, ids: CallIds) -> Self {
        Self {
            host,
            cancellation,
            ids,
        }
    }

    /// Whom to ask.
    pub const fn host(&self) -> &Host {
        &self.host
    }

    /// Fires when the call is no longer wanted.
    pub const fn cancellation(&self) -> &CancellationToken {
        &self.cancellation
    }

    /// Whether the call is no longer wanted.
    pub fn is_cancelled(&self) -> bool {
        self.cancellation.is_cancelled()
    }

    /// What the call is part of.
    pub const fn ids(&self) -> &CallIds {
        &self.ids
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// Compiles only as long as a context can be borrowed across threads and held over an await.
    #[expect(dead_code, reason = "being compiled is the test")]
    fn contexts_are_shared(cx: Cx) -> impl Send + Sync + 'static {
        cx
    }

    #[test]
    fn ids_keep_their_names_and_may_be_left_out() {
        let json = json!({"sessionId": "s", "correlationId": "t", "toolCallId": "c"});
        let ids: CallIds = serde_json::from_value(json.clone()).unwrap();
        assert_eq!(serde_json::to_value(ids).unwrap(), json);
        assert_eq!(
            serde_json::from_value::<CallIds>(json!({})).unwrap(),
            CallIds::default()
        );
    }
}
