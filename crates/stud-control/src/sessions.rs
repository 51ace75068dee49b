//! The sessions a receiver can reach.

use std::sync::{Arc, Weak};

use serde_json::Value;
use stud_contract_meta::{Error, Result};
use stud_core::launch::Reloader;
use stud_core::session::Session;
use stud_core::store::Store;
use stud_diagnostics::codes;

use crate::attach::ScreenHost;

/// The agent that every session has: the one that answers the person.
pub const MAIN_AGENT: &str = "main";

/// What there is behind a session id.
pub enum Found {
    /// The session is open in this process, or was and is still known.
    Live(Arc<Session>),
    /// The session is kept in this store and is not open in this process.
    Stored(Arc<dyn Store>),
    /// There is no such session.
    Unknown,
}

/// The sessions of a process. `stud serve` has many of them; every other process has one.
pub trait Sessions: Send + Sync {
    /// What there is behind an id.
    fn find(&self, session_id: &str) -> Found;

    /// Every session that is open here.
    fn live(&self) -> Vec<Arc<Session>>;

    /// Loads what is now in the place of a session's plugin, when no call of it is running.
    fn reload(&self, session_id: &str, ext_id: &str) -> Result<Value>;

    /// What a screen of another process uses of a session, which is opened if it is kept and does not run. A process
    /// whose only session has a screen of its own has no place for another one.
    fn screen(&self, session_id: &str, ext_id: &str) -> Result<ScreenHost> {
        let code = &codes::CONTROL_UNAVAILABLE;
        let message = format!("the process of the session `{session_id}` takes no other screen");
        let error = Error::new(code.class, code.name, message).with("sessionId", session_id);
        Err(error.with("extId", ext_id))
    }
}

/// The only session of a process.
pub struct OneSession {
    session: Weak<Session>,
    session_id: String,
    store: Arc<dyn Store>,
    reloader: Reloader,
}

impl OneSession {
    /// The session of a process that runs no other.
    pub fn new(session: &Arc<Session>, reloader: Reloader) -> Self {
        Self {
            session: Arc::downgrade(session),
            session_id: session.id().to_owned(),
            store: session.store().clone(),
            reloader,
        }
    }
}

impl Sessions for OneSession {
    fn find(&self, session_id: &str) -> Found {
        match self.session.upgrade() {
            // Its store ends with it, and what it accepted is in memory too.
            Some(session) if session_id == self.session_id => Found::Live(session),
            _ => stored(session_id, &self.store),
        }
    }

    fn live(&self) -> Vec<Arc<Session>> {
        let session = self.session.upgrade();
        session
            .filter(|session| session.is_live())
            .into_iter()
            .collect()
    }

    fn reload(&self, session_id: &str, ext_id: &str) -> Result<Value> {
        if session_id != self.session_id {
            return Err(no_such_session(session_id));
        }
        self.reloader.reload(ext_id)
    }
}

/// A session that is not open, if the store has it.
pub(crate) fn stored(session_id: &str, store: &Arc<dyn Store>) -> Found {
    let known = store.list().unwrap_or_default();
    if known.iter().any(|id| id == session_id) {
        Found::Stored(store.clone())
    } else {
        Found::Unknown
    }
}

/// `Session/ControlUnavailable`: the process does not have the session.
pub(crate) fn no_such_session(session_id: &str) -> Error {
    let code = &codes::CONTROL_UNAVAILABLE;
    let message = format!("the session `{session_id}` is not open in this process");
    Error::new(code.class, code.name, message).with("sessionId", session_id)
}

impl std::fmt::Debug for Found {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Live(_) => "Live",
            Self::Stored(_) => "Stored",
            Self::Unknown => "Unknown",
        })
    }
}

impl std::fmt::Debug for OneSession {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("OneSession")
            .field("session_id", &self.session_id)
            .finish_non_exhaustive()
    }
}
