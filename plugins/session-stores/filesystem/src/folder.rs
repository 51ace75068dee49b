//! The folder of one session, and how an id becomes its name.

use std::path::{Path, PathBuf};

use stud_sdk::Result;

use crate::checksum::Key;
use crate::failure::{Reason, unavailable};

/// What file systems take as one name.
const NAME_BYTES: usize = 255;

/// Where the files of one session are.
#[derive(Debug, Clone)]
pub(crate) struct Folder {
    path: PathBuf,
}

impl Folder {
    /// The folder of a session below `root`. It need not be there.
    ///
    /// An id is reduced to its last component, so none leads out of `root`.
    pub(crate) fn of(root: &Path, session_id: &str) -> Result<Self> {
        let name = name(session_id).ok_or_else(|| {
            let message = format!(
                "the session id {session_id:?} cannot be the name of a folder; use letters, digits, `-` and `_`"
            );
            unavailable(Reason::BadName, message)
        })?;
        Ok(Self {
            path: root.join(name),
        })
    }

    /// The folder itself.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// What the records of the session are checked with.
    pub(crate) fn key(&self) -> Key {
        let name = self.path.file_name().unwrap_or_default();
        Key::of(name.as_encoded_bytes())
    }

    /// The snapshot's manifest.
    pub(crate) fn manifest(&self) -> PathBuf {
        self.path.join("manifest.json")
    }

    /// The folder of the snapshot's slots.
    pub(crate) fn state(&self) -> PathBuf {
        self.path.join("state")
    }

    /// The journal.
    pub(crate) fn journal(&self) -> PathBuf {
        self.path.join("journal.log")
    }

    /// What was cut off the journal for the `number`th time.
    pub(crate) fn torn(&self, number: u32) -> PathBuf {
        self.path.join(format!("journal.torn-{number}"))
    }

    /// The file whose lock the writer holds.
    pub(crate) fn lock(&self) -> PathBuf {
        self.path.join("lock")
    }
}

/// The last component of an id, if every file system takes it as a name.
pub(crate) fn name(session_id: &str) -> Option<&str> {
    let name = session_id.rsplit(['/', '\\']).next()?;
    let strange = |letter: char| letter.is_control() || "<>:\"|?*".contains(letter);
    // Ends that some systems drop, among them `.` and `..` themselves.
    let fits = !name.is_empty() && name.len() <= NAME_BYTES && !name.ends_with(['.', ' ']);
    (fits && !name.contains(strange)).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_one_name_below_the_root() {
        let root = Path::new("/sessions");
        for (id, expected) in [
            (
                "0198c0de-0000-7000-8000-000000000001",
                "0198c0de-0000-7000-8000-000000000001",
            ),
            ("s1", "s1"),
            (".hidden", ".hidden"),
            ("../../etc/passwd", "passwd"),
            ("/etc/passwd", "passwd"),
            ("..\\..\\boot", "boot"),
            ("a/../b", "b"),
            ("日本", "日本"),
        ] {
            let folder = Folder::of(root, id).unwrap();
            assert_eq!(folder.path(), root.join(expected), "{id}");
        }
    }

    #[test]
    fn what_is_no_name_is_refused() {
        let long = "x".repeat(256);
        for id in [
            "",
            ".",
            "..",
            "...",
            "a/..",
            "a/",
            "../",
            "/",
            "\\",
            "nul\0byte",
            "line\nbreak",
            "c:",
            "a*",
            "end ",
            &long,
        ] {
            let error = Folder::of(Path::new("/sessions"), id).unwrap_err();
            assert_eq!(error.code(), "StoreUnavailable", "{id:?}");
            assert_eq!(error.context()["reason"], "badName", "{id:?}");
        }
    }
}
