//! All sessions below one root.

use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use stud_sdk::session_store::{JournalBatch, JournalPage, Page, Stored};
use stud_sdk::{Error, Result};

use crate::disk::Disk;
use crate::failure::{At as _, Reason, unavailable};
use crate::folder::{self, Folder};
use crate::journal::{self, Cut};
use crate::session::Session;
use crate::snapshot;

/// The sessions below one root.
pub(crate) struct Store {
    disk: Arc<dyn Disk>,
    root: PathBuf,
    /// Those that were written, or whose journal was read; none once the store is closed.
    sessions: Mutex<Option<BTreeMap<PathBuf, Arc<Session>>>>,
}

impl Store {
    /// A store over a root that need not be there.
    pub(crate) fn new(disk: Arc<dyn Disk>, root: PathBuf) -> Self {
        Self {
            disk,
            root,
            sessions: Mutex::new(Some(BTreeMap::new())),
        }
    }

    /// Reads a snapshot.
    pub(crate) fn read(&self, session_id: &str) -> Result<Stored> {
        let folder = self.folder(session_id)?;
        snapshot::read(&*self.disk, &folder).map_err(of(session_id))
    }

    /// Replaces a snapshot; says what was cut off the journal, if this opened it.
    pub(crate) fn write(&self, stored: &Stored) -> (Result<()>, Option<Cut>) {
        let session_id = &stored.manifest.session_id;
        // Before anything touches the disk.
        let checked = snapshot::check(&stored.manifest, &self.root).map_err(of(session_id));
        match checked.and_then(|()| self.session(session_id)) {
            Ok(session) => {
                let (done, cut) = session.write(&*self.disk, stored);
                (done.map_err(of(session_id)), cut)
            }
            Err(error) => (Err(error), None),
        }
    }

    /// The ids of all sessions, in byte order.
    pub(crate) fn list(&self) -> Result<Vec<String>> {
        let names = match self.disk.names(&self.root) {
            Err(error) if error.kind() == ErrorKind::NotFound => Vec::new(),
            names => names.at("look into", &self.root)?,
        };
        let names = names.into_iter().filter_map(|name| name.into_string().ok());
        let mut ids: Vec<String> = names.filter(|name| self.is_session(name)).collect();
        ids.sort_unstable();
        Ok(ids)
    }

    /// Adds to a journal; says what was cut off it, if this opened it.
    pub(crate) fn append(
        &self,
        session_id: &str,
        batch: &JournalBatch,
    ) -> (Result<()>, Option<Cut>) {
        match self.session(session_id) {
            Ok(session) => {
                let (done, cut) = session.append(&*self.disk, batch);
                (done.map_err(of(session_id)), cut)
            }
            Err(error) => (Err(error), None),
        }
    }

    /// Reads a page of a journal.
    pub(crate) fn read_journal(&self, session_id: &str, page: Page) -> Result<JournalPage> {
        self.session(session_id)?
            .read_journal(&*self.disk, page)
            .map_err(of(session_id))
    }

    /// Removes a session. One that is not there is none already.
    pub(crate) fn remove(&self, session_id: &str) -> Result<()> {
        let folder = self.folder(session_id)?;
        let removed = self.session(session_id)?.remove(&*self.disk);
        if let Some(sessions) = self.sessions().as_mut() {
            sessions.remove(folder.path());
        }
        removed.map_err(of(session_id))
    }

    /// Makes sure of all that was written, and reports the first failure.
    pub(crate) fn sync(&self) -> Result<()> {
        let open: Vec<Arc<Session>> = self
            .sessions()
            .iter()
            .flat_map(BTreeMap::values)
            .cloned()
            .collect();
        let failures: Vec<Error> = open
            .iter()
            .filter_map(|session| session.sync().err())
            .collect();
        failures.into_iter().next().map_or(Ok(()), Err)
    }

    /// Gives back every lock.
    pub(crate) fn close(&self) {
        *self.sessions() = None;
    }

    /// Whether there is a snapshot or a journal with something in it below that name. A folder that cannot be looked into
    /// has neither. Without a whole first batch nothing was ever acknowledged, so no session began there.
    fn is_session(&self, name: &str) -> bool {
        let Ok(folder) = Folder::of(&self.root, name) else {
            return false;
        };
        let has = |path: PathBuf| self.disk.exists(&path).unwrap_or(false);
        folder::name(name) == Some(name)
            && (has(folder.manifest())
                || has(folder.state())
                || journal::is_begun(&*self.disk, &folder))
    }

    fn session(&self, session_id: &str) -> Result<Arc<Session>> {
        let folder = self.folder(session_id)?;
        let mut sessions = self.sessions();
        let Some(sessions) = sessions.as_mut() else {
            return Err(of(session_id)(unavailable(
                Reason::Closed,
                "the store has been closed",
            )));
        };
        let session = sessions
            .entry(folder.path().to_owned())
            .or_insert_with(|| Arc::new(Session::new(folder)));
        Ok(session.clone())
    }

    fn folder(&self, session_id: &str) -> Result<Folder> {
        Folder::of(&self.root, session_id).map_err(of(session_id))
    }

    fn sessions(&self) -> MutexGuard<'_, Option<BTreeMap<PathBuf, Arc<Session>>>> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Names the session in an error.
fn of(session_id: &str) -> impl Fn(Error) -> Error {
    move |error| error.with("sessionId", session_id)
}
