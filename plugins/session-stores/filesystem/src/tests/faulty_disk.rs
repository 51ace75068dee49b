//! A disk in memory that fails when it is told to.
//!
//! It keeps apart what the system holds and what is on the platter. Every operation has a number, and any of them can
//! fail, stop half way, or be the last one before the process or the machine dies.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::{self, ErrorKind};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard};

use super::random::Random;
use crate::disk::{Access, Disk, DiskFile};

/// Blocks get lost one by one; real ones are larger, and so are real files.
const BLOCK: usize = 64;

/// What happens at one operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    /// It fails and does nothing; the sync of a file loses what it was to write.
    Fails(ErrorKind),
    /// A write takes this part of the bytes, in 1/8; anything else is done as usual.
    Short(usize),
    /// Everything ends before it.
    DiesBefore,
    /// Everything ends right after it.
    DiesAfter,
    /// Everything ends when this part of a write is done, in 1/8; anything else is done as usual.
    DiesInside(usize),
}

/// What an operation does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Deed {
    /// It changes nothing.
    Look,
    /// It changes something, as a whole.
    Change,
    /// It writes bytes, and may stop in the middle.
    Write,
}

/// What is left when everything has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Aftermath {
    /// Only the process ended.
    Killed,
    /// The machine lost power, and with it everything that was not synced.
    NothingUnsynced,
    /// The machine lost power, and everything had been written just before.
    EverythingWritten,
    /// The machine lost power: of what was not synced the first part is there, up to some byte.
    SomeFirst(u64),
    /// The machine lost power: of what was not synced some blocks are there, and zeros for the others.
    SomeBlocks(u64),
}

#[derive(Clone)]
pub(crate) struct FaultyDisk(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    done: Vec<Deed>,
    faults: BTreeMap<u64, Fault>,
    is_down: bool,
    /// Files that were opened before everything ended are of no use afterwards.
    lives: u64,
    files: Vec<Content>,
    folders: BTreeMap<PathBuf, Names>,
    /// The locked files.
    locked: Vec<usize>,
}

/// The bytes of a file.
#[derive(Default, Clone)]
struct Content {
    held: Vec<u8>,
    platter: Vec<u8>,
    /// Which of the held bytes the system knows to be missing on the platter.
    dirty: Vec<Range<usize>>,
}

/// The names in a folder.
#[derive(Default)]
struct Names {
    held: BTreeMap<OsString, Entry>,
    platter: BTreeMap<OsString, Entry>,
    changes: Vec<Change>,
}

#[derive(Clone, Copy, PartialEq)]
enum Entry {
    File(usize),
    Folder,
}

#[derive(Clone)]
struct Change {
    removed: Option<OsString>,
    added: Option<(OsString, Entry)>,
}

struct OpenFile {
    disk: FaultyDisk,
    life: u64,
    file: usize,
    holds_lock: Mutex<bool>,
}

impl FaultyDisk {
    pub(crate) fn new() -> Self {
        let mut state = State::default();
        state.folders.insert(PathBuf::from("/"), Names::default());
        Self(Arc::new(Mutex::new(state)))
    }

    /// Makes operations fail, counted from the next one.
    pub(crate) fn plan(&self, faults: impl IntoIterator<Item = (u64, Fault)>) {
        let mut state = self.state();
        let now = state.done.len() as u64;
        state.faults = faults
            .into_iter()
            .map(|(at, fault)| (now + at, fault))
            .collect();
    }

    /// What the operations so far have done.
    pub(crate) fn done(&self) -> Vec<Deed> {
        self.state().done.clone()
    }

    /// Whether everything has ended.
    pub(crate) fn is_down(&self) -> bool {
        self.state().is_down
    }

    /// Starts again with what is left.
    pub(crate) fn restart(&self, aftermath: Aftermath) {
        let mut state = self.state();
        state.is_down = false;
        state.lives += 1;
        state.locked.clear();
        state.faults.clear();
        if aftermath == Aftermath::Killed {
            return;
        }
        let mut random = match aftermath {
            Aftermath::SomeFirst(seed) | Aftermath::SomeBlocks(seed) => Random::new(seed),
            _ => Random::new(0),
        };
        for content in &mut state.files {
            content.lose_power(aftermath, &mut random);
        }
        for names in state.folders.values_mut() {
            names.lose_power(aftermath, &mut random);
        }
        state.drop_unreachable_folders();
    }

