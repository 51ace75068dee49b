//! What is said first: the prompt of the command line, what is piped in, or both.

use std::io::{self, Read as _};

use rustix::fs::{FileType, fstat};
use stud_diagnostics::{Diagnostic, codes};

use crate::cli::Converse;

/// The first input of a session; a session with a terminal may begin without one.
pub(super) fn read(arguments: &Converse, headless: bool) -> Result<Option<String>, Diagnostic> {
    let prompt = arguments.prompt.join(" ");
    let prompt = prompt.trim();
    if !headless {
        return Ok((!prompt.is_empty()).then(|| prompt.to_owned()));
    }
    let piped = if prompt.is_empty() || is_piped_beside(prompt) {
        standard_input()?
    } else {
        String::new()
    };
    match (prompt, piped.trim()) {
        // A workflow may begin or continue without an input.
        ("", "") if arguments.sm.is_some() || arguments.is_resuming() => Ok(None),
        ("", "") => Err(no_input()),
        (prompt, "") => Ok(Some(prompt.to_owned())),
        ("", piped) => Ok(Some(piped.to_owned())),
        (prompt, piped) => Ok(Some(format!("{prompt}\n\n{piped}"))),
    }
}

/// Whether standard input has text that belongs to the prompt: it is a pipe or a file. A command takes no text beside its
/// arguments. A socket or a terminal is not read, since a parent process may leave it open without writing to it.
fn is_piped_beside(prompt: &str) -> bool {
    let is_text = |kind| matches!(kind, FileType::Fifo | FileType::RegularFile);
    let kind = fstat(io::stdin()).map(|stat| FileType::from_raw_mode(stat.st_mode));
    !prompt.starts_with('/') && kind.is_ok_and(is_text)
}

fn standard_input() -> Result<String, Diagnostic> {
    let mut text = String::new();
    io::stdin().read_to_string(&mut text).map_err(|error| {
        let message = format!("standard input cannot be read: {error}");
        Diagnostic::error(&codes::STARTUP_FAILURE, message)
            .help("give the prompt as UTF-8 text, or on the command line")
    })?;
    Ok(text)
}

pub(super) fn no_input() -> Diagnostic {
    let message = "there is no prompt: the command line has none, and standard input is empty";
    Diagnostic::error(&codes::ARGUMENT_MISSING, message)
        .with("flag", "PROMPT")
        .help("give the prompt as an argument: stud --headless 'explain this repository'")
        .help("or on standard input: git diff | stud --headless 'review this'")
}
