//! The trait a session store implements.

use std::future::Future;

use stud_contract_meta::{Error, Result};
use stud_diagnostics::codes;
use stud_host_api::Cx;
use stud_host_api::session::Page;

use crate::journal::{JournalBatch, JournalPage};
use crate::session::Stored;

/// Keeps sessions.
///
/// The store that writes a session is the one that reads it.
///
/// # Obligations
///
/// - **All or nothing.** A write that fails, in whatever way, leaves the session as it was before. Write beside, then
///   rename; or use a transaction.
/// - **Give back what you got.** Messages, slots and records are opaque, and read back equal.
/// - **Read only your own.** A manifest with another `storeId` is refused, not converted.
/// - **One writer.** Two processes must not write one session: take a lock, and say that the store is unavailable when
///   it is held.
/// - **Forget nothing.** Sessions do not expire by themselves.
/// - **No secrets.** A store is given no secrets, and it adds none.
///
/// # Errors
///
/// All of class `Session`. The codes core acts on:
///
/// | Code | When |
/// |---|---|
/// | `StoreUnavailable` | any operation, when the place is out of reach, full, locked, or has no such session |
/// | `ManifestDrift` | `read`, when what is stored is not a [`SessionManifest`](crate::SessionManifest) |
/// | `ResumeMismatch` | `read`, when another store wrote it |
///
/// After `StoreUnavailable` from a write, core tries once more and then stops the turn with everything still in memory.
///
/// # Example
///
/// ```
/// use std::collections::BTreeMap;
/// use std::sync::Mutex;
///
/// use stud_contract_meta::{Error, Result};
/// use stud_contract_session_store::{SessionStore, Stored};
/// use stud_diagnostics::Class;
/// use stud_host_api::Cx;
///
/// /// Keeps sessions for as long as the process lives.
/// #[derive(Default)]
/// struct Memory(Mutex<BTreeMap<String, Stored>>);
///
/// impl SessionStore for Memory {
///     async fn read(&self, session_id: &str, _cx: &Cx) -> Result<Stored> {
///         let sessions = self.0.lock().unwrap();
///         let stored = sessions.get(session_id).cloned();
///         stored.ok_or_else(|| {
///             Error::new(Class::Session, "StoreUnavailable", "no such session").with("sessionId", session_id)
///         })
///     }
///
///     async fn write(&self, stored: Stored, _cx: &Cx) -> Result<()> {
///         self.0.lock().unwrap().insert(stored.manifest.session_id.clone(), stored);
///         Ok(())
///     }
///
///     async fn list(&self, _cx: &Cx) -> Result<Vec<String>> {
///         Ok(self.0.lock().unwrap().keys().cloned().collect())
///     }
/// }
/// ```
pub trait SessionStore: Send + Sync + 'static {
    /// Reads a session, as last written.
    fn read(&self, session_id: &str, cx: &Cx) -> impl Future<Output = Result<Stored>> + Send;

    /// Replaces a session as a whole. When this returns it survives the loss of power.
    ///
    /// The journal stays as it is.
    fn write(&self, stored: Stored, cx: &Cx) -> impl Future<Output = Result<()>> + Send;

    /// The ids of all sessions, in byte order; none is no error.
    fn list(&self, cx: &Cx) -> impl Future<Output = Result<Vec<String>>> + Send;

    /// Adds records to the journal of a session, which need not have been written yet.
    ///
    /// Called only when the manifest claims `journaling`; by default it is `ExtensionHost/NotImplemented`.
    /// A batch in which a record is not above the last one stored is refused with class `Session`, and nothing of it
    /// is kept: another writer was there first.
    fn append(
        &self,
        session_id: &str,
        batch: JournalBatch,
        cx: &Cx,
    ) -> impl Future<Output = Result<()>> + Send {
        let _ = (session_id, batch, cx);
        async { Err(no_journal("append")) }
    }

    /// Reads one page of the journal: records above `afterSeq`, at most `limit`. A session without any has an empty
    /// one.
    ///
    /// Called only when the manifest claims `journaling`; by default it is `ExtensionHost/NotImplemented`.
    /// A store may give fewer records than it was asked for, and says in `nextAfterSeq` when there are more.
    fn read_journal(
        &self,
        session_id: &str,
        page: Page,
        cx: &Cx,
    ) -> impl Future<Output = Result<JournalPage>> + Send {
        let _ = (session_id, page, cx);
        async { Err(no_journal("readJournal")) }
    }

    /// Removes a session for good: its snapshot, its journal and everything else the store keeps of it. When this
    /// returns it is in no list, and the loss of power does not bring it back.
    ///
    /// Called only when the manifest claims `removal`, and only for a session that runs in no process; by default it
    /// is `ExtensionHost/NotImplemented`. What is interrupted leaves the session whole or gone.
    fn remove(&self, session_id: &str, cx: &Cx) -> impl Future<Output = Result<()>> + Send {
        let _ = (session_id, cx);
        async { Err(no_removal()) }
    }
}

fn no_removal() -> Error {
    let code = &codes::NOT_IMPLEMENTED;
    Error::new(code.class, code.name, "this store does not remove sessions")
}

fn no_journal(operation: &str) -> Error {
    Error::new(
        codes::NOT_IMPLEMENTED.class,
        codes::NOT_IMPLEMENTED.name,
        "this store keeps no journal",
    )
    .with("operation", operation)
}

#[cfg(test)]
mod tests;
