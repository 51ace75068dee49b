//! A command line that cannot be meant, said to people and to programs.

use std::error::Error as _;
use std::ffi::OsString;
use std::io::Write as _;
use std::process::ExitCode;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{CommandFactory as _, Parser as _};
use serde_json::{Map, Value, json};
use stud_diagnostics::{Code, codes, printable_text};

use super::{Cli, NO_KEY, NO_VALUE};
use crate::output::{escaped, surface};

/// Reads the command line. Of several mistakes the first one counts.
pub(crate) fn read(words: Vec<OsString>) -> Result<Cli, clap::Error> {
    // The parser looks for unknown flags before it looks at the value that stands before one.
    let is_earlier = |error: &clap::Error| {
        matches!(
            error.kind(),
            ErrorKind::ValueValidation | ErrorKind::InvalidValue
        )
    };
    Cli::try_parse_from(&words).map_err(|error| {
        let before = words_before(&error, words);
        let earlier = before.and_then(|before| read(before).err());
        earlier.filter(is_earlier).unwrap_or(error)
    })
}

/// The words before the unknown flag.
fn words_before(error: &clap::Error, mut words: Vec<OsString>) -> Option<Vec<OsString>> {
    if error.kind() != ErrorKind::UnknownArgument {
        return None;
    }
    let unknown = text(error, ContextKind::InvalidArg)?;
    let names_it = |word: &OsString| {
        let word = word.to_string_lossy();
        let rest = word.strip_prefix(unknown.as_str());
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('='))
    };
    let at = words.iter().skip(1).position(names_it)? + 1;
    words.truncate(at);
    Some(words)
}

/// Says what is wrong with the command line, or what was asked for with `--help` and `--version`.
pub(crate) fn explain_usage(error: &clap::Error) -> ExitCode {
    let asked_for = matches!(
        error.kind(),
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion
    );
    if is_about(error, "--api-key") {
        // The parser's own words would repeat the key.
        let setting = Map::from_iter([("setting".to_owned(), "apiKeyRef".into())]);
        return refuse_flag("--api-key", NO_KEY, &codes::UNSUPPORTED_FLAG, setting);
    }
    if asked_for {
        let _ = error.print();
        return ExitCode::SUCCESS;
    }
    // The parser repeats words as they were given, and a word may be the name of a private file.
    let said = error.render().to_string();
    let _ = write!(std::io::stderr().lock(), "{}", printable_text(&said));
    let mut context = Map::new();
    context.insert("flag".to_owned(), json!(subject(error)));
    if let Some(value) = text(error, ContextKind::InvalidValue).filter(|value| !value.is_empty()) {
        context.insert("value".to_owned(), value.into());
    }
    end(code_of(error), context)
}

/// Says that a flag cannot be used, and why.
fn refuse_flag(flag: &str, why: &str, code: &Code, more: Map<String, Value>) -> ExitCode {
    let _ = writeln!(std::io::stderr().lock(), "error: {flag}: {why}");
    let mut context = more;
    context.insert("flag".to_owned(), flag.into());
    end(code, context)
}

fn end(code: &Code, mut context: Map<String, Value>) -> ExitCode {
    let usage = Cli::command().render_usage().to_string();
    context.insert("usage".to_owned(), usage.into());
    let line = surface(
        "cli.validation-error",
        code.class.as_str(),
        code.name,
        &context,
    );
    let _ = writeln!(std::io::stderr().lock(), "{}", escaped(&line));
    ExitCode::from(2)
}

/// What the error is about: a flag without its value's name, or the word itself.
fn subject(error: &clap::Error) -> Option<String> {
    let kinds = [
        ContextKind::InvalidArg,
        ContextKind::InvalidSubcommand,
        ContextKind::InvalidValue,
    ];
    let subject = kinds.into_iter().find_map(|kind| text(error, kind))?;
    let flag = subject.split([' ', '=']).next().unwrap_or_default();
    let is_flag = flag.starts_with('-');
    Some(if is_flag { flag.to_owned() } else { subject })
}

fn text(error: &clap::Error, kind: ContextKind) -> Option<String> {
    error.get(kind).map(|value| match value {
        ContextValue::String(text) => text.clone(),
        other => other.to_string(),
    })
}

fn is_about(error: &clap::Error, flag: &str) -> bool {
    text(error, ContextKind::InvalidArg).is_some_and(|arg| arg.starts_with(flag))
}

fn code_of(error: &clap::Error) -> &'static Code {
    match error.kind() {
        ErrorKind::InvalidValue if value_is_missing(error) => &codes::ARGUMENT_MISSING,
        ErrorKind::ValueValidation if is_next_flag(error) => &codes::ARGUMENT_MISSING,
        ErrorKind::ValueValidation | ErrorKind::InvalidValue if is_about(error, "--mode") => {
            &codes::INVALID_MODE
        }
        ErrorKind::ValueValidation if is_about(error, "--param") => &codes::INVALID_PARAM,
        ErrorKind::ValueValidation if is_about(error, "--allow-tool") => {
            &codes::ALLOWLIST_ENTRY_INVALID
        }
        ErrorKind::MissingRequiredArgument
        | ErrorKind::MissingSubcommand
        | ErrorKind::TooFewValues
        | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => &codes::ARGUMENT_MISSING,
        _ => &codes::UNKNOWN_FLAG,
    }
}

/// A flag that stands last has an empty value, as the parser sees it.
fn value_is_missing(error: &clap::Error) -> bool {
    text(error, ContextKind::InvalidValue).is_none_or(|value| value.is_empty())
}

/// A flag in the middle has the next one for a value, as the parser sees it.
fn is_next_flag(error: &clap::Error) -> bool {
    error
        .source()
        .is_some_and(|why| why.to_string() == NO_VALUE)
}
