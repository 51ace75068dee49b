//! What may come in with a dependency, as `deny.toml` says: no banned crate, license or source.
//!
//! Advisories are left out: they need a network, and a new one must not fail a change that did not cause it.

use std::path::Path;
use std::process::Stdio;

use super::Repository;
use crate::cargo::{cargo, has};
use crate::problem::Problem;

const CONFIG: &str = "deny.toml";

/// Runs `cargo deny`, where it is installed.
pub(super) fn check(repository: &Repository) -> Vec<Problem> {
    let root = &repository.workspace.root;
    if !has(root, "deny") {
        let text = "cargo-deny is not installed, so dependencies were not checked";
        let fix = "install it with `cargo install cargo-deny`";
        return vec![Problem::new(CONFIG, 1, text, fix).into_note()];
    }
    match run(root) {
        Ok(()) => Vec::new(),
        Err(why) => {
            let fix = "see `cargo deny check bans licenses sources`";
            vec![Problem::new(CONFIG, 1, why, fix)]
        }
    }
}

fn run(root: &Path) -> Result<(), String> {
    let output = cargo(root)
        .args(["deny", "--offline", "--log-level", "error", "check"])
        .args(["--disable-fetch", "bans", "licenses", "sources"])
        .stdin(Stdio::null())
        .output()
        .map_err(|error| format!("cannot run cargo deny: {error}"))?;
    if output.status.success() {
        return Ok(());
    }
    let text = String::from_utf8_lossy(&output.stderr);
    let first = text.lines().find(|line| line.contains("error"));
    Err(first.unwrap_or("cargo deny failed").trim().to_owned())
}
