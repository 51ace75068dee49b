//! Approvals that tools keep for themselves, under keys of their own.
//!
//! They are apart from the approvals of calls, which core asks for and looks up: nothing here lets a call pass the gate.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use data_encoding::HEXLOWER;
use sha2::{Digest as _, Sha256};
use stud_contract_interaction::ApprovalScope;
use stud_contract_meta::Result;

use super::project::{Grant, ProjectApprovals, Subject};
use super::{check_key, untrusted};
use crate::environment::Environment;
use crate::platform::{self, Places};
use crate::sync::{Mutex, lock};
use crate::trust::TrustedProject;

/// How much of the digest of a folder's path is in the name of its file.
const DIGITS: usize = 32;

/// What the tools of one session have kept.
#[derive(Debug, Default)]
pub struct ToolApprovals {
    of_session: Mutex<BTreeMap<Subject, KeptInMemory>>,
    always: Option<ProjectApprovals>,
}

/// What is kept in memory for a key.
#[derive(Debug, Clone, Copy, Default)]
struct KeptInMemory {
    for_session: bool,
    for_once: bool,
}

/// Which tool of which plugin.
#[derive(Debug, Clone, Copy)]
pub struct ToolOwner<'a> {
    /// The plugin.
    pub ext_id: &'a str,
    /// The tool, where the call that asks is known.
    pub tool: Option<&'a str>,
}

impl ToolOwner<'_> {
    fn subject(self, key: &str) -> Subject {
        let ext_id = self.ext_id;
        Subject {
            tool_id: self
                .tool
                .map_or_else(|| ext_id.to_owned(), |tool| format!("{ext_id}/{tool}")),
            approval_key: key.to_owned(),
        }
    }
}

impl ToolApprovals {
    /// None yet but those that are kept for always.
    pub fn new(always: Option<ProjectApprovals>) -> Self {
        Self {
            of_session: Mutex::default(),
            always,
        }
    }

    /// Those of a session that runs in `ground`.
    pub fn of(ground: &Environment) -> Self {
        Self::new(Some(lasting(&ground.places, ground.project())))
    }

    /// What is approved. An approval for once is used up by this; without a session only those for always count.
    pub fn get(
        &self,
        owner: ToolOwner<'_>,
        key: &str,
        in_session: bool,
    ) -> Result<Option<ApprovalScope>> {
        check_key(key)?;
        let subject = owner.subject(key);
        if let Some(always) = &self.always
            && always.grants()?.iter().any(|grant| grant.key == subject)
        {
            return Ok(Some(ApprovalScope::Always));
        }
        if !in_session {
            return Ok(None);
        }
        let mut of_session = lock(&self.of_session);
        let Some(kept) = of_session.get_mut(&subject) else {
            return Ok(None);
        };
        if kept.for_session {
            return Ok(Some(ApprovalScope::Session));
        }
        let found = std::mem::take(&mut kept.for_once).then_some(ApprovalScope::Once);
        of_session.remove(&subject);
        Ok(found)
    }

    /// Keeps an approval.
    pub fn set(&self, owner: ToolOwner<'_>, key: &str, scope: ApprovalScope) -> Result<()> {
        check_key(key)?;
        let subject = owner.subject(key);
        match scope {
            ApprovalScope::Always => {
                let always = self.always.as_ref().ok_or_else(untrusted)?;
                let granted_at = platform::rfc3339(platform::now());
                always.add(std::iter::once(Grant::of_person(subject, granted_at)))
            }
            ApprovalScope::Session => {
                let mut of_session = lock(&self.of_session);
                of_session.entry(subject).or_default().for_session = true;
                Ok(())
            }
            ApprovalScope::Once => {
                let mut of_session = lock(&self.of_session);
                of_session.entry(subject).or_default().for_once = true;
                Ok(())
            }
        }
    }

    /// Forgets what the tools of a plugin have kept for the session and for once.
    pub fn clear(&self, ext_id: &str) {
        let is_other = |subject: &Subject| {
            let (owner, _) = subject
                .tool_id
                .split_once('/')
                .unwrap_or((&subject.tool_id, ""));
            owner != ext_id
        };
        lock(&self.of_session).retain(|subject, _| is_other(subject));
    }
}

/// Where tools keep what was approved for always: in the project if it is trusted, and otherwise for its folder in
/// stud's home, because nothing is written to a project that is not trusted.
pub fn lasting(places: &Places, project: Option<&TrustedProject>) -> ProjectApprovals {
    let path = match project {
        Some(project) => project.root().join("tool-approvals.json"),
        None => of_folder(&places.global_root, &places.project_root),
    };
    ProjectApprovals::at(path)
}

