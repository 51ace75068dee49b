//! `test`: everything that must pass before a change is good, fastest first.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::cargo::{cargo, has};
use crate::failure::{Failure, Outcome};
use crate::workspace::Workspace;
use crate::{browser, check, codegen, fixtures, observed, reference, tracer};

/// One step; the order of [`ALL`] is the order of the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    Fmt,
    Check,
    Clippy,
    Fixtures,
    Codegen,
    Tests,
    Races,
    Doctests,
    Rustdoc,
}

const ALL: &[Step] = &[
    Step::Fmt,
    Step::Check,
    Step::Clippy,
    Step::Fixtures,
    Step::Codegen,
    Step::Tests,
    Step::Races,
    Step::Doctests,
    Step::Rustdoc,
];

/// What a filter leaves: the tests it names, and what they load.
const FILTERED: &[Step] = &[Step::Fixtures, Step::Tests];

/// The word that stands for the models of races instead of naming tests.
const RACES: &str = "races";

/// Tells the models in how many orders to run.
const SCHEDULES: &str = "STUD_SHUTTLE_SCHEDULES";

/// What runs the tests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Runner {
    Nextest,
    /// Comes with Rust, so it is always there.
    Plain,
}

/// Runs all steps, or the tests that match the filter.
pub(crate) fn run(filter: &[String]) -> Outcome {
    let workspace = Workspace::read()?;
    models(filter)?;
    let steps = match filter {
        [] => ALL,
        [word, ..] if word == RACES => &[Step::Races],
        _ => FILTERED,
    };
    require_components(&workspace.root, steps)?;
    let runner = runner(&workspace.root);

    let mut times = Vec::new();
    for (index, step) in steps.iter().enumerate() {
        println!(
            "==> {}/{} {}: {}",
            index + 1,
            steps.len(),
            step.name(),
            step.command(runner, filter)
        );
        let started = Instant::now();
        let outcome = step.run(&workspace, runner, filter);
        let time = started.elapsed();
        if let Err(failure) = outcome {
            return Err(stopped(*step, &step.command(runner, filter), failure));
        }
        println!("    {} passed in {:.1} s", step.name(), time.as_secs_f64());
        times.push((*step, time));
    }
    println!("{}", summary(&times));
    Ok(())
}

impl Step {
    fn name(self) -> &'static str {
        match self {
            Self::Fmt => "fmt",
            Self::Check => "check",
            Self::Clippy => "clippy",
            Self::Fixtures => "fixtures",
            Self::Codegen => "codegen",
            Self::Tests => "tests",
            Self::Races => RACES,
            Self::Doctests => "doctests",
            Self::Rustdoc => "rustdoc",
        }
    }

    /// What to type to run this step alone.
    fn command(self, runner: Runner, filter: &[String]) -> String {
        let variables = match self {
            Self::Rustdoc => "RUSTDOCFLAGS=\"-D warnings\" ",
            Self::Races => "RUSTFLAGS=\"--cfg shuttle\" ",
            _ => "",
        };
        let schedules = match self {
            Self::Races => models(filter).unwrap_or_default().0,
            _ => None,
        };
        let schedules =
            schedules.map_or_else(String::new, |number| format!("{SCHEDULES}={number} "));
        let args = self.cargo_args(runner, filter).join(" ");
        format!("{schedules}{variables}cargo {args}")
    }

    fn cargo_args(self, runner: Runner, filter: &[String]) -> Vec<String> {
        let line = match (self, runner) {
            (Self::Fmt, _) => "fmt --all --check",
            (Self::Check, _) => "xtask check",
            (Self::Clippy, _) => "clippy --workspace --all-targets --all-features -- -D warnings",
            (Self::Fixtures, _) => "xtask fixtures",
            (Self::Codegen, _) => "xtask codegen --check",
            (Self::Tests, Runner::Nextest) => {
                "nextest run --workspace --all-features --no-fail-fast"
            }
            // Named one by one, because `--all-targets` would run benchmarks too.
            (Self::Tests, Runner::Plain) => {
                "test --workspace --all-features --lib --bins --tests --examples --no-fail-fast"
            }
            // In a folder of its own, because the flag would have everything built anew each time.
            (Self::Races, _) => {
                "test --package stud-core --test races --profile models --target-dir target/models"
            }
            (Self::Doctests, _) => "test --workspace --all-features --doc",
            (Self::Rustdoc, _) => "doc --workspace --all-features --no-deps",
        };
        let mut args: Vec<String> = line.split(' ').map(str::to_owned).collect();
        let names = match self {
            Self::Tests => filter,
            Self::Races => models(filter).unwrap_or_default().1,
            _ => &[],
        };
        if !names.is_empty() {
            args.push("--".to_owned());
            args.extend_from_slice(names);
        }
        args
    }

    fn run(self, workspace: &Workspace, runner: Runner, filter: &[String]) -> Outcome {
        match self {
            Self::Check => check::run(&[]),
            Self::Codegen => codegen::run(&["--check".to_owned()]),
            Self::Fixtures => {
                // The program itself, which black-box tests run, and servers it talks to are built with them.
                let libraries = fixtures::build(workspace, /*release*/ false)?;
                println!("{} plugin libraries are ready", libraries.len());
                reference::install(&workspace.target_dir);
                browser::install(&workspace.target_dir);
                Ok(())
            }
            Self::Fmt
            | Self::Clippy
            | Self::Tests
            | Self::Races
            | Self::Doctests
            | Self::Rustdoc => {
                let mut command = cargo(&workspace.root);
                command.args(self.cargo_args(runner, filter));
                if self == Self::Rustdoc {
                    add_flags(&mut command, "RUSTDOCFLAGS", "-D warnings");
                }
                if self == Self::Races {
                    add_flags(&mut command, "RUSTFLAGS", "--cfg shuttle");
                    if let (Some(number), _) = models(filter)? {
                        command.env(SCHEDULES, number);
                    }
                }
                if self == Self::Tests {
                    tracer::provide();
                    // The step before built them; a test run by hand builds its own.
                    command.env("STUD_FIXTURES_BUILT", "1");
                }
                if self == Self::Tests && filter.is_empty() {
                    let folder = observed::fresh(&workspace.target_dir)?;
                    command.env(observed::VARIABLE, &folder);
                    passes(&mut command)?;
                    return observed::complete(&workspace.root, &folder);
                }
                passes(&mut command)
            }
        }
    }
}

