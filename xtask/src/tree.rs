//! The text files of the repository, read once, so that checks are functions over them.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::failure::Failure;
use crate::workspace::relative;

/// Path relative to the root, with `/` on every system, to text.
#[derive(Debug, Default)]
pub(crate) struct Tree {
    files: BTreeMap<String, String>,
}

impl Tree {
    /// Reads every file git tracks or would track; binary files are left out.
    pub(crate) fn read(root: &Path) -> Result<Self, Failure> {
        let paths = match from_git(root) {
            Some(paths) => paths,
            // A source archive has no git folder, and is checked all the same.
            None => from_folder(root)?,
        };
        let files = paths
            .into_iter()
            .filter_map(|path| {
                // A tracked file may have been deleted but not yet staged.
                let text = std::fs::read(root.join(&path)).ok()?;
                let text = String::from_utf8(text).ok()?;
                (!text.contains('\0')).then_some((path, text))
            })
            .collect();
        Ok(Self { files })
    }

    /// A tree made up for a test.
    #[cfg(test)]
    pub(crate) fn of(files: &[(&str, &str)]) -> Self {
        let files = files
            .iter()
            .map(|(path, text)| ((*path).to_owned(), (*text).to_owned()))
            .collect();
        Self { files }
    }

    /// Every file, in the order of their paths.
    pub(crate) fn files(&self) -> impl Iterator<Item = (&str, &str)> {
        self.files
            .iter()
            .map(|(path, text)| (path.as_str(), text.as_str()))
    }

    /// The Rust files.
    pub(crate) fn rust(&self) -> impl Iterator<Item = (&str, &str)> {
        self.files().filter(|(path, _)| has_extension(path, "rs"))
    }

    /// The text of one file.
    pub(crate) fn text(&self, path: &str) -> Option<&str> {
        self.files.get(path).map(String::as_str)
    }

    /// Whether the file is there.
    pub(crate) fn has(&self, path: &str) -> bool {
        self.files.contains_key(path)
    }
}

/// Whether the file name ends in `.extension`, as written.
pub(crate) fn has_extension(path: &str, extension: &str) -> bool {
    Path::new(path)
        .extension()
        .is_some_and(|found| found == extension)
}

fn from_git(root: &Path) -> Option<Vec<String>> {
    let output = Command::new("git")
        .current_dir(root)
        .args([
            "ls-files",
            "-z",
            "--cached",
            "--others",
            "--exclude-standard",
        ])
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output()
        .ok()?;
    if !output.status.success() {
        return None;
    }
    let paths = String::from_utf8(output.stdout).ok()?;
    Some(
        paths
            .split_terminator('\0')
            .map(str::to_owned)
            .collect::<Vec<_>>(),
    )
}

fn from_folder(root: &Path) -> Result<Vec<String>, Failure> {
    let mut paths = Vec::new();
    let mut folders = vec![root.to_path_buf()];
    while let Some(folder) = folders.pop() {
        let cannot_read =
            |error| Failure::failed(format!("cannot read {}: {error}", folder.display()));
        for entry in std::fs::read_dir(&folder).map_err(cannot_read)? {
            let entry = entry.map_err(cannot_read)?;
            let name = entry.file_name();
            if name == ".git" || name == "target" {
                continue;
            }
            if entry.file_type().map_err(cannot_read)?.is_dir() {
                folders.push(entry.path());
            } else {
                paths.push(relative(&entry.path(), root));
            }
        }
    }
    Ok(paths)
}

#[cfg(test)]
mod tests {
    use super::{Tree, from_folder};
    use crate::scratch::Scratch;
    use crate::workspace::root;

    #[test]
    fn the_repository_contains_this_file() {
        let tree = Tree::read(&root()).unwrap();
        assert!(tree.text("xtask/src/tree.rs").unwrap().contains("from_git"));
    }

    #[test]
    fn without_git_the_folder_is_walked_and_built_files_left_out() {
        let scratch = Scratch::with(&[
            ("a/b.rs", "fn b() {}"),
            ("target/debug/c.rs", ""),
            (".git/config", ""),
        ]);
        assert_eq!(from_folder(scratch.path()).unwrap(), ["a/b.rs"]);
    }

    #[test]
    fn binary_files_are_left_out() {
        let scratch = Scratch::with(&[("a.rs", "fn a() {}"), ("b.bin", "\0\u{1}")]);
        let tree = Tree::read(scratch.path()).unwrap();
        let paths: Vec<_> = tree.files().map(|(path, _)| path).collect();
        assert_eq!(paths, ["a.rs"]);
    }
}
