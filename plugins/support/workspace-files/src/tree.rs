//! Looking through directories, in an order that depends on nothing but the names.

use std::ffi::{OsStr, OsString};
use std::ops::ControlFlow;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, Dir, FileType, statat};
use rustix::io::Errno;
use stud_sdk::{Cx, Error, ErrorExt, Result};

use crate::contents::Contents;
use crate::failure::{Trouble, os};
use crate::own::Own;
use crate::place::Place;
use crate::root::{Absent, Root, Spot, name_of, open_file};
use crate::rules::Rules;
use crate::text::shown;
use crate::workspace::{Workspace, is_private};

/// Directories further down are left out: each on the way is held open.
const DEEPEST: usize = 128;

/// The most directories that could not be looked into and are told of.
const MOST_FAULTS: usize = 20;

/// Names read between two looks at whether the call is still wanted.
const NAMES_AT_ONCE: usize = 1024;

/// A directory of the workspace, to be looked through.
#[derive(Debug)]
pub struct Tree<'w> {
    root: Root<'w>,
    spot: Spot,
    directory: OwnedFd,
    path: String,
}

/// What is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Look {
    /// How far down: 1 is what is in the directory itself.
    pub max_depth: usize,
    /// Whether names that begin with a dot are looked at.
    pub hidden: bool,
    /// Whether what the project leaves out is left out: what `.gitignore` and `.ignore` say, and `.git`.
    pub project_rules: bool,
}

/// What something is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A plain file.
    File,
    /// A directory.
    Directory,
    /// A symbolic link. It is never followed.
    Symlink,
    /// A pipe, a socket, a device.
    Other,
}

/// Something in the tree.
#[derive(Debug)]
pub struct Entry<'a> {
    /// Its path below the directory that is looked through.
    pub path: &'a Path,
    /// What it is.
    pub kind: Kind,
    name: &'a OsStr,
    directory: BorrowedFd<'a>,
    /// The directory that is looked through, as it was given.
    given: &'a str,
    own: &'a Own,
}

/// How looking through a tree ended.
#[derive(Debug, Default)]
pub struct Looked {
    /// Whether something was left out because it is too far down.
    pub too_deep: bool,
    /// Directories that could not be looked into.
    pub faults: Vec<Error>,
}

impl Workspace {
    /// Opens a directory to look through it. What is not there and what is no directory is `ToolTerminal/NotFound`.
    pub fn tree(&self, place: &Place) -> Result<Tree<'_>> {
        let open = || {
            let root = Root::open(self)?;
            let spot = root.locate(place.parts(), Absent::Refuse)?;
            let directory = spot.open_directory(&root)?;
            Ok(Tree {
                root,
                spot,
                directory,
                path: place.given().to_owned(),
            })
        };
        open().map_err(|trouble: Trouble| trouble.about(place.given(), self.root()))
    }
}

impl Tree<'_> {
    /// Shows what is there to `visit`, in the order of the bytes of the paths, until it has seen enough.
    pub fn look(
        &self,
        look: Look,
        cx: &Cx,
        mut visit: impl FnMut(&Entry<'_>) -> Result<ControlFlow<()>>,
    ) -> Result<Looked> {
        let mut rules = Rules::default();
        let mut real = PathBuf::new();
        if look.project_rules {
            for step in &self.spot.trail {
                real.push(&step.name);
                rules.add(step.directory.as_fd(), &real);
            }
        }
        if let Some(name) = &self.spot.name {
            real.push(name);
        }
        let mut visitor = Visitor {
            tree: self,
            look,
            cx,
            visit: &mut visit,
            rules,
            real,
            path: PathBuf::new(),
            looked: Looked::default(),
        };
        if self.spot.name.is_some() && look.project_rules {
            visitor.rules.add(self.directory.as_fd(), &visitor.real);
        }
        // Whether it was stopped is known to who stopped it.
        let _ = visitor.directory(self.directory.as_fd(), 1)?;
        Ok(visitor.looked)
    }
}

impl Entry<'_> {
    /// Its name.
    pub fn name(&self) -> &OsStr {
        self.name
    }

    /// How large a file is, if that can be told.
    pub fn size(&self) -> Option<u64> {
        let stat = statat(self.directory, self.name, AtFlags::SYMLINK_NOFOLLOW).ok()?;
        u64::try_from(stat.st_size).ok()
    }

    /// Opens a file to read it.
    pub fn open(&self) -> Result<Contents> {
        let path = told(self.given, self.path);
        let file = open_file(self.directory, self.name, Some(self.own))
            .map_err(|trouble| trouble.about(&path, Path::new("")))?;
        Contents::of(file, &path)
    }
}

struct Visitor<'v, V> {
    tree: &'v Tree<'v>,
    look: Look,
    cx: &'v Cx,
    visit: &'v mut V,
    rules: Rules,
    /// From the workspace, as the directories are, for the rules.
    real: PathBuf,
    /// From the directory that is looked through.
    path: PathBuf,
    looked: Looked,
}

/// What is to be done about a name.
struct Item {
    /// A directory is looked into after everything that comes before `name/`, which may be after its neighbors.
    order: Vec<u8>,
    name: OsString,
    kind: Kind,
    enter: bool,
}

