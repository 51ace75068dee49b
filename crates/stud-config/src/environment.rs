//! What a run stands on: where things are, what is trusted, what is set.

use std::ffi::OsString;
use std::path::{Component, Path, PathBuf};

pub use stud_abi::EmbeddedPlugin;
use stud_contract_meta::ExtId;
use stud_diagnostics::{Diagnostic, codes};

use crate::hook_order::Ordering;
use crate::platform::{self, Places};
use crate::plugin_scope::Scope;
use crate::settings::Settings;
use crate::trust::{self, Entered, TrustedProject};

/// Everything that is settled before the first plugin is looked for.
#[derive(Debug, Clone)]
pub struct Environment {
    /// Where things are.
    pub places: Places,
    /// The plugins the program carries.
    pub bundled: Vec<EmbeddedPlugin>,
    /// The settings of every scope that may be read.
    pub settings: Settings,
    /// In which order the hooks of a slot run.
    pub ordering: Ordering,
    /// What the operator should know.
    pub diagnostics: Vec<Diagnostic>,
    project: Option<TrustedProject>,
    reach: Reach,
    left_out: Vec<&'static str>,
    /// Ids whose libraries take no part; what the program carries under such an id does.
    left_out_libraries: Vec<String>,
}

/// The variable with the ids of libraries that take no part in a run, separated by commas.
pub const LEAVE_OUT: &str = "STUD_LEAVE_OUT";

/// How far a run reaches.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Reach {
    /// To the person's plugins, and to the project's if it is trusted.
    #[default]
    Everything,
    /// The same, with the project trusted for this run.
    ProjectOnce,
    /// To what the program carries and the person's own settings, and no further.
    BundledOnly,
}

/// Whether a path, with its links followed, leads to `root` or below. Nothing below `root` is looked at to tell.
fn leads_into(path: &Path, root: &Path) -> bool {
    const MOST_LINKS: usize = 40;
    let Ok(path) = std::path::absolute(path) else {
        return false;
    };
    let mut reached = PathBuf::new();
    let mut ahead: Vec<OsString> = steps(&path);
    let mut links = 0;
    while let Some(step) = ahead.pop() {
        if step == ".." {
            reached.pop();
            continue;
        }
        reached.push(step);
        if reached == root {
            return true;
        }
        if let Ok(target) = std::fs::read_link(&reached) {
            links += 1;
            if links > MOST_LINKS {
                return false;
            }
            // What an absolute target begins with replaces everything before it.
            reached.pop();
            ahead.extend(steps(&target));
        }
    }
    false
}

/// The steps of a path, the first one last.
fn steps(path: &Path) -> Vec<OsString> {
    let steps = path.components().rev();
    let steps = steps.filter(|step| *step != Component::CurDir);
    steps.map(|step| step.as_os_str().to_owned()).collect()
}

impl Environment {
    /// Settles trust first, because nothing of an untrusted project may be read.
    pub fn survey(places: Places, bundled: Vec<EmbeddedPlugin>) -> Result<Self, Diagnostic> {
        Self::survey_within(Reach::Everything, places, bundled)
    }

    /// The same, with less or more than usual.
    pub fn survey_within(
        reach: Reach,
        places: Places,
        bundled: Vec<EmbeddedPlugin>,
    ) -> Result<Self, Diagnostic> {
        let mut settings = Settings::default();
        settings.layer(Scope::Global, &places.global_root)?;
        let mut diagnostics = Vec::new();
        let entered = match reach {
            Reach::Everything => trust::enter(&places)?,
            Reach::ProjectOnce => trust::enter_once(&places),
            Reach::BundledOnly => Entered::Absent,
        };
        let project = match entered {
            Entered::Absent => None,
            Entered::Trusted(project) => {
                settings.layer(Scope::Project, project.root())?;
                Some(project)
            }
            Entered::Untrusted(why) => {
                diagnostics.push(why);
                None
            }
        };
        diagnostics.extend(settings.dropped().iter().cloned());
        diagnostics.extend(settings.literals());
        let mut ordering = Ordering::default();
        let project_root = project.as_ref().map(TrustedProject::root);
        let roots = [
            (Scope::Global, Some(places.global_root.as_path())),
            (Scope::Project, project_root),
        ];
        for (scope, root) in roots {
            if let Some(Err(unusable)) = root.map(|root| ordering.layer(scope, root)) {
                diagnostics.push(unusable);
            }
        }
        Ok(Self {
            places,
            bundled,
            settings,
            ordering,
            diagnostics,
            project,
            reach,
            left_out: Vec::new(),
            left_out_libraries: platform::env_value(LEAVE_OUT)
                .map(|ids| ids.split(',').map(|id| id.trim().to_owned()).collect())
                .unwrap_or_default(),
        })
    }

