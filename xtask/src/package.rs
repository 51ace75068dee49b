//! `package`: packs every crate an author depends on, and with `--verify` builds each from its package alone.

use std::process::Stdio;

use crate::cargo::cargo;
use crate::check::published;
use crate::failure::{Failure, Outcome};
use crate::workspace::Workspace;

/// Packs them without a registry: the packages find each other.
pub(crate) fn run(args: &[String]) -> Outcome {
    let verify = match args {
        [] => false,
        [arg] if arg == "--verify" => true,
        _ => return Err(Failure::usage("usage: cargo xtask package [--verify]")),
    };
    let workspace = Workspace::read()?;
    let packages = published(&workspace.packages);
    let mut command = cargo(&workspace.root);
    command.args(["package", "--quiet", "--offline", "--allow-dirty"]);
    if !verify {
        command.arg("--no-verify");
    }
    for package in &packages {
        command.args(["--package", &package.name]);
    }
    let status = command
        .stdin(Stdio::null())
        .status()
        .map_err(|error| Failure::failed(format!("cannot start cargo: {error}")))?;
    if !status.success() {
        return Err(Failure::failed(format!("`cargo package` failed: {status}")));
    }
    for package in packages {
        let file = format!("package/{}-{}.crate", package.name, package.version);
        let path = workspace.target_dir.join(file);
        if !path.is_file() {
            return Err(Failure::failed(format!(
                "cargo wrote no {}",
                path.display()
            )));
        }
        println!("{}", path.display());
    }
    Ok(())
}
