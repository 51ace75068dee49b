//! `stud plugin info`.

use serde_json::Value;
use stud_core::startup;
use stud_core::unknown_ids::unknown_extension;
use stud_diagnostics::printable;

use crate::output::{Outcome, Output, Verdict};
use crate::plugin::list;
use crate::setup;

pub(crate) fn run(id: &str, output: &Output) -> Verdict {
    let (ground, means) = setup::ground()?;
    let started = startup::start(&ground, &means);
    // A scope may hide another's plugin of the same id; the one that counts is the one that runs, or the highest.
    // Of several in one scope the first has the id, and `max_by_key` gives the last of equals: hence `rev`.
    let report = started
        .reports
        .iter()
        .rev()
        .filter(|report| report.ext_id == id)
        .max_by_key(|report| (report.generation, report.scope));
    let Some(report) = report else {
        let known = started.reports.iter().map(|report| report.ext_id.as_str());
        return Err(unknown_extension(id, known));
    };
    let mut entry = list::document(report)?;
    if let (Value::Object(entry), Some(details)) = (&mut entry, &report.details) {
        let manifest = &details.manifest;
        entry.insert("manifest".to_owned(), manifest.document.clone());
        entry.insert("config".to_owned(), details.config.clone());
        entry.insert("configSchema".to_owned(), manifest.config_schema.clone());
    }
    if output.is_json() {
        output.document(&entry)?;
    } else {
        for member in [
            "extId",
            "kind",
            "version",
            "contractVersion",
            "scope",
            "form",
            "status",
            "generation",
            "path",
        ] {
            if let Some(value) = entry.get(member) {
                let text = value
                    .as_str()
                    .map_or_else(|| value.to_string(), str::to_owned);
                let title = output.bold(&format!("{member:<16}"));
                output.line(format!("{title} {}", printable(&text)));
            }
        }
        for (title, member) in [
            ("config", "config"),
            ("config schema", "configSchema"),
            ("manifest", "manifest"),
        ] {
            if let Some(value) = entry.get(member) {
                output.line(format!("\n{}", output.bold(title)));
                for line in format!("{value:#}").lines() {
                    output.line(printable(line));
                }
            }
        }
        for diagnostic in &report.diagnostics {
            output.line("");
            output.show(diagnostic);
        }
    }
    started.stop(&means.limits);
    Ok(Outcome::Done)
}
