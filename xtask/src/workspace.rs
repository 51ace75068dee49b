//! The workspace as cargo sees it: packages, their targets, their direct dependencies.

use std::path::{Path, PathBuf};
use std::process::Stdio;

use serde_json::Value;

use crate::cargo::{cargo, strings};
use crate::failure::Failure;

/// The packages of the workspace.
#[derive(Debug, Default)]
pub(crate) struct Workspace {
    pub(crate) root: PathBuf,
    /// Where cargo puts what it builds.
    pub(crate) target_dir: PathBuf,
    pub(crate) packages: Vec<Package>,
}

/// One member of the workspace.
#[derive(Debug, Clone, Default)]
pub(crate) struct Package {
    pub(crate) name: String,
    pub(crate) version: String,
    /// Unambiguous even when a crate in the registry has the same name.
    pub(crate) id: String,
    /// Where the manifest is, relative to the root, with `/` on every system.
    pub(crate) dir: String,
    /// Normal and build dependencies; those of tests are free.
    pub(crate) dependencies: Vec<String>,
    pub(crate) targets: Vec<Target>,
}

/// One crate root of a package.
#[derive(Debug, Clone, Default)]
pub(crate) struct Target {
    pub(crate) kinds: Vec<String>,
    /// The root file, relative to the root of the workspace.
    pub(crate) path: String,
}

impl Package {
    /// Whether the package can be built as a plugin library.
    pub(crate) fn is_plugin_library(&self) -> bool {
        self.targets
            .iter()
            .any(|target| target.kinds.iter().any(|kind| kind == "cdylib"))
    }
}

/// The folder that holds the workspace.
pub(crate) fn root() -> PathBuf {
    // Cargo sets the variable when it starts us, which stays right when the
    // repository has been moved since this program was compiled.
    let xtask = std::env::var_os("CARGO_MANIFEST_DIR")
        .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")), PathBuf::from);
    xtask.parent().map_or(xtask.clone(), Path::to_path_buf)
}

impl Workspace {
    /// Asks cargo.
    pub(crate) fn read() -> Result<Self, Failure> {
        let root = root();
        // Without `--no-deps` cargo would have to resolve, and perhaps
        // download, the whole graph; direct dependencies are all we look at.
        let output = cargo(&root)
            .args(["metadata", "--no-deps", "--format-version", "1"])
            .stdin(Stdio::null())
            .stderr(Stdio::inherit())
            .output()
            .map_err(|error| Failure::failed(format!("cannot start cargo: {error}")))?;
        if !output.status.success() {
            return Err(Failure::failed("`cargo metadata` failed"));
        }
        let metadata = serde_json::from_slice(&output.stdout).map_err(|error| {
            Failure::failed(format!("cargo metadata is not valid JSON: {error}"))
        })?;
        Ok(Self::from_metadata(&metadata))
    }

    fn from_metadata(metadata: &Value) -> Self {
        let path = |name: &str| PathBuf::from(metadata[name].as_str().unwrap_or_default());
        let root = path("workspace_root");
        let packages = metadata["packages"]
            .as_array()
            .into_iter()
            .flatten()
            .map(|package| package_from(package, &root))
            .collect();
        Self {
            target_dir: path("target_directory"),
            root,
            packages,
        }
    }
}

fn package_from(package: &Value, root: &Path) -> Package {
    let manifest = Path::new(package["manifest_path"].as_str().unwrap_or_default());
    let text = |name: &str| package[name].as_str().unwrap_or_default().to_owned();
    Package {
        name: text("name"),
        version: text("version"),
        id: text("id"),
        dir: relative(manifest.parent().unwrap_or(manifest), root),
        dependencies: package["dependencies"]
            .as_array()
            .into_iter()
            .flatten()
            .filter(|dependency| dependency["kind"] != "dev")
            .filter_map(|dependency| dependency["name"].as_str())
            .map(str::to_owned)
            .collect(),
        targets: package["targets"]
            .as_array()
            .into_iter()
            .flatten()
            .map(|target| Target {
                kinds: strings(&target["kind"]),
                path: relative(
                    Path::new(target["src_path"].as_str().unwrap_or_default()),
                    root,
                ),
            })
            .collect(),
    }
}

/// `path` below `root`, with `/` between its parts on every system.
pub(crate) fn relative(path: &Path, root: &Path) -> String {
    path.strip_prefix(root)
        .unwrap_or(path)
        .components()
        .map(|part| part.as_os_str().to_string_lossy())
        .collect::<Vec<_>>()
        .join("/")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::Workspace;

    #[test]
    fn packages_are_read_and_test_dependencies_left_out() {
        let workspace = Workspace::from_metadata(&json!({
            "workspace_root": "/r",
            "packages": [{
                "name": "good",
                "id": "path+file:///r/tests/fixtures/good#0.1.0",
                "manifest_path": "/r/tests/fixtures/good/Cargo.toml",
                "dependencies": [
                    {"name": "stud-sdk", "kind": null},
                    {"name": "cc", "kind": "build"},
                    {"name": "tempfile", "kind": "dev"},
                ],
                "targets": [{"kind": ["cdylib"], "src_path": "/r/tests/fixtures/good/src/lib.rs"}],
            }],
        }));
        let good = &workspace.packages[0];
        assert_eq!(good.dir, "tests/fixtures/good");
        assert_eq!(good.dependencies, ["stud-sdk", "cc"]);
        assert_eq!(good.targets[0].path, "tests/fixtures/good/src/lib.rs");
        assert!(good.is_plugin_library());
    }
}
