//! The host of a test.

mod look;
mod prepare;

use std::fmt;
use std::sync::{Arc, Mutex};

use stud_host_api::cancellation::Scope;
use stud_host_api::metrics::{RuntimeSnapshot, TokenDelta};
use stud_host_api::{CallIds, Cx, Host, HostApi};

use super::record::{Record, SESSION};
use super::script::TURN;
use super::services::Services;

/// A host that does as the test says and writes down what the plugin did.
///
/// It refuses what the real host would: undeclared events and questions, another plugin's slot, a category's
/// forbidden calls. Clones are the same host, so a test can keep one to look at afterwards.
///
/// ```
/// use stud_sdk::interaction::AskAnswer;
/// use stud_sdk::testing::FakeHost;
///
/// let host = FakeHost::new()
///     .env("EDITOR", "vi")
///     .config(serde_json::json!({"lines": 3}))
///     .answers(AskAnswer { text: "yes".into() });
/// assert!(host.asked().is_empty());
/// ```
#[derive(Clone)]
pub struct FakeHost(Services);

impl FakeHost {
    /// A host with an empty config, no environment, and no interactor.
    ///
    /// ```
    /// # use stud_sdk::testing::FakeHost;
    /// assert_eq!(FakeHost::new().now(), "2026-01-01T00:00:00.000Z");
    /// ```
    pub fn new() -> Self {
        Self(Services(Arc::new(Mutex::new(Record::new()))))
    }

    /// The time.
    ///
    /// ```
    /// # use stud_sdk::testing::FakeHost;
    /// assert_eq!(FakeHost::new().now(), "2026-01-01T00:00:00.000Z");
    /// ```
    pub fn now(&self) -> String {
        self.0.record().now()
    }

    /// Lets time pass.
    ///
    /// ```
    /// # use stud_sdk::testing::FakeHost;
    /// let host = FakeHost::new();
    /// host.advance(1500);
    /// assert_eq!(host.now(), "2026-01-01T00:00:01.500Z");
    /// ```
    pub fn advance(&self, millis: u64) {
        self.0.record().now_ms += millis;
    }

    /// Cancels a scope and everything inside it.
    ///
    /// ```
    /// # use stud_sdk::{host::cancellation::Scope, testing::FakeHost};
    /// let host = FakeHost::new();
    /// host.cancel(Scope::Turn);
    /// assert!(host.cx().is_cancelled());
    /// ```
    pub fn cancel(&self, scope: Scope) {
        let source = self.0.record().scope(scope).clone();
        source.cancel();
    }

    /// Changes the runtime snapshot and notifies its watchers.
    ///
    /// ```
    /// # use stud_sdk::{host::metrics::RuntimeSnapshot, testing::FakeHost};
    /// let host = FakeHost::new();
    /// let mut snapshot = RuntimeSnapshot::default();
    /// snapshot.session.turn_count = 2;
    /// host.push_snapshot(snapshot);
    /// assert_eq!(host.cx().host().metrics().snapshot()?.session.turn_count, 2);
    /// # Ok::<(), stud_sdk::Error>(())
    /// ```
    pub fn push_snapshot(&self, snapshot: RuntimeSnapshot) {
        let snapshot = Arc::new(snapshot);
        let handlers = {
            let mut record = self.0.record();
            record.snapshot = snapshot.clone();
            record.snapshot_handlers.clone()
        };
        for (_, handler) in handlers {
            handler(snapshot.clone());
        }
    }

    /// Streams a piece of output to its watchers.
    ///
    /// ```
    /// # use stud_sdk::{host::metrics::TokenDelta, testing::FakeHost};
    /// FakeHost::new().push_tokens(&TokenDelta { delta: "Hi".into(), ..TokenDelta::default() });
    /// ```
    pub fn push_tokens(&self, delta: &TokenDelta) {
        let handlers = self.0.record().token_handlers.clone();
        for (_, handler) in handlers {
            handler(delta.clone());
        }
    }

    /// A context to call an author's function with directly.
    ///
    /// ```
    /// # use stud_sdk::testing::FakeHost;
    /// assert_eq!(FakeHost::new().cx().host().workspace().session_id()?, "session-1");
    /// # Ok::<(), stud_sdk::Error>(())
    /// ```
    pub fn cx(&self) -> Cx {
        let cancellation = self.0.record().tool_scope.token();
        Cx::new(Host::new(self.api()), cancellation, ids())
    }

    pub(crate) fn api(&self) -> Arc<dyn HostApi> {
        Arc::new(self.0.clone())
    }

    pub(crate) fn services(&self) -> &Services {
        &self.0
    }
}

/// What every call of a test is part of.
pub(crate) fn ids() -> CallIds {
    CallIds {
        session_id: Some(SESSION.to_owned()),
        correlation_id: Some(TURN.to_owned()),
        tool_call_id: Some("call-1".to_owned()),
    }
}

impl Default for FakeHost {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for FakeHost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FakeHost").finish_non_exhaustive()
    }
}
