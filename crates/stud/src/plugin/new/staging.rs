//! Writing a new plugin's folder: all of it or nothing.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use stud_diagnostics::{Diagnostic, codes};

use super::layout::File;

/// Refuses a place where something is; an empty folder is nothing.
pub(super) fn check_free(folder: &Path) -> Result<(), Diagnostic> {
    let found = match fs::symlink_metadata(folder) {
        Ok(found) => found,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(unwritable(folder, &error)),
    };
    if !found.is_dir() {
        return Err(taken(folder, "something is already there"));
    }
    let mut entries = fs::read_dir(folder).map_err(|error| unwritable(folder, &error))?;
    match entries.next() {
        None => Ok(()),
        Some(_) => Err(taken(folder, "the folder is already there and not empty")),
    }
}

/// Writes the files beside the folder and moves them into place as a whole.
pub(super) fn write(folder: &Path, files: &[File]) -> Result<(), Diagnostic> {
    let staged = stage(folder, files).map_err(|error| unwritable(folder, &error))?;
    let moved = fs::rename(&staged.0, folder);
    moved.map_err(|error| match error.kind() {
        // Someone else was quicker.
        ErrorKind::DirectoryNotEmpty | ErrorKind::AlreadyExists | ErrorKind::NotADirectory => {
            taken(folder, "something is already there")
        }
        _ => unwritable(folder, &error),
    })
}

/// A folder that is removed unless it was moved away.
struct Staged(PathBuf);

impl Drop for Staged {
    fn drop(&mut self) {
        // After the move there is nothing left to remove, and a second error would not help.
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn stage(folder: &Path, files: &[File]) -> io::Result<Staged> {
    let parent = folder.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(parent)?;
    let staged = make_unused(parent, folder)?;
    for file in files {
        let path = staged.0.join(file.path);
        if let Some(above) = path.parent() {
            fs::create_dir_all(above)?;
        }
        fs::write(path, &file.text)?;
    }
    Ok(staged)
}

/// A folder of ours alone; one that an interrupted run left behind is passed over.
fn make_unused(parent: &Path, folder: &Path) -> io::Result<Staged> {
    let name = folder.file_name().unwrap_or_default().to_string_lossy();
    let mut attempt = 0;
    loop {
        let path = parent.join(format!(".{name}.{}-{attempt}.tmp", std::process::id()));
        match fs::create_dir(&path) {
            Ok(()) => return Ok(Staged(path)),
            Err(error) if error.kind() == ErrorKind::AlreadyExists && attempt < 100 => attempt += 1,
            Err(error) => return Err(error),
        }
    }
}

fn taken(folder: &Path, what: &str) -> Diagnostic {
    Diagnostic::error(
        &codes::REGISTRATION_CONFLICT,
        format!("a new plugin cannot be made here: {what}"),
    )
    .file(folder)
    .with("path", folder.to_string_lossy())
    .help("choose another id, another place with `--path`, or move the existing folder away")
}

pub(super) fn unwritable(folder: &Path, error: &io::Error) -> Diagnostic {
    Diagnostic::error(
        &codes::STARTUP_FAILURE,
        format!("the folder of the plugin cannot be made: {error}"),
    )
    .file(folder)
    .with("path", folder.to_string_lossy())
    .help("choose another place with `--path`, or check the permissions of this one")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files() -> Vec<File> {
        ["Cargo.toml", "src/lib.rs"]
            .map(|path| File {
                path,
                text: path.to_owned(),
            })
            .into()
    }

    fn entries(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap();
        let mut names: Vec<_> = entries
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    /// A place that nothing else uses, removed in the end.
    fn place() -> Staged {
        let own = std::env::temp_dir().join("stud-plugin-new");
        make_unused(&std::env::temp_dir(), &own).unwrap()
    }

    #[test]
    fn an_empty_folder_is_filled() {
        let place = place();
        let folder = place.0.join("x");
        fs::create_dir(&folder).unwrap();
        check_free(&folder).unwrap();
        write(&folder, &files()).unwrap();
        assert_eq!(entries(&folder), ["Cargo.toml", "src"]);
        assert_eq!(entries(&place.0), ["x"]);
    }

    #[test]
    fn what_is_there_stays_as_it_is() {
        let place = place();
        let folder = place.0.join("x");
        fs::create_dir(&folder).unwrap();
        fs::write(folder.join("mine"), "").unwrap();
        assert_eq!(
            check_free(&folder).unwrap_err().code,
            &codes::REGISTRATION_CONFLICT
        );
        // The same, found out too late.
        assert_eq!(
            write(&folder, &files()).unwrap_err().code,
            &codes::REGISTRATION_CONFLICT
        );
        assert_eq!(entries(&folder), ["mine"]);
        assert_eq!(entries(&place.0), ["x"]);
    }

    #[test]
    fn a_place_below_a_file_is_refused() {
        let place = place();
        fs::write(place.0.join("file"), "").unwrap();
        let folder = place.0.join("file/x");
        assert_eq!(
            check_free(&folder).unwrap_err().code,
            &codes::STARTUP_FAILURE
        );
        assert_eq!(
            write(&folder, &files()).unwrap_err().code,
            &codes::STARTUP_FAILURE
        );
    }
}
