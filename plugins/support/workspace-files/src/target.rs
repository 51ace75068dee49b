//! A file that is to be written, there or not.

use std::ffi::{OsStr, OsString};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;

use rustix::fs::{AtFlags, FileType, Stat, fstat, statat};
use rustix::io::Errno;
use stud_sdk::Result;

use crate::contents::Contents;
use crate::failure::{Trouble, invalid, missing, os};
use crate::own::{Identity, Own, identity};
use crate::place::Place;
use crate::root::{Absent, Root, open_file};
use crate::workspace::Workspace;

/// A file that is to be written: a name in a directory that is held open.
#[derive(Debug)]
pub struct Target {
    path: String,
    directory: Arc<OwnedFd>,
    directory_id: Identity,
    name: OsString,
    own: Arc<Own>,
}

impl Workspace {
    /// Finds the directory and the name of a file that is to be written; links are followed as far as they stay inside.
    ///
    /// Without `create_parents` a directory that is not there is `ToolTerminal/NotFound`.
    pub fn target(&self, place: &Place, create_parents: bool) -> Result<Target> {
        let path = place.given();
        let absent = if create_parents {
            Absent::Create
        } else {
            Absent::Refuse
        };
        let (spot, own) = Root::open(self)
            .and_then(|root| Ok((root.locate(place.parts(), absent)?, root.own().clone())))
            .map_err(|trouble| match trouble {
                Trouble::Os(Errno::NOENT) => {
                    missing(path, format!("the directory of `{path}` does not exist"))
                }
                trouble => trouble.about(path, self.root()),
            })?;
        let (Some(name), Some(step)) = (spot.name, spot.trail.last()) else {
            return Err(os(path, Errno::ISDIR));
        };
        let directory = step.directory.clone();
        let stat = fstat(&directory).map_err(|errno| os(path, errno))?;
        Ok(Target {
            path: path.to_owned(),
            directory,
            directory_id: identity(&stat),
            name,
            own,
        })
    }
}

impl Target {
    /// The path as it was given.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// Whether two paths led to one file.
    pub fn is_same(&self, other: &Self) -> bool {
        (self.directory_id, &self.name) == (other.directory_id, &other.name)
    }

    pub(crate) fn name(&self) -> &OsStr {
        &self.name
    }

    pub(crate) fn directory(&self) -> BorrowedFd<'_> {
        self.directory.as_fd()
    }

    pub(crate) const fn directory_id(&self) -> Identity {
        self.directory_id
    }

    /// Whether there is a file now. What is there and no plain file is `ToolTerminal/InputInvalid`.
    pub fn exists(&self) -> Result<bool> {
        Ok(self.look()?.is_some())
    }

    pub(crate) fn look(&self) -> Result<Option<Stat>> {
        let stat = match statat(&self.directory, &self.name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => stat,
            Err(Errno::NOENT) => return Ok(None),
            Err(errno) => return Err(os(&self.path, errno)),
        };
        match FileType::from_raw_mode(stat.st_mode) {
            FileType::RegularFile if self.own.has_file(&stat) => {
                Err(Trouble::Private.about(&self.path, std::path::Path::new("")))
            }
            FileType::RegularFile => Ok(Some(stat)),
            FileType::Directory => Err(os(&self.path, Errno::ISDIR)),
            _ => Err(invalid(
                &self.path,
                format!("`{}` is not a regular file", self.path),
            )),
        }
    }

    /// Opens the file to read it.
    pub fn open(&self) -> Result<Contents> {
        let file = open_file(self.directory(), &self.name, Some(&self.own))
            .map_err(|trouble| trouble.about(&self.path, std::path::Path::new("")))?;
        Contents::of(file, &self.path)
    }
}
