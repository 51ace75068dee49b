//! One session as this instance has it: the right to write it, its journal, and what is known for reading it.

use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use stud_sdk::session_store::{Durability, JournalBatch, JournalPage, Page, Stored};
use stud_sdk::{Error, Result};

use crate::disk::{Access, Disk, create_dirs, sync_way};
use crate::failure::{At as _, Reason, unavailable};
use crate::folder::Folder;
use crate::journal::{Cut, Failed, Journal, unfit_at};
use crate::lock::Lock;
use crate::pages::Pages;
use crate::snapshot;

/// One session.
pub(crate) struct Session {
    folder: Folder,
    writing: Mutex<Writing>,
    /// Apart from the writer, so that a writer does not wait for a reader of pages.
    pages: Mutex<Pages>,
}

/// What is needed to write; taken when it is first needed, and kept.
#[derive(Default)]
struct Writing {
    journal: Option<Journal>,
    /// Why nothing more may be written.
    in_doubt: Option<Error>,
    /// Last, so that it is given back last.
    lock: Option<Lock>,
}

impl Session {
    pub(crate) fn new(folder: Folder) -> Self {
        let pages = Pages::new(folder.key());
        Self {
            folder,
            writing: Mutex::default(),
            pages: Mutex::new(pages),
        }
    }

    /// Replaces the snapshot; says what was cut off the journal, if this opened it.
    pub(crate) fn write(&self, disk: &dyn Disk, stored: &Stored) -> (Result<()>, Option<Cut>) {
        let mut cut = None;
        let done = self.try_write(disk, stored, &mut cut);
        (done, cut)
    }

    fn try_write(&self, disk: &dyn Disk, stored: &Stored, cut: &mut Option<Cut>) -> Result<()> {
        let mut writing = self.writing();
        writing.begin(disk, &self.folder)?;
        let anchor = match writing.known_journal(disk, &self.folder, cut)? {
            // What the snapshot covers survives whatever the snapshot survives.
            Some(journal) => journal.anchor().map(Some),
            None => Ok(None),
        };
        let written = anchor.and_then(|anchor| snapshot::write(disk, &self.folder, stored, anchor));
        writing.finish(written)
    }

    /// Adds to the journal; says what was cut off it, if this opened it.
    pub(crate) fn append(
        &self,
        disk: &dyn Disk,
        batch: &JournalBatch,
    ) -> (Result<()>, Option<Cut>) {
        let mut cut = None;
        let done = self.try_append(disk, batch, &mut cut);
        (done, cut)
    }

    fn try_append(
        &self,
        disk: &dyn Disk,
        batch: &JournalBatch,
        cut: &mut Option<Cut>,
    ) -> Result<()> {
        let mut writing = self.writing();
        writing.check()?;
        if writing.journal.is_none()
            && batch.records.is_empty()
            && !self.has_doubtful(disk, batch)?
        {
            return Ok(());
        }
        writing.begin(disk, &self.folder)?;
        let journal = writing.journal(disk, &self.folder, cut)?;
        let appended = journal.append(batch);
        writing.finish(appended)
    }

    /// Whether records of another process are to be synced.
    fn has_doubtful(&self, disk: &dyn Disk, batch: &JournalBatch) -> Result<bool> {
        let path = self.folder.journal();
        Ok(batch.durability == Durability::Synced && disk.exists(&path).at("look for", &path)?)
    }

