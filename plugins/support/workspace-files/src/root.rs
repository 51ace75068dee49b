//! The way to a place: one directory after the other, and never out.

use std::ffi::{OsStr, OsString};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Component, Path};
use std::sync::Arc;

use rustix::fs::{CWD, Mode, OFlags, fstat, mkdirat, openat, readlinkat};
use rustix::io::Errno;

use crate::failure::Trouble;
use crate::own::{Own, identity};
use crate::workspace::{PRIVATE_NAME, Workspace, is_private};

/// As many links as Linux follows in one path.
const MOST_LINKS: usize = 40;

/// How a directory on the way is opened. What may only be passed through need not be readable.
#[cfg(any(target_os = "linux", target_os = "android"))]
const STEP: OFlags = OFlags::PATH.union(DIRECTORY);
#[cfg(not(any(target_os = "linux", target_os = "android")))]
const STEP: OFlags = DIRECTORY;

const DIRECTORY: OFlags = OFlags::DIRECTORY
    .union(OFlags::NOFOLLOW)
    .union(OFlags::CLOEXEC);

/// Flags for opening a file to read: it never waits for the other end of a pipe, nor becomes a controlling terminal.
const FILE: OFlags = OFlags::NONBLOCK
    .union(OFlags::NOCTTY)
    .union(OFlags::NOFOLLOW)
    .union(OFlags::CLOEXEC);

/// The workspace, opened for one call.
#[derive(Debug)]
pub(crate) struct Root<'w> {
    workspace: &'w Workspace,
    top: Arc<OwnedFd>,
    own: Arc<Own>,
}

/// A directory on the way, and what it is called in the one before it.
#[derive(Debug, Clone)]
pub(crate) struct Step {
    pub(crate) name: OsString,
    pub(crate) directory: Arc<OwnedFd>,
}

/// A path walked to its last name.
#[derive(Debug)]
pub(crate) struct Spot {
    /// The directories from the workspace down, the workspace first and without a name.
    pub(crate) trail: Vec<Step>,
    /// What it is called in the last of them; nothing if it is that directory. It is no link, as far as was seen.
    pub(crate) name: Option<OsString>,
}

/// What to do about a directory that is not there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Absent {
    Refuse,
    Create,
}

impl<'w> Root<'w> {
    pub(crate) fn open(workspace: &'w Workspace) -> Result<Self, Trouble> {
        // Links in the path of the workspace are the person's own.
        let flags = STEP.difference(OFlags::NOFOLLOW);
        let top = openat(CWD, workspace.root(), flags, Mode::empty())?;
        if workspace.is_private() {
            return Err(Trouble::Private);
        }
        let project = workspace.root().join(PRIVATE_NAME);
        Ok(Self {
            workspace,
            top: Arc::new(top),
            own: Arc::new(Own::of(workspace.global(), project)),
        })
    }

    /// Walks to a place, through links that stay inside.
    pub(crate) fn locate(&self, parts: &[OsString], absent: Absent) -> Result<Spot, Trouble> {
        let mut walk = Walk {
            root: self,
            trail: vec![Step {
                name: OsString::new(),
                directory: self.top.clone(),
            }],
            ahead: parts.iter().rev().cloned().collect(),
            links: 0,
        };
        let name = walk.finish(absent)?;
        Ok(Spot {
            trail: walk.trail,
            name,
        })
    }

    /// What no other name makes readable.
    pub(crate) fn own(&self) -> &Arc<Own> {
        &self.own
    }

    /// Opens a directory below another to look into it; None if it is stud's own.
    pub(crate) fn enter(&self, at: impl AsFd, name: &OsStr) -> Result<Option<OwnedFd>, Errno> {
        let directory = openat(at, name, OFlags::RDONLY | DIRECTORY, Mode::empty())?;
        Ok((!self.is_private(&directory)?).then_some(directory))
    }

    fn is_private(&self, directory: &OwnedFd) -> Result<bool, Errno> {
        Ok(self.own.has_directory(&identity(&fstat(directory)?)))
    }
}

impl Spot {
    /// The directory it is in, or is.
    pub(crate) fn directory(&self) -> Option<BorrowedFd<'_>> {
        self.trail.last().map(|step| step.directory.as_fd())
    }

    /// Opens what is there to read it.
    pub(crate) fn open_file(&self, root: &Root<'_>) -> Result<OwnedFd, Trouble> {
        let (Some(directory), Some(name)) = (self.directory(), &self.name) else {
            return Err(Errno::ISDIR.into());
        };
        open_file(directory, name, Some(&root.own))
    }

    /// Opens the directory that is there to look into it.
    pub(crate) fn open_directory(&self, root: &Root<'_>) -> Result<OwnedFd, Trouble> {
        let Some(directory) = self.directory() else {
            return Err(Errno::NOENT.into());
        };
        let name = self.name.as_deref().unwrap_or(OsStr::new("."));
        root.enter(directory, name)?.ok_or(Trouble::Private)
    }
}

