//! Where sessions are kept: the active session store, or memory.

use std::collections::BTreeMap;
use std::sync::Arc;

use stud_abi::CallContext;
use stud_contract_meta::{Error, Result};
use stud_contract_session_store::{JournalBatch, JournalPage, JournalRecord, Page, Stored};
use stud_diagnostics::codes;

use crate::activate::{Active, Running};
use crate::executor::{CodeOrigin, block_on};
use crate::sync::{Mutex, lock};
use crate::validate::Members;

/// Keeps sessions. Its calls block, and are made where that does no harm.
pub trait Store: Send + Sync {
    /// What it calls itself in everything it writes.
    fn store_id(&self) -> &str;

    /// Whether it keeps a journal between snapshots.
    fn journals(&self) -> bool;

    /// Whether adding records never waits for anything, so that any thread may do it. Such a store has no disk, so
    /// there is nothing to be made safe later either.
    fn appends_at_once(&self) -> bool {
        false
    }

    /// Whether its calls are known to return, so that the thread that adds records may make them itself.
    fn is_ours(&self) -> bool {
        self.appends_at_once()
    }

    /// Adds records to a session's journal, all or none. No records and `synced` makes sure of those before.
    fn append(&self, session_id: &str, batch: &JournalBatch) -> Result<()>;

    /// Replaces a session's snapshot.
    fn write(&self, stored: &Stored) -> Result<()>;

    /// Reads a session's snapshot.
    fn read(&self, session_id: &str) -> Result<Stored>;

    /// Reads a part of a session's journal.
    fn read_journal(&self, session_id: &str, page: Page) -> Result<JournalPage>;

    /// The sessions there are.
    fn list(&self) -> Result<Vec<String>>;

    /// Removes a session for good. `ExtensionHost/NotImplemented` from a store that does not.
    fn remove(&self, session_id: &str) -> Result<()> {
        Err(no_removal(self.store_id()).with("sessionId", session_id))
    }
}

/// A store that keeps every session.
fn no_removal(store_id: &str) -> Error {
    let code = &codes::NOT_IMPLEMENTED;
    let message = format!("the store `{store_id}` does not remove sessions");
    Error::new(code.class, code.name, message).with("storeId", store_id)
}

/// A store that is a plugin.
#[derive(Debug)]
pub struct PluginStore {
    plugin: Arc<Active>,
    store_id: String,
    journals: bool,
    removes: bool,
}

impl PluginStore {
    /// The store behind a plugin, if it is one.
    pub fn of(plugin: &Arc<Active>) -> Option<Self> {
        let Members::SessionStore(members) = &*plugin.identity().members else {
            return None;
        };
        Some(Self {
            plugin: plugin.clone(),
            store_id: members.store_id.clone(),
            journals: members.capabilities.journaling,
            removes: members.capabilities.removal,
        })
    }

    fn call<T: serde::de::DeserializeOwned>(
        &self,
        call: &str,
        session_id: &str,
        payload: String,
    ) -> Result<T> {
        let Running::SessionStore(instance) = self.plugin.running() else {
            return Err(self.plugin.lacks(call));
        };
        let cx = CallContext::detached();
        let _entered = self.plugin.call_span(call).entered();
        let reply = match call {
            "read" => block_on(instance.read(session_id, payload, cx)),
            "write" => block_on(instance.write(session_id, payload, cx)),
            "list" => block_on(instance.list(session_id, payload, cx)),
            "append" => block_on(instance.append(session_id, payload, cx)),
            "remove" => block_on(instance.remove(session_id, payload, cx)),
            _ => block_on(instance.read_journal(session_id, payload, cx)),
        };
        self.plugin.read(call, reply)
    }
}

impl Store for PluginStore {
    fn store_id(&self) -> &str {
        &self.store_id
    }

    fn journals(&self) -> bool {
        self.journals
    }

    fn is_ours(&self) -> bool {
        self.plugin.identity().code_origin() == CodeOrigin::Bundled
    }

    fn append(&self, session_id: &str, batch: &JournalBatch) -> Result<()> {
        self.call("append", session_id, json(batch)?)
    }

    fn write(&self, stored: &Stored) -> Result<()> {
        self.call("write", &stored.manifest.session_id, json(stored)?)
    }

    fn read(&self, session_id: &str) -> Result<Stored> {
        self.call("read", session_id, "null".to_owned())
    }

    fn read_journal(&self, session_id: &str, page: Page) -> Result<JournalPage> {
        self.call("readJournal", session_id, json(&page)?)
    }

    fn list(&self) -> Result<Vec<String>> {
        self.call("list", "", "null".to_owned())
    }

    fn remove(&self, session_id: &str) -> Result<()> {
        if !self.removes {
            return Err(no_removal(&self.store_id).with("sessionId", session_id));
        }
        self.call("remove", session_id, "null".to_owned())
    }
}

