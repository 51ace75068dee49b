//! `fixtures`: builds the plugins that tests load, as libraries.

use std::env::consts::DLL_SUFFIX;
use std::path::{Path, PathBuf};

use crate::cargo::{self, Artifact};
use crate::failure::{Failure, Outcome};
use crate::workspace::{Package, Workspace, relative};

/// Where plugin packages live.
const FOLDERS: &[&str] = &["tests/fixtures/", "plugins/"];

/// Builds all of them and says where they are.
pub(crate) fn run(args: &[String]) -> Outcome {
    let release = match args {
        [] => false,
        [arg] if arg == "--release" => true,
        [arg, ..] => {
            return Err(Failure::usage(format!(
                "`fixtures` does not take `{arg}`; its only option is `--release`"
            )));
        }
    };
    let workspace = Workspace::read()?;
    let libraries = build(&workspace, release)?;
    for library in &libraries {
        println!("{}", relative(library, &workspace.root));
    }
    if libraries.is_empty() {
        println!("no plugin libraries under {}", FOLDERS.join(" or "));
    }
    Ok(())
}

/// Builds every plugin library and returns their files.
pub(crate) fn build(workspace: &Workspace, release: bool) -> Result<Vec<PathBuf>, Failure> {
    let root = &workspace.root;
    let mut artifacts = Vec::new();

    // For tests, all is built with the features that the test runner unifies: with those of the plugins alone, each
    // of the two would build the libraries of the other anew. Asking for examples makes cargo count the features of
    // dev-dependencies, as it does for tests.
    let mut args: Vec<&str> = Vec::from([
        "--workspace",
        "--all-features",
        "--lib",
        "--bins",
        "--examples",
    ]);
    if release {
        args = vec!["--release"];
        for package in members(&workspace.packages) {
            args.extend(["--package", &package.id]);
        }
    }
    if !release || args.len() > 1 {
        artifacts.extend(cargo::build(root, &args)?);
    }
    for manifest in outsiders(workspace)? {
        let manifest = manifest.to_string_lossy();
        let target = workspace.target_dir.to_string_lossy();
        let mut args = vec!["--manifest-path", &*manifest, "--target-dir", &*target];
        args.extend(release.then_some("--release"));
        artifacts.extend(cargo::build(root, &args)?);
    }
    Ok(libraries(&artifacts, root))
}

/// The members of the workspace that are plugin libraries.
fn members(packages: &[Package]) -> impl Iterator<Item = &Package> {
    packages
        .iter()
        .filter(|package| is_in_folder(&package.dir) && package.is_plugin_library())
}

fn is_in_folder(dir: &str) -> bool {
    FOLDERS.iter().any(|folder| dir.starts_with(folder))
}

/// Fixtures outside the workspace: they have dependencies of their own, such
/// as an older version of a contract.
fn outsiders(workspace: &Workspace) -> Result<Vec<PathBuf>, Failure> {
    let folder = workspace.root.join("tests/fixtures");
    if !folder.is_dir() {
        return Ok(Vec::new());
    }
    let cannot_read = |error| Failure::failed(format!("cannot read {}: {error}", folder.display()));
    let mut manifests = Vec::new();
    for entry in std::fs::read_dir(&folder).map_err(cannot_read)? {
        let dir = entry.map_err(cannot_read)?.path();
        let manifest = dir.join("Cargo.toml");
        let name = relative(&dir, &workspace.root);
        let is_member = workspace.packages.iter().any(|package| package.dir == name);
        if !is_member && manifest.is_file() {
            manifests.push(manifest);
        }
    }
    manifests.sort();
    Ok(manifests)
}

/// The library files among what was built for the plugins themselves.
fn libraries(artifacts: &[Artifact], root: &Path) -> Vec<PathBuf> {
    let mut libraries: Vec<PathBuf> = artifacts
        .iter()
        .filter(|artifact| is_in_folder(&relative(&artifact.package_dir, root)))
        .filter(|artifact| artifact.kinds.iter().any(|kind| kind == "cdylib"))
        .flat_map(|artifact| &artifact.files)
        .filter(|file| file.to_string_lossy().ends_with(DLL_SUFFIX))
        .cloned()
        .collect();
    libraries.sort();
    libraries
}

#[cfg(test)]
mod tests {
    use std::env::consts::{DLL_PREFIX, DLL_SUFFIX};
    use std::path::{Path, PathBuf};

    use super::{libraries, members, outsiders};
    use crate::cargo::Artifact;
    use crate::scratch::Scratch;
    use crate::workspace::{Package, Target, Workspace};

    fn package(name: &str, dir: &str, kind: &str) -> Package {
        Package {
            name: name.to_owned(),
            dir: dir.to_owned(),
            targets: vec![Target {
                kinds: vec![kind.to_owned()],
                ..Target::default()
            }],
            ..Package::default()
        }
    }

    #[test]
    fn only_plugin_libraries_are_built() {
        let packages = [
            package("good", "tests/fixtures/good", "cdylib"),
            package("support", "tests/fixtures/support", "lib"),
            package("read-file", "plugins/tools/read-file", "cdylib"),
            package("stud-sdk", "crates/stud-sdk", "cdylib"),
        ];
        let names: Vec<_> = members(&packages)
            .map(|package| package.name.as_str())
            .collect();
        assert_eq!(names, ["good", "read-file"]);
    }

    #[test]
    fn a_fixture_outside_the_workspace_is_found() {
        let scratch = Scratch::with(&[
            ("tests/fixtures/good/Cargo.toml", ""),
            ("tests/fixtures/old/Cargo.toml", ""),
            ("tests/fixtures/notes/README.md", ""),
        ]);
        let workspace = Workspace {
            root: scratch.path().to_owned(),
            packages: vec![package("good", "tests/fixtures/good", "cdylib")],
            ..Workspace::default()
        };
        let old = scratch.path().join("tests/fixtures/old/Cargo.toml");
        assert_eq!(outsiders(&workspace).unwrap(), [old]);
    }

    #[test]
    fn libraries_of_dependencies_are_left_out() {
        let artifact = |dir: &str, name: &str, suffix: &str| Artifact {
            package_dir: PathBuf::from(dir),
            kinds: vec!["cdylib".to_owned()],
            files: vec![PathBuf::from(format!("target/{DLL_PREFIX}{name}{suffix}"))],
            executable: None,
        };
        let built = [
            artifact("/r/tests/fixtures/good", "good", DLL_SUFFIX),
            artifact("/r/tests/fixtures/good", "good", ".rlib"),
            artifact("/elsewhere/dep", "dep", DLL_SUFFIX),
        ];
        assert_eq!(
            libraries(&built, Path::new("/r")),
            [PathBuf::from(format!(
                "target/{DLL_PREFIX}good{DLL_SUFFIX}"
            ))]
        );
    }
}
