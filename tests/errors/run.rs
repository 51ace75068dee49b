//! Doing what a case says and looking for its code.

use std::path::Path;

use serde_json::Value;
use stud_tests::{Answer, World};

use crate::case::{Case, FIRST, Place};
use crate::page;
use crate::prepare::{Library, prepare};
use crate::verify;

/// Runs the case in the file `path`; the two folders above it are named after the class and the code.
pub(crate) fn run(path: &Path) -> Result<(), String> {
    let (case, id) = Case::load(path)?;
    let mut world = World::new();
    let library = prepare(&world, &case)?;
    for (variable, value) in &case.env {
        world.set(variable, value);
    }
    let marker = world.path("marker");
    world.set("STUD_HOSTILE_MARKER", &marker.display().to_string());

    let arguments = arguments(&case, library.as_ref());
    let plain: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let json: Vec<&str> = plain.iter().copied().chain(["--json"]).collect();
    let answer = world.stud(&json);
    let all = found(&case, &answer, &id)?;
    verify::diagnostic(&case, &all[0])?;
    verify::status(&case, &answer)?;
    verify::others(&case, &answer, &all)?;
    verify::stages(&case, &answer)?;
    if !case.opened
        && verify::is_before_load(&case)
        && let Some(library) = &library
    {
        verify::never_opened(&world, library, &marker)?;
    }
    let said = world.stud(&plain);
    if path.ends_with(FIRST) {
        page::compare(&id, &said)?;
    }
    let file = path.file_name().unwrap_or_default().to_string_lossy();
    let golden = path
        .with_file_name(file.replacen("case", "expected", 1))
        .with_extension("txt");
    verify::golden(&golden, &format!("{}{}", said.stdout, said.stderr))
}

fn arguments(case: &Case, library: Option<&Library>) -> Vec<String> {
    let path = library
        .map(|library| library.path.display().to_string())
        .unwrap_or_default();
    let words = case.command.clone().unwrap_or_else(|| page::usual(case));
    words
        .iter()
        .map(|word| word.replace(page::LIBRARY, &path))
        .collect()
}

/// The diagnostics with the code, wherever the case says they show; at least one.
fn found(case: &Case, answer: &Answer, full: &str) -> Result<Vec<Value>, String> {
    let (class, code) = full.split_once('/').unwrap_or_default();
    let has_code = |said: &Value| said["class"] == class && said["code"] == code;
    let mut all = match case.found {
        // A session that could not begin says so on a line of its own.
        Place::Stderr => answer
            .stderr
            .lines()
            .filter_map(|line| serde_json::from_str(line).ok())
            .collect(),
        Place::Surface => {
            let line = answer.stderr.lines().last().unwrap_or_default();
            let said: Value = serde_json::from_str(line).unwrap_or_default();
            vec![said["error"].clone()]
        }
        Place::Diagnostics | Place::Cause => diagnostics(&answer.json()),
    };
    all.retain(|said| match case.found {
        Place::Cause => said["context"]["cause"] == full,
        _ => has_code(said),
    });
    if all.is_empty() {
        return Err(format!("{full} did not come out: {answer:#?}"));
    }
    Ok(all)
}

fn diagnostics(document: &Value) -> Vec<Value> {
    let own = document["diagnostics"].as_array().into_iter().flatten();
    let plugins = document["plugins"].as_array().into_iter().flatten();
    let theirs = plugins.flat_map(|plugin| plugin["diagnostics"].as_array().into_iter().flatten());
    own.chain(theirs).cloned().collect()
}
