//! `conformance`: every bundled plugin held against the conformance cases, embedded and as a library.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::cargo;
use crate::failure::{Failure, Outcome};
use crate::fixtures;
use crate::workspace::{Package, Workspace, relative};

const USAGE: &str = "usage: cargo xtask conformance [CATEGORY | ID | PATH]";

/// Runs the cases of every bundled plugin, or of those that are named.
pub(crate) fn run(args: &[String]) -> Outcome {
    let wanted = match args {
        [] => None,
        [wanted] if !wanted.starts_with('-') => Some(wanted.as_str()),
        _ => return Err(Failure::usage(USAGE)),
    };
    let workspace = Workspace::read()?;
    let build = ["--package", "stud", "--bin", "stud"];
    let stud = cargo::build(&workspace.root, &build)?
        .into_iter()
        .find_map(|artifact| artifact.executable)
        .ok_or_else(|| Failure::failed("cargo built no program for the package `stud`"))?;
    if let Some(path) = wanted.filter(|wanted| Path::new(wanted).is_file()) {
        let report = report(&stud, path, None)?;
        return settle(usize::from(!tell(path, &report)), 1);
    }
    let bundled = fixtures::build(&workspace, false)?.into_iter();
    let bundled = bundled.filter(|library| package(library, &workspace).is_some());
    let (mut failed, mut all) = (0, 0);
    for library in bundled {
        let path = library.to_string_lossy().into_owned();
        let fixtures = fixtures_of(&library, &workspace);
        let first = report(&stud, &path, fixtures.as_deref())?;
        let (id, kind) = (text(&first, "extId"), text(&first, "kind"));
        if wanted.is_some_and(|wanted| wanted != id && !wanted.eq_ignore_ascii_case(&kind)) {
            continue;
        }
        let embedded = report(&stud, &id, fixtures.as_deref())?;
        let name = relative(&library, &workspace.root);
        for (form, report) in [(name, first), (format!("{id} (embedded)"), embedded)] {
            all += 1;
            failed += usize::from(!tell(&form, &report));
        }
    }
    settle(failed, all)
}

/// The package below `plugins` that the library was built from.
fn package<'a>(library: &Path, workspace: &'a Workspace) -> Option<&'a Package> {
    let stem = library.file_stem().unwrap_or_default().to_string_lossy();
    let name = stem.strip_prefix("lib").unwrap_or(&stem).to_owned();
    let mut packages = workspace.packages.iter();
    packages.find(|package| {
        package.dir.starts_with("plugins/") && package.name.replace('-', "_") == name
    })
}

/// The config fixtures of a bundled plugin, if it has any of its own.
fn fixtures_of(library: &Path, workspace: &Workspace) -> Option<PathBuf> {
    let package = package(library, workspace)?;
    let folder = workspace.root.join(&package.dir).join("conformance");
    folder.is_dir().then_some(folder)
}

/// The conformance report of a library or of a bundled plugin.
fn report(stud: &Path, plugin: &str, fixtures: Option<&Path>) -> Result<Value, Failure> {
    let home = std::env::temp_dir().join(format!("stud-conformance-home-{}", std::process::id()));
    let mut command = Command::new(stud);
    command
        .args(["plugin", "check", "--conformance", "--json", plugin])
        .env("STUD_HOME", &home);
    if let Some(folder) = fixtures {
        command.arg("--fixtures").arg(folder);
    }
    let output = command
        .output()
        .map_err(|error| Failure::failed(format!("cannot run {}: {error}", stud.display())))?;
    let _ = std::fs::remove_dir_all(&home);
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
    answer.get("conformance").cloned().ok_or_else(|| {
        let said = String::from_utf8_lossy(&output.stderr);
        Failure::failed(format!("{plugin} has no report:\n{said}{answer:#}"))
    })
}

fn text(report: &Value, member: &str) -> String {
    report[member].as_str().unwrap_or_default().to_owned()
}

/// Prints how a plugin fares, and says whether it conforms.
fn tell(name: &str, report: &Value) -> bool {
    println!("{name}: {}", text(report, "badge"));
    for case in report["cases"].as_array().into_iter().flatten() {
        if case["status"] == "fail" {
            println!("  {}: {}", text(case, "id"), text(case, "reason"));
        }
    }
    report["ok"] == true
}

fn settle(failed: usize, all: usize) -> Outcome {
    match (failed, all) {
        (_, 0) => Err(Failure::failed(format!(
            "no bundled plugin has that id or category\n{USAGE}"
        ))),
        (0, _) => Ok(()),
        _ => Err(Failure::failed(format!("{failed} of {all} do not conform"))),
    }
}
