//! Which values must not reach a model.
//!
//! Not every value that stud knows can be looked for: a model's id stands in the settings and may well be talked about,
//! and `EDITOR` is asked for and is `vi`. A request is refused for a value only if nobody would write it by accident:
//!
//! - Where it comes from: what a plugin was given from the environment in this session, what a secret reference was
//!   resolved to, what a person typed as a secret, everything in `env` of the settings, and elsewhere in the settings
//!   what has the shape of a key or a member's name for it (`apiKey`, `token`, `password`, …). Names that describe the
//!   machine rather than keep a secret, such as `HOME` and `LANG`, do not count.
//! - What it is: at least eight bytes, no number, and none of the words that configurations are full of.

use secrecy::{ExposeSecret as _, SecretString};
use serde_json::Value;

use crate::platform;
use crate::redact::{Confidential, Origin, SecretReference, is_ordinary, is_telling, shape_of};
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

/// What stands in the settings and must not reach a model.
pub(super) fn in_settings(settings: &Settings) -> Vec<Confidential> {
    let mut found = Vec::new();
    for document in settings.documents() {
        for (key, value) in document {
            let members = value.as_object().into_iter().flatten();
            for (name, value) in members {
                let place = format!("/{key}/{name}");
                match value {
                    Value::String(text) if key == "env" => {
                        if let Some(text) = meant(text).filter(|_| !is_ordinary(name)) {
                            keep(&mut found, place, &text);
                        }
                    }
                    value => look(&mut found, place, name, value),
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
fn look(found: &mut Vec<Confidential>, place: String, name: &str, value: &Value) {
    match value {
        Value::String(text) if names_a_secret(name) || shape_of(text).is_some() => {
            keep(found, place, text);
        }
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                look(found, format!("{place}/{index}"), name, item);
            }
        }
        // A reference is the name of a secret, and no secret.
        Value::Object(_) if SecretReference::of(value).is_some() => {}
        Value::Object(members) => {
            for (name, value) in members {
                look(found, format!("{place}/{name}"), name, value);
            }
        }
        _ => {}
    }
}

fn names_a_secret(name: &str) -> bool {
    let letters = name.chars().filter(char::is_ascii_alphanumeric);
    let name: String = letters.map(|letter| letter.to_ascii_lowercase()).collect();
    SECRET_NAMES.iter().any(|secret| name.ends_with(secret))
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