fn of_folder(global_root: &Path, project_root: &Path) -> PathBuf {
    let folder = project_root.as_os_str().as_encoded_bytes();
    let digest = HEXLOWER.encode(&Sha256::digest(folder));
    let name = digest.get(..DIGITS).unwrap_or(&digest);
    global_root
        .join("tool-approvals")
        .join(format!("{name}.json"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const GATE: ToolOwner<'static> = ToolOwner {
        ext_id: "gates",
        tool: Some("gate"),
    };

    fn places(folder: &Path) -> Places {
        Places {
            global_root: folder.join("home"),
            project_root: folder.join("project/.stud"),
        }
    }

    fn kept_in(folder: &Path) -> ToolApprovals {
        ToolApprovals::new(Some(lasting(&places(folder), None)))
    }

    #[test]
    fn cit_45_47_the_widest_scope_is_found_and_once_is_used_up() {
        let folder = tempfile::tempdir().unwrap();
        let approvals = kept_in(folder.path());
        let get = || approvals.get(GATE, "deploy", true).unwrap();
        assert_eq!(get(), None);
        approvals.set(GATE, "deploy", ApprovalScope::Once).unwrap();
        assert_eq!(get(), Some(ApprovalScope::Once));
        assert_eq!(get(), None, "it was used up");
        approvals.set(GATE, "deploy", ApprovalScope::Once).unwrap();
        approvals
            .set(GATE, "deploy", ApprovalScope::Session)
            .unwrap();
        assert_eq!(get(), Some(ApprovalScope::Session));
        approvals
            .set(GATE, "deploy", ApprovalScope::Always)
            .unwrap();
        assert_eq!(get(), Some(ApprovalScope::Always));
    }

    #[test]
    fn cit_46_only_approvals_for_always_are_seen_without_a_session_and_by_another_one() {
        let folder = tempfile::tempdir().unwrap();
        let (one, other) = (kept_in(folder.path()), kept_in(folder.path()));
        // The other session has looked before, and is told all the same.
        assert_eq!(other.get(GATE, "a", true).unwrap(), None);
        one.set(GATE, "s", ApprovalScope::Session).unwrap();
        one.set(GATE, "a", ApprovalScope::Always).unwrap();
        assert_eq!(one.get(GATE, "s", false).unwrap(), None);
        assert_eq!(other.get(GATE, "s", true).unwrap(), None);
        for approvals in [&one, &other, &kept_in(folder.path())] {
            let found = approvals.get(GATE, "a", false).unwrap();
            assert_eq!(found, Some(ApprovalScope::Always));
        }
        one.clear("gates");
        assert_eq!(one.get(GATE, "s", true).unwrap(), None);
        assert!(one.get(GATE, "a", true).unwrap().is_some());
    }

    #[test]
    fn cit_47_tools_do_not_share_keys_and_clearing_is_for_one_plugin() {
        let folder = tempfile::tempdir().unwrap();
        let approvals = kept_in(folder.path());
        let owner = |ext_id, tool| ToolOwner { ext_id, tool };
        let others = [
            owner("gates", Some("gate2")),
            owner("gates", None),
            owner("other", Some("gate")),
            owner("gate", None),
        ];
        for scope in [ApprovalScope::Session, ApprovalScope::Always] {
            approvals.set(GATE, "k", scope).unwrap();
            for other in others {
                assert_eq!(approvals.get(other, "k", true).unwrap(), None, "{other:?}");
            }
        }
        approvals.set(GATE, "s", ApprovalScope::Session).unwrap();
        approvals.clear("gate");
        approvals.clear("other");
        let found = approvals.get(GATE, "s", true).unwrap();
        assert_eq!(found, Some(ApprovalScope::Session));
    }

    #[test]
    fn cit_44_a_key_is_any_line_that_fits() {
        let folder = tempfile::tempdir().unwrap();
        let approvals = kept_in(folder.path());
        for key in ["bash:git push:/srv", "\u{1f511}", &"x".repeat(1024)] {
            approvals.set(GATE, key, ApprovalScope::Session).unwrap();
            assert!(approvals.get(GATE, key, true).unwrap().is_some());
        }
        for key in ["", "a\nb", &"x".repeat(1025)] {
            let set = approvals.set(GATE, key, ApprovalScope::Session);
            assert_eq!(set.unwrap_err().code(), "ApprovalKeyInvalid");
            let got = approvals.get(GATE, key, true);
            assert_eq!(got.unwrap_err().code(), "ApprovalKeyInvalid");
        }
    }

    #[test]
    fn folders_without_trust_have_files_of_their_own() {
        let folder = tempfile::tempdir().unwrap();
        let approvals = kept_in(folder.path());
        approvals.set(GATE, "k", ApprovalScope::Always).unwrap();
        assert!(!folder.path().join("project/.stud").exists());
        let mut elsewhere = places(folder.path());
        elsewhere.project_root = folder.path().join("elsewhere/.stud");
        let elsewhere = ToolApprovals::new(Some(lasting(&elsewhere, None)));
        assert_eq!(elsewhere.get(GATE, "k", true).unwrap(), None);
    }
}
