//! `stud plugin list`.

use serde_json::{Value, json};
use stud_contract_meta::Kind;
use stud_core::report::{PluginReport, Status};
use stud_core::startup;
use stud_diagnostics::{Diagnostic, codes, printable_within};
use unicode_width::UnicodeWidthStr as _;

use crate::output::{Outcome, Output, Verdict, padded};
use crate::setup;

pub(crate) fn run(output: &Output) -> Verdict {
    let (ground, means) = setup::ground()?;
    let started = startup::start(&ground, &means);
    if output.is_json() {
        let plugins = started.reports.iter().map(document);
        let plugins: Vec<Value> = plugins.collect::<Result<_, _>>()?;
        output.document(&json!({
            "plugins": plugins,
            "diagnostics": started.diagnostics,
        }))?;
    } else {
        show(&started.reports, output);
        let about_plugins = started
            .reports
            .iter()
            .flat_map(|report| &report.diagnostics);
        for diagnostic in about_plugins.chain(&started.diagnostics) {
            output.line("");
            output.show(diagnostic);
        }
    }
    started.stop(&means.limits);
    Ok(Outcome::Done)
}

/// A plugin for programs.
pub(crate) fn document(report: &PluginReport) -> Result<Value, Diagnostic> {
    // A path that is not UTF-8 is shown as well as it can be; `serde` would refuse the report because of it.
    let path = report.path.as_ref().map(|path| path.to_string_lossy());
    let shown = PluginReport {
        path: path.map(|path| path.into_owned().into()),
        ..report.clone()
    };
    serde_json::to_value(shown).map_err(|error| {
        Diagnostic::error(
            &codes::INTERNAL_PIPELINE_FAILURE,
            format!("the plugin cannot be shown: {error}"),
        )
    })
}

/// The plugins as a table.
pub(crate) fn show(reports: &[PluginReport], output: &Output) {
    if reports.is_empty() {
        output.line("no plugins");
        return;
    }
    let names: Vec<String> = reports
        .iter()
        .map(|report| printable_within(&report.ext_id, 64).into_owned())
        .collect();
    let width = names.iter().map(|name| name.width()).max().unwrap_or(0);
    for (report, name) in reports.iter().zip(&names) {
        let status = format!("{:<8}", report.status.as_str());
        let status = match report.status {
            Status::Active | Status::Loaded => output.green(&status),
            Status::Disabled => output.red(&status),
            Status::Shadowed => output.dim(&status),
        };
        let kind = report.kind.map_or("?", Kind::as_str);
        let version = report.version.as_deref().unwrap_or("-");
        let why = report
            .diagnostics
            .first()
            .map_or_else(String::new, |diagnostic| format!("  {}", diagnostic.code));
        output.line(format!(
            "{status}  {}  {kind:<15}  {version:<8}  {:<7}{why}",
            padded(name, width),
            report.scope.as_str()
        ));
    }
}
