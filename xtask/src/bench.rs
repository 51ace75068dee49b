//! `bench`: runs a benchmark of the `stud-benches` package in release form.

use crate::cargo::cargo;
use crate::failure::{Failure, Outcome};
use crate::workspace::Workspace;

const PACKAGE: &str = "stud-benches";

/// Passes everything on to the package.
pub(crate) fn run(args: &[String]) -> Outcome {
    if args.is_empty() {
        return Err(Failure::usage(
            "say which benchmark to run, as in `cargo xtask bench abi`",
        ));
    }
    let workspace = Workspace::read()?;
    let exists = workspace
        .packages
        .iter()
        .any(|package| package.name == PACKAGE);
    if !exists {
        return Err(Failure::failed(format!(
            "this workspace has no package `{PACKAGE}` to run benchmarks from"
        )));
    }
    let status = cargo(&workspace.root)
        .args(["run", "--release", "--package", PACKAGE, "--"])
        .args(args)
        .status()
        .map_err(|error| Failure::failed(format!("cannot start cargo: {error}")))?;
    if status.success() {
        Ok(())
    } else {
        let code = status.code().and_then(|code| u8::try_from(code).ok());
        Err(Failure::Exit(code.unwrap_or(1)))
    }
}

#[cfg(test)]
mod tests {
    use super::run;
    use crate::failure::Failure;

    #[test]
    fn a_benchmark_must_be_named() {
        assert!(matches!(run(&[]), Err(Failure::Usage(_))));
    }
}
