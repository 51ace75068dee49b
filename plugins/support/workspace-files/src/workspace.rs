//! The workspace of a session: which folder it is, and what a path means in it.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use stud_sdk::{Cx, Error, ErrorExt, Host, Result};

use crate::failure::{Trouble, called_off, invalid};
use crate::place::{Place, lexical};

/// Where stud keeps what belongs to a project.
pub(crate) const PRIVATE_NAME: &str = ".stud";

/// The most bytes a path may have, as in the operating system's own calls.
const LONGEST_PATH: usize = 4096;

/// The workspace of the session a tool works for.
#[derive(Debug, Clone)]
pub struct Workspace {
    root: PathBuf,
    /// The same folder without links in its path, if that is another path.
    real_root: Option<PathBuf>,
    home: Option<PathBuf>,
    /// The global folder of stud, wherever it is.
    global: PathBuf,
    /// Whether the workspace lies in stud's home or in some project's `.stud`, so that nothing in it is for tools.
    is_private: bool,
}

impl Workspace {
    /// The workspace of a host: the folder that `.stud` is in.
    pub fn of(host: &Host) -> Result<Self> {
        let project = host.workspace().project_root()?;
        let root = project.parent().filter(|root| root.is_absolute());
        let Some(root) = root else {
            let why = format!("`{}` is in no folder", project.display());
            return Err(Error::failed(why));
        };
        let global = host.workspace().global_root()?;
        // Not through the host's environment: what is looked up there counts as a secret, and would be taken out of
        // every path that the model is shown.
        Ok(Self::new(root, std::env::home_dir(), &global))
    }

    /// The workspace `root` of a user with this home, whose global folder of stud is `global`.
    pub(crate) fn new(root: &Path, home: Option<PathBuf>, global: &Path) -> Self {
        let real_root = root.canonicalize().ok().filter(|real| real != root);
        Self {
            root: root.to_path_buf(),
            real_root,
            home,
            global: global.to_path_buf(),
            is_private: lies_in_private(root, global),
        }
    }

    /// The folder.
    pub fn root(&self) -> &Path {
        &self.root
    }

    pub(crate) fn global(&self) -> &Path {
        &self.global
    }

    pub(crate) const fn is_private(&self) -> bool {
        self.is_private
    }

    /// What is left of an absolute path below the workspace.
    pub(crate) fn below_root<'a>(&self, path: &'a Path) -> Option<&'a Path> {
        let real = self.real_root.iter().map(PathBuf::as_path);
        [self.root.as_path()]
            .into_iter()
            .chain(real)
            .find_map(|root| path.strip_prefix(root).ok())
    }

    /// What a path means: relative to the workspace, absolute, or below `~`.
    ///
    /// Fails with `ToolTerminal/InputInvalid` for what is no path and with `ToolTerminal/Forbidden` for what is outside
    /// or where stud keeps its own.
    pub fn place(&self, path: &str) -> Result<Place> {
        let full = self.full(path)?;
        let Some(below) = self.below_root(&full) else {
            return Err(Trouble::Outside.about(path, &self.root));
        };
        if self.is_private || below.iter().any(is_private) {
            return Err(Trouble::Private.about(path, &self.root));
        }
        Ok(Place::new(path, below))
    }

    fn full(&self, path: &str) -> Result<PathBuf> {
        if path.is_empty() {
            return Err(invalid(path, "the path is empty; `.` is the workspace"));
        }
        if path.len() > LONGEST_PATH {
            let why = format!(
                "a path has at most {LONGEST_PATH} bytes, this one has {}",
                path.len()
            );
            let (beginning, _) = crate::text::cut(path, 200);
            return Err(invalid(beginning, why));
        }
        if path.contains('\0') {
            return Err(invalid(path, "a path has no NUL in it"));
        }
        let below_home = match path.strip_prefix('~') {
            Some("") => Some(""),
            Some(rest) => rest.strip_prefix('/'),
            None => None,
        };
        let Some(below_home) = below_home else {
            return Ok(lexical(&self.root, Path::new(path)));
        };
        let Some(home) = &self.home else {
            return Err(invalid(
                path,
                "the home directory is unknown; write the path without `~`",
            ));
        };
        // What follows is below home even if it begins with another slash.
        Ok(lexical(home, Path::new(below_home.trim_start_matches('/'))))
    }

    /// The approval key of a call about a file: the directory it is in.
    ///
    /// Fails as [`Workspace::place`] does, so that there is no prompt for what an approval cannot allow.
    pub fn file_key(&self, path: &str) -> Result<String> {
        self.place(path).map(|place| place.parent_key())
    }

    /// The approval key of a call about a directory: the directory.
    ///
    /// Fails as [`Workspace::place`] does.
    pub fn directory_key(&self, path: &str) -> Result<String> {
        self.place(path).map(|place| place.key())
    }

    /// The approval key of a call about several files: their directories, each once, with `|` between them.
    ///
    /// A `|` in the name of a directory is written `%7C`, so that no directory is taken for two.
    pub fn files_key<'a>(&self, paths: impl Iterator<Item = &'a str>) -> Result<String> {
        let keys = paths.map(|path| Ok(escaped(&self.file_key(path)?)));
        let mut keys = keys.collect::<Result<Vec<_>>>()?;
        keys.sort_unstable();
        keys.dedup();
        Ok(keys.join("|"))
    }
}

/// Whether a folder is stud's home or a `.stud` folder, or lies in one, as its path says or where its links lead.
fn lies_in_private(root: &Path, global: &Path) -> bool {
    let home = fs::metadata(global).ok();
    let home = home.map(|home| (home.dev(), home.ino()));
    let is_home = |folder: &Path| {
        let here = fs::metadata(folder).ok();
        home.is_some() && here.map(|here| (here.dev(), here.ino())) == home
    };
    let real = root.canonicalize().unwrap_or_else(|_| root.to_path_buf());
    let named = |path: &Path| path.iter().any(is_private);
    named(root) || named(&real) || real.ancestors().any(is_home)
}

/// Whether a name in the workspace is that of stud's own folder, also for a disk that does not tell cases apart.
pub(crate) fn is_private(name: &OsStr) -> bool {
    name.eq_ignore_ascii_case(PRIVATE_NAME)
}

fn escaped(key: &str) -> String {
    if !key.contains(['|', '%']) {
        return key.to_owned();
    }
    key.replace("%25", "%2525")
        .replace("%7C", "%257C")
        .replace('|', "%7C")
}

/// The files of the session that a tool was made for.
///
/// Nothing is asked or looked up before the first call.
#[derive(Debug)]
pub struct Files {
    host: Host,
    workspace: OnceLock<Workspace>,
}

impl Files {
    /// The files of a host.
    pub const fn new(host: Host) -> Self {
        Self {
            host,
            workspace: OnceLock::new(),
        }
    }

    /// The workspace.
    pub fn workspace(&self) -> Result<&Workspace> {
        if let Some(workspace) = self.workspace.get() {
            return Ok(workspace);
        }
        let workspace = Workspace::of(&self.host)?;
        Ok(self.workspace.get_or_init(|| workspace))
    }

    /// The workspace, at the beginning of a call: `Cancellation/TurnCancelled` if that is over already.
    pub fn begin(&self, cx: &Cx) -> Result<&Workspace> {
        if cx.is_cancelled() {
            return Err(called_off());
        }
        self.workspace()
    }
}

#[cfg(test)]
mod tests;
