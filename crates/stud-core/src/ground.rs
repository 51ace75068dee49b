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
#[derive(Debug)]
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
}

impl Ground {
    /// Settles trust first, because nothing of an untrusted project may be read.
    pub fn survey(places: Places, bundled: Vec<EmbeddedPlugin>) -> Result<Self, Diagnostic> {
        let mut settings = Settings::default();
        settings.layer(Scope::Global, &places.global_root)?;
        let mut diagnostics = Vec::new();
        let project = match trust::enter(&places)? {
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
        [(Scope::Global, self.places.global_root.as_path())]
            .into_iter()
            .chain(project)
    }
}
