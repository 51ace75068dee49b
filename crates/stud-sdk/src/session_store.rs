//! Session stores: durable storage of sessions.
//!
//! ```
//! use std::collections::BTreeMap;
//! use std::sync::{Mutex, MutexGuard, PoisonError};
//!
//! use stud_sdk::prelude::*;
//! use stud_sdk::session_store::Stored;
//!
//! /// Keeps sessions as long as the process lives.
//! #[session_store(store_id = "memory")]
//! #[derive(Default)]
//! struct Memory(Mutex<BTreeMap<String, Stored>>);
//!
//! impl Memory {
//!     fn sessions(&self) -> MutexGuard<'_, BTreeMap<String, Stored>> {
//!         self.0.lock().unwrap_or_else(PoisonError::into_inner)
//!     }
//! }
//!
//! impl SessionStore for Memory {
//!     async fn read(&self, session_id: &str, _cx: &Cx) -> Result<Stored> {
//!         let found = self.sessions().get(session_id).cloned();
//!         found.ok_or_else(|| Error::new(Class::Session, "StoreUnavailable", "there is no such session"))
//!     }
//!
//!     async fn write(&self, stored: Stored, _cx: &Cx) -> Result<()> {
//!         let id = stored.manifest.session_id.clone();
//!         self.sessions().insert(id, stored);
//!         Ok(())
//!     }
//!
//!     async fn list(&self, _cx: &Cx) -> Result<Vec<String>> {
//!         Ok(self.sessions().keys().cloned().collect())
//!     }
//! }
//! ```

pub use stud_contract_session_store::{
    Damage, DamagedPart, Durability, JournalBatch, JournalPage, JournalRecord, SessionManifest,
    SessionStore, SlotBlob, SmState, Stored,
};
pub use stud_host_api::session::Page;
/// Makes a struct that implements [`SessionStore`] a session store.
///
/// Besides [what every attribute takes](crate#arguments-every-attribute-takes):
///
/// | Argument | Meaning | When left out |
/// |---|---|---|
/// | `store_id = "memory"` | what it is called in everything it writes; never changed | the id |
/// | `journaling` | it has `append` and `read_journal` | it has not |
/// | `snapshot_bytes_limit = 1000000` | how large a snapshot may be | 64 MiB |
/// | `large_slot_streaming` | a state slot may be larger than one message | it may not |
/// | `concurrent_readers` | others may read while one writes | they may not |
/// | `removal` | it has `remove` | it has not |
///
/// ```
/// use stud_sdk::prelude::*;
/// use stud_sdk::session_store::Stored;
///
/// /// Forgets everything.
/// #[session_store(snapshot_bytes_limit = 1_000_000)]
/// struct Forgetful;
///
/// impl SessionStore for Forgetful {
///     async fn read(&self, _session_id: &str, _cx: &Cx) -> Result<Stored> {
///         Err(Error::new(Class::Session, "StoreUnavailable", "forgotten"))
///     }
///
///     async fn write(&self, _stored: Stored, _cx: &Cx) -> Result<()> {
///         Ok(())
///     }
///
///     async fn list(&self, _cx: &Cx) -> Result<Vec<String>> {
///         Ok(vec![])
///     }
/// }
/// ```
///
/// With a journal:
///
/// ```
/// use std::sync::{Mutex, PoisonError};
///
/// use stud_sdk::prelude::*;
/// use stud_sdk::session_store::{JournalBatch, JournalPage, JournalRecord, Page, Stored};
///
/// /// Keeps the journal of one session, and no snapshot.
/// #[session_store(journaling)]
/// #[derive(Default)]
/// struct JournalOnly(Mutex<Vec<JournalRecord>>);
///
/// impl SessionStore for JournalOnly {
///     async fn read(&self, _session_id: &str, _cx: &Cx) -> Result<Stored> {
///         Err(Error::new(Class::Session, "StoreUnavailable", "there are no snapshots"))
///     }
///
///     async fn write(&self, _stored: Stored, _cx: &Cx) -> Result<()> {
///         Ok(())
///     }
///
///     async fn list(&self, _cx: &Cx) -> Result<Vec<String>> {
///         Ok(vec![])
///     }
///
///     async fn append(&self, _session_id: &str, batch: JournalBatch, _cx: &Cx) -> Result<()> {
///         let mut records = self.0.lock().unwrap_or_else(PoisonError::into_inner);
///         records.extend(batch.records);
///         Ok(())
///     }
///
///     async fn read_journal(&self, _session_id: &str, page: Page, _cx: &Cx) -> Result<JournalPage> {
///         let records = self.0.lock().unwrap_or_else(PoisonError::into_inner);
///         let after = page.after_seq.unwrap_or(0);
///         let records = records.iter().filter(|record| record.seq > after).cloned().collect();
///         Ok(JournalPage { records, next_after_seq: None })
///     }
/// }
/// ```
pub use stud_sdk_macros::session_store;

pub use crate::{Cx, CxExt, Error, ErrorExt, Result};
