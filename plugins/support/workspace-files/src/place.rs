//! A path of the workspace in its one form, made from its text alone.

use std::ffi::{OsStr, OsString};
use std::path::{Component, Path, PathBuf};

/// Where something is in the workspace.
///
/// `src/../a`, `./a` and `/the/workspace/a` are one place: `a`. No disk was looked at, so there may be nothing there,
/// and a part of it may be a symbolic link; walking it decides.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    given: String,
    parts: Vec<OsString>,
}

impl Place {
    pub(crate) fn new(given: &str, below_root: &Path) -> Self {
        Self {
            given: given.to_owned(),
            parts: below_root.iter().map(OsStr::to_owned).collect(),
        }
    }

    /// The path as it was given.
    pub fn given(&self) -> &str {
        &self.given
    }

    /// The names from the workspace down; none for the workspace itself.
    pub(crate) fn parts(&self) -> &[OsString] {
        &self.parts
    }

    /// The place with `/` between its parts, and `.` for the workspace.
    pub fn key(&self) -> String {
        key(&self.parts)
    }

    /// The same of the directory that it is in.
    pub fn parent_key(&self) -> String {
        key(self.parts.split_last().map_or(&[], |(_, above)| above))
    }

    /// A place further down.
    #[must_use]
    pub fn below(&self, names: &Path) -> Self {
        let mut parts = self.parts.clone();
        parts.extend(names.iter().map(OsStr::to_owned));
        Self {
            given: self.given.clone(),
            parts,
        }
    }
}

fn key(parts: &[OsString]) -> String {
    if parts.is_empty() {
        return ".".to_owned();
    }
    let parts: Vec<_> = parts.iter().map(|part| part.to_string_lossy()).collect();
    parts.join("/")
}

/// `path` seen from `base`, without `.` and `..`.
///
/// `..` takes back the name before it, whatever that is on the disk: what is opened later is this path and no other, so
/// both the approval and the work are about the same thing.
pub(crate) fn lexical(base: &Path, path: &Path) -> PathBuf {
    let mut full = base.to_path_buf();
    for component in path.components() {
        match component {
            Component::Prefix(_) | Component::CurDir => {}
            Component::RootDir => full = PathBuf::from("/"),
            Component::ParentDir => {
                full.pop();
            }
            Component::Normal(name) => full.push(name),
        }
    }
    full
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dots_are_taken_out_wherever_they_are() {
        for (path, expected) in [
            ("a/b", "/w/a/b"),
            ("./a//b/", "/w/a/b"),
            ("a/./b", "/w/a/b"),
            ("a/../b", "/w/b"),
            ("..", "/"),
            ("../..", "/"),
            ("../../../x", "/x"),
            ("a/../../w/b", "/w/b"),
            ("/w/../etc", "/etc"),
            ("", "/w"),
            ("...", "/w/..."),
        ] {
            assert_eq!(
                lexical(Path::new("/w"), Path::new(path)),
                Path::new(expected),
                "{path}"
            );
        }
    }

    #[test]
    fn keys_are_relative_and_the_workspace_is_a_dot() {
        let place = |path: &str| Place::new("given", Path::new(path));
        for (path, key, parent) in [
            ("", ".", "."),
            ("a", "a", "."),
            ("a/b", "a/b", "a"),
            ("a/b/c", "a/b/c", "a/b"),
        ] {
            assert_eq!(
                (place(path).key(), place(path).parent_key()),
                (key.into(), parent.into())
            );
        }
        assert_eq!(place("a").below(Path::new("b/c")), place("a/b/c"));
    }
}
