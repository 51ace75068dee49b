//! `bench turn`: the program against a model on loopback, beside the least client that makes the same exchange.
//!
//! Both are processes of their own and take turns, so that whatever else the machine does happens to both.

mod floor;
mod model;
mod trial;

use std::process::{Command, ExitCode};

use stud_tests::workspace_root;

use crate::home::fail;
use crate::table::{self, Row};

pub(crate) use floor::go_round_here;

use model::{Model, Script};
use trial::{Figures, Trial, Who};

/// How often each thing is done; the median counts.
const RUNS: usize = 15;

/// How often the model wants a tool before it answers.
const ROUNDS: u32 = 20;

/// In how many pieces a long answer comes.
const PIECES: u32 = 20_000;

/// Measures everything.
pub(crate) fn run(write: bool) -> ExitCode {
    build();
    let model = Model::start();
    let trial = Trial::new(model.port());
    let mut rows = vec![version(&trial)];
    rows.extend(text(&trial, &model));
    rows.push(rounds(&trial, &model, "read", 0.6));
    rows.push(rounds(&trial, &model, "bash", 2.6));
    rows.push(long_answer(&trial, &model));
    table::conclude("turn", &rows, write)
}

/// The program as it is released.
fn build() {
    let built = Command::new(env!("CARGO"))
        .args(["build", "--quiet", "--release", "--package", "stud"])
        .current_dir(workspace_root())
        .status();
    if !built.is_ok_and(|built| built.success()) {
        fail("`cargo build --release --package stud` failed");
    }
}

fn version(trial: &Trial) -> Row {
    let walls: Vec<f64> = (0..RUNS).map(|_| trial.version()).collect();
    Row::limit("`stud --version`, exec to exit", median(walls), 5.0, "ms")
}

fn text(trial: &Trial, model: &Model) -> [Row; 2] {
    let (ours, floor) = beside(trial, model, &Script::Text);
    let mebibytes = trial.peak_memory(model, &Script::Text);
    [
        Row {
            what: "one short answer, exec to exit".to_owned(),
            measured: format!("{:.1} ms, the least client {:.1} ms", ours.wall, floor.wall),
            budget: "≤ 20 ms".to_owned(),
            met: ours.wall <= 20.0,
        },
        Row::limit("the same, peak memory", mebibytes, 16.0, "MiB"),
    ]
}

fn rounds(trial: &Trial, model: &Model, tool: &'static str, most: f64) -> Row {
    let script = Script::Tools {
        tool,
        rounds: ROUNDS,
    };
    let (ours, floor) = beside(trial, model, &script);
    Row {
        what: format!("{ROUNDS} rounds with `{tool}`, from a call to the next request"),
        measured: format!("{:.2} ms, the least client {:.2} ms", ours.gap, floor.gap),
        budget: format!("≤ {most} ms"),
        met: ours.gap <= most,
    }
}

fn long_answer(trial: &Trial, model: &Model) -> Row {
    let (ours, floor) = beside(trial, model, &Script::Long { pieces: PIECES });
    let (ours, floor) = (ours.wall / 1e3, floor.wall / 1e3);
    Row {
        what: format!("an answer in {PIECES} pieces, exec to exit"),
        measured: format!("{ours:.2} s, the least client {floor:.2} s"),
        budget: "≤ 0.3 s".to_owned(),
        met: ours <= 0.3,
    }
}

/// What ours and the least client need for the same, one after the other and again.
fn beside(trial: &Trial, model: &Model, script: &Script) -> (Figures, Figures) {
    // The first run makes what is made once, and fills the system's caches.
    for who in [Who::Stud, Who::Floor] {
        trial.run(who, model, script);
    }
    let (mut ours, mut floor) = (Vec::new(), Vec::new());
    for _ in 0..RUNS {
        ours.push(trial.run(Who::Stud, model, script));
        floor.push(trial.run(Who::Floor, model, script));
    }
    (middle(&ours), middle(&floor))
}

fn middle(runs: &[Figures]) -> Figures {
    Figures {
        wall: median(runs.iter().map(|run| run.wall).collect()),
        gap: median(runs.iter().map(|run| run.gap).collect()),
    }
}

fn median(mut figures: Vec<f64>) -> f64 {
    figures.sort_unstable_by(f64::total_cmp);
    figures.get(figures.len() / 2).copied().unwrap_or(f64::NAN)
}
