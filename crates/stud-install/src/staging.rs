//! The working folder of a root, its journal, and what is done after a process was killed.
//!
//! ```text
//! .install/lock            held by the process that changes the installation
//! .install/journal.json    what is being done; gone when it is done
//! .install/incoming/ID/    a new library that has not been moved into place
//! .install/held/ID.so      an update that waits until it is accepted
//! .install/previous/ID.so  the library that the last update replaced
//! .install/removed/ID/     the folder that the last removal took away
//! ```
//!
//! An operation is committed by one rename: of a library over the old one, of a new folder into place, or of a folder out
//! of it. The journal is written before and removed after; recovery looks at what is in place, and brings the lock file
//! into agreement with it.

use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use stud_config::platform::{self, Durability};
use stud_diagnostics::Diagnostic;
use stud_plugins::discover::LARGEST_LIBRARY;
use stud_plugins::plugin_check::TARGET;

use crate::lock_file::{Entry, LockFile};
use crate::refusal::unwritable;
use crate::source::sha256;

/// The working folder below a root. Discovery passes over names that begin with a dot.
const FOLDER: &str = ".install";

/// The working folder of one root, while this process alone may use it.
#[derive(Debug)]
pub(crate) struct Staging {
    root: PathBuf,
}

/// What is being done.
#[derive(Debug, Serialize, Deserialize)]
struct Journal {
    ext_id: String,
    /// The library, from the root.
    place: PathBuf,
    /// What the lock file says afterward; nothing if the plugin is removed.
    entry: Option<Entry>,
}

/// Runs `work` while no other process changes the installation below `root`.
///
/// What a killed process left behind is completed or dropped first.
pub(crate) fn exclusively<T>(
    root: &Path,
    work: impl FnOnce(&Staging) -> Result<T, Diagnostic>,
) -> Result<T, Diagnostic> {
    let lock = root.join(FOLDER).join("lock");
    let done = platform::alone(&lock, || {
        let staging = Staging::of(root);
        staging.recover()?;
        let done = work(&staging);
        staging.clear()?;
        done
    });
    done.unwrap_or_else(|error| Err(unwritable(&lock, &error)))
}

impl Staging {
    /// The folder of a root, to look at and not to change.
    pub(crate) fn of(root: &Path) -> Self {
        Self {
            root: root.to_owned(),
        }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.root.join(FOLDER).join(name)
    }

    pub(crate) fn held(&self, id: &str) -> PathBuf {
        self.path("held").join(library_name(id))
    }

    pub(crate) fn previous(&self, id: &str) -> PathBuf {
        self.path("previous").join(library_name(id))
    }

    pub(crate) fn removed(&self, id: &str) -> PathBuf {
        self.path("removed").join(id)
    }

    /// Writes a library, and its config if it has one, where it can be checked.
    pub(crate) fn stage(
        &self,
        id: &str,
        library: &[u8],
        config: Option<&Path>,
    ) -> Result<PathBuf, Diagnostic> {
        let folder = self.path("incoming").join(id);
        let staged = folder.join(library_name(id));
        write(&staged, library)?;
        if let Some(config) = config {
            let copy = folder.join("config.json");
            fs::copy(config, &copy).map_err(|error| unwritable(config, &error))?;
            sync(&copy).map_err(|error| unwritable(&copy, &error))?;
        }
        Ok(staged)
    }

    /// Keeps a library until its user accepts it.
    pub(crate) fn hold(&self, id: &str, library: &[u8]) -> Result<(), Diagnostic> {
        write(&self.held(id), library)
    }

    /// Moves a staged library to `place`, which lies in a folder of the plugin's own, and records it.
    pub(crate) fn install(
        &self,
        id: &str,
        staged: &Path,
        place: &Path,
        entry: Entry,
    ) -> Result<(), Diagnostic> {
        self.begin(id, place, Some(&entry))?;
        let failed = |error: io::Error| unwritable(place, &error);
        let folder = self.root.join(place);
        let folder = folder.parent().unwrap_or(&self.root);
        let target = self.root.join(place);
        if folder.exists() {
            self.keep_previous(id, &target)?;
            fs::rename(staged, &target).map_err(failed)?;
            sync(folder).map_err(failed)?;
        } else {
            let category = folder.parent().unwrap_or(&self.root);
            fs::create_dir_all(category).map_err(failed)?;
            // With the folder the config comes into place at the same moment.
            let staged = staged.parent().unwrap_or(staged);
            fs::rename(staged, folder).map_err(failed)?;
            sync(category).map_err(failed)?;
        }
        self.finish(id, Some(entry))?;
        let held = self.held(id);
        remove_if_there(&held)
    }

