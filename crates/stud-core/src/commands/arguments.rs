//! What was typed, and what the command is given.

use serde_json::Value;
use stud_contract_command::{CommandDeclaration, RawArgs, is_command_name};
use stud_contract_meta::{Error, Result};
use stud_diagnostics::codes;
use stud_host_api::commands::CommandArgs;

use crate::validate::schema;

/// A name and what follows it, from a line as it was typed: a slash, the name, white space, the rest.
pub(super) fn take_apart(line: &str) -> Result<(&str, &str)> {
    let Some(typed) = line.strip_prefix('/') else {
        return Err(invalid(line, "it does not begin with `/`"));
    };
    check_characters(line)?;
    let typed = typed.trim_end();
    let (name, rest) = typed.split_once(char::is_whitespace).unwrap_or((typed, ""));
    Ok((name, rest.trim_start()))
}

/// A name is a name, and nothing in the line could pass for something else on a terminal.
pub(super) fn check_line(name: &str, args: &CommandArgs) -> Result<()> {
    if !is_command_name(name) {
        let why = match name.strip_prefix('/') {
            Some(_) => "names are given without the slash",
            None => "a name has only letters, digits, `_` and `-`",
        };
        return Err(invalid(name, why).with("name", shown(name)));
    }
    match args {
        CommandArgs::Text(text) => check_characters(text).map_err(|error| error.with("name", name)),
        CommandArgs::Parsed(_) => Ok(()),
    }
}

fn check_characters(line: &str) -> Result<()> {
    if line.contains(char::is_control) {
        return Err(invalid(line, "it has control characters"));
    }
    Ok(())
}

fn invalid(line: &str, why: &str) -> Error {
    let code = &codes::COMMAND_NAME_INVALID;
    let line = shown(line);
    let message = format!("`{line}` cannot be a command: {why}");
    Error::new(code.class, code.name, message).with("line", line)
}

/// The beginning of a text, safe to show anywhere.
fn shown(text: &str) -> String {
    const LONGEST: usize = 80;
    let mut shown: String = text
        .chars()
        .take(LONGEST)
        .flat_map(char::escape_debug)
        .collect();
    if text.chars().nth(LONGEST).is_some() {
        shown.push('…');
    }
    shown
}

/// The arguments as the command's `argsSchema` wants them.
pub(super) fn fit(declared: &CommandDeclaration, args: CommandArgs) -> Result<Value> {
    let args = match args {
        CommandArgs::Text(text) => RawArgs::parse(&text).fit(&declared.args_schema),
        CommandArgs::Parsed(members) => Value::Object(members),
    };
    // A schema that does not compile was refused with the manifest.
    let Ok(validator) = schema::build(&declared.args_schema) else {
        return Ok(args);
    };
    let problem = validator.iter_errors(&args).next().map(|error| {
        let (place, problem) = (schema::place(&error), schema::problem(&error));
        unfit(declared, &place, &problem)
    });
    problem.map_or(Ok(args), Err)
}

fn unfit(declared: &CommandDeclaration, place: &str, problem: &str) -> Error {
    let code = &codes::INPUT_INVALID;
    let name = declared.name.as_str();
    let at = match place {
        "" => String::new(),
        place => format!(" at `{place}`"),
    };
    let usage = match &declared.argument_hint {
        Some(hint) => format!("; type `/{name} {hint}`"),
        None => String::new(),
    };
    let message = format!("the arguments of `{name}` do not fit{at}: {problem}{usage}");
    Error::new(code.class, code.name, message)
        .with("name", name)
        .with("fieldPath", place)
        .with("expected", problem)
}
