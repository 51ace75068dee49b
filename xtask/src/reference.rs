//! The reference servers of the Model Context Protocol, installed for the tests that talk to them.
//!
//! They come from other people's registries, so a machine without them, or without a network, leaves those tests out
//! and says so.

use std::path::Path;
use std::process::{Command, Stdio};

/// The server from npm, and where its program lies.
const FROM_NPM: (&str, &str) = (
    "@modelcontextprotocol/server-everything@2026.8.31",
    "node_modules/.bin/mcp-server-everything",
);

/// The server from `PyPI`, and where its program lies.
const FROM_PYPI: (&str, &str) = ("mcp-server-time==2026.10.19", "python/bin/mcp-server-time");

/// Installs what is not there yet, below the target folder.
pub(crate) fn install(target: &Path) {
    let folder = target.join("mcp-reference");
    if std::fs::create_dir_all(&folder).is_err() {
        return;
    }
    let (package, program) = FROM_NPM;
    let quick = ["--fetch-retries=0", "--fetch-timeout=20000"];
    let npm = [
        "install",
        "--silent",
        "--no-audit",
        "--no-fund",
        "--prefix",
        ".",
    ];
    let npm: Vec<&str> = npm.into_iter().chain(quick).chain([package]).collect();
    ensure(&folder, program, &[("npm", &npm)]);

    let (package, program) = FROM_PYPI;
    let pip = [
        "install",
        "--quiet",
        "--retries",
        "0",
        "--timeout",
        "20",
        package,
    ];
    let steps: [(&str, &[&str]); 2] = [
        ("python3", &["-m", "venv", "python"]),
        ("python/bin/pip", &pip),
    ];
    ensure(&folder, program, &steps);
}

fn ensure(folder: &Path, program: &str, steps: &[(&str, &[&str])]) {
    if folder.join(program).exists() {
        return;
    }
    for (command, args) in steps {
        // A command with a folder in it lies in ours.
        let command = if command.contains('/') {
            folder.join(command)
        } else {
            command.into()
        };
        let done = Command::new(command)
            .args(*args)
            .current_dir(folder)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status();
        if !done.is_ok_and(|status| status.success()) {
            println!("left out: the tests against `{program}`, which cannot be installed here");
            return;
        }
    }
}
