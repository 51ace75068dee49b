//! A command line that cannot be meant, said to people and to programs.

use std::io::Write as _;
use std::process::ExitCode;

use clap::CommandFactory as _;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use serde_json::{Map, Value, json};
use stud_diagnostics::{Code, codes, printable_text};

use super::{Cli, NO_KEY};
use crate::output::{escaped, surface};

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
    // The parser repeats words as they were given, and a word may be the name of somebody else's file.
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
pub(crate) fn refuse_flag(
    flag: &str,
    why: &str,
    code: &Code,
    more: Map<String, Value>,
) -> ExitCode {
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
        ErrorKind::ValueValidation | ErrorKind::InvalidValue if is_about(error, "--mode") => {
            &codes::INVALID_MODE
        }
        ErrorKind::ValueValidation if is_about(error, "--param") => &codes::INVALID_PARAM,
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
