//! The control socket of the sessions that are served.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::Value;
use stud_contract_meta::{Error, Result as CoreResult};
use stud_control::{
    ControlServer, Found, Policy, Receiver, RunDir, ScreenHost, Sessions, SocketName,
};
use stud_core::environment::Environment;
use stud_core::identity::Identity;
use stud_core::limits::Limits;
use stud_core::platform::Places;
use stud_core::session::Session;
use stud_core::startup;
use stud_core::store::Store;
use stud_core::stored_sessions::StoredSessions;
use stud_diagnostics::{Diagnostic, codes};
use stud_gateway::{Hosting, Listening};
use stud_host_api::wire;

use crate::bundled;

/// Listens for other processes of this user, for as long as what this gives is kept.
pub(super) fn listen(
    policy: Policy,
    listening: &Listening,
    places: &Places,
    state_dir: &Path,
) -> Result<Option<ControlServer>, Diagnostic> {
    if !policy.enabled {
        return Ok(None);
    }
    let sessions = ServedSessions {
        hosting: listening.hosting.clone(),
        stored: Mutex::default(),
        places: places.clone(),
    };
    let receiver = Receiver::new(policy, Arc::new(sessions), places.global_root.clone());
    ControlServer::start(receiver, &RunDir::of(state_dir), SocketName::Serve).map(Some)
}

/// The sessions of the server, and those that are kept.
struct ServedSessions {
    hosting: Arc<Hosting>,
    /// The store, once a session is asked for that does not run.
    stored: Mutex<Option<StoredSessions>>,
    places: Places,
}

impl ServedSessions {
    fn store(&self) -> Option<Arc<dyn Store>> {
        let mut stored = self.stored.lock().unwrap_or_else(PoisonError::into_inner);
        if stored.is_none() {
            *stored = self.hosting.store().ok();
        }
        stored.as_ref().map(|stored| stored.store().clone())
    }
}

impl Sessions for ServedSessions {
    fn find(&self, session_id: &str) -> Found {
        if let Some(session) = self.hosting.session(session_id) {
            return Found::Live(session);
        }
        let Some(store) = self.store() else {
            return Found::Unknown;
        };
        let known = store.list().unwrap_or_default();
        if known.iter().any(|id| id == session_id) {
            Found::Stored(store)
        } else {
            Found::Unknown
        }
    }

    fn live(&self) -> Vec<Arc<Session>> {
        let running = self.hosting.running().into_iter();
        running
            .filter_map(|id| self.hosting.session(&id))
            .filter(|session| session.is_live())
            .collect()
    }

    fn reload(&self, session_id: &str, ext_id: &str) -> CoreResult<Value> {
        let reloaded = self.hosting.reload(session_id, ext_id);
        reloaded.unwrap_or_else(|| {
            let code = &codes::CONTROL_UNAVAILABLE;
            let message = format!("the session `{session_id}` is not open in this process");
            Err(Error::new(code.class, code.name, message).with("sessionId", session_id))
        })
    }

    fn screen(&self, session_id: &str, ext_id: &str) -> CoreResult<ScreenHost> {
        let Some(screen) = self.terminal_screen(ext_id) else {
            let message = format!("`{ext_id}` is not a screen that this server knows");
            return Err(unavailable(message).with("extId", ext_id));
        };
        let opened = self.hosting.host_elsewhere(session_id, &screen);
        let (session, host) = opened.map_err(unavailable)?;
        if session.prompts().has(ext_id) {
            let message = format!("another terminal shows the session `{session_id}` already");
            return Err(unavailable(message).with("sessionId", session_id));
        }
        Ok(ScreenHost {
            session,
            ext_id: ext_id.to_owned(),
            host: wire::serve(host),
        })
    }
}

impl ServedSessions {
    /// A screen for terminals. The server has none itself, and its sessions know the one that this program carries.
    fn terminal_screen(&self, ext_id: &str) -> Option<Arc<Identity>> {
        let known = bundled::FOR_TERMINALS.contains(&ext_id);
        let ground = Environment::survey(self.places.clone(), bundled::plugins()).ok();
        let plugins = ground
            .filter(|_| known)
            .map(|ground| startup::prepare(&ground, &Limits::default()));
        plugins.and_then(|plugins| plugins.identity_elsewhere(ext_id))
    }
}

fn unavailable(message: String) -> Error {
    let code = &codes::CONTROL_UNAVAILABLE;
    Error::new(code.class, code.name, message)
}
