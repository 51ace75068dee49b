//! `run`: builds the `stud` program and starts it.

use std::path::Path;
use std::process::Command;

use crate::cargo;
use crate::failure::{Failure, Outcome};
use crate::workspace;

/// Builds, then starts with everything after `--`.
pub(crate) fn run(args: &[String]) -> Outcome {
    let (release, program_args) = parse(args)?;
    let mut build = vec!["--package", "stud", "--bin", "stud"];
    if release {
        build.push("--release");
    }
    let program = cargo::build(&workspace::root(), &build)?
        .into_iter()
        .find_map(|artifact| artifact.executable)
        .ok_or_else(|| Failure::failed("cargo built no program for the package `stud`"))?;
    start(&program, program_args)
}

fn parse(args: &[String]) -> Result<(bool, &[String]), Failure> {
    let split = args.iter().position(|arg| arg == "--");
    let (own, program) = match split {
        Some(at) => (&args[..at], &args[at + 1..]),
        None => (args, &args[args.len()..]),
    };
    let mut release = false;
    for arg in own {
        match arg.as_str() {
            "--release" => release = true,
            other => {
                return Err(Failure::usage(format!(
                    "`run` does not take `{other}`; arguments for stud come after `--`, \
                     as in `cargo xtask run -- {other}`"
                )));
            }
        }
    }
    Ok((release, program))
}

/// The program takes our place, so that signals and the exit code are its own.
#[cfg(unix)]
fn start(program: &Path, args: &[String]) -> Outcome {
    use std::os::unix::process::CommandExt;

    let error = Command::new(program).args(args).exec();
    Err(cannot_start(program, &error))
}

#[cfg(not(unix))]
fn start(program: &Path, args: &[String]) -> Outcome {
    let status = Command::new(program)
        .args(args)
        .status()
        .map_err(|error| cannot_start(program, &error))?;
    if status.success() {
        return Ok(());
    }
    let code = status.code().and_then(|code| u8::try_from(code).ok());
    Err(Failure::Exit(code.unwrap_or(1)))
}

fn cannot_start(program: &Path, error: &std::io::Error) -> Failure {
    Failure::failed(format!("cannot start {}: {error}", program.display()))
}

#[cfg(test)]
mod tests {
    use super::parse;

    fn words(line: &str) -> Vec<String> {
        line.split_whitespace().map(str::to_owned).collect()
    }

    #[test]
    fn what_follows_the_dashes_belongs_to_the_program() {
        let args = words("--release -- plugin list -- --release");
        let (release, program) = parse(&args).unwrap();
        assert!(release);
        assert_eq!(program, words("plugin list -- --release"));
    }

    #[test]
    fn nothing_is_needed() {
        let (release, program) = parse(&[]).unwrap();
        assert!(!release);
        assert!(program.is_empty());
    }

    #[test]
    fn an_argument_on_the_wrong_side_is_explained() {
        assert!(parse(&words("plugin list")).is_err());
    }
}
