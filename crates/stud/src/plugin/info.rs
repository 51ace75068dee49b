//! `stud plugin info`.

use serde_json::{Value, json};
use stud_core::environment::Environment;
use stud_core::load::hash_of;
use stud_core::report::PluginReport;
use stud_core::startup;
use stud_core::unknown_ids::unknown_extension;
use stud_diagnostics::printable;
use stud_install::lock_file::LockFile;

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
    if let (Value::Object(entry), Some(installed)) = (&mut entry, installed(report, &ground)) {
        entry.insert("installed".to_owned(), installed);
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
            ("installed", "installed"),
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

/// Where a plugin was installed from, if `stud plugin install` put it there, and whether its library changed since.
fn installed(report: &PluginReport, ground: &Environment) -> Option<Value> {
    let path = report.path.as_deref()?;
    let (_, root) = ground.roots().find(|(scope, _)| *scope == report.scope)?;
    let lock = LockFile::read(root).ok()?;
    let entry = lock.get(&report.ext_id)?;
    let is_it = root.join(&entry.place) == path;
    let hash = is_it.then(|| hash_of(path).ok()).flatten()?;
    let mut digests = entry.platforms.values();
    Some(json!({
        "source": entry.source,
        "installedAt": entry.installed_at,
        "platforms": entry.platforms,
        "sha256": hash,
        "changed": digests.all(|digest| digest.sha256 != hash),
    }))
}
