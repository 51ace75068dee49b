//! The table of results, for a terminal and for the docs.

use std::fmt::Write as _;
use std::process::ExitCode;

use stud_tests::workspace_root;

/// One measured thing and what it may cost.
pub(crate) struct Row {
    pub(crate) what: String,
    pub(crate) measured: String,
    pub(crate) budget: String,
    pub(crate) met: bool,
}

impl Row {
    /// `measured` is at most `times` the cost of `baseline`, both in nanoseconds.
    pub(crate) fn ratio(what: &str, measured: f64, baseline: f64, times: f64) -> Self {
        let ratio = measured / baseline;
        Self {
            what: what.to_owned(),
            measured: format!("{measured:.1} ns, {ratio:.1}× of {baseline:.1} ns"),
            budget: format!("≤ {times}×"),
            met: ratio <= times,
        }
    }

    /// `measured` is at most `most`, both in the same unit.
    pub(crate) fn limit(what: &str, measured: f64, most: f64, unit: &str) -> Self {
        Self {
            what: what.to_owned(),
            measured: format!("{measured:.2} {unit}"),
            budget: format!("≤ {most} {unit}"),
            met: measured <= most,
        }
    }

    /// Something to know, without a limit.
    pub(crate) fn fact(what: &str, measured: String) -> Self {
        Self {
            what: what.to_owned(),
            measured,
            budget: "–".to_owned(),
            met: true,
        }
    }
}

/// Prints the rows, writes them into the docs if asked, and says whether every budget was met.
pub(crate) fn conclude(title: &str, rows: &[Row], write: bool) -> ExitCode {
    let mut text = String::from("| What | Measured | Budget | |\n|---|---|---|---|\n");
    for row in rows {
        let mark = if row.met { "ok" } else { "**over**" };
        let _ = writeln!(
            text,
            "| {} | {} | {} | {mark} |",
            row.what, row.measured, row.budget
        );
    }
    println!("{title}\n\n{text}");
    if write && let Err(error) = write_section(title, &text) {
        println!("docs/performance.md could not be written: {error}");
        return ExitCode::FAILURE;
    }
    if rows.iter().all(|row| row.met) {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

/// Replaces what stands between the markers of this table.
fn write_section(title: &str, table: &str) -> std::io::Result<()> {
    let path = workspace_root().join("docs/performance.md");
    let page = std::fs::read_to_string(&path)?;
    let (start, end) = (
        format!("<!-- {title} -->\n"),
        format!("<!-- end of {title} -->"),
    );
    let missing = || std::io::Error::other(format!("no markers for `{title}`"));
    let (before, rest) = page.split_once(&start).ok_or_else(missing)?;
    let (_, after) = rest.split_once(&end).ok_or_else(missing)?;
    std::fs::write(path, format!("{before}{start}\n{table}\n{end}{after}"))
}
