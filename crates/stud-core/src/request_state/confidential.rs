//! Which values must not reach a model.
//!
//! Not every value that stud knows can be looked for: a model's id stands in the settings and may well be talked about,
//! and `EDITOR` is asked for and is `vi`. A request is refused for a value only if it is too specific to be written by accident:
//!
//! - Where it comes from: what a plugin was given from the environment in this session, what a secret reference was
//!   resolved to, what a person typed as a secret, everything in `env` of the settings, and elsewhere in the settings
//!   what has the shape of a key or a member's name for it (`apiKey`, `token`, `password`, …). Names that describe the
//!   machine rather than keep a secret, such as `HOME` and `LANG`, do not count.
//! - What it is: at least eight bytes, or six of letters and digits; no number, and none of the words that
//!   configurations are full of.
//!
//! Other values of the settings, an address or a path, are private too; but the user has them in files of
//! their own, and a tool that reads one must not end the conversation. They are looked for in authored text: in the
//! system prompt, in the tools and in what context providers add. Names are left out: of models, of plugins, of hosts.

use secrecy::{ExposeSecret as _, SecretString};
use serde_json::Value;

use crate::platform;
use crate::redact::{
    Confidential, Origin, SecretReference, is_ordinary, is_telling, is_word, shape_of,
};
use crate::settings::{Settings, pointed_at};

/// What a member that holds a secret is called, at the end of its name.
const SECRET_NAMES: [&str; 9] = [
    "apikey",
    "authorization",
    "credential",
    "credentials",
    "passphrase",
    "password",
    "privatekey",
    "secret",
    "token",
];

/// Sections that say what is chosen and what is allowed, which a model may well be told.
const NAMES: [&str; 3] = ["active", "network", "securityMode"];

/// Members that name something, and those whose names end in one of these.
const NAMING: [&str; 13] = [
    "alias",
    "allow",
    "allowlist",
    "deny",
    "denylist",
    "extid",
    "graceful",
    "hosts",
    "model",
    "models",
    "patterns",
    "protocol",
    "targetui",
];

/// What stands in the settings.
#[derive(Debug, Clone, Default)]
pub(super) struct ConfidentialSetting {
    /// What must not reach a model at all.
    pub(super) secret: Vec<Confidential>,
    /// Values that must not appear in a request.
    pub(super) private: Vec<Confidential>,
}

/// What stands in the settings and must not reach a model.
pub(super) fn in_settings(settings: &Settings) -> ConfidentialSetting {
    let mut found = ConfidentialSetting::default();
    for document in settings.documents() {
        for (key, value) in document {
            let members = value.as_object().into_iter().flatten();
            for (name, value) in members {
                let place = format!("/{key}/{name}");
                match value {
                    Value::String(text) if key == "env" => {
                        if let Some(text) = meant(text).filter(|_| !is_ordinary(name)) {
                            keep(&mut found.secret, place, &text);
                        }
                    }
                    value => {
                        let is_name = NAMES.contains(&key.as_str());
                        look(&mut found, place, name, is_name, value);
                    }
                }
            }
        }
    }
    found
}

/// A text of `env`, or the variable that `${NAME}` stands for.
fn meant(text: &str) -> Option<String> {
    match pointed_at(text) {
        Some(variable) => platform::env_value(variable),
        None => Some(text.to_owned()),
    }
}

/// Settings are not deep, and were read with a limit to how deep they may be.
fn look(found: &mut ConfidentialSetting, place: String, name: &str, is_name: bool, value: &Value) {
    let is_name = is_name || ends_like(name, &NAMING);
    match value {
        Value::String(text) if ends_like(name, &SECRET_NAMES) || shape_of(text).is_some() => {
            keep(&mut found.secret, place, text);
        }
        Value::String(text) if !is_name && !is_word(text) => {
            keep(&mut found.private, place, text);
        }
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                look(found, format!("{place}/{index}"), name, is_name, item);
            }
        }
        // A reference is the name of a secret, and no secret.
        Value::Object(_) if SecretReference::of(value).is_some() => {}
        Value::Object(members) => {
            for (name, value) in members {
                look(found, format!("{place}/{name}"), name, is_name, value);
            }
        }
        _ => {}
    }
}

fn ends_like(name: &str, ends: &[&str]) -> bool {
    let letters = name.chars().filter(char::is_ascii_alphanumeric);
    let name: String = letters.map(|letter| letter.to_ascii_lowercase()).collect();
    ends.iter().any(|end| name.ends_with(end))
}

fn keep(found: &mut Vec<Confidential>, place: String, text: &str) {
    let known = |known: &Confidential| known.value.expose_secret() == text;
    if is_telling(text) && !found.iter().any(known) {
        found.push(Confidential {
            value: SecretString::from(text),
            origin: Origin {
                source: "settings",
                identifier: place,
            },
        });
    }
}
