//! Values of a server's environment and headers, resolved when they are needed and known to the redactor from then on.

use std::collections::BTreeMap;

use secrecy::SecretString;
use stud_contract_meta::{Error, Result};
use stud_diagnostics::codes;

use crate::redact::{Origin, Redactor, is_ordinary, is_telling};

/// Puts the variables into the values of a server. `place` says where they stand.
///
/// # Errors
///
/// `Validation/EnvNameNotSet` for a variable that is not set.
pub(super) fn resolve(
    server_id: &str,
    place: &str,
    values: &BTreeMap<String, String>,
    redactor: &Redactor,
    variable: impl Fn(&str) -> Option<String>,
) -> Result<BTreeMap<String, SecretString>> {
    let mut resolved = BTreeMap::new();
    for (name, text) in values {
        let mut value = String::new();
        for piece in pieces(text) {
            match piece {
                Piece::Plain(plain) => value.push_str(plain),
                Piece::Variable(variable_name) => {
                    let found = variable(variable_name)
                        .ok_or_else(|| not_set(server_id, place, name, variable_name))?;
                    learn(redactor, "env", variable_name, variable_name, &found);
                    value.push_str(&found);
                }
            }
        }
        let identifier = format!("mcp/{server_id}/{place}/{name}");
        learn(redactor, "settings", &identifier, name, &value);
        resolved.insert(name.clone(), SecretString::from(value));
    }
    Ok(resolved)
}

/// Learns what may be a secret. A path and a word are none, and would be missed in every record that has them.
fn learn(redactor: &Redactor, source: &'static str, identifier: &str, name: &str, value: &str) {
    let is_path = value.starts_with(['/', '.', '~']);
    if is_path || is_ordinary(name) || !is_telling(value) {
        return;
    }
    let identifier = identifier.to_owned();
    redactor.learn_from(&SecretString::from(value), Origin { source, identifier });
}

enum Piece<'a> {
    Plain(&'a str),
    Variable(&'a str),
}

/// A text and the `${NAME}` in it.
fn pieces(text: &str) -> Vec<Piece<'_>> {
    let mut pieces = Vec::new();
    let mut rest = text;
    while let Some(start) = rest.find("${") {
        let (before, from) = rest.split_at(start);
        pieces.push(Piece::Plain(before));
        let inside = &from[2..];
        let name = inside.split_once('}').map(|(name, _)| name);
        if let Some(name) = name.filter(|name| is_name(name)) {
            pieces.push(Piece::Variable(name));
            rest = &inside[name.len() + 1..];
        } else {
            pieces.push(Piece::Plain(&from[..2]));
            rest = inside;
        }
    }
    pieces.push(Piece::Plain(rest));
    pieces
}

fn is_name(name: &str) -> bool {
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let starts_well = name.starts_with(|c: char| is_word(c) && !c.is_ascii_digit());
    starts_well && name.chars().all(is_word)
}

fn not_set(server_id: &str, place: &str, name: &str, variable: &str) -> Error {
    let code = &codes::ENV_NAME_NOT_SET;
    let message = format!(
        "`{place}.{name}` of the MCP server `{server_id}` stands for the variable `{variable}`, which is not set"
    );
    Error::new(code.class, code.name, message)
        .with("name", variable)
        .with("serverId", server_id)
}

#[cfg(test)]
mod tests {
    use super::*;
    use secrecy::ExposeSecret as _;

    fn resolved(text: &str, redactor: &Redactor) -> Result<String> {
        let values = BTreeMap::from([("AUTH".to_owned(), text.to_owned())]);
        let variable = |name: &str| (name == "TOKEN").then(|| "tell-nobody-this".to_owned());
        let resolved = resolve("s", "env", &values, redactor, variable)?;
        Ok(resolved["AUTH"].expose_secret().to_owned())
    }

    #[test]
    fn a_variable_may_stand_anywhere_in_a_value() {
        let redactor = Redactor::new();
        let value = |text| resolved(text, &redactor).unwrap();
        assert_eq!(value("Bearer ${TOKEN}"), "Bearer tell-nobody-this");
        assert_eq!(value("${TOKEN}${TOKEN}").len(), 32);
        assert_eq!(value("$ ${ ${1X} ${} }"), "$ ${ ${1X} ${} }");
        let error = resolved("${MISSING}", &redactor).unwrap_err();
        assert_eq!(error.code(), "EnvNameNotSet");
    }

    #[test]
    fn what_may_be_a_secret_is_known_to_the_redactor() {
        let redactor = Redactor::new();
        for text in [
            "${TOKEN}",
            "written-in-the-file",
            "production",
            "/srv/my/files",
        ] {
            resolved(text, &redactor).unwrap();
        }
        let seen = redactor.text("tell-nobody-this written-in-the-file production /srv/my/files");
        assert_eq!(seen, "[REDACTED] [REDACTED] production /srv/my/files");
    }
}
