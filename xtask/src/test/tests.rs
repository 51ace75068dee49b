//! The steps, their commands and what is said when one fails.

use std::process::{Command, Stdio};
use std::time::Duration;

use super::{ALL, Runner, Step, models, passes, stopped, summary};
use crate::failure::Failure;

fn command(step: Step, runner: Runner, filter: &[&str]) -> String {
    let filter: Vec<String> = filter.iter().map(|&word| word.to_owned()).collect();
    step.command(runner, &filter)
}

#[test]
fn each_step_can_be_typed() {
    let commands: Vec<_> = ALL
        .iter()
        .map(|step| command(*step, Runner::Nextest, &[]))
        .collect();
    assert_eq!(
        commands,
        [
            "cargo fmt --all --check",
            "cargo xtask check",
            "cargo clippy --workspace --all-targets --all-features -- -D warnings",
            "cargo xtask fixtures",
            "cargo xtask codegen --check",
            "cargo nextest run --workspace --all-features --no-fail-fast",
            "RUSTFLAGS=\"--cfg shuttle\" cargo test --package stud-core --test races --profile models --target-dir target/models",
            "cargo test --workspace --all-features --doc",
            "RUSTDOCFLAGS=\"-D warnings\" cargo doc --workspace --all-features --no-deps",
        ]
    );
}

#[test]
fn without_nextest_benchmarks_are_still_left_out() {
    assert_eq!(
        command(Step::Tests, Runner::Plain, &[]),
        "cargo test --workspace --all-features --lib --bins --tests --examples --no-fail-fast"
    );
}

#[test]
fn a_filter_reaches_the_tests_alone() {
    assert_eq!(
        command(Step::Tests, Runner::Nextest, &["late", "early"]),
        "cargo nextest run --workspace --all-features --no-fail-fast -- late early"
    );
    assert_eq!(
        command(Step::Fixtures, Runner::Nextest, &["late"]),
        "cargo xtask fixtures"
    );
}

#[test]
fn models_are_named_and_told_how_often_to_run() {
    let races = |filter: &[&str]| command(Step::Races, Runner::Plain, filter);
    let cargo = "RUSTFLAGS=\"--cfg shuttle\" cargo test --package stud-core --test races \
                 --profile models --target-dir target/models";
    assert_eq!(races(&["races"]), cargo);
    assert_eq!(races(&["races", "late"]), format!("{cargo} -- late"));
    assert_eq!(
        races(&["races", "--schedules", "7", "late"]),
        format!("STUD_SHUTTLE_SCHEDULES=7 {cargo} -- late")
    );
}

#[test]
fn a_number_of_schedules_is_a_number() {
    for wrong in [
        &["races", "--schedules"][..],
        &["races", "--schedules", "0"],
        &["races", "--schedules", "x"],
    ] {
        let filter: Vec<String> = wrong.iter().map(|&word| word.to_owned()).collect();
        assert!(
            matches!(models(&filter), Err(Failure::Usage(_))),
            "{wrong:?}"
        );
    }
}

#[test]
fn a_failed_step_says_how_to_run_it_alone() {
    let failure = stopped(
        Step::Clippy,
        "cargo clippy",
        Failure::failed("exit status: 1"),
    );
    let Failure::Failed(message) = failure else {
        panic!("not a failure of the work");
    };
    assert_eq!(
        message,
        "test: step `clippy` failed: exit status: 1\nrun it alone: cargo clippy"
    );
}

#[test]
fn a_command_that_fails_is_noticed() {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let with = |arg: &str| {
        let mut command = Command::new(&cargo);
        command.arg(arg).stdout(Stdio::null()).stderr(Stdio::null());
        passes(&mut command)
    };
    assert!(with("--version").is_ok());
    assert!(with("--no-such-option").is_err());
}

#[test]
fn the_summary_gives_the_time_of_each_step() {
    let times = [
        (Step::Fmt, Duration::from_millis(600)),
        (Step::Tests, Duration::from_millis(1400)),
    ];
    assert_eq!(
        summary(&times),
        "test: all steps passed in 2.0 s (fmt 0.6 s, tests 1.4 s)"
    );
}
