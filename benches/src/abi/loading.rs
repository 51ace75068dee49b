//! From a folder of plugins to a registry, at growing numbers.

use std::path::Path;
use std::process::{Command, ExitCode};

use stud_core::discover::discover;
use stud_core::inspect::inspect;
use stud_core::validate::validate;

use crate::home::{Home, fail};
use crate::measure::once;
use crate::table::Row;

pub(crate) fn rows(library: &Path) -> Vec<Row> {
    let mut rows = Vec::new();
    let mut growth = Vec::new();
    for count in [10, 50, 100, 200] {
        let home = Home::of_tools(count, library);
        let judged = (0..5).map(|_| judge(&home)).fold(f64::INFINITY, f64::min);
        // The first start fills the cache; the ones after it are what a person waits for every time.
        let first = start_elsewhere(&home, count);
        let later = (0..5)
            .map(|_| start_elsewhere(&home, count))
            .fold(f64::INFINITY, f64::min);
        growth.push(format!("{count}: {later:.2} ms"));
        if count == 100 {
            rows.push(Row::limit(
                "inspect + validate, per plugin of 100",
                judged / 100.0,
                0.3,
                "ms",
            ));
            rows.push(Row::limit(
                "everything to active, per plugin of 100",
                later,
                1.5,
                "ms",
            ));
            rows.push(Row::fact(
                "the same, the first time these libraries are seen",
                format!("{first:.2} ms"),
            ));
        }
    }
    rows.push(Row::fact(
        "everything to active, per plugin, as the number grows",
        growth.join(", "),
    ));
    rows
}

/// Starts everything below `root` and prints how many milliseconds each plugin took.
pub(crate) fn start_here(root: &str, count: &str) -> ExitCode {
    let home = Home::at(root);
    let (started, took) = once(|| home.start());
    let count: u32 = count.parse().unwrap_or(0);
    let active = started.registry.iter().count();
    println!("{}", took.as_secs_f64() * 1000.0 / f64::from(count));
    if active == count as usize {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

/// Milliseconds per plugin in a process of its own: a library this one has open would cost nothing.
fn start_elsewhere(home: &Home, count: usize) -> f64 {
    let program = std::env::current_exe().unwrap_or_default();
    let output = Command::new(program)
        .arg("start")
        .arg(home.root())
        .arg(count.to_string())
        .output();
    match output {
        Ok(output) if output.status.success() => String::from_utf8_lossy(&output.stdout)
            .trim()
            .parse()
            .unwrap_or(f64::INFINITY),
        other => fail(&format!(
            "not every plugin of the benchmark loaded: {other:?}"
        )),
    }
}

/// Milliseconds to inspect and validate everything in a home.
fn judge(home: &Home) -> f64 {
    let ground = home.ground(Vec::new());
    let ((), took) = once(|| {
        for found in discover(&ground).found {
            let validated = inspect(found).map(|inspected| validate(inspected, &ground.settings));
            assert!(
                matches!(validated, Ok(Ok(_))),
                "every plugin of the benchmark must pass"
            );
        }
    });
    took.as_secs_f64() * 1000.0
}
