//! `stud plugin check`.

use std::path::Path;

use stud_core::plugin_check::{CheckReport, check};

use crate::output::{Outcome, Output, Verdict};
use crate::setup;

pub(crate) fn run(path: &Path, no_load: bool, output: &Output) -> Verdict {
    let (ground, means) = setup::ground()?;
    let report = check(path, !no_load, &ground, &means);
    let passed = report.status == "ok";
    if output.is_json() {
        output.document(&report)?;
    } else {
        tell(&report, output);
    }
    Ok(if passed {
        Outcome::Done
    } else {
        Outcome::Refused
    })
}

/// The report for people.
pub(super) fn tell(report: &CheckReport, output: &Output) {
    for stage in &report.stages {
        let mark = if stage.ok {
            output.green("ok     ")
        } else {
            output.red("refused")
        };
        output.line(format!("{mark}  {}", stage.stage));
    }
    for diagnostic in &report.diagnostics {
        output.line("");
        output.show(diagnostic);
    }
    if report.status == "ok" {
        let id = report.ext_id.as_deref().unwrap_or("?");
        let version = report.version.as_deref().unwrap_or("?");
        let kind = report.kind.map_or("?", stud_contract_meta::Kind::as_str);
        output.line(format!("\n{id} {version} is a {kind} this stud can use"));
    }
}
