//! Doing what a case says and looking for its code.

use std::path::Path;

use serde_json::Value;
use stud_tests::{Answer, World};

use crate::case::{Case, Place};
use crate::covered;
use crate::prepare::{Library, prepare};
use crate::verify;

/// Runs the case in the file `path`; the two folders above it are named after the class and the code.
pub(crate) fn run(path: &Path) -> Result<(), String> {
    let name = |path: &Path| {
        path.file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned()
    };
    let folder = path.parent().unwrap_or(path);
    let (class, code) = (name(folder.parent().unwrap_or(folder)), name(folder));
    let text = std::fs::read_to_string(path).map_err(|error| error.to_string())?;
    let case: Case = toml::from_str(&text).map_err(|error| error.to_string())?;
    if let Some(reference) = &case.covered_by {
        return covered::check(reference, &code);
    }
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
    let all = found(&case, &answer, &class, &code)?;
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
    let golden = folder
        .join(name(path).replacen("case", "expected", 1))
        .with_extension("txt");
    verify::golden(&golden, &format!("{}{}", said.stdout, said.stderr))
}

fn arguments(case: &Case, library: Option<&Library>) -> Vec<String> {
    let path = library
        .map(|library| library.path.display().to_string())
        .unwrap_or_default();
    match &case.command {
        Some(words) => words
            .iter()
            .map(|word| word.replace("{library}", &path))
            .collect(),
        None if verify::is_list(case) => vec!["plugin".to_owned(), "list".to_owned()],
        None => vec!["plugin".to_owned(), "check".to_owned(), path],
    }
}

/// The diagnostics with the code, wherever the case says they show; at least one.
fn found(case: &Case, answer: &Answer, class: &str, code: &str) -> Result<Vec<Value>, String> {
    let has_code = |said: &Value| said["class"] == class && said["code"] == code;
    let full = format!("{class}/{code}");
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
        Place::Cause => said["context"]["cause"] == full.as_str(),
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
