//! `bash`: runs a command line in a shell.
//!
//! The line goes to `sh -c`, in a process group of its own and with nothing to read.
//! An exit code other than zero is a result like any other; what ends a command early is an error, and then everything
//! the command had started is ended with it.
//!
//! The shell gets the environment stud was started with.
//! Which of its names hold secrets is known to stud and not to this plugin, so none is taken out.
//!
//! This crate is for Unix systems, as its process groups are.
#![forbid(unsafe_code)]

mod line;
mod key;
mod capture;
mod failure;
mod place;
mod stop;
mod child;
mod shell;

use std::time::Duration;

use stud_sdk::prelude::*;

use shell::{End, Limits};

/// How commands are run.
#[derive(Config)]
struct Options {
    /// How many milliseconds a command may take that says nothing else.
    #[stud(default = 30_000, min = 1)]
    default_timeout_ms: u64,
    /// How many bytes of each stream are kept.
    #[stud(default = 1_048_576, min = 1)]
    max_output_bytes: usize,
    /// Commands that are never run: a name, or a name and the words after it.
    #[stud(default)]
    blocked_prefixes: Vec<String>,
}

/// What the model sends.
#[derive(Args)]
struct Input {
    /// The command line, as for `sh -c`.
    command: String,
    /// The folder to run it in, relative to the workspace.
    cwd: Option<String>,
    /// How many milliseconds it may take.
    #[stud(min = 1)]
    timeout_ms: Option<u64>,
}

/// What came of a command.
#[derive(Schema)]
struct Report {
    /// What it printed.
    stdout: String,
    /// What it printed as errors.
    stderr: String,
    /// Its exit code; 128 and the number of the signal for a command that a signal ended.
    exit_code: i32,
}

/// Runs a command line in a shell, in the workspace, and returns what it printed and its exit code.
#[tool(id = "bash", name = "bash", config = Options, init = Bash::new, output = Report)]
struct Bash {
    options: Options,
}

impl Bash {
    #[expect(clippy::unnecessary_wraps, reason = "the attribute takes it as it is")]
    fn new(_host: Host, options: Options) -> Result<Self> {
        Ok(Self { options })
    }

    /// What is refused regardless of approvals.
    fn check(&self, command: &str) -> Result<()> {
        let why = if command.trim().is_empty() {
            "`command` is empty"
        } else if command.contains('\0') {
            "`command` contains a NUL character, which no shell takes"
        } else if let Some(blocked) = key::blocked(command, &self.options.blocked_prefixes) {
            return Err(failure::rejected(blocked));
        } else {
            return Ok(());
        };
        Err(Error::invalid_input(why).with("fieldPath", "/command"))
    }

    fn limits(&self, input: &Input) -> Limits {
        let millis = input.timeout_ms.unwrap_or(self.options.default_timeout_ms);
        Limits {
            time: Duration::from_millis(millis),
            bytes_per_stream: self.options.max_output_bytes,
        }
    }
}

impl Tool for Bash {
    type Args = Input;

    /// Holds the thread it is polled on: core gives each call one of its own, and another would only cost time.
    async fn execute(&self, input: Input, cx: &Cx) -> Result<Output> {
        if cx.is_cancelled() {
            return Err(failure::not_begun());
        }
        self.check(&input.command)?;
        let folder = place::folder(cx.host(), input.cwd.as_deref())?;
        let limits = self.limits(&input);
        let ran = shell::run(&input.command, &folder, limits, cx.cancellation())
            .map_err(|error| Error::invalid_input(format!("the shell cannot run this: {error}")))?;
        match ran.end {
            End::Exited(exit_code) => Output::json(Report {
                stdout: ran.stdout.into_text(),
                stderr: ran.stderr.into_text(),
                exit_code,
            }),
            End::TimedOut => Err(failure::timed_out(limits.time, &ran.stdout, &ran.stderr)),
            End::CalledOff => Err(Error::cancelled()),
        }
    }

    /// Blocked commands and lines that cannot be run are refused here, before a prompt.
    fn approval_key(&self, input: &Input) -> Result<String> {
        self.check(&input.command)?;
        Ok(key::approval_key(&input.command))
    }
}

#[cfg(test)]
mod tests;
