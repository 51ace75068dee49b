//! discover: [`Environment`] → [`Found`]. Files are listed, and read as bytes; nothing is opened as a library.

use std::fs;
use std::path::{Path, PathBuf};

use stud_contract_meta::Kind;
use stud_diagnostics::{Diagnostic, Stage, codes};

use crate::provenance::{Origin, Provenance, Refused};
use stud_config::environment::Environment;
use stud_config::platform;
use stud_config::plugin_scope::Scope;

/// A file larger than this is not read.
pub const LARGEST_LIBRARY: u64 = 1024 * 1024 * 1024;

/// A file, or a part of the program, that may be a plugin. Only this module makes one.
#[derive(Debug)]
pub struct Found {
    provenance: Provenance,
    placement: Placement,
}

/// Where a plugin's file lies among others.
#[derive(Debug, Default)]
pub(crate) struct Placement {
    /// The category whose folder it lies in, if it lies in one.
    pub(crate) folder: Option<Kind>,
    /// The config beside the library, if there is one.
    pub(crate) config_file: Option<PathBuf>,
}

/// The bytes that hold a plugin's manifest.
pub(crate) enum Contents {
    /// A whole file.
    Library(Vec<u8>),
    /// The section of a plugin that the program carries.
    Section(&'static [u8]),
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
pub fn discover(environment: &Environment) -> Discovered {
    let mut discovered = Discovered::default();
    for (index, plugin) in environment.bundled.iter().enumerate() {
        let label = format!("bundled-{index}");
        let provenance = Provenance::new(Scope::Bundled, Origin::Embedded(*plugin), label, None);
        discovered.found.push(Found {
            provenance,
            placement: Placement::default(),
        });
    }
    for (scope, root) in environment.roots() {
        scan_root(&mut discovered, scope, root);
    }
    discovered
}

/// One library named by its path, in or outside the folders of a scope. Nothing is read yet.
///
/// Below a root it must lie in the folder of its category, as any other library; elsewhere the folder does not matter.
pub(crate) fn discover_file(path: &Path, environment: &Environment) -> Found {
    let mut roots = environment.roots();
    let relative = roots.find_map(|(_, root)| path.strip_prefix(root).ok());
    let folder = relative.and_then(|relative| relative.iter().next());
    let mut kinds = Kind::ALL.into_iter();
    Found {
        provenance: named(path),
        placement: Placement {
            folder: folder.and_then(|folder| kinds.find(|kind| folder == kind.folder())),
            config_file: config_beside(path),
        },
    }
}

/// Refuses a library that lies in a project that is not trusted. Nothing of it is read.
pub(crate) fn refuse_untrusted(path: &Path, why: Diagnostic) -> Refused {
    named(path).refuse(why.at(Stage::Discover))
}

/// What is now where a plugin was found before.
pub(crate) fn rediscover(known: &Provenance) -> Found {
    let label = known.name().to_owned();
    let kind = known.kind();
    Found {
        provenance: Provenance::new(known.scope(), known.origin().clone(), label, kind),
        placement: Placement {
            folder: known.path().and(kind),
            config_file: known.path().and_then(config_beside),
        },
    }
}

impl Found {
    /// The bytes to look for a manifest in. With them the stage `discover` is passed.
    pub(crate) fn read(self) -> Result<(Provenance, Placement, Contents), Refused> {
        let Self {
            mut provenance,
            placement,
        } = self;
        let contents = match provenance.origin() {
            Origin::Embedded(plugin) => Ok(Contents::Section(plugin.section)),
            Origin::Library(path) => {
                platform::read_file(path, LARGEST_LIBRARY).map(Contents::Library)
            }
        };
        match contents {
            Ok(contents) => {
                provenance.pass(Stage::Discover);
                Ok((provenance, placement, contents))
            }
            Err(error) => {
                let message = format!("the library cannot be read: {error}");
                let why = provenance
                    .error(Stage::Discover, &codes::LIBRARY_UNREADABLE, message)
                    .help("replace it with a library file this user may read, or remove it");
                Err(provenance.refuse(why))
            }
        }
    }
}

fn named(path: &Path) -> Provenance {
    let origin = Origin::Library(path.to_owned());
    Provenance::new(Scope::Project, origin, stem(path), None)
}

fn config_beside(library: &Path) -> Option<PathBuf> {
    let config = library.with_file_name("config.json");
    config.is_file().then_some(config)
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
                let provenance =
                    Provenance::new(scope, Origin::Library(library), label, Some(kind));
                let config_file = path.join("config.json");
                let config_file = config_file
                    .symlink_metadata()
                    .is_ok()
                    .then_some(config_file);
                discovered.found.push(Found {
                    provenance,
                    placement: Placement {
                        folder: Some(kind),
                        config_file,
                    },
                });
            }
            Err(why) => {
                let provenance = Provenance::new(scope, Origin::Library(path), label, Some(kind));
                let why = provenance
                    .error(Stage::Discover, &codes::LIBRARY_UNREADABLE, why)
                    .help("put exactly one library into this folder, or name one after it");
                discovered.refused.push(provenance.refuse(why));
            }
        }
    } else if is_library_name {
        let label = stem(&path);
        let provenance = Provenance::new(scope, Origin::Library(path), label, Some(kind));
        discovered.found.push(Found {
            provenance,
            placement: Placement {
                folder: Some(kind),
                config_file: None,
            },
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

/// The entries of a folder in byte order; hidden entries are ignored.
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
    use stud_config::platform::Places;

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
        let names = |provenance: &Provenance| {
            provenance
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
                .map(|found| names(&found.provenance))
                .collect(),
            discovered
                .refused
                .iter()
                .map(|refused| names(refused.provenance()))
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