    /// Reads a page of the journal, without any lock of the session's.
    pub(crate) fn read_journal(&self, disk: &dyn Disk, page: Page) -> Result<JournalPage> {
        let path = self.folder.journal();
        let end = self.writing().journal.as_ref().map(Journal::end);
        let file = match disk.open(&path, Access::Read) {
            Ok(file) => file,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                return Ok(JournalPage::default());
            }
            Err(error) => return Err(error).at("open", &path),
        };
        let mut pages = self.pages.lock().unwrap_or_else(PoisonError::into_inner);
        pages
            .read(&*file, end, disk.unsynced_bytes(), page)
            .map_err(|unfit| unfit_at(unfit, &path))
    }

    /// Removes every file of the session, and whatever else the store keeps of it. The journal alone is a whole session,
    /// so it goes last.
    pub(crate) fn remove(&self, disk: &dyn Disk) -> Result<()> {
        let path = self.folder.path();
        if !disk.exists(path).at("look for", path)? {
            return Ok(());
        }
        let mut writing = self.writing();
        writing.begin(disk, &self.folder)?;
        writing.journal = None;
        let state = self.folder.state();
        let journal = self.folder.journal();
        remove(disk, &self.folder.manifest())?;
        if disk.exists(&state).at("look for", &state)? {
            for name in disk.names(&state).at("look into", &state)? {
                remove(disk, &state.join(name))?;
            }
            disk.remove_dir(&state).at("remove", &state)?;
        }
        for number in 1.. {
            let torn = self.folder.torn(number);
            if !disk.exists(&torn).at("look for", &torn)? {
                break;
            }
            remove(disk, &torn)?;
        }
        disk.sync_dir(path).at("sync", path)?;
        remove(disk, &journal)?;
        remove(disk, &self.folder.lock())?;
        disk.sync_dir(path).at("sync", path)?;
        writing.lock = None;
        // What core keeps there goes with core.
        let _ = disk.remove_dir(path);
        Ok(())
    }

    /// Makes sure of all that was written.
    pub(crate) fn sync(&self) -> Result<()> {
        let mut writing = self.writing();
        writing.check()?;
        let Some(journal) = writing.journal.as_mut() else {
            return Ok(());
        };
        let synced = journal.sync();
        writing.finish(synced)
    }

    fn writing(&self) -> MutexGuard<'_, Writing> {
        self.writing.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Removes a file that may be gone already.
fn remove(disk: &dyn Disk, path: &Path) -> Result<()> {
    match disk.remove(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
        removed => removed.at("remove", path),
    }
}

impl Writing {
    fn check(&self) -> Result<()> {
        match &self.in_doubt {
            Some(cause) => Err(unavailable(
                Reason::Poisoned,
                "an earlier write failed, so the state of the disk is unknown; the session refuses writes until it is opened again",
            )
            .with("cause", cause.message())),
            None => Ok(()),
        }
    }

    /// Makes the folder and takes the lock.
    fn begin(&mut self, disk: &dyn Disk, folder: &Folder) -> Result<()> {
        self.check()?;
        if self.lock.is_some() {
            return Ok(());
        }
        let path = folder.path();
        create_dirs(disk, path).at("make", path)?;
        let lock = Lock::take(disk, &folder.lock())?;
        sync_way(disk, path).at("sync the way to", path)?;
        self.lock = Some(lock);
        Ok(())
    }

    fn journal(
        &mut self,
        disk: &dyn Disk,
        folder: &Folder,
        cut: &mut Option<Cut>,
    ) -> Result<&mut Journal> {
        let journal = match self.journal.take() {
            Some(journal) => journal,
            None => Journal::open(disk, folder, || snapshot::covered(disk, folder), cut)?,
        };
        Ok(self.journal.insert(journal))
    }

    /// The journal, if the session has one.
    fn known_journal(
        &mut self,
        disk: &dyn Disk,
        folder: &Folder,
        cut: &mut Option<Cut>,
    ) -> Result<Option<&mut Journal>> {
        let path = folder.journal();
        if self.journal.is_none() && !disk.exists(&path).at("look for", &path)? {
            return Ok(None);
        }
        self.journal(disk, folder, cut).map(Some)
    }

    fn finish(&mut self, done: Result<(), Failed>) -> Result<()> {
        done.map_err(|failed| match failed {
            Failed::Refused(error) => error,
            Failed::InDoubt(error) => {
                self.in_doubt = Some(error.clone());
                error
            }
        })
    }
}
