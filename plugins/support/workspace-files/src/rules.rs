//! What a project leaves out: `.gitignore` and `.ignore`.

use std::ffi::OsStr;
use std::io::Read;
use std::os::fd::BorrowedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};

use crate::contents::Contents;
use crate::root::open_file;

/// The files with rules, the one whose word counts more last.
const FILES: [&str; 2] = [".gitignore", ".ignore"];

/// The most bytes of rules that are read from one file.
const MOST_BYTES: u64 = 1024 * 1024;

/// The rules of the directories from the workspace down.
#[derive(Debug, Default)]
pub(crate) struct Rules {
    levels: Vec<Level>,
}

#[derive(Debug)]
struct Level {
    rules: Gitignore,
    /// How long the path of its directory is, with the slash.
    prefix: usize,
}

impl Rules {
    /// Adds the rules of a directory, by its path from the workspace. Gives what takes them away again.
    pub(crate) fn add(&mut self, directory: BorrowedFd<'_>, path: &Path) -> usize {
        let before = self.levels.len();
        let mut builder = GitignoreBuilder::new("");
        let mut any = false;
        for name in FILES {
            for line in lines(directory, name) {
                // A line that is no rule is no rule; the others are.
                any |= builder.add_line(None, &line).is_ok();
            }
        }
        if any && let Ok(rules) = builder.build() {
            let len = path.as_os_str().len();
            let prefix = if len == 0 { 0 } else { len + 1 };
            self.levels.push(Level { rules, prefix });
        }
        before
    }

    /// Back to what there was before a directory.
    pub(crate) fn back_to(&mut self, before: usize) {
        self.levels.truncate(before);
    }

    /// Whether the project leaves this out; the path is from the workspace.
    pub(crate) fn leave_out(&self, path: &Path, is_directory: bool) -> bool {
        let bytes = path.as_os_str().as_bytes();
        for level in self.levels.iter().rev() {
            let below = Path::new(OsStr::from_bytes(
                bytes.get(level.prefix..).unwrap_or_default(),
            ));
            match level.rules.matched(below, is_directory) {
                Match::None => {}
                Match::Ignore(_) => return true,
                Match::Whitelist(_) => return false,
            }
        }
        false
    }
}

/// The lines of a plain file; none if there is no such.
fn lines(directory: BorrowedFd<'_>, name: &str) -> Vec<String> {
    let opened = open_file(directory, OsStr::new(name), None).ok();
    let Some(contents) = opened.and_then(|file| Contents::of(file, name).ok()) else {
        return Vec::new();
    };
    let mut bytes = Vec::new();
    if contents
        .into_file()
        .take(MOST_BYTES)
        .read_to_end(&mut bytes)
        .is_err()
    {
        return Vec::new();
    }
    let text = String::from_utf8_lossy(&bytes);
    text.trim_start_matches('\u{feff}')
        .lines()
        .map(str::to_owned)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::fd::AsFd as _;

    #[test]
    fn the_deepest_word_counts() {
        let folder = tempfile::tempdir().unwrap();
        let deep = folder.path().join("deep");
        fs::create_dir(&deep).unwrap();
        fs::write(
            folder.path().join(".gitignore"),
            "*.log\n/only-here\nbuilt/\n# no rule\n[\n",
        )
        .unwrap();
        fs::write(deep.join(".gitignore"), "!kept.log\r\n").unwrap();
        fs::write(deep.join(".ignore"), "\u{feff}plain.txt\n").unwrap();

        let mut rules = Rules::default();
        rules.add(
            fs::File::open(folder.path()).unwrap().as_fd(),
            Path::new(""),
        );
        let before = rules.add(fs::File::open(&deep).unwrap().as_fd(), Path::new("deep"));
        for (path, is_directory, left_out) in [
            ("a.log", false, true),
            ("a.txt", false, false),
            ("deep/a.log", false, true),
            ("deep/kept.log", false, false),
            ("kept.log", false, true),
            ("deep/plain.txt", false, true),
            ("plain.txt", false, false),
            ("only-here", false, true),
            ("deep/only-here", false, false),
            ("deep/built", true, true),
            ("deep/built", false, false),
        ] {
            assert_eq!(
                rules.leave_out(Path::new(path), is_directory),
                left_out,
                "{path}"
            );
        }
        rules.back_to(before);
        assert!(rules.leave_out(Path::new("deep/kept.log"), false));
    }
}