/// Opens a file to read it, if it is not a link, without blocking.
pub(crate) fn open_file(
    directory: BorrowedFd<'_>,
    name: &OsStr,
    own: Option<&Own>,
) -> Result<OwnedFd, Trouble> {
    let opened = openat(directory, name, OFlags::RDONLY | FILE, Mode::empty());
    let file = opened.map_err(|errno| match errno {
        // It was no link a moment ago.
        Errno::LOOP | Errno::MLINK => Trouble::Changed,
        // A socket cannot be opened.
        Errno::NXIO | Errno::OPNOTSUPP => Trouble::Os(Errno::NXIO),
        errno => Trouble::Os(errno),
    })?;
    match own {
        Some(own) if own.has_file(&fstat(&file)?) => Err(Trouble::Private),
        _ => Ok(file),
    }
}

struct Walk<'r> {
    root: &'r Root<'r>,
    trail: Vec<Step>,
    /// The names to come, the next one last.
    ahead: Vec<OsString>,
    links: usize,
}

impl Walk<'_> {
    /// Walks until one name is left, and gives it.
    fn finish(&mut self, absent: Absent) -> Result<Option<OsString>, Trouble> {
        while let Some(name) = self.ahead.pop() {
            if name == ".." {
                self.back()?;
                continue;
            }
            // By name too and at any depth: the folder of another project is that project's, and a tool makes none.
            if is_private(&name) {
                return Err(Trouble::Private);
            }
            if !self.ahead.is_empty() {
                self.step(name, absent)?;
            } else if !self.follow(&name)? {
                return Ok(Some(name));
            }
        }
        Ok(None)
    }

    fn here(&self) -> &Arc<OwnedFd> {
        self.trail
            .last()
            .map_or(&self.root.top, |step| &step.directory)
    }

    /// One up, as the trail has it: the directory may have been moved since, and its `..` be elsewhere.
    fn back(&mut self) -> Result<(), Trouble> {
        if self.trail.len() <= 1 {
            return Err(Trouble::Outside);
        }
        self.trail.pop();
        Ok(())
    }

    /// Into the directory `name`, or to where the link `name` leads.
    fn step(&mut self, name: OsString, absent: Absent) -> Result<(), Trouble> {
        let mut opened = openat(self.here(), &name, STEP, Mode::empty());
        if absent == Absent::Create && matches!(opened, Err(Errno::NOENT)) {
            match mkdirat(self.here(), &name, Mode::from_raw_mode(0o777)) {
                Ok(()) | Err(Errno::EXIST) => {}
                Err(errno) => return Err(errno.into()),
            }
            opened = openat(self.here(), &name, STEP, Mode::empty());
        }
        match opened {
            Ok(directory) if self.root.is_private(&directory)? => Err(Trouble::Private),
            Ok(directory) => {
                self.trail.push(Step {
                    name,
                    directory: Arc::new(directory),
                });
                Ok(())
            }
            // What is no directory may be a link to one.
            Err(Errno::NOTDIR | Errno::LOOP | Errno::MLINK) if self.follow(&name)? => Ok(()),
            Err(Errno::LOOP | Errno::MLINK) => Err(Trouble::Changed),
            Err(errno) => Err(errno.into()),
        }
    }

    /// If `name` is a link, puts what it says before the names to come.
    fn follow(&mut self, name: &OsStr) -> Result<bool, Trouble> {
        let target = match readlinkat(self.here(), name, Vec::new()) {
            Ok(target) => OsString::from_vec(target.into_bytes()),
            // It is something else, or nothing yet.
            Err(Errno::INVAL | Errno::NOENT) => return Ok(false),
            Err(errno) => return Err(errno.into()),
        };
        self.links += 1;
        if self.links > MOST_LINKS {
            return Err(Trouble::TooManyLinks);
        }
        let mut target = Path::new(&target);
        if target.is_absolute() {
            let below = self.root.workspace.below_root(target);
            target = below.ok_or(Trouble::Outside)?;
            self.trail.truncate(1);
        }
        let names = target.components().rev().filter_map(|part| match part {
            Component::Normal(name) => Some(name),
            Component::ParentDir => Some(OsStr::new("..")),
            Component::Prefix(_) | Component::RootDir | Component::CurDir => None,
        });
        self.ahead.extend(names.map(OsStr::to_owned));
        Ok(true)
    }
}

/// A name without the NUL at its end that directories are read with.
pub(crate) fn name_of(entry: &rustix::fs::DirEntry) -> OsString {
    OsStr::from_bytes(entry.file_name().to_bytes()).to_owned()
}

#[cfg(test)]
mod tests;
