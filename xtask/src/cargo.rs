//! Starting cargo, and reading what it built.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::failure::Failure;

/// Something cargo built for a target of a package.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Artifact {
    /// The folder of the package's manifest.
    pub(crate) package_dir: PathBuf,
    /// `lib`, `cdylib`, `bin`, ….
    pub(crate) kinds: Vec<String>,
    /// Everything that was written.
    pub(crate) files: Vec<PathBuf>,
    /// The program, when the target is one.
    pub(crate) executable: Option<PathBuf>,
}

/// The cargo that started this task, so that a `+toolchain` choice carries over.
pub(crate) fn cargo(root: &Path) -> Command {
    let program = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(program);
    command.current_dir(root);
    // A clean checkout is built once: what incremental builds keep would double the target folder for nothing.
    if std::env::var_os("CI").is_some() && std::env::var_os("CARGO_INCREMENTAL").is_none() {
        command.env("CARGO_INCREMENTAL", "0");
    }
    command
}

/// Whether `cargo SUBCOMMAND --version` works.
pub(crate) fn has(root: &Path, subcommand: &str) -> bool {
    cargo(root)
        .args([subcommand, "--version"])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}

/// Runs `cargo build ARGS` with its progress shown, and returns what it built.
pub(crate) fn build(root: &Path, args: &[&str]) -> Result<Vec<Artifact>, Failure> {
    let mut child = cargo(root)
        .args(["build", "--message-format=json-render-diagnostics"])
        .args(args)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|error| Failure::failed(format!("cannot start cargo: {error}")))?;
    let mut artifacts = Vec::new();
    if let Some(stdout) = child.stdout.take() {
        for line in BufReader::new(stdout).lines() {
            let line =
                line.map_err(|error| Failure::failed(format!("cannot read from cargo: {error}")))?;
            artifacts.extend(artifact(&line));
        }
    }
    let status = child
        .wait()
        .map_err(|error| Failure::failed(format!("cannot wait for cargo: {error}")))?;
    if status.success() {
        Ok(artifacts)
    } else {
        Err(Failure::failed(format!(
            "`cargo build {}` failed",
            args.join(" ")
        )))
    }
}

/// Reads one line of cargo's JSON output; other messages give nothing.
fn artifact(line: &str) -> Option<Artifact> {
    let message: Value = serde_json::from_str(line).ok()?;
    if message["reason"] != "compiler-artifact" {
        return None;
    }
    Some(Artifact {
        package_dir: Path::new(message["manifest_path"].as_str()?)
            .parent()?
            .to_owned(),
        kinds: strings(&message["target"]["kind"]),
        files: strings(&message["filenames"])
            .into_iter()
            .map(PathBuf::from)
            .collect(),
        executable: message["executable"].as_str().map(PathBuf::from),
    })
}

/// The strings of a JSON array; anything else counts as an empty one.
pub(crate) fn strings(value: &Value) -> Vec<String> {
    value
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .map(str::to_owned)
        .collect()
}

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};

    use super::artifact;

    #[test]
    fn a_built_library_is_read() {
        let line = r#"{"reason":"compiler-artifact","manifest_path":"/r/tests/fixtures/good/Cargo.toml",
            "target":{"kind":["cdylib"],"name":"good"},"filenames":["/r/target/debug/libgood.so"],"executable":null}"#;
        let artifact = artifact(line).unwrap();
        assert_eq!(artifact.package_dir, Path::new("/r/tests/fixtures/good"));
        assert_eq!(artifact.kinds, ["cdylib"]);
        assert_eq!(
            artifact.files,
            [PathBuf::from("/r/target/debug/libgood.so")]
        );
        assert_eq!(artifact.executable, None);
    }

    #[test]
    fn other_messages_and_noise_are_passed_over() {
        assert_eq!(
            artifact(r#"{"reason":"build-finished","success":true}"#),
            None
        );
        assert_eq!(artifact("not JSON"), None);
    }
}
