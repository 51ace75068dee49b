//! `env` of the settings: values for the variables that plugins ask for.

use std::path::Path;

use serde_json::{Map, Value};
use stud_diagnostics::{Diagnostic, codes};

use super::{Layer, Settings};
use crate::plugin_scope::Scope;

/// The variable that `${NAME}` names.
pub fn pointed_at(text: &str) -> Option<&str> {
    let name = text.strip_prefix("${")?.strip_suffix('}')?;
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let starts_well = name.starts_with(|c: char| is_word(c) && !c.is_ascii_digit());
    (starts_well && name.chars().all(is_word)).then_some(name)
}

/// Every value is a text, or the file is refused with the names of all that are not.
pub(super) fn check(
    path: &Path,
    scope: Scope,
    members: &Map<String, Value>,
) -> Result<(), Diagnostic> {
    let wrong = members.iter().filter(|(_, value)| !value.is_string());
    let names: Vec<&str> = wrong.map(|(name, _)| name.as_str()).collect();
    let Some(first) = names.first() else {
        return Ok(());
    };
    let message = match names.len() {
        1 => format!("`/env/{first}` is not text"),
        more => format!("{more} values of `/env` are not text, the first of them `/env/{first}`"),
    };
    let places = names.iter().map(|name| format!("{scope}.{name}"));
    Err(Diagnostic::error(&codes::SCOPE_SHAPE_INVALID, message)
        .file(path)
        .field(format!("/env/{first}"))
        .with("path", path.display().to_string())
        .with("invalidPaths", places.collect::<Vec<_>>())
        .help("write numbers and switches in quotes, such as `\"1\"`"))
}

impl Settings {
    /// What a project wrote into `env` itself. Its settings are shared with the project, so a value
    /// there is better left to the environment of the user.
    pub(crate) fn literals(&self) -> Vec<Diagnostic> {
        let layers = self.layers.iter();
        let of_project = layers.filter(|layer| layer.scope == Scope::Project);
        of_project.flat_map(literals_of).collect()
    }
}

fn literals_of(layer: &Layer) -> impl Iterator<Item = Diagnostic> {
    let env = layer.document.get("env").and_then(Value::as_object);
    let texts = env.into_iter().flatten();
    let texts = texts.filter_map(|(name, value)| Some((name, value.as_str()?)));
    let literals = texts.filter(|(_, text)| !text.is_empty() && pointed_at(text).is_none());
    literals.map(|(name, _)| {
        let message = format!("the project's settings hold the value of `{name}` itself");
        Diagnostic::warning(&codes::SETTINGS_LITERAL_ENV_VALUE, message)
            .file(&layer.path)
            .field(format!("/env/{name}"))
            .with("path", layer.path.display().to_string())
            .with("name", name.as_str())
            .help(format!(
                "write `\"${{{name}}}\"`, and set the variable where stud is started"
            ))
    })
}
