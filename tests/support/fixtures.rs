//! Fixture libraries and the program, built once for all tests.

use std::collections::BTreeSet;
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
    built(package);
    slim(&target_folder().join(format!("lib{}.so", package.replace('-', "_"))))
}

/// The same library without what only a debugger reads: most of its bytes, and each is hashed and copied in every test.
fn slim(library: &Path) -> PathBuf {
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    let _one = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let folder = target_folder().join("slim");
    let slim = folder.join(library.file_name().unwrap_or_default());
    let changed = |path: &Path| std::fs::metadata(path).and_then(|metadata| metadata.modified());
    let is_current =
        changed(&slim).is_ok_and(|made| changed(library).is_ok_and(|built| built < made));
    if is_current {
        return slim;
    }
    let fresh = folder.join(format!("{}.tmp", std::process::id()));
    let stripped = std::fs::create_dir_all(&folder).is_ok()
        && Command::new("strip")
            .arg("--strip-debug")
            .arg("-o")
            .arg(&fresh)
            .arg(library)
            .status()
            .is_ok_and(|status| status.success())
        && std::fs::rename(&fresh, &slim).is_ok();
    // A machine without that tool only takes longer.
    if stripped { slim } else { library.to_owned() }
}

/// The program under test.
pub fn stud_program() -> PathBuf {
    built("stud");
    target_folder().join("stud")
}

/// The MCP server for tests.
pub fn mcp_server() -> PathBuf {
    built("mcp-server");
    target_folder().join("mcp-server")
}

fn built(package: &str) {
    static BUILT: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
    let mut built = BUILT.lock().unwrap_or_else(PoisonError::into_inner);
    if !built.insert(package.to_owned()) || std::env::var_os("STUD_FIXTURES_BUILT").is_some() {
        return;
    }
    let mut cargo = Command::new(env!("CARGO"));
    cargo
        .args(["build", "--quiet", "--package", package])
        .current_dir(workspace_root());
    if target_folder().ends_with("release") {
        cargo.arg("--release");
    }
    let status = cargo.status();
    assert!(
        status.as_ref().is_ok_and(std::process::ExitStatus::success),
        "building `{package}` failed: {status:?}"
    );
}
