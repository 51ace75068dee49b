//! `stud plugin check --conformance`: the stages first, then every conformance case in a process of its own.
//!
//! A plugin that crashes, writes to the terminal or leaves threads behind can be told apart only where nothing else runs.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::Arc;

use serde_json::Value;
use stud_conformance::configs::Configs;
use stud_conformance::report::Report;
use stud_conformance::run::run as run_cases;
use stud_conformance::subject::Plugin as _;
use stud_core::plugin_check::{check, open_library};
use stud_core::provenance::Refused;
use stud_diagnostics::{Diagnostic, codes, printable_text};
use stud_sdk::testing::Conforming;

use crate::bundled;
use crate::cli::Conformance;
use crate::output::{Outcome, Output, Verdict};
use crate::plugin::check;
use crate::setup;

const REPORT: &str = "report.json";
const OUTPUT: &str = "output.txt";

pub(crate) fn run(path: &Path, asked: &Conformance, output: &Output) -> Verdict {
    let (ground, means) = setup::ground()?;
    let mut document = serde_json::Map::new();
    if !is_bundled(path) {
        // The cases bring the plugin up themselves, with configs of their own.
        let report = check(path, false, &ground, &means);
        if report.status != "ok" {
            if output.is_json() {
                output.document(&report)?;
            } else {
                check::tell(&report, output);
            }
            return Ok(Outcome::Refused);
        }
        if let Ok(Value::Object(report)) = serde_json::to_value(&report) {
            document = report;
        }
    }
    let report = apart(path, asked)?;
    if let Some(file) = &asked.junit {
        fs::write(file, report.junit()).map_err(|error| unwritten(file, &error))?;
    }
    if output.is_json() {
        let report = serde_json::to_value(&report).unwrap_or_default();
        document.insert("conformance".to_owned(), report);
        output.document(&document)?;
    } else {
        for line in report.text().lines() {
            let line = printable_text(line);
            output.line(match line.get(..4) {
                Some("FAIL") => output.red(&line),
                Some("n/a ") => output.dim(&line),
                _ => line.into_owned(),
            });
        }
    }
    Ok(if report.ok {
        Outcome::Done
    } else {
        Outcome::Refused
    })
}

/// Runs the cases in this process, which nothing else uses.
pub(crate) fn run_inside(path: &Path, asked: &Conformance, folder: &Path) -> Verdict {
    let (ground, means) = setup::ground()?;
    let id = path.to_string_lossy();
    let mut bundled = bundled::plugins().into_iter().filter(|plugin| {
        let manifest = Conforming::new(*plugin).manifest();
        manifest.is_ok_and(|manifest| manifest["extId"] == *id)
    });
    let plugin = match bundled.next() {
        Some(plugin) if is_bundled(path) => plugin,
        _ => open_library(path, &ground, &means).map_err(Refused::into_why)?,
    };
    let configs = match &asked.fixtures {
        Some(folder) => Configs::read(folder).map_err(|why| {
            Diagnostic::error(
                &codes::CONFIG_SCHEMA_VIOLATION,
                format!("a config fixture cannot be read: {why}"),
            )
            .file(folder)
            .help("correct the file, or remove it to have one made from the config schema")
        })?,
        None => Configs::default(),
    };
    let report = run_cases(
        Arc::new(Conforming::new(plugin)),
        configs,
        Some(folder.join(OUTPUT)),
    );
    let file = folder.join(REPORT);
    let text = serde_json::to_vec(&report).unwrap_or_default();
    fs::write(&file, text).map_err(|error| unwritten(&file, &error))?;
    Ok(Outcome::Done)
}

/// A bundled plugin is named by its id.
fn is_bundled(path: &Path) -> bool {
    path.components().count() == 1 && path.extension().is_none() && !path.exists()
}

/// Runs the cases in another process, in an empty folder.
fn apart(path: &Path, asked: &Conformance) -> Result<Report, Diagnostic> {
    let folder = Folder::make()?;
    let at = |name: &str| folder.0.join(name);
    let unwritten_here = |error: std::io::Error| unwritten(&folder.0, &error);
    let said = File::create(at(OUTPUT)).map_err(unwritten_here)?;
    let said_too = said.try_clone().map_err(unwritten_here)?;
    fs::create_dir(at("cwd")).map_err(unwritten_here)?;
    let absolute = |path: &Path| std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let subject = if is_bundled(path) {
        path.to_owned()
    } else {
        absolute(path)
    };
    let program = std::env::current_exe().map_err(unwritten_here)?;
    let mut command = Command::new(program);
    command
        .args(["plugin", "check", "--conformance", "--inside"])
        .arg(&folder.0)
        .arg(subject)
        .current_dir(at("cwd"))
        .stdin(Stdio::null())
        .stdout(said)
        .stderr(said_too);
    if let Some(fixtures) = &asked.fixtures {
        command.arg("--fixtures").arg(absolute(fixtures));
    }
    let status = command.status().map_err(unwritten_here)?;
    let report = fs::read(at(REPORT)).ok();
    let report = report.and_then(|text| serde_json::from_slice(&text).ok());
    report.ok_or_else(|| {
        ended_early(
            path,
            status,
            &fs::read_to_string(at(OUTPUT)).unwrap_or_default(),
        )
    })
}

fn ended_early(path: &Path, status: ExitStatus, said: &str) -> Diagnostic {
    let message = format!("the process that ran the cases ended early: {status}");
    let failed = Diagnostic::error(&codes::LIFECYCLE_FAILURE, message).file(path);
    let lines = said.lines().take(20);
    lines
        .fold(failed, Diagnostic::note)
        .help("author: run the plugin's own tests; what the process said is above")
}

fn unwritten(path: &Path, error: &std::io::Error) -> Diagnostic {
    Diagnostic::error(
        &codes::STARTUP_FAILURE,
        format!("the cases cannot run: {error}"),
    )
    .file(path)
    .help("check the folder for temporary files, and whether the disk is full")
}

/// A folder of this process alone, removed in the end.
struct Folder(PathBuf);

impl Folder {
    fn make() -> Result<Self, Diagnostic> {
        let name = format!("stud-conformance-{}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        // An earlier process of this number may have been killed.
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir(&folder).map_err(|error| unwritten(&folder, &error))?;
        Ok(Self(folder))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}
