//! Sessions that do nothing.

use std::process::ExitCode;

use stud_core::launch::{Launch, Launched, launch};
use stud_core::startup::prepare;

use super::{elsewhere, figure};
use crate::home::{Home, bundled, fail};
use crate::table::Row;

pub(crate) fn rows() -> Vec<Row> {
    let mut rows = Vec::new();
    let mut growth = Vec::new();
    for count in [10, 100, 1000] {
        let home = Home::empty().and_uis(1);
        let root = home.root().to_string_lossy();
        let said = elsewhere(&["idle", &root, &count.to_string()]);
        let mut figures = said.split_whitespace().map(str::parse::<f64>);
        let (Some(Ok(kib)), Some(Ok(threads))) = (figures.next(), figures.next()) else {
            fail(&format!("idling says {said:?}"));
        };
        growth.push(format!(
            "{count}: {kib:.1} KiB and {threads} threads in all"
        ));
        if count == 1000 {
            rows.push(Row::limit(
                "an idle session of 1,000 with every bundled plugin and a UI",
                kib,
                64.0,
                "KiB",
            ));
        }
    }
    rows.push(Row::fact(
        "the same, as the number of sessions grows",
        growth.join(", "),
    ));
    rows
}

/// Opens so many sessions, and prints the kibibytes that each takes and the threads that all of them need.
pub(crate) fn stay_idle_here(root: &str, count: &str) -> ExitCode {
    let ground = Home::at(root).ground(bundled());
    let how = Launch {
        headless: true,
        ..Launch::default()
    };
    // Libraries are opened once for all sessions.
    let plugins = prepare(&ground, &how.limits);
    let before = figure("smaps_rollup", "Rss");
    let count: u32 = count.parse().unwrap_or(0);
    let sessions: Vec<Launched> = (0..count)
        .map(|_| launch(&ground, &plugins, &how).unwrap_or_else(|error| fail(&error.to_string())))
        .collect();
    for launched in &sessions {
        while !launched.session.bus().is_quiet() {
            std::thread::yield_now();
        }
    }
    let each = (figure("smaps_rollup", "Rss") - before) / f64::from(count);
    println!("{each} {}", figure("status", "Threads"));
    let complete = sessions
        .iter()
        .all(|launched| launched.session.plugins().iter().count() == bundled().len() + 1);
    if complete {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}
