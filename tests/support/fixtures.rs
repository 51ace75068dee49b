//! Fixture libraries and the program, built once for all tests.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, PoisonError};

/// The root of the repository.
pub fn workspace_root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .unwrap_or(Path::new("."))
}

/// Where cargo puts what it builds for these tests.
pub fn target_folder() -> PathBuf {
    // The test binary lies in `<target>/debug/deps`.
    let mut folder = std::env::current_exe().unwrap_or_default();
    while folder
        .file_name()
        .is_some_and(|name| name != "debug" && name != "release")
    {
        folder.pop();
    }
    folder
}

/// The library of a fixture or bundled plugin, by the name of its package.
///
/// `cargo xtask test` has built it; a test run by hand builds it here.
pub fn fixture(package: &str) -> PathBuf {
    built(&[package]);
    library_of(package)
}

/// A plugin that the program carries, as a library.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Carried {
    /// The package it is built from.
    pub package: String,
    /// The folder of its category.
    pub folder: String,
    /// The library.
    pub library: PathBuf,
}

/// Every plugin that the program carries: what it depends on below `plugins`. It cannot carry one in another way.
///
/// # Panics
///
/// When there is no plugin, so that the program's own manifest was misread.
pub fn carried() -> Vec<Carried> {
    let manifest = workspace_root().join("crates/stud/Cargo.toml");
    let manifest = fs::read_to_string(manifest).unwrap_or_default();
    let manifest: toml::Table = manifest.parse().unwrap_or_default();
    let dependencies = manifest.get("dependencies").and_then(toml::Value::as_table);
    let plugins: Vec<(&str, &str)> = dependencies
        .into_iter()
        .flatten()
        .filter_map(|(package, dependency)| {
            let path = dependency.get("path")?.as_str()?;
            let (folder, _) = path.strip_prefix("../../plugins/")?.split_once('/')?;
            Some((package.as_str(), folder))
        })
        .collect();
    assert!(!plugins.is_empty(), "the program carries no plugins");
    let packages: Vec<&str> = plugins.iter().map(|(package, _)| *package).collect();
    built(&packages);
    let carried = plugins.into_iter().map(|(package, folder)| Carried {
        package: package.to_owned(),
        folder: folder.to_owned(),
        library: library_of(package),
    });
    carried.collect()
}

/// Where worlds that hold many libraries keep the copies that stud opens, so that not every one of them makes its own.
pub fn opened_copies() -> PathBuf {
    target_folder().join("slim").join("opened")
}

fn library_of(package: &str) -> PathBuf {
    slim(&target_folder().join(format!("lib{}.so", package.replace('-', "_"))))
}

/// The same library without what only a debugger reads: most of its bytes, and each is read and compared in every test.
fn slim(library: &Path) -> PathBuf {
    let folder = target_folder().join("slim");
    let slim = folder.join(library.file_name().unwrap_or_default());
    if is_current(&slim, library) || strip(library, &slim, &folder).is_ok() {
        slim
    } else {
        // A machine without that tool only takes longer.
        library.to_owned()
    }
}

fn is_current(slim: &Path, library: &Path) -> bool {
    let changed = |path: &Path| fs::metadata(path).and_then(|metadata| metadata.modified());
    changed(slim).is_ok_and(|made| changed(library).is_ok_and(|built| built < made))
}

/// Strips a library, one process at a time: the second one finds it done.
fn strip(library: &Path, slim: &Path, folder: &Path) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    let alone = fs::File::create(folder.join("lock"))?;
    alone.lock()?;
    if is_current(slim, library) {
        return Ok(());
    }
    let fresh = folder.join("fresh.tmp");
    let stripped = Command::new("strip")
        .arg("--strip-all")
        .arg("-o")
        .arg(&fresh)
        .arg(library)
        .status()?;
    if !stripped.success() {
        return Err(io::ErrorKind::Unsupported.into());
    }
    // Copies of earlier builds are never opened again, and a few hundred builds fill a disk.
    let copies = fs::read_dir(opened_copies()).into_iter().flatten();
    for copy in copies.flatten() {
        let _ = fs::remove_file(copy.path().join(library.file_name().unwrap_or_default()));
        let _ = fs::remove_dir(copy.path());
    }
    fs::rename(&fresh, slim)
}

/// The program under test.
pub fn stud_program() -> PathBuf {
    built(&["stud"]);
    target_folder().join("stud")
}

/// The MCP server for tests.
pub fn mcp_server() -> PathBuf {
    built(&["mcp-server"]);
    target_folder().join("mcp-server")
}

fn built(packages: &[&str]) {
    static BUILT: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
    let mut built = BUILT.lock().unwrap_or_else(PoisonError::into_inner);
    let mut cargo = Command::new(env!("CARGO"));
    cargo
        .args(["build", "--quiet"])
        .current_dir(workspace_root());
    let mut is_new = false;
    for package in packages {
        if built.insert((*package).to_owned()) {
            cargo.args(["--package", package]);
            is_new = true;
        }
    }
    if !is_new || std::env::var_os("STUD_FIXTURES_BUILT").is_some() {
        return;
    }
    if target_folder().ends_with("release") {
        cargo.arg("--release");
    }
    let status = cargo.status();
    assert!(
        status.as_ref().is_ok_and(std::process::ExitStatus::success),
        "building {packages:?} failed: {status:?}"
    );
}