    /// What a person would see in a file.
    pub(crate) fn content(&self, path: &Path) -> Option<Vec<u8>> {
        let state = self.state();
        let file = state.file(path).ok()?;
        Some(state.files[file].held.clone())
    }

    /// Changes a file behind the store's back.
    pub(crate) fn edit(&self, path: &Path, edit: impl FnOnce(&mut Vec<u8>)) {
        let mut state = self.state();
        let file = state.file(path).unwrap();
        let content = &mut state.files[file];
        edit(&mut content.held);
        content.platter = content.held.clone();
        content.dirty.clear();
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap()
    }

    /// Counts an operation and does it, unless it is to fail.
    fn operate<T>(
        &self,
        deed: Deed,
        operation: impl FnOnce(&mut State, Option<Fault>) -> io::Result<T>,
    ) -> io::Result<T> {
        let mut state = self.state();
        if state.is_down {
            return Err(io::Error::other("it is over"));
        }
        let number = state.done.len() as u64;
        state.done.push(deed);
        let fault = state.faults.remove(&number);
        match fault {
            Some(Fault::DiesBefore) => {
                state.is_down = true;
                Err(io::Error::other("it is over"))
            }
            Some(Fault::DiesAfter | Fault::DiesInside(_)) => {
                let _ = operation(&mut state, fault);
                state.is_down = true;
                Err(io::Error::other("it is over"))
            }
            Some(Fault::Fails(_) | Fault::Short(_)) | None => operation(&mut state, fault),
        }
    }

    /// An operation that has no half way.
    fn simply<T>(
        &self,
        deed: Deed,
        operation: impl FnOnce(&mut State) -> io::Result<T>,
    ) -> io::Result<T> {
        self.operate(deed, |state, fault| match fault {
            Some(Fault::Fails(kind)) => Err(kind.into()),
            _ => operation(state),
        })
    }
}

impl State {
    fn folder(&mut self, path: &Path) -> io::Result<&mut Names> {
        self.folders
            .get_mut(path)
            .ok_or_else(|| ErrorKind::NotFound.into())
    }

    fn entry(&self, path: &Path) -> Option<Entry> {
        let (folder, name) = (path.parent()?, path.file_name()?);
        self.folders.get(folder)?.held.get(name).copied()
    }

    fn file(&self, path: &Path) -> io::Result<usize> {
        match self.entry(path) {
            Some(Entry::File(file)) => Ok(file),
            Some(Entry::Folder) => Err(ErrorKind::IsADirectory.into()),
            None => Err(ErrorKind::NotFound.into()),
        }
    }

    fn change(
        &mut self,
        path: &Path,
        removed: Option<&Path>,
        added: Option<Entry>,
    ) -> io::Result<()> {
        let name = |path: &Path| path.file_name().unwrap().to_owned();
        let change = Change {
            removed: removed.map(name),
            added: added.map(|entry| (name(path), entry)),
        };
        let names = self.folder(path.parent().unwrap())?;
        change.apply(&mut names.held);
        names.changes.push(change);
        Ok(())
    }

    /// A folder whose name was lost is lost with all that is in it.
    fn drop_unreachable_folders(&mut self) {
        loop {
            let lost = self
                .folders
                .keys()
                .find(|path| path.parent().is_some() && self.entry(path) != Some(Entry::Folder))
                .cloned();
            match lost {
                Some(path) => self.folders.remove(&path),
                None => return,
            };
        }
    }
}

impl Change {
    fn apply(&self, names: &mut BTreeMap<OsString, Entry>) {
        if let Some(name) = &self.removed {
            names.remove(name);
        }
        if let Some((name, entry)) = &self.added {
            names.insert(name.clone(), *entry);
        }
    }
}

