//! The sessions that are kept, reached from outside any: the active session store, brought up alone.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::json;
use stud_contract_meta::{Error, Kind};
use stud_diagnostics::{Diagnostic, Severity, codes};

use crate::audit::{self, Index, IndexEntry, bootstrap, bootstrap::Deed};
use crate::environment::Environment;
use crate::host::Hosts;
use crate::ids::{self, Among};
use crate::limits::Limits;
use crate::platform::Durability;
use crate::register::PluginRuntime;
use crate::session::transcript_file;
use crate::settings::Settings;
use crate::startup::{Started, prepare_stores};
use crate::store::{self, Store};

mod children;

pub use children::StoredChild;

/// The active session store, for as long as this lives.
pub struct StoredSessions {
    store: Arc<dyn Store>,
    started: Option<Started>,
    limits: Limits,
    global_root: PathBuf,
    settings: Settings,
}

impl StoredSessions {
    /// Brings up the store that is active in `ground`, and no other plugin.
    ///
    /// `Session/StoreUnavailable` if there is none; if one was refused, that is why.
    pub fn open(ground: &Environment, limits: &Limits) -> Result<Self, Diagnostic> {
        let means = PluginRuntime {
            hosts: Arc::new(Hosts::detached(ground)),
            limits: limits.clone(),
        };
        let started = prepare_stores(ground, limits).start(ground, &means, &mut ());
        let running: Vec<_> = started.registry.iter().cloned().collect();
        let Some(store) = store::active(&running) else {
            let why = refusal(&started);
            started.stop(limits);
            return Err(why);
        };
        Ok(Self {
            store,
            started: Some(started),
            limits: limits.clone(),
            global_root: ground.places.global_root.clone(),
            settings: ground.settings.clone(),
        })
    }

    /// The store.
    pub fn store(&self) -> &Arc<dyn Store> {
        &self.store
    }

    /// The session meant by an id or by the beginning of one.
    pub fn find(&self, word: &str) -> Result<String, Diagnostic> {
        let mut known = self.store.list().map_err(|error| {
            Diagnostic::error(&codes::STORE_UNAVAILABLE, error.message().to_owned())
                .help("`stud doctor` looks at the store")
        })?;
        known.sort_unstable();
        let among = Among {
            what: "session",
            listed_by: "stud sessions list",
        };
        ids::meant(word, &known, among).map(str::to_owned)
    }

    /// Removes a session for good: what the store keeps of it, and its audit trail. That it was removed, and the hash of
    /// its last audit record, are on record before.
    ///
    /// # Errors
    ///
    /// `Session/StoreUnavailable` for a session that runs in some process, and what the store says.
    pub fn remove(&self, session_id: &str) -> Result<(), Error> {
        if self.is_running(session_id) {
            let code = &codes::STORE_UNAVAILABLE;
            let message =
                format!("the session `{session_id}` is open in a process; close it first");
            return Err(Error::new(code.class, code.name, message).with("sessionId", session_id));
        }
        let folder = audit::folder(&self.global_root, session_id);
        let trail = audit::trail(&folder);
        let mut facts = json!({"sessionId": session_id, "storeId": self.store.store_id()});
        if let Ok(verified) = audit::verify(&trail) {
            facts["records"] = verified.records.into();
            facts["lastHash"] = verified.last_hash.into();
        }
        let deed = Deed {
            class: Some("SessionLifecycle"),
            ..Deed::new("SessionDeleted", facts)
        };
        bootstrap::note(&self.global_root, &[deed], Durability::Synced)?;
        // So that a removal by stud is told from one behind its back.
        Index::of(&self.global_root, &self.settings, &Arc::default())?
            .add(session_id, IndexEntry::Removed)?;
        self.store.remove(session_id)?;
        remove_trail(&folder).map_err(|error| {
            let code = &codes::AUDIT_TRAIL_UNAVAILABLE;
            let message = format!("the audit trail of `{session_id}` cannot be removed: {error}");
            Error::new(code.class, code.name, message).with("sessionId", session_id)
        })
    }

    /// The child sessions of a session, in the order in which they were opened.
    pub fn children(&self, session_id: &str) -> Result<Vec<StoredChild>, Diagnostic> {
        let trail = audit::trail(&audit::folder(&self.global_root, session_id));
        let children = children::read(&self.global_root, session_id);
        children.map_err(|broken| broken.diagnostic(&trail))
    }

    /// The process that has the session open now, if one has; 0 if its number is not known.
    pub fn holder(&self, session_id: &str) -> Option<u32> {
        audit::holder(&self.global_root, session_id)
    }

    /// Whether a process has the session open now.
    pub fn is_running(&self, session_id: &str) -> bool {
        self.holder(session_id).is_some()
    }
}

/// Why there is no store: the first that was refused, or that none is wanted.
fn refusal(started: &Started) -> Diagnostic {
    let stores = started
        .reports
        .iter()
        .filter(|report| report.kind == Some(Kind::SessionStore));
    let mut refusals = stores.flat_map(|report| &report.diagnostics);
    let refusal = refusals.find(|refusal| refusal.severity == Severity::Error);
    refusal.cloned().unwrap_or_else(|| {
        let message = "no session store is active, so no session is kept";
        Diagnostic::error(&codes::STORE_UNAVAILABLE, message)
            .help("`active.sessionStore` in settings.json names the one to use")
    })
}

/// Removes an audit folder and the transcripts of child sessions, and the session's own if nothing else is left in it.
fn remove_trail(folder: &Path) -> io::Result<()> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    if let Some(session) = folder.parent() {
        match fs::remove_dir_all(session.join(transcript_file::FOLDER)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        // A store may keep something beside it.
        let _ = fs::remove_dir(session);
    }
    Ok(())
}

impl Drop for StoredSessions {
    fn drop(&mut self) {
        if let Some(started) = self.started.take() {
            started.stop(&self.limits);
        }
    }
}

impl std::fmt::Debug for StoredSessions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("StoredSessions")
            .field("store", &self.store.store_id())
            .finish_non_exhaustive()
    }
}
