//! What goes wrong here, in codes that the model and core act on.

use std::time::Duration;

use stud_sdk::{Class, Error};

use crate::capture::Captured;

/// The folder to run in is outside the workspace.
const TOOL_FORBIDDEN: &str = "Forbidden";

/// The operator does not want this command to run.
const COMMAND_REJECTED: &str = "CommandRejected";

/// How much of each stream goes with a command that did not end by itself.
const EXCERPT_BYTES: usize = 2048;

/// `ToolTerminal/Forbidden`.
pub(crate) fn outside(cwd: &str) -> Error {
    let message = format!("`cwd` leads outside the workspace: {cwd}");
    Error::new(Class::ToolTerminal, TOOL_FORBIDDEN, message)
        .with("fieldPath", "/cwd")
        .with("cwd", cwd)
}

/// `ToolTerminal/CommandRejected`.
pub(crate) fn rejected(blocked: &str) -> Error {
    let message = format!("commands that begin with `{blocked}` are not to be run here");
    Error::new(Class::ToolTerminal, COMMAND_REJECTED, message).with("blockedPrefix", blocked)
}

/// `ToolTransient/ExecutionTimeout`, with the end of what the command had printed.
pub(crate) fn timed_out(limit: Duration, stdout: &Captured, stderr: &Captured) -> Error {
    let millis = u64::try_from(limit.as_millis()).unwrap_or(u64::MAX);
    let message = format!(
        "the command did not end within {millis} ms and was stopped with all it had started"
    );
    Error::new(Class::ToolTransient, "ExecutionTimeout", message)
        .with("timeoutMs", millis)
        .with("stdout", stdout.excerpt(EXCERPT_BYTES))
        .with("stderr", stderr.excerpt(EXCERPT_BYTES))
}

/// `Cancellation/TurnCancelled`: there was nothing to stop yet.
pub(crate) fn not_begun() -> Error {
    let message = "the turn was cancelled before the command started";
    Error::new(Class::Cancellation, "TurnCancelled", message)
}