impl Names {
    fn lose_power(&mut self, aftermath: Aftermath, random: &mut Random) {
        let kept = match aftermath {
            Aftermath::NothingUnsynced => 0,
            Aftermath::SomeFirst(_) | Aftermath::SomeBlocks(_) => {
                random.below(self.changes.len() + 1)
            }
            Aftermath::EverythingWritten | Aftermath::Killed => self.changes.len(),
        };
        for change in self.changes.drain(..).take(kept) {
            change.apply(&mut self.platter);
        }
        self.held = self.platter.clone();
    }
}

impl Content {
    fn sync(&mut self) {
        self.platter = self.written(|_| true);
        self.dirty.clear();
    }

    /// The platter after some of the dirty bytes were written to it.
    fn written(&self, is_written: impl Fn(usize) -> bool) -> Vec<u8> {
        let mut platter = self.platter.clone();
        platter.resize(self.held.len(), 0);
        for range in &self.dirty {
            let end = range.end.min(platter.len());
            let written = (range.start..end).filter(|index| is_written(*index));
            written.for_each(|index| platter[index] = self.held[index]);
        }
        platter
    }

    fn lose_power(&mut self, aftermath: Aftermath, random: &mut Random) {
        let shrinks = self.held.len() < self.platter.len();
        self.platter = match aftermath {
            Aftermath::NothingUnsynced => std::mem::take(&mut self.platter),
            // Until it is synced, a cut is there or not.
            _ if shrinks && random.below(2) == 0 => std::mem::take(&mut self.platter),
            Aftermath::EverythingWritten | Aftermath::Killed => self.written(|_| true),
            Aftermath::SomeFirst(_) => {
                let end = self.platter.len().min(self.held.len());
                let end = end + random.below(self.held.len() - end + 1);
                let mut written = self.written(|_| true);
                written.truncate(end);
                written
            }
            Aftermath::SomeBlocks(_) => {
                let blocks: Vec<bool> = (0..=self.held.len() / BLOCK)
                    .map(|_| random.below(3) > 0)
                    .collect();
                self.written(|index| blocks[index / BLOCK])
            }
        };
        self.held = self.platter.clone();
        self.dirty.clear();
    }
}

impl Disk for FaultyDisk {
    fn open(&self, path: &Path, access: Access) -> io::Result<Box<dyn DiskFile>> {
        let (file, life) = self.simply(Deed::Change, |state| {
            let found = state.file(path);
            let file = match (found, access) {
                (Ok(_), Access::New) => return Err(ErrorKind::AlreadyExists.into()),
                (Ok(file), _) => file,
                (Err(error), Access::Read) => return Err(error),
                (Err(error), _) if error.kind() != ErrorKind::NotFound => return Err(error),
                (Err(_), _) => {
                    let file = state.files.len();
                    state.change(path, None, Some(Entry::File(file)))?;
                    state.files.push(Content::default());
                    file
                }
            };
            if access == Access::Replace {
                state.files[file].held.clear();
                state.files[file].dirty.clear();
            }
            Ok((file, state.lives))
        })?;
        Ok(Box::new(OpenFile {
            disk: self.clone(),
            life,
            file,
            holds_lock: Mutex::new(false),
        }))
    }

    fn create_dir(&self, path: &Path) -> io::Result<()> {
        self.simply(Deed::Change, |state| {
            if state.entry(path).is_none() {
                state.change(path, None, Some(Entry::Folder))?;
                state.folders.insert(path.to_owned(), Names::default());
            }
            Ok(())
        })
    }

    fn sync_dir(&self, path: &Path) -> io::Result<()> {
        self.simply(Deed::Change, |state| {
            let names = state.folder(path)?;
            for change in names.changes.drain(..) {
                change.apply(&mut names.platter);
            }
            Ok(())
        })
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.simply(Deed::Change, |state| {
            let file = state.file(from)?;
            state.change(to, Some(from), Some(Entry::File(file)))
        })
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        self.simply(Deed::Change, |state| {
            state.file(path)?;
            state.change(path, Some(path), None)
        })
    }

    fn remove_dir(&self, path: &Path) -> io::Result<()> {
        self.simply(Deed::Change, |state| {
            if !state.folder(path)?.held.is_empty() {
                return Err(ErrorKind::DirectoryNotEmpty.into());
            }
            state.change(path, Some(path), None)?;
            state.folders.remove(path);
            Ok(())
        })
    }