/// The active one among the stores that run.
pub fn active(stores: &[Arc<Active>]) -> Option<Arc<dyn Store>> {
    let active = stores
        .iter()
        .find(|store| store.identity().life.word() == "active");
    let store = active.and_then(PluginStore::of)?;
    Some(if store.journals() {
        Arc::new(store)
    } else {
        Arc::new(Snapshots::new(store))
    })
}

fn json(value: &impl serde::Serialize) -> Result<String> {
    serde_json::to_string(value).map_err(|error| unavailable(&error.to_string()))
}

/// `Session/StoreUnavailable`: the store cannot do it now.
pub(crate) fn unavailable(why: &str) -> Error {
    let code = &codes::STORE_UNAVAILABLE;
    Error::new(
        code.class,
        code.name,
        format!("the session store failed: {why}"),
    )
}

/// A store that forgets when the process ends, for sessions that no plugin keeps.
#[derive(Debug, Default)]
pub struct MemoryStore {
    sessions: Mutex<BTreeMap<String, StoredRecords>>,
}

#[derive(Debug, Default)]
struct StoredRecords {
    snapshot: Option<Stored>,
    journal: Vec<JournalRecord>,
}

impl Store for MemoryStore {
    fn store_id(&self) -> &'static str {
        "memory"
    }

    fn journals(&self) -> bool {
        true
    }

    fn appends_at_once(&self) -> bool {
        true
    }

    fn append(&self, session_id: &str, batch: &JournalBatch) -> Result<()> {
        let mut sessions = lock(&self.sessions);
        let kept = sessions.entry(session_id.to_owned()).or_default();
        kept.journal.extend_from_slice(&batch.records);
        Ok(())
    }

    fn write(&self, stored: &Stored) -> Result<()> {
        let mut sessions = lock(&self.sessions);
        let kept = sessions
            .entry(stored.manifest.session_id.clone())
            .or_default();
        kept.snapshot = Some(stored.clone());
        Ok(())
    }

    fn read(&self, session_id: &str) -> Result<Stored> {
        let sessions = lock(&self.sessions);
        let snapshot = sessions
            .get(session_id)
            .and_then(|kept| kept.snapshot.clone());
        snapshot
            .ok_or_else(|| unavailable("there is no such session").with("sessionId", session_id))
    }

    fn read_journal(&self, session_id: &str, page: Page) -> Result<JournalPage> {
        let sessions = lock(&self.sessions);
        let after = page.after_seq.unwrap_or(0);
        let limit = usize::try_from(page.limit.unwrap_or(1000)).unwrap_or(usize::MAX);
        let journal = sessions
            .get(session_id)
            .map_or(&[][..], |kept| &kept.journal);
        let start = journal.partition_point(|record| record.seq <= after);
        let rest = &journal[start..];
        let records = rest[..limit.min(rest.len())].to_vec();
        let next_after_seq = records
            .last()
            .filter(|_| records.len() < rest.len())
            .map(|record| record.seq);
        Ok(JournalPage {
            records,
            next_after_seq,
        })
    }

    fn list(&self) -> Result<Vec<String>> {
        Ok(lock(&self.sessions).keys().cloned().collect())
    }

    fn remove(&self, session_id: &str) -> Result<()> {
        lock(&self.sessions).remove(session_id);
        Ok(())
    }
}

/// A store that keeps snapshots only. Between two of them the journal is in memory.
#[derive(Debug)]
pub struct Snapshots {
    store: PluginStore,
    journal: MemoryStore,
}

impl Snapshots {
    /// A store without a journal.
    pub fn new(store: PluginStore) -> Self {
        Self {
            store,
            journal: MemoryStore::default(),
        }
    }
}

impl Store for Snapshots {
    fn store_id(&self) -> &str {
        self.store.store_id()
    }

    fn journals(&self) -> bool {
        false
    }

    fn appends_at_once(&self) -> bool {
        self.journal.appends_at_once()
    }

    fn append(&self, session_id: &str, batch: &JournalBatch) -> Result<()> {
        self.journal.append(session_id, batch)
    }

    fn write(&self, stored: &Stored) -> Result<()> {
        self.store.write(stored)
    }

    fn read(&self, session_id: &str) -> Result<Stored> {
        self.store.read(session_id)
    }

    fn read_journal(&self, session_id: &str, page: Page) -> Result<JournalPage> {
        self.journal.read_journal(session_id, page)
    }

    fn list(&self) -> Result<Vec<String>> {
        self.store.list()
    }

    fn remove(&self, session_id: &str) -> Result<()> {
        self.journal.remove(session_id)?;
        self.store.remove(session_id)
    }
}
