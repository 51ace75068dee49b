//! What is stud's own, wherever it lies and by whatever name: its home, the `.stud` of the workspace, the folders of all
//! projects that were decided about, and what links directly in one of these lead to.
//!
//! A settings file that is a link to a file among a person's dotfiles decides as much as one that is not.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use rustix::fs::{Stat, stat};
use stud_sdk::Value;

/// A longer list of decisions is not stud's.
const LONGEST_LIST: u64 = 16 << 20;

/// Which directory or file it is, by whatever name. The numbers are of other types on other systems.
pub(crate) type Identity = (i128, i128);

pub(crate) fn identity(stat: &Stat) -> Identity {
    (i128::from(stat.st_dev), i128::from(stat.st_ino))
}

/// The folders and files that are stud's own.
#[derive(Debug)]
pub(crate) struct Own {
    folders: Vec<PathBuf>,
    directories: Vec<Identity>,
    /// Files that links in the folders lead to.
    linked: Vec<Identity>,
    /// Files directly in the folders; looked up when a file with several names is met, which is rare.
    files: OnceLock<Vec<Identity>>,
}

impl Own {
    /// Of these folders, the first of which is the home.
    pub(crate) fn of(home: &Path, project: PathBuf) -> Self {
        let mut folders = vec![home.to_path_buf(), project];
        folders.extend(projects(home));
        let mut own = Self {
            directories: folders.iter().filter_map(|path| known(path)).collect(),
            folders: Vec::new(),
            linked: Vec::new(),
            files: OnceLock::new(),
        };
        for entry in entries(&folders) {
            let is_link = entry.file_type().is_ok_and(|kind| kind.is_symlink());
            let leads_to = is_link.then(|| fs::metadata(entry.path()).ok()).flatten();
            let Some((leads_to, identity)) = leads_to.zip(known(&entry.path())) else {
                continue;
            };
            if leads_to.is_dir() {
                own.directories.push(identity);
            } else {
                own.linked.push(identity);
            }
        }
        own.folders = folders;
        own
    }

    /// Whether a directory is one of them.
    pub(crate) fn has_directory(&self, identity: &Identity) -> bool {
        self.directories.contains(identity)
    }

    /// Whether a file is one of them by another name.
    pub(crate) fn has_file(&self, stat: &Stat) -> bool {
        let identity = identity(stat);
        self.linked.contains(&identity) || (stat.st_nlink > 1 && self.files().contains(&identity))
    }

    fn files(&self) -> &[Identity] {
        self.files.get_or_init(|| {
            let entries = entries(&self.folders);
            entries.filter_map(|entry| known(&entry.path())).collect()
        })
    }
}

fn entries(folders: &[PathBuf]) -> impl Iterator<Item = fs::DirEntry> {
    let read = folders
        .iter()
        .filter_map(|folder| fs::read_dir(folder).ok());
    read.flatten().filter_map(Result::ok)
}

fn known(path: &Path) -> Option<Identity> {
    stat(path).ok().map(|stat| identity(&stat))
}

/// The folders of projects that a person has decided about; their names have no links in them.
fn projects(home: &Path) -> Vec<PathBuf> {
    let list = home.join("trust.json");
    let is_list = |found: fs::Metadata| found.is_file() && found.len() <= LONGEST_LIST;
    if !fs::metadata(&list).is_ok_and(is_list) {
        return Vec::new();
    }
    let text = fs::read_to_string(list).unwrap_or_default();
    let document: Value = text.parse().unwrap_or_default();
    let entries = document.get("entries").unwrap_or(&document).as_array();
    let path = |entry: &Value| {
        let named = entry.get("canonicalPath").unwrap_or(entry).as_str()?;
        Some(PathBuf::from(named)).filter(|path| path.is_absolute())
    };
    entries.into_iter().flatten().filter_map(path).collect()
}
