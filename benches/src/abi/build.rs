//! What an author waits for and ships: the plugin of `stud plugin new`, built by itself.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use stud_tests::{stud_program, target_folder, workspace_root};

use crate::measure::once;
use crate::table::Row;

/// A minimal plugin, built.
pub(crate) struct Minimal {
    /// Its release library.
    pub(crate) library: PathBuf,
    seconds: f64,
    kib: f64,
}

impl Minimal {
    pub(crate) fn rows(&self) -> Vec<Row> {
        vec![
            Row::limit(
                "incremental build of a minimal plugin",
                self.seconds,
                1.5,
                "s",
            ),
            Row::limit("minimal plugin, stripped", self.kib, 700.0, "KiB"),
        ]
    }
}

pub(crate) fn minimal() -> Result<Minimal, String> {
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let sdk = workspace_root().join("crates/stud-sdk");
    let made = Command::new(stud_program())
        .args(["plugin", "new", "minimal", "--sdk"])
        .arg(&sdk)
        .current_dir(folder.path())
        .stdout(Stdio::null())
        .status()
        .map_err(|error| error.to_string())?;
    if !made.success() {
        return Err("`stud plugin new` failed".to_owned());
    }
    let plugin = folder.path().join("minimal");
    let source = plugin.join("src/lib.rs");
    build(&plugin, false)?;
    let mut best = f64::INFINITY;
    for round in 0..3 {
        // A changed string is the smallest change that makes the compiler work.
        let text = std::fs::read_to_string(&source).map_err(|error| error.to_string())?;
        std::fs::write(&source, format!("{text}\n// Round {round}.\n"))
            .map_err(|error| error.to_string())?;
        let (built, took) = once(|| build(&plugin, false));
        built?;
        best = best.min(took.as_secs_f64());
    }
    build(&plugin, true)?;
    let library = target().join("release/libminimal.so");
    let size = std::fs::metadata(&library)
        .map_err(|error| error.to_string())?
        .len();
    #[expect(clippy::cast_precision_loss, reason = "well below 2^52")]
    let kib = size as f64 / 1024.0;
    Ok(Minimal {
        library,
        seconds: best,
        kib,
    })
}

/// A target folder of its own, kept warm between runs.
fn target() -> PathBuf {
    target_folder()
        .parent()
        .unwrap_or(Path::new("target"))
        .join("minimal-plugin")
}

fn build(plugin: &Path, release: bool) -> Result<(), String> {
    let mut cargo = Command::new(env!("CARGO"));
    cargo
        .args(["build", "--quiet"])
        .current_dir(plugin)
        .env("CARGO_TARGET_DIR", target());
    if release {
        cargo.arg("--release");
    }
    match cargo.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("cargo ended with {status}")),
        Err(error) => Err(error.to_string()),
    }
}
