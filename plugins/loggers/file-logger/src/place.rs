//! Where the file is.

use std::path::PathBuf;

use stud_sdk::{Class, Cx, Error, Host, Result};

/// Which file to write to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Place {
    /// The one in the config.
    Named(PathBuf),
    /// One for each session, in stud's own folder.
    PerSession,
}

impl Place {
    /// Reads `path` of the config: `~/` is the home folder, and what is not absolute begins in the session's folder.
    /// None if there has to be a home folder and is not.
    pub(crate) fn named(path: PathBuf, host: &Host) -> Option<Self> {
        if let Ok(below_home) = path.strip_prefix("~") {
            let home = host.env().get("HOME").ok().flatten()?;
            return Some(Self::Named(PathBuf::from(home).join(below_home)));
        }
        // The current folder of the process is not the session's own: one process may run many.
        let project = host.workspace().project_root().ok();
        let folder = project.as_deref().and_then(|root| root.parent());
        Some(Self::Named(match folder {
            Some(folder) => folder.join(path),
            None => path,
        }))
    }

    /// The path of the file, as far as it can be known now.
    pub(crate) fn path(&self, cx: &Cx) -> Result<PathBuf> {
        match self {
            Self::Named(path) => Ok(path.clone()),
            Self::PerSession => {
                let workspace = cx.host().workspace();
                // Records of a child session belong to the file of the session this logger was made for.
                let session = workspace.session_id().ok();
                let session = session.or_else(|| cx.ids().session_id.clone());
                let name = file_name(session.as_deref())?;
                Ok(workspace.global_root()?.join("logs").join(name))
            }
        }
    }
}

/// The session a record belongs to.
pub(crate) fn session_of(cx: &Cx) -> Option<String> {
    let own = cx.ids().session_id.clone();
    own.or_else(|| cx.host().workspace().session_id().ok())
}

/// An id that came from outside must not lead to another folder.
fn file_name(session: Option<&str>) -> Result<String> {
    let is_plain = |id: &&str| {
        let mut bytes = id.bytes();
        !id.is_empty() && bytes.all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte))
    };
    match session {
        Some(id) => Some(id)
            .filter(is_plain)
            .map(|id| format!("session-{id}.jsonl"))
            .ok_or_else(|| {
                unnamed("the session's id cannot be part of a file name").with("sessionId", id)
            }),
        None => Err(unnamed("there is no session to name the file after")),
    }
}

fn unnamed(why: &str) -> Error {
    let message = format!("{why}; `path` in the config of this logger names a file");
    Error::new(Class::Session, "StoreUnavailable", message)
}

#[cfg(test)]
mod tests {
    use super::*;
    use stud_sdk::testing::FakeHost;

    fn named(path: &str, host: FakeHost) -> Option<Place> {
        Place::named(path.into(), host.cx().host())
    }

    #[test]
    fn a_path_is_taken_from_the_root_the_home_or_the_session() {
        let host = || {
            FakeHost::new()
                .env("HOME", "/users/ada")
                .project_root("/projects/rocket/.stud".into())
        };
        for (path, expected) in [
            ("/var/log/stud.jsonl", "/var/log/stud.jsonl"),
            ("~/logs/stud.jsonl", "/users/ada/logs/stud.jsonl"),
            ("logs/stud.jsonl", "/projects/rocket/logs/stud.jsonl"),
            ("~other/stud.jsonl", "/projects/rocket/~other/stud.jsonl"),
        ] {
            assert_eq!(named(path, host()), Some(Place::Named(expected.into())));
        }
    }

    #[test]
    fn a_home_that_is_not_known_is_no_place() {
        assert_eq!(named("~/a", FakeHost::new()), None);
    }

    #[test]
    fn without_a_path_there_is_one_file_for_each_session() {
        let host = FakeHost::new().global_root("/users/ada/.stud".into());
        assert_eq!(
            Place::PerSession.path(&host.cx()),
            Ok("/users/ada/.stud/logs/session-session-1.jsonl".into())
        );
    }

    #[test]
    fn only_a_plain_id_becomes_part_of_a_name() {
        let id = "0192f0c1-2b3c-7d4e-8f90-a1b2c3d4e5f6";
        assert_eq!(file_name(Some(id)), Ok(format!("session-{id}.jsonl")));
        for id in [None, Some(""), Some("../../x"), Some("a/b"), Some("a\0")] {
            let refused = file_name(id).unwrap_err();
            assert!(refused.is(Class::Session, "StoreUnavailable"), "{id:?}");
        }
    }
}
