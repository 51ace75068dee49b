//! discover: [`Environment`] → [`Found`]. Names are listed, nothing is opened.

use std::fs;
use std::path::{Path, PathBuf};

use stud_contract_meta::Kind;
use stud_diagnostics::{Diagnostic, Stage, codes};

use crate::environment::Environment;
use crate::plugin_scope::Scope;
use crate::provenance::{Origin, Provenance, Refused};

/// A plugin that seems to be there.
#[derive(Debug)]
pub struct Found {
    pub(crate) track: Provenance,
    /// The category whose folder it lies in, if it lies in one.
    pub(crate) folder: Option<Kind>,
    /// The config beside the library, if it lies in a folder of its own.
    pub(crate) config_file: Option<PathBuf>,
}

/// What was found, in a fixed order: scope, category, path.
#[derive(Debug, Default)]
pub struct Discovered {
    /// Plugins to look into.
    pub found: Vec<Found>,
    /// Things in a plugin's place that cannot be one.
    pub refused: Vec<Refused>,
    /// Folders that could not be listed.
    pub warnings: Vec<Diagnostic>,
}

/// Lists what is in the plugin folders of every scope.
pub fn discover(ground: &Environment) -> Discovered {
    let mut discovered = Discovered::default();
    for (index, plugin) in ground.bundled.iter().enumerate() {
        let label = format!("bundled-{index}");
        let track = Provenance::new(Scope::Bundled, Origin::Embedded(*plugin), label, None);
        discovered.found.push(Found {
            track,
            folder: None,
            config_file: None,
        });
    }
    for (scope, root) in ground.roots() {
        scan_root(&mut discovered, scope, root);
    }
    discovered
}

/// One library named by its path, outside any scope's folders. Nothing is looked at yet.
pub fn discover_file(path: &Path) -> Found {
    let track = Provenance::new(
        Scope::Global,
        Origin::Library(path.to_owned()),
        stem(path),
        None,
    );
    Found {
        track,
        folder: None,
        config_file: None,
    }
}

fn scan_root(discovered: &mut Discovered, scope: Scope, root: &Path) {
    for kind in Kind::ALL {
        let folder = root.join(kind.folder());
        match list(&folder) {
            Ok(entries) => {
                for path in entries {
                    scan_entry(discovered, scope, kind, path);
                }
            }
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(error) => discovered.warnings.push(
                Diagnostic::warning(
                    &codes::LIBRARY_UNREADABLE,
                    format!(
                        "the folder `{}` of the {scope} scope cannot be listed: {error}",
                        kind.folder()
                    ),
                )
                .at(Stage::Discover)
                .file(folder)
                .help("make it a folder this user may read, or remove it"),
            ),
        }
    }
}

fn scan_entry(discovered: &mut Discovered, scope: Scope, kind: Kind, path: PathBuf) {
    let is_library_name = has_library_name(&path);
    let is_folder = path.is_dir();
    if is_folder && !is_library_name {
        let label = name_of(&path);
        match library_in(&path) {
            Ok(library) => {
                let track = Provenance::new(scope, Origin::Library(library), label, Some(kind));
                let config_file = path.join("config.json");
                discovered.found.push(Found {
                    track,
                    folder: Some(kind),
                    config_file: config_file
                        .symlink_metadata()
                        .is_ok()
                        .then_some(config_file),
                });
            }
            Err(why) => {
                let track = Provenance::new(scope, Origin::Library(path), label, Some(kind));
                let why = track
                    .error(Stage::Discover, &codes::LIBRARY_UNREADABLE, why)
                    .help("put exactly one library into this folder, or name one after it");
                discovered.refused.push(track.refuse(why));
            }
        }
    } else if is_library_name {
        let label = stem(&path);
        let track = Provenance::new(scope, Origin::Library(path), label, Some(kind));
        discovered.found.push(Found {
            track,
            folder: Some(kind),
            config_file: None,
        });
    }
}

/// The library in a plugin's own folder: the only one, or the one named after the folder.
fn library_in(folder: &Path) -> Result<PathBuf, String> {
    let mut libraries: Vec<PathBuf> = list(folder)
        .map_err(|error| format!("the folder cannot be listed: {error}"))?
        .into_iter()
        .filter(|path| has_library_name(path))
        .collect();
    let own = name_of(folder).replace('-', "_");
    if let Some(named) = libraries.iter().position(|path| stem(path) == own) {
        return Ok(libraries.swap_remove(named));
    }
    match libraries.len() {
        0 => Err("the folder holds no library".to_owned()),
        1 => Ok(libraries.swap_remove(0)),
        many => Err(format!(
            "the folder holds {many} libraries and none is named `lib{own}.{}`",
            std::env::consts::DLL_EXTENSION
        )),
    }
}

/// The entries of a folder in byte order; hidden ones are nobody's plugin.
fn list(folder: &Path) -> std::io::Result<Vec<PathBuf>> {
    let mut paths = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if !entry.file_name().as_encoded_bytes().starts_with(b".") {
            paths.push(entry.path());
        }
    }
    paths.sort_unstable_by(|one, other| {
        one.as_os_str()
            .as_encoded_bytes()
            .cmp(other.as_os_str().as_encoded_bytes())
    });
    Ok(paths)
}

fn has_library_name(path: &Path) -> bool {
    path.extension()
        .is_some_and(|extension| extension == std::env::consts::DLL_EXTENSION)
}

fn name_of(path: &Path) -> String {
    path.file_name()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned()
}

/// `line_count` for `libline_count.so`: what the plugin goes by until its manifest is read.
fn stem(path: &Path) -> String {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    stem.strip_prefix(std::env::consts::DLL_PREFIX)
        .unwrap_or(&stem)
        .to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::platform::Places;

    fn tree(paths: &[&str]) -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        for path in paths {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
        }
        root
    }

    fn found_in(root: &Path) -> (Vec<String>, Vec<String>) {
        let places = Places {
            global_root: root.to_owned(),
            project_root: root.join("no-project"),
        };
        let discovered = discover(&Environment::survey(places, Vec::new()).unwrap());
        let names = |track: &Provenance| {
            track
                .path()
                .unwrap()
                .strip_prefix(root)
                .unwrap()
                .display()
                .to_string()
        };
        (
            discovered
                .found
                .iter()
                .map(|found| names(&found.track))
                .collect(),
            discovered
                .refused
                .iter()
                .map(|refused| names(&refused.track))
                .collect(),
        )
    }

    #[test]
    fn libraries_are_found_bare_and_in_folders() {
        let root = tree(&[
            "ui/b/libb.so",
            "ui/a/libother.so",
            "ui/a/config.json",
            "tools/libz.so",
            "tools/README.md",
            "tools/.hidden.so",
            "elsewhere/x.so",
        ]);
        let (found, refused) = found_in(root.path());
        assert_eq!(found, ["tools/libz.so", "ui/a/libother.so", "ui/b/libb.so"]);
        assert!(refused.is_empty());
    }

    #[test]
    fn a_folder_without_its_one_library_is_refused() {
        let root = tree(&[
            "tools/empty/notes.txt",
            "tools/two/liba.so",
            "tools/two/libb.so",
            "tools/own/libx.so",
            "tools/own/libown.so",
        ]);
        let (found, refused) = found_in(root.path());
        assert_eq!(found, ["tools/own/libown.so"]);
        assert_eq!(refused, ["tools/empty", "tools/two"]);
    }
}
