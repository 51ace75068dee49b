//! `stud` alone: what is here, and what to do next.

use serde_json::json;
use stud_core::report::Status;
use stud_core::startup;

use crate::output::{Outcome, Output, Verdict};
use crate::plugin::list;
use crate::setup;

pub(crate) fn run(output: &Output) -> Verdict {
    let (ground, means) = setup::ground()?;
    let started = startup::start(&ground, &means);
    let count = |status| {
        started
            .reports
            .iter()
            .filter(|report| report.status == status)
            .count()
    };
    let (active, disabled) = (count(Status::Active), count(Status::Disabled));
    if output.is_json() {
        output.document(&json!({
            "version": env!("CARGO_PKG_VERSION"),
            "active": active,
            "disabled": disabled,
            "diagnostics": started.diagnostics,
        }))?;
    } else {
        output.line(format!(
            "{} {}",
            output.bold("stud"),
            env!("CARGO_PKG_VERSION")
        ));
        output.line("");
        list::show(&started.reports, output);
        output.line("");
        for diagnostic in &started.diagnostics {
            output.show(diagnostic);
            output.line("");
        }
        output.line("Next:");
        output.line("  stud plugin new my-tool    start a plugin of your own");
        output.line("  stud plugin list           every plugin, and why any was refused");
        output.line("  stud --help                everything else");
    }
    started.stop(&means.limits);
    Ok(Outcome::Done)
}
