//! The tool as the model calls it.

mod calls;
mod places;
mod stopping;

use std::path::Path;
use std::time::{Duration, Instant};

use stud_sdk::testing::{FakeHost, Harness};
use stud_sdk::{Error, Value, json};
use tempfile::TempDir;

/// The tool in a workspace of its own.
struct Bench {
    harness: Harness,
    workspace: TempDir,
}

impl Bench {
    fn new() -> Self {
        Self::configured(json!({}))
    }

    fn configured(config: Value) -> Self {
        let workspace = tempfile::tempdir().unwrap();
        let host = FakeHost::new()
            .project_root(workspace.path().join(".stud"))
            .config(config);
        Self {
            harness: Harness::new(crate::stud_plugin(), host),
            workspace,
        }
    }

    fn path(&self) -> &Path {
        self.workspace.path()
    }

    fn call(&self, args: Value) -> Result<Value, Error> {
        let output = self.harness.tool("bash", args)?;
        Ok(output.value().clone())
    }

    fn run(&self, command: &str) -> Value {
        self.call(json!({"command": command})).unwrap()
    }

    fn refused(&self, args: Value) -> String {
        name(&self.call(args).unwrap_err())
    }
}

fn name(error: &Error) -> String {
    format!("{}/{}", error.class(), error.code())
}

/// Waits for something that is bound to happen.
fn eventually(what: &str, mut happened: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !happened() {
        assert!(begun.elapsed() < Duration::from_secs(20), "{what}");
        std::thread::sleep(Duration::from_millis(2));
    }
}
