//! `bench core`: events, prompts, long transcripts and idle sessions.

mod events;
mod idle;
mod prompts;
mod transcript;

use std::process::{Command, ExitCode};

use crate::home::fail;
use crate::table::{self, Row};

pub(crate) use idle::stay_idle_here;
pub(crate) use transcript::{open_here, write_here};

type Part = (&'static str, fn() -> Vec<Row>);

const PARTS: [Part; 4] = [
    ("events", events::rows),
    ("prompts", prompts::rows),
    ("transcript", transcript::rows),
    ("idle", idle::rows),
];

/// Whether there is a part of this name.
pub(crate) fn has(part: &str) -> bool {
    PARTS.iter().any(|(name, _)| *name == part)
}

/// Measures everything, or only the parts that are named.
pub(crate) fn run(named: &[&str], write: bool) -> ExitCode {
    let wanted = |name: &&str| named.is_empty() || named.contains(name);
    let parts = PARTS.iter().filter(|(name, _)| wanted(name));
    let rows: Vec<Row> = parts.flat_map(|(_, rows)| rows()).collect();
    table::conclude("core", &rows, write)
}

/// What a process of its own prints: what another one has done to this one's memory must not count.
fn elsewhere(arguments: &[&str]) -> String {
    let program = std::env::current_exe().unwrap_or_default();
    match Command::new(program).args(arguments).output() {
        Ok(output) if output.status.success() => {
            String::from_utf8_lossy(&output.stdout).into_owned()
        }
        other => fail(&format!("{arguments:?}: {other:?}")),
    }
}

/// A figure that the system keeps of this process.
fn figure(file: &str, name: &str) -> f64 {
    let text = std::fs::read_to_string(format!("/proc/self/{file}")).unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix(name));
    let word = line.and_then(|line| line.trim_start_matches(':').split_whitespace().next());
    match word.and_then(|word| word.parse().ok()) {
        Some(figure) => figure,
        None => fail(&format!("no `{name}` in /proc/self/{file}")),
    }
}