    /// The same without the plugins of these ids, in whatever scope they lie.
    ///
    /// What the program carries and does not use in a run is of no more use there as a library.
    #[must_use]
    pub fn leaving_out(self, ids: &[&'static str]) -> Self {
        Self {
            left_out: ids.to_vec(),
            ..self
        }
    }

    /// Whether the plugin of this id takes no part in this run.
    pub fn leaves_out(&self, id: &ExtId) -> bool {
        self.leaves_out_name(id.as_str())
    }

    /// The same for a word that need not be an id.
    pub fn leaves_out_name(&self, id: &str) -> bool {
        self.left_out.contains(&id)
    }

    /// Whether the library of this id takes no part in this run.
    pub fn leaves_out_library(&self, id: &str) -> bool {
        self.left_out_libraries
            .iter()
            .any(|left_out| left_out == id)
    }

    /// Whether the person's own plugins take part.
    pub fn reaches_everything(&self) -> bool {
        self.reach != Reach::BundledOnly
    }

    /// The same with the settings as they are now.
    pub fn with_settings_of_now(&self) -> Result<Self, Diagnostic> {
        let mut settings = Settings::default();
        settings.layer(Scope::Global, &self.places.global_root)?;
        if let Some(project) = &self.project {
            settings.layer(Scope::Project, project.root())?;
        }
        Ok(Self {
            settings,
            ..self.clone()
        })
    }

    /// The project, if it takes part.
    pub fn project(&self) -> Option<&TrustedProject> {
        self.project.as_ref()
    }

    /// Whether the project takes part.
    pub fn trusted(&self) -> bool {
        self.project.is_some()
    }

    /// Why nothing at `path` may be read: it lies in a project that is not trusted.
    pub fn closed(&self, path: &Path) -> Option<&Diagnostic> {
        let untrusted = self
            .diagnostics
            .iter()
            .find(|diagnostic| diagnostic.code == &codes::PROJECT_TRUST_REQUIRED)?;
        let root = self.places.project_root.canonicalize().ok()?;
        leads_into(path, &root).then_some(untrusted)
    }

    /// The folders that hold plugins, lowest scope first. A project is among them only once it is trusted.
    pub fn roots(&self) -> impl Iterator<Item = (Scope, &Path)> {
        let project = self
            .project
            .as_ref()
            .map(|project| (Scope::Project, project.root()));
        let global = (Scope::Global, self.places.global_root.as_path());
        let global = (self.reach != Reach::BundledOnly).then_some(global);
        global.into_iter().chain(project)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_into_a_folder_are_told_without_looking_into_it() {
        let folder = tempfile::tempdir().unwrap();
        let base = folder.path().canonicalize().unwrap();
        let at = |name: &str| base.join(name);
        std::fs::create_dir_all(at("project/.stud/tools")).unwrap();
        std::fs::create_dir_all(at("other/deep")).unwrap();
        let link = |target: PathBuf, name: &str| {
            std::os::unix::fs::symlink(target, at(name)).unwrap();
        };
        link(at("project/.stud"), "whole");
        link(
            PathBuf::from("../../project/.stud/tools/x.so"),
            "other/deep/x.so",
        );
        link(at("loop"), "loop");
        let root = at("project/.stud");
        for (path, leads) in [
            ("project/.stud", true),
            ("project/.stud/tools/none.so", true),
            ("project/../project/./.stud/x", true),
            ("whole/tools/x.so", true),
            ("other/deep/x.so", true),
            ("project/.stud/../x", true),
            ("project/.studio/x", false),
            ("other/deep/y.so", false),
            ("loop/x", false),
        ] {
            assert_eq!(leads_into(&at(path), &root), leads, "{path}");
        }
    }
}
