//! What a run stands on: where things are, what is trusted, what is set.

use std::path::Path;

pub use stud_abi::EmbeddedPlugin;
use stud_diagnostics::{Diagnostic, codes};

use crate::ordering::Ordering;
use crate::platform::Places;
use crate::scope::Scope;
use crate::settings::Settings;
use crate::trust::{self, Entered, TrustedProject};

/// Everything that is settled before the first plugin is looked for.
#[derive(Debug, Clone)]
pub struct Ground {
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
}

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

impl Ground {
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
        })
    }

    /// The same with the settings as they are now.
    pub(crate) fn with_settings_of_now(&self) -> Result<Self, Diagnostic> {
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
        let root = &self.places.project_root;
        let below = |path: &Path, root: &Path| path.starts_with(root);
        let named = std::path::absolute(path).is_ok_and(|path| below(&path, root));
        // A link from elsewhere leads to the same place.
        let real = || {
            let (path, root) = (path.canonicalize(), root.canonicalize());
            path.is_ok_and(|path| root.is_ok_and(|root| below(&path, &root)))
        };
        let untrusted = self
            .diagnostics
            .iter()
            .find(|diagnostic| diagnostic.code == &codes::PROJECT_TRUST_REQUIRED)?;
        (named || real()).then_some(untrusted)
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
