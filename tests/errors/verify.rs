//! What must hold of an answer.

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::Value;
use stud_tests::{Answer, World};

use crate::case::{Case, Place};
use crate::prepare::Library;

/// The stages in their order; no plugin is opened before `load`.
const STAGES: [&str; 12] = [
    "discover",
    "inspect",
    "shape",
    "contractVersion",
    "requiredCoreVersion",
    "configSchema",
    "category",
    "order",
    "load",
    "bind",
    "register",
    "activate",
];

/// Whether the case lists what is installed instead of checking one library.
pub(crate) fn is_list(case: &Case) -> bool {
    match &case.command {
        None => case.install.is_some() || case.fixture.is_none(),
        Some(words) => words.iter().any(|word| word == "list"),
    }
}

/// Whether the case pins a stage in which nothing has been opened yet, and means a refusal there.
///
/// Who gets a name is settled from manifests too, though it is reported as `register`.
pub(crate) fn is_before_load(case: &Case) -> bool {
    let place = STAGES
        .iter()
        .position(|stage| case.stage.as_deref() == Some(*stage));
    let opens = STAGES.iter().position(|stage| *stage == "load");
    let early = place < opens || case.stage.as_deref() == Some("register");
    place.is_some() && early && !case.warning
}

/// Stage, place, severity and context are as the case says.
pub(crate) fn diagnostic(case: &Case, found: &Value) -> Result<(), String> {
    let differs =
        |what: &str, expected: &Value| Err(format!("`{what}` must be {expected}: {found:#}"));
    for (member, expected) in [("stage", &case.stage), ("fieldPath", &case.field_path)] {
        if let Some(expected) = expected
            && found[member] != expected.as_str()
        {
            return differs(member, &Value::from(expected.as_str()));
        }
    }
    for (key, expected) in &case.context {
        if found["context"][key] != *expected {
            return differs(&format!("context.{key}"), expected);
        }
    }
    let severity = if case.warning { "warning" } else { "error" };
    // The one-line surface of a wrong command line has no severity.
    if case.found != Place::Surface && found["severity"] != severity {
        return differs("severity", &severity.into());
    }
    Ok(())
}

pub(crate) fn status(case: &Case, answer: &Answer) -> Result<(), String> {
    let expected = case.status.unwrap_or(i32::from(!is_list(case)));
    if answer.status == expected {
        return Ok(());
    }
    Err(format!(
        "exit status {}, expected {expected}: {answer:#?}",
        answer.status
    ))
}

/// Only the expected plugins are refused.
pub(crate) fn others(case: &Case, answer: &Answer, all: &[Value]) -> Result<(), String> {
    if !case.refused.is_empty() {
        let refused: BTreeSet<_> = all
            .iter()
            .filter_map(|said| said["extId"].as_str())
            .collect();
        let expected: BTreeSet<_> = case.refused.iter().map(String::as_str).collect();
        if refused != expected {
            return Err(format!(
                "refused are {refused:?}, not {expected:?}: {answer:#?}"
            ));
        }
    }
    if case.active.is_empty() {
        return Ok(());
    }
    let listed = answer.json();
    let plugins = || listed["plugins"].as_array().into_iter().flatten();
    for id in &case.active {
        let active =
            plugins().any(|plugin| plugin["extId"] == id.as_str() && plugin["status"] == "active");
        if !active {
            return Err(format!("`{id}` is not active: {answer:#?}"));
        }
    }
    Ok(())
}

/// A check reports the stages in order, each passed but the last, and none after that.
pub(crate) fn stages(case: &Case, answer: &Answer) -> Result<(), String> {
    let checked = case.fixture.is_some() && case.command.is_none() && !is_list(case);
    if !checked {
        return Ok(());
    }
    let report = answer.json();
    let stages: Vec<_> = report["stages"].as_array().into_iter().flatten().collect();
    let names: Vec<_> = stages
        .iter()
        .filter_map(|stage| stage["stage"].as_str())
        .collect();
    let in_order = STAGES
        .get(..names.len())
        .is_some_and(|expected| names == expected);
    let refused = stages.iter().position(|stage| stage["ok"] != true);
    let as_said = match &case.stage {
        _ if case.warning => refused.is_none(),
        Some(stage) => {
            names.last() == Some(&stage.as_str()) && refused.map(|at| at + 1) == Some(names.len())
        }
        None => true,
    };
    if in_order && as_said {
        return Ok(());
    }
    Err(format!(
        "the stages are not those up to the refusal: {answer:#?}"
    ))
}

/// Nothing of a library that was refused before `load` has run, and it was never even made ready for that.
pub(crate) fn never_opened(world: &World, library: &Library, marker: &Path) -> Result<(), String> {
    if marker.exists() {
        return Err("code of the refused plugin ran".to_owned());
    }
    let cache = world.path("home/cache/plugins");
    let folders = std::fs::read_dir(cache).into_iter().flatten().flatten();
    let copies = folders.flat_map(|folder| {
        std::fs::read_dir(folder.path())
            .into_iter()
            .flatten()
            .flatten()
    });
    for copy in copies {
        if std::fs::read(copy.path()).is_ok_and(|bytes| bytes == library.bytes) {
            return Err("the refused plugin was copied to be opened".to_owned());
        }
    }
    Ok(())
}

/// What a person sees is on record.
pub(crate) fn golden(path: &Path, said: &str) -> Result<(), String> {
    if std::env::var_os("UPDATE").is_some() {
        return std::fs::write(path, said).map_err(|error| error.to_string());
    }
    let expected = std::fs::read_to_string(path).unwrap_or_default();
    if expected == said {
        return Ok(());
    }
    Err(format!(
        "the text changed; UPDATE=1 records it\n--- expected\n{expected}\n--- found\n{said}"
    ))
}
