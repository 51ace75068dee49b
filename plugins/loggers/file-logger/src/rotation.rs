//! Setting a full file aside, and removing the oldest of those.

use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::stamp::Stamp;

/// When a file is full, and how many full ones are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Rotation {
    pub(crate) at_bytes: u64,
    pub(crate) keep: usize,
}

impl Rotation {
    /// Whether a file of this size is full, given what comes next.
    ///
    /// An empty file never is: one line that is too long by itself has to go somewhere.
    pub(crate) fn is_due(self, size: u64, next: usize) -> bool {
        let next = u64::try_from(next).unwrap_or(u64::MAX);
        size > 0 && size.saturating_add(next) > self.at_bytes
    }

    /// Sets the file aside under a name of its own, and removes the oldest of those that are too many.
    pub(crate) fn rotate(self, path: &Path, now: SystemTime) -> io::Result<()> {
        let mut aside = set_aside_before(path)?;
        // A clock that stood still or was set back must not make the newest look like the oldest.
        let after = aside.last().map_or(Stamp::of(now), |last| last.next());
        aside.push(set_aside(path, after.max(Stamp::of(now)))?);
        let surplus = aside.len().saturating_sub(self.keep);
        for oldest in aside.drain(..surplus) {
            remove(&name_for(path, oldest))?;
        }
        Ok(())
    }
}

/// Renames the file and says which stamp it got: this one, or the next free one.
fn set_aside(path: &Path, mut stamp: Stamp) -> io::Result<Stamp> {
    loop {
        let target = name_for(path, stamp);
        // Renaming replaces what is there, so the name is taken first; it can be taken by one alone.
        match File::options()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(&target)
        {
            Ok(_) => {
                return fs::rename(path, &target).map(|()| stamp).inspect_err(|_| {
                    let _ = fs::remove_file(&target);
                });
            }
            Err(error) if error.kind() == ErrorKind::AlreadyExists => stamp = stamp.next(),
            Err(error) => return Err(error),
        }
    }
}

/// The stamps of the files that were set aside, the oldest first. Files with any other name are not ours.
fn set_aside_before(path: &Path) -> io::Result<Vec<Stamp>> {
    let Some(name) = path.file_name() else {
        return Ok(Vec::new());
    };
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let mut stamps = Vec::new();
    for entry in fs::read_dir(folder)? {
        let found = entry?.file_name();
        let rest = found
            .as_encoded_bytes()
            .strip_prefix(name.as_encoded_bytes());
        let stamp = rest
            .and_then(|rest| rest.strip_prefix(b"."))
            .and_then(|rest| str::from_utf8(rest).ok())
            .and_then(Stamp::parse);
        stamps.extend(stamp);
    }
    stamps.sort_unstable();
    Ok(stamps)
}

fn name_for(path: &Path, stamp: Stamp) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(format!(".{stamp}"));
    name.into()
}