    fn names(&self, dir: &Path) -> io::Result<Vec<OsString>> {
        self.simply(Deed::Look, |state| {
            Ok(state.folder(dir)?.held.keys().cloned().collect())
        })
    }

    fn exists(&self, path: &Path) -> io::Result<bool> {
        self.simply(Deed::Look, |state| {
            Ok(path.parent().is_none() || state.entry(path).is_some())
        })
    }

    /// Small, so that short journals have a past that is not looked at.
    fn unsynced_bytes(&self) -> u64 {
        300
    }
}

impl OpenFile {
    fn operate<T>(
        &self,
        deed: Deed,
        operation: impl FnOnce(&mut Content, Option<Fault>) -> io::Result<T>,
    ) -> io::Result<T> {
        self.disk.operate(deed, |state, fault| {
            if state.lives != self.life {
                return Err(io::Error::other("the file was open before the restart"));
            }
            operation(&mut state.files[self.file], fault)
        })
    }

    fn simply<T>(
        &self,
        deed: Deed,
        operation: impl FnOnce(&mut Content) -> io::Result<T>,
    ) -> io::Result<T> {
        self.operate(deed, |content, fault| match fault {
            Some(Fault::Fails(kind)) => Err(kind.into()),
            _ => operation(content),
        })
    }
}

impl DiskFile for OpenFile {
    fn len(&self) -> io::Result<u64> {
        self.simply(Deed::Look, |content| Ok(content.held.len() as u64))
    }

    fn read_at(&self, offset: u64, into: &mut [u8]) -> io::Result<usize> {
        self.simply(Deed::Look, |content| {
            let start = usize::try_from(offset).unwrap().min(content.held.len());
            let count = into.len().min(content.held.len() - start);
            into[..count].copy_from_slice(&content.held[start..start + count]);
            Ok(count)
        })
    }

    fn write_at(&mut self, offset: u64, bytes: &[u8]) -> io::Result<usize> {
        self.operate(Deed::Write, |content, fault| {
            let count = match fault {
                Some(Fault::Fails(kind)) => return Err(kind.into()),
                // A system that takes nothing says why.
                Some(Fault::Short(part)) => (bytes.len() * part / 8).max(1),
                Some(Fault::DiesInside(part)) => bytes.len() * part / 8,
                _ => bytes.len(),
            };
            let start = usize::try_from(offset).unwrap();
            assert!(start <= content.held.len(), "a hole in a file");
            let end = content.held.len().max(start + count);
            content.held.resize(end, 0);
            content.held[start..start + count].copy_from_slice(&bytes[..count]);
            content.dirty.push(start..start + count);
            Ok(count)
        })
    }

    fn truncate(&mut self, len: u64) -> io::Result<()> {
        self.simply(Deed::Change, |content| {
            let len = usize::try_from(len).unwrap();
            content.held.truncate(len);
            Ok(())
        })
    }

    fn sync(&mut self) -> io::Result<()> {
        self.operate(Deed::Change, |content, fault| {
            if let Some(Fault::Fails(kind)) = fault {
                // The system takes the bytes for written all the same.
                content.dirty.clear();
                return Err(kind.into());
            }
            content.sync();
            Ok(())
        })
    }

    fn try_lock(&self) -> io::Result<bool> {
        let taken = self.disk.simply(Deed::Look, |state| {
            let is_free = !state.locked.contains(&self.file);
            if is_free {
                state.locked.push(self.file);
            }
            Ok(is_free)
        })?;
        *self.holds_lock.lock().unwrap() = taken;
        Ok(taken)
    }

    fn unlock(&self) -> io::Result<()> {
        Ok(())
    }

    fn is_at(&self, path: &Path) -> io::Result<bool> {
        Ok(self.disk.state().file(path)? == self.file)
    }
}

impl Drop for OpenFile {
    fn drop(&mut self) {
        let mut state = self.disk.state();
        if *self.holds_lock.lock().unwrap() && state.lives == self.life {
            state.locked.retain(|file| *file != self.file);
        }
    }
}