/// What follows the word for the models of races: in how many orders each is run, and the names of some.
fn models(filter: &[String]) -> Result<(Option<&str>, &[String]), Failure> {
    match filter {
        [word, flag, rest @ ..] if word == RACES && flag == "--schedules" => match rest {
            [number, names @ ..] if number.parse::<u64>().is_ok_and(|number| number > 0) => {
                Ok((Some(number), names))
            }
            _ => Err(Failure::usage(
                "`--schedules` takes a number above 0, as in `cargo xtask test races --schedules 100000`",
            )),
        },
        [word, names @ ..] if word == RACES => Ok((None, names)),
        _ => Ok((None, &[])),
    }
}

/// Adds to the flags that are set already, so that a machine's own stay in force.
fn add_flags(command: &mut Command, variable: &str, more: &str) {
    let mut flags = std::env::var(variable).unwrap_or_default();
    flags.push(' ');
    flags.push_str(more);
    command.env(variable, flags.trim_start());
}

/// Shows what the command prints. It gets no input: a test that waits for
/// input would never end without a terminal.
fn passes(command: &mut Command) -> Outcome {
    let status = command
        .stdin(Stdio::null())
        .status()
        .map_err(|error| Failure::failed(format!("cannot start cargo: {error}")))?;
    if status.success() {
        Ok(())
    } else {
        Err(Failure::failed(status.to_string()))
    }
}

fn runner(root: &Path) -> Runner {
    if has(root, "nextest") {
        Runner::Nextest
    } else {
        println!("cargo-nextest is not installed; `cargo test` runs the same tests, more slowly");
        Runner::Plain
    }
}

/// Parts of the toolchain that a minimal installation leaves out.
fn require_components(root: &Path, steps: &[Step]) -> Outcome {
    let missing: Vec<&str> = [
        (Step::Fmt, "fmt", "rustfmt"),
        (Step::Clippy, "clippy", "clippy"),
    ]
    .into_iter()
    .filter(|(step, subcommand, _)| steps.contains(step) && !has(root, subcommand))
    .map(|(_, _, component)| component)
    .collect();
    if missing.is_empty() {
        return Ok(());
    }
    Err(Failure::failed(format!(
        "missing from the Rust toolchain: {}; install with `rustup component add {}`",
        missing.join(", "),
        missing.join(" ")
    )))
}

fn stopped(step: Step, command: &str, failure: Failure) -> Failure {
    let cause = match failure {
        Failure::Usage(cause) | Failure::Failed(cause) => cause,
        Failure::Exit(code) => format!("exit code {code}"),
    };
    let name = step.name();
    Failure::failed(format!(
        "test: step `{name}` failed: {cause}\nrun it alone: {command}"
    ))
}

fn summary(times: &[(Step, Duration)]) -> String {
    let steps: Vec<String> = times
        .iter()
        .map(|(step, time)| format!("{} {:.1} s", step.name(), time.as_secs_f64()))
        .collect();
    let total: Duration = times.iter().map(|(_, time)| *time).sum();
    format!(
        "test: all steps passed in {:.1} s ({})",
        total.as_secs_f64(),
        steps.join(", ")
    )
}

#[cfg(test)]
mod tests;