/// Removes a file; another logger on the same path may have been faster.
fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::{Duration, UNIX_EPOCH};
    use tempfile::TempDir;

    const NOW: Duration = Duration::from_secs(1_767_225_600);

    /// Writes each text to the file and sets it aside, all in the same millisecond.
    fn rotate_all(folder: &TempDir, keep: usize, texts: &[&str]) -> PathBuf {
        let path = folder.path().join("log");
        let rotation = Rotation { at_bytes: 1, keep };
        for text in texts {
            fs::write(&path, text).unwrap();
            rotation.rotate(&path, UNIX_EPOCH + NOW).unwrap();
        }
        path
    }

    /// Name and content of every file, by name.
    fn files(folder: &TempDir) -> Vec<(String, String)> {
        let entries = fs::read_dir(folder.path()).unwrap();
        let mut files: Vec<_> = entries
            .map(|entry| entry.unwrap().path())
            .map(|path| {
                let name = path.file_name().unwrap().to_str().unwrap().to_owned();
                (name, fs::read_to_string(&path).unwrap())
            })
            .collect();
        files.sort();
        files
    }

    fn pairs(files: &[(&str, &str)]) -> Vec<(String, String)> {
        let owned = |(name, content): &(&str, &str)| ((*name).to_owned(), (*content).to_owned());
        files.iter().map(owned).collect()
    }

    #[test]
    fn files_set_aside_in_one_millisecond_keep_their_order_and_content() {
        let folder = TempDir::new().unwrap();
        rotate_all(&folder, 5, &["a", "b", "c"]);
        let expected = pairs(&[
            ("log.2026-01-01T00-00-00-000Z", "a"),
            ("log.2026-01-01T00-00-00-001Z", "b"),
            ("log.2026-01-01T00-00-00-002Z", "c"),
        ]);
        assert_eq!(files(&folder), expected);
    }

    #[test]
    fn the_oldest_go_first_even_within_one_millisecond() {
        let folder = TempDir::new().unwrap();
        rotate_all(&folder, 2, &["a", "b", "c", "d", "e"]);
        let contents: Vec<_> = files(&folder).into_iter().map(|file| file.1).collect();
        assert_eq!(contents, ["d", "e"]);
    }

    #[test]
    fn none_may_be_kept() {
        let folder = TempDir::new().unwrap();
        rotate_all(&folder, 0, &["a", "b"]);
        assert_eq!(files(&folder), []);
    }

    #[test]
    fn a_clock_that_was_set_back_does_not_change_the_order() {
        let folder = TempDir::new().unwrap();
        let later = "log.2030-01-01T00-00-00-000Z";
        fs::write(folder.path().join(later), "old").unwrap();
        rotate_all(&folder, 2, &["new"]);
        let expected = pairs(&[(later, "old"), ("log.2030-01-01T00-00-00-001Z", "new")]);
        assert_eq!(files(&folder), expected);
    }

    #[test]
    fn files_of_others_are_left_alone() {
        let folder = TempDir::new().unwrap();
        let others = [
            "log.1",
            "log.2020-01-01",
            "log.2020-01-01T00-00-00-000Z.gz",
            "log2.2020-01-01T00-00-00-000Z",
            "other",
        ];
        for name in others {
            fs::write(folder.path().join(name), "theirs").unwrap();
        }
        rotate_all(&folder, 0, &["a"]);
        let left: Vec<_> = files(&folder).into_iter().map(|file| file.0).collect();
        assert_eq!(left, others);
    }

    #[test]
    fn nothing_that_is_there_is_overwritten() {
        let folder = TempDir::new().unwrap();
        let path = folder.path().join("log");
        fs::write(&path, "new").unwrap();
        // Another process took this name after the folder was listed.
        let stamp = Stamp::of(UNIX_EPOCH + NOW);
        fs::write(name_for(&path, stamp), "theirs").unwrap();
        assert_eq!(set_aside(&path, stamp).unwrap(), stamp.next());
        let expected = pairs(&[
            ("log.2026-01-01T00-00-00-000Z", "theirs"),
            ("log.2026-01-01T00-00-00-001Z", "new"),
        ]);
        assert_eq!(files(&folder), expected);
    }

    #[test]
    fn a_file_that_cannot_be_renamed_leaves_no_trace() {
        let folder = TempDir::new().unwrap();
        let rotation = Rotation {
            at_bytes: 1,
            keep: 5,
        };
        let missing = folder.path().join("log");
        let error = rotation.rotate(&missing, SystemTime::now()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::NotFound);
        assert_eq!(files(&folder), []);
    }

    #[test]
    fn a_file_is_full_when_the_next_line_would_not_fit() {
        let rotation = Rotation {
            at_bytes: 10,
            keep: 0,
        };
        assert!(!rotation.is_due(0, 11));
        assert!(!rotation.is_due(5, 5));
        assert!(rotation.is_due(5, 6));
        assert!(rotation.is_due(u64::MAX, usize::MAX));
    }
}