    /// Takes `place` away: the plugin's own folder if it has one, else its library.
    pub(crate) fn remove(&self, id: &str, place: &Path) -> Result<PathBuf, Diagnostic> {
        let kept = self.removed(id);
        remove_if_there(&kept)?;
        self.begin(id, place, None)?;
        let target = self.root.join(place);
        let failed = |error: io::Error| unwritable(&target, &error);
        // `tools/x/libx.so` lies in a folder of its own; `tools/libx.so` does not.
        let own_folder = place.components().count() > 2;
        let (from, to) = if own_folder {
            (target.parent().unwrap_or(&target), kept.clone())
        } else {
            fs::create_dir_all(&kept).map_err(failed)?;
            (target.as_path(), kept.join(library_name(id)))
        };
        if let Some(above) = to.parent() {
            fs::create_dir_all(above).map_err(failed)?;
        }
        fs::rename(from, &to).map_err(failed)?;
        if let Some(above) = from.parent() {
            sync(above).map_err(failed)?;
        }
        self.finish(id, None)?;
        remove_if_there(&self.held(id))?;
        Ok(kept)
    }

    /// A second name for the library that is about to be replaced.
    fn keep_previous(&self, id: &str, library: &Path) -> Result<(), Diagnostic> {
        if !library.is_file() {
            return Ok(());
        }
        let bytes = platform::read_file(library, LARGEST_LIBRARY)
            .map_err(|error| unwritable(library, &error))?;
        write(&self.previous(id), &bytes)
    }

    fn begin(&self, id: &str, place: &Path, entry: Option<&Entry>) -> Result<(), Diagnostic> {
        let journal = Journal {
            ext_id: id.to_owned(),
            place: place.to_owned(),
            entry: entry.cloned(),
        };
        let path = self.path("journal.json");
        let text = serde_json::to_vec(&journal).map_err(|error| unwritable(&path, &error))?;
        write(&path, &text)
    }

    fn finish(&self, id: &str, entry: Option<Entry>) -> Result<(), Diagnostic> {
        let mut lock = LockFile::read(&self.root)?;
        lock.set(id, entry);
        lock.write(&self.root)?;
        remove_if_there(&self.path("journal.json"))
    }

    /// Completes what a killed process had committed, and drops what it had not.
    fn recover(&self) -> Result<(), Diagnostic> {
        let path = self.path("journal.json");
        let journal = fs::read(&path).ok();
        // The journal is replaced as a whole, so one that does not read was not written by stud and says nothing.
        let journal = journal.and_then(|text| serde_json::from_slice::<Journal>(&text).ok());
        if let Some(Journal {
            ext_id,
            place,
            entry,
        }) = journal
        {
            let found = platform::read_file(&self.root.join(&place), LARGEST_LIBRARY);
            let found = found.ok().map(|bytes| sha256(&bytes));
            let wanted = entry.as_ref().and_then(|entry| entry.platforms.get(TARGET));
            if found.as_ref() == wanted.map(|digest| &digest.sha256) {
                self.finish(&ext_id, entry)?;
            }
        }
        remove_if_there(&path)?;
        self.clear()
    }

    /// Removes what was staged and is not needed any more.
    fn clear(&self) -> Result<(), Diagnostic> {
        remove_if_there(&self.path("incoming"))
    }
}

/// The name of an installed library: discovery prefers the one named after its folder.
pub(crate) fn library_name(id: &str) -> String {
    use std::env::consts::{DLL_PREFIX, DLL_SUFFIX};
    format!("{DLL_PREFIX}{}{DLL_SUFFIX}", id.replace('-', "_"))
}

fn write(path: &Path, bytes: &[u8]) -> Result<(), Diagnostic> {
    platform::replace_file(path, bytes, 0o600, Durability::Synced)
        .map_err(|error| unwritable(path, &error))
}

fn sync(path: &Path) -> io::Result<()> {
    File::open(path)?.sync_all()
}

fn remove_if_there(path: &Path) -> Result<(), Diagnostic> {
    let is_folder = path.symlink_metadata().is_ok_and(|found| found.is_dir());
    let removed = if is_folder {
        fs::remove_dir_all(path)
    } else {
        fs::remove_file(path)
    };
    match removed {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(unwritable(path, &error)),
        _ => Ok(()),
    }
}
