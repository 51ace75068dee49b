//! `stud plugin pin`: a plugin stays the bytes it is now.

use std::cmp::Reverse;
use std::path::Path;

use serde_json::json;
use stud_contract_meta::ExtId;
use stud_core::load::{PluginStores, hash_of};
use stud_core::platform::{self, Durability};
use stud_core::report::PluginReport;
use stud_core::startup;
use stud_core::unknown_ids::unknown_extension;
use stud_diagnostics::{Diagnostic, codes};

use crate::output::{Outcome, Output, Verdict};
use crate::setup;

pub(crate) fn run(id: &str, remove: bool, output: &Output) -> Verdict {
    // The id becomes the name of a file, so only a real one may continue from here.
    if ExtId::parse(id).is_err() {
        return Err(unknown_extension(id, []));
    }
    let (ground, means) = setup::ground()?;
    let stores = PluginStores::below(&ground.places.global_root);
    let pin = stores.pin_of(id);
    let failed = |what: String| {
        Diagnostic::error(&codes::STARTUP_FAILURE, what)
            .of(id)
            .file(&pin)
    };
    if remove {
        match std::fs::remove_file(&pin) {
            Ok(()) => {}
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(error) => return Err(failed(format!("the pin cannot be removed: {error}"))),
        }
        if output.is_json() {
            output.document(&json!({ "extId": id, "pinned": false }))?;
        } else {
            output.line(format!("{id} is not pinned"));
        }
        return Ok(Outcome::Done);
    }
    let started = startup::start(&ground, &means);
    let path = library_of(id, &started.reports).map(Path::to_owned);
    let known: Vec<String> = started
        .reports
        .iter()
        .map(|report| report.ext_id.clone())
        .collect();
    started.stop(&means.limits);
    let Some(path) = path else {
        return Err(
            unknown_extension(id, known.iter().map(String::as_str)).note(
                "only a plugin in a library can be pinned; bundled ones are part of the program",
            ),
        );
    };
    let hash =
        hash_of(&path).map_err(|error| failed(format!("the library cannot be read: {error}")))?;
    let text = format!("{:#}\n", json!({ "algorithm": "sha256", "value": hash }));
    platform::replace_file(&pin, text.as_bytes(), 0o600, Durability::Synced)
        .map_err(|error| failed(format!("the pin cannot be written: {error}")))?;
    if output.is_json() {
        output.document(&json!({ "extId": id, "pinned": true, "sha256": hash }))?;
    } else {
        output.line(format!("{id} is pinned to sha256 {hash}"));
    }
    Ok(Outcome::Done)
}

/// The library that a pin is meant for: the one in use, or the one that would be but for its pin.
///
/// A pin holds for its id in every scope, so pinning any other library would refuse the one in use.
fn library_of<'a>(id: &str, reports: &'a [PluginReport]) -> Option<&'a Path> {
    let has = |report: &PluginReport, code| report.diagnostics.iter().any(|said| said.code == code);
    reports
        .iter()
        .filter(|report| report.ext_id == id && !has(report, &codes::REGISTRATION_CONFLICT))
        .filter_map(|report| Some((report, report.path.as_deref()?)))
        .max_by_key(|(report, path)| {
            let meant = report.generation > 0 || has(report, &codes::INTEGRITY_FAILED);
            (meant, report.scope, Reverse(*path))
        })
        .map(|(_, path)| path)
}
