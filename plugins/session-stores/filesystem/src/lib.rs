//! Keeps each session in a folder of its own, as files a person can read.
//!
//! `README.md` says what is on the disk and what happens after a crash; each module says why.
//!
//! *Written* means handed to the operating system: it survives the end of the process, however sudden. *Synced* means
//! on the disk: it survives the loss of power. A journal batch is as safe as it was asked to be when the call returns,
//! and a snapshot is always synced.
#![forbid(unsafe_code)]

mod checksum;
mod failure;
mod disk;
mod folder;
mod pretty;
mod line;
mod lines;
mod tail;
mod pages;
mod lock;
mod anchor;
mod journal;
mod snapshot;
mod session;
mod store;
mod options;
mod notice;

use std::sync::Arc;

use stud_sdk::session_store::{
    JournalBatch, JournalPage, Page, SessionStore, Stored, session_store,
};
use stud_sdk::{Cx, Host, Result};

use disk::RealDisk;
use journal::Cut;
use notice::JournalTornTail;
use options::Options;
use store::Store;

/// What this store is called in everything it writes.
const STORE_ID: &str = "filesystem-session-store";

/// Keeps each session in a folder of its own.
#[session_store(
    id = "filesystem-session-store",
    title = "Filesystem session store",
    store_id = "filesystem-session-store",
    journaling,
    snapshot_bytes_limit = 8_388_608,
    concurrent_readers,
    removal,
    config = Options,
    events(JournalTornTail),
    init = FilesystemStore::new,
    deactivate = FilesystemStore::sync,
    dispose = FilesystemStore::close
)]
struct FilesystemStore {
    store: Store,
}

impl FilesystemStore {
    /// Touches nothing: a stud that only lists its plugins must not leave folders behind.
    fn new(host: Host, options: Options) -> Result<Self> {
        let root = options.root(&host)?;
        Ok(Self {
            store: Store::new(Arc::new(RealDisk), root),
        })
    }

    fn sync(&self) -> Result<()> {
        self.store.sync()
    }

    fn close(&self) {
        self.store.close();
    }
}

impl SessionStore for FilesystemStore {
    async fn read(&self, session_id: &str, _cx: &Cx) -> Result<Stored> {
        self.store.read(session_id)
    }

    async fn write(&self, stored: Stored, cx: &Cx) -> Result<()> {
        let (done, cut) = self.store.write(&stored);
        tell(&stored.manifest.session_id, cut, cx).await;
        done
    }

    async fn list(&self, _cx: &Cx) -> Result<Vec<String>> {
        self.store.list()
    }

    async fn append(&self, session_id: &str, batch: JournalBatch, cx: &Cx) -> Result<()> {
        let (done, cut) = self.store.append(session_id, &batch);
        tell(session_id, cut, cx).await;
        done
    }

    async fn read_journal(&self, session_id: &str, page: Page, _cx: &Cx) -> Result<JournalPage> {
        self.store.read_journal(session_id, page)
    }

    async fn remove(&self, session_id: &str, _cx: &Cx) -> Result<()> {
        self.store.remove(session_id)
    }
}

/// Tells what was cut off a journal. What a snapshot covers was no torn tail; reading the snapshot tells of that.
async fn tell(session_id: &str, cut: Option<Cut>, cx: &Cx) {
    if let Some(cut) = cut.filter(|cut| !cut.is_covered) {
        JournalTornTail::of(session_id, &cut).tell(cx).await;
    }
}

#[cfg(test)]
mod tests;
