//! Repository tasks, started with `cargo xtask TASK`.
#![forbid(unsafe_code)]
#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a task talks to the person who started it"
)]

mod failure;
mod suggest;
mod help;
mod browser;
mod cargo;
mod workspace;
mod tracer;
mod tree;
mod source;
mod problem;
mod reference;
mod registry;
mod observed;
mod run;
mod rust_crate;
mod fixtures;
mod codegen;
mod dist;
mod conformance;
mod contracts;
mod check;
mod package;
mod test;
mod bench;
mod campaign;
mod new;
#[cfg(test)]
mod scratch;

use std::process::ExitCode;

use failure::{Failure, Outcome};

fn main() -> ExitCode {
    match arguments().and_then(|args| dispatch(&args)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(),
    }
}

fn dispatch(args: &[String]) -> Outcome {
    let Some((task, rest)) = args.split_first() else {
        return Err(Failure::usage(help::overview()));
    };
    if help::is_asked_for(rest)
        && let Some(page) = help::page(task)
    {
        println!("{page}");
        return Ok(());
    }
    match task.as_str() {
        "run" => run::run(rest),
        "test" => test::run(rest),
        "check" => check::run(rest),
        "codegen" => codegen::run(rest),
        "contracts" => contracts::run(rest),
        "dist" => dist::run(rest),
        "package" => package::run(rest),
        "conformance" => conformance::run(rest),
        "fixtures" => fixtures::run(rest),
        "bench" => bench::run(rest),
        "campaign" => campaign::run(rest),
        "new" => new::run(rest),
        "help" | "--help" | "-h" => help::run(rest),
        other => Err(help::unknown(other)),
    }
}

fn arguments() -> Result<Vec<String>, Failure> {
    std::env::args_os()
        .skip(1)
        .map(|arg| {
            arg.into_string()
                .map_err(|arg| Failure::usage(format!("not valid UTF-8: {}", arg.display())))
        })
        .collect()
}