/// Why a directory was not read to its end.
enum Broken {
    ByDisk(Errno),
    CalledOff,
}

impl From<Errno> for Broken {
    fn from(errno: Errno) -> Self {
        Self::ByDisk(errno)
    }
}

impl<V: FnMut(&Entry<'_>) -> Result<ControlFlow<()>>> Visitor<'_, V> {
    fn directory(&mut self, directory: BorrowedFd<'_>, depth: usize) -> Result<ControlFlow<()>> {
        if depth > self.look.max_depth {
            return Ok(ControlFlow::Continue(()));
        }
        let items = match self.items(directory, depth) {
            Ok(items) => items,
            Err(Broken::ByDisk(errno)) => {
                self.fault(errno);
                return Ok(ControlFlow::Continue(()));
            }
            Err(Broken::CalledOff) => return Err(Error::cancelled()),
        };
        for item in items {
            if self.cx.is_cancelled() {
                return Err(Error::cancelled());
            }
            self.path.push(&item.name);
            self.real.push(&item.name);
            let flow = if item.enter {
                self.enter(directory, &item.name, depth)
            } else {
                (self.visit)(&Entry {
                    path: &self.path,
                    kind: item.kind,
                    name: &item.name,
                    directory,
                    given: &self.tree.path,
                    own: self.tree.root.own(),
                })
            };
            self.path.pop();
            self.real.pop();
            if flow?.is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    fn enter(
        &mut self,
        directory: BorrowedFd<'_>,
        name: &OsStr,
        depth: usize,
    ) -> Result<ControlFlow<()>> {
        if depth >= DEEPEST {
            self.looked.too_deep = true;
            return Ok(ControlFlow::Continue(()));
        }
        let below = match self.tree.root.enter(directory, name) {
            Ok(Some(below)) => below,
            // It is stud's own, or not there any more, or something else by now.
            Ok(None) | Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP | Errno::MLINK) => {
                return Ok(ControlFlow::Continue(()));
            }
            Err(errno) => {
                self.fault(errno);
                return Ok(ControlFlow::Continue(()));
            }
        };
        if !self.look.project_rules {
            return self.directory(below.as_fd(), depth + 1);
        }
        let before = self.rules.add(below.as_fd(), &self.real);
        let flow = self.directory(below.as_fd(), depth + 1);
        self.rules.back_to(before);
        flow
    }

    /// What is in a directory and is to be looked at, in order.
    fn items(&mut self, directory: BorrowedFd<'_>, depth: usize) -> Result<Vec<Item>, Broken> {
        let mut items = Vec::new();
        for (count, entry) in Dir::read_from(directory)?.enumerate() {
            if count % NAMES_AT_ONCE == 0 && self.cx.is_cancelled() {
                return Err(Broken::CalledOff);
            }
            let entry = entry?;
            let name = name_of(&entry);
            if name == "." || name == ".." {
                continue;
            }
            let is_hidden = name.as_bytes().starts_with(b".");
            if is_hidden && !self.look.hidden {
                continue;
            }
            let kind = kind(directory, &name, entry.file_type());
            let own = is_private(&name);
            if self.look.project_rules && (own || self.is_left_out(&name, kind)) {
                continue;
            }
            let order = name.as_bytes().to_vec();
            if kind == Kind::Directory && !own && depth < self.look.max_depth {
                items.push(Item {
                    order: [&order, &b"/"[..]].concat(),
                    name: name.clone(),
                    kind,
                    enter: true,
                });
            }
            items.push(Item {
                order,
                name,
                kind,
                enter: false,
            });
        }
        items.sort_unstable_by(|one, other| one.order.cmp(&other.order));
        Ok(items)
    }

    fn is_left_out(&mut self, name: &OsStr, kind: Kind) -> bool {
        if name == ".git" {
            return true;
        }
        self.real.push(name);
        let left_out = self.rules.leave_out(&self.real, kind == Kind::Directory);
        self.real.pop();
        left_out
    }

    fn fault(&mut self, errno: Errno) {
        if self.looked.faults.len() < MOST_FAULTS {
            let path = told(&self.tree.path, &self.path);
            self.looked.faults.push(os(&path, errno));
        }
    }
}

/// A path for a message, as it would have been given.
fn told(given: &str, below: &Path) -> String {
    let path = Path::new(given).join(below);
    let (path, _) = shown(path.strip_prefix(".").unwrap_or(&path).as_os_str());
    path
}

/// Not every disk says in a directory what its entries are.
fn kind(directory: BorrowedFd<'_>, name: &OsStr, told: FileType) -> Kind {
    let told = match told {
        FileType::Unknown => statat(directory, name, AtFlags::SYMLINK_NOFOLLOW)
            .map_or(FileType::Unknown, |stat| {
                FileType::from_raw_mode(stat.st_mode)
            }),
        told => told,
    };
    match told {
        FileType::RegularFile => Kind::File,
        FileType::Directory => Kind::Directory,
        FileType::Symlink => Kind::Symlink,
        _ => Kind::Other,
    }
}

#[cfg(test)]
mod tests;
