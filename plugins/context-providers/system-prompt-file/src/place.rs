//! Where the file is, and that this is in the project.

use std::path::{Component, Path, PathBuf};

use stud_sdk::{Class, Error, Result};

/// The code of a path that leads out of the project.
const FORBIDDEN: &str = "Forbidden";

/// A file below the project's folder, as far as its name says.
#[derive(Debug)]
pub(crate) struct Place {
    /// The folder.
    folder: PathBuf,
    /// The file.
    path: PathBuf,
}

impl Place {
    /// The place that `path` names in the project with this `.stud` folder.
    pub(crate) fn of(path: &str, project_root: &Path) -> Result<Self> {
        let named = Path::new(path);
        if named.components().any(|part| part == Component::ParentDir) {
            let why = "`path` must not have `..` in it";
            let error = Error::new(Class::Validation, "ConfigSchemaViolation", why);
            return Err(error.with("fieldPath", "/path"));
        }
        let folder = project_root.parent().unwrap_or(project_root).to_owned();
        let place = Self {
            // A path that begins at the root replaces the folder.
            path: folder.join(named),
            folder,
        };
        if place.path.starts_with(&place.folder) {
            Ok(place)
        } else {
            Err(place.forbidden())
        }
    }

    /// The file itself, links followed. Nothing if there is none.
    ///
    /// A context provider cannot raise a prompt, so links that lead out of the project are refused.
    pub(crate) fn real(&self) -> Result<Option<PathBuf>> {
        let (Ok(folder), Ok(path)) = (self.folder.canonicalize(), self.path.canonicalize()) else {
            return Ok(None);
        };
        if path.starts_with(folder) {
            Ok(Some(path))
        } else {
            Err(self.forbidden())
        }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    fn forbidden(&self) -> Error {
        let path = self.path.display().to_string();
        let why = format!("`{path}` leads out of the project");
        Error::new(Class::ToolTerminal, FORBIDDEN, why).with("path", path)
    }
}
