//! What must not be written down, taken out of what is about to be.
//!
//! A secret that stud resolves is learned here at that moment, and from then on it is replaced wherever a record is
//! made: in the transcript, in events, in the audit trail. A secret that stud never resolved is known only by its
//! shape, and only the audit trail looks for those.

mod known;
mod reference;
mod shapes;
mod entropy;
mod record;
mod guard;
mod log;

pub(crate) use entropy::{is_ordinary, is_telling, is_word};
pub(crate) use known::{Finder, Forms};
pub(crate) use log::cover;
pub use log::redacted_for_log;
pub use record::LONGEST_TEXT;
pub(crate) use record::cut_remark;
pub use reference::{ReferenceKind, SecretReference};
pub use shapes::shape_of;

use std::borrow::Cow;
use std::fmt;

use secrecy::{ExposeSecret as _, SecretString};
use serde_json::{Map, Value};

use crate::sync::{Mutex, lock};
use known::is_learnable;

/// What stands where a secret stood.
pub const REDACTED: &str = "[REDACTED]";

/// Knows the secrets of this process, and takes them out of records.
///
/// A value is looked for as it is and as JSON text writes it. Values of fewer than four bytes are not learned, and
/// neither are `true`, `false` and `null`: those cannot be secret, and removing every `1` and every `on` from the
/// records would leave records that say nothing.
#[derive(Default)]
pub struct Redactor {
    learned: Mutex<Vec<Confidential>>,
    /// Replaced as a whole, so that a reader holds the lock only to copy a pointer.
    finder: Mutex<Option<Finder>>,
}

/// A confidential value and its source.
#[derive(Debug, Clone)]
pub(crate) struct Confidential {
    pub(crate) value: SecretString,
    pub(crate) origin: Origin,
}

/// Where a value came from, as an audit record may say it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Origin {
    /// `env` for a resolved name, `settings` for a setting, `interaction` for an answered prompt.
    pub source: &'static str,
    /// The name or the place; never the value.
    pub identifier: String,
}

impl Redactor {
    /// A redactor that knows nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// From now on this value is in no record. A value already known changes nothing.
    pub fn learn(&self, secret: &SecretString) {
        let origin = Origin {
            source: "interaction",
            identifier: "answer".to_owned(),
        };
        self.learn_from(secret, origin);
    }

    /// The same for a value that is not wrapped.
    pub fn learn_text(&self, secret: &str) {
        self.learn(&SecretString::from(secret));
    }

    /// The same for a value that came from somewhere else than a person's answer.
    pub fn learn_from(&self, secret: &SecretString, origin: Origin) {
        let value = secret.expose_secret();
        if !is_learnable(value) {
            return;
        }
        let mut learned = lock(&self.learned);
        let mut values = learned.iter().map(|known| known.value.expose_secret());
        if values.any(|known| known == value) {
            return;
        }
        let value = secret.clone();
        learned.push(Confidential { value, origin });
        let finder = Finder::of(learned.iter().map(|known| known.value.expose_secret()));
        *lock(&self.finder) = finder;
    }

    /// How many values are known. It only grows, so it also says whether anything is new.
    pub(crate) fn known(&self) -> usize {
        lock(&self.learned).len()
    }

    /// Every value that is known.
    pub(crate) fn learned(&self) -> Vec<Confidential> {
        lock(&self.learned).clone()
    }

    /// The text without the secrets in it.
    pub fn text<'a>(&self, text: &'a str) -> Cow<'a, str> {
        match self.finder() {
            Some(finder) => finder.replace(text),
            None => Cow::Borrowed(text),
        }
    }

    /// How much of an unfinished text can be recorded already: up to where a known secret may have begun.
    pub(crate) fn whole_until(&self, text: &str) -> usize {
        let learned = lock(&self.learned);
        let values = learned.iter().map(|known| known.value.expose_secret());
        let begun = values.flat_map(|value| {
            let starts = value.char_indices().skip(1).map(|(at, _)| &value[..at]);
            starts.filter(|start| text.ends_with(start)).map(str::len)
        });
        text.len() - begun.max().unwrap_or(0)
    }

    /// JSON text without the secrets in its strings and names; it stays JSON.
    ///
    /// [`Redactor::text`] would also replace a number that a secret happens to be equal to.
    pub fn json<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let Some(finder) = self.finder().filter(|finder| finder.finds(text)) else {
            return Cow::Borrowed(text);
        };
        match serde_json::from_str(text) {
            Ok(mut value) => {
                redact_with(&finder, &mut value);
                Cow::Owned(value.to_string())
            }
            Err(_) => finder.replace(text),
        }
    }

    /// Takes the secrets out of every string and every name in a value. What is not text stays as it is, and so do
    /// references to secrets.
    pub fn redact(&self, value: &mut Value) {
        if let Some(finder) = self.finder() {
            redact_with(&finder, value);
        }
    }

    /// Whether a known secret stands in the text.
    pub fn finds(&self, text: &str) -> bool {
        self.finder().is_some_and(|finder| finder.finds(text))
    }

    fn finder(&self) -> Option<Finder> {
        lock(&self.finder).clone()
    }
}

impl fmt::Debug for Redactor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Redactor")
            .field("learned", &lock(&self.learned).len())
            .finish_non_exhaustive()
    }
}

/// Goes through a value without recursion, so that its depth does not matter.
fn redact_with(finder: &Finder, value: &mut Value) {
    let mut left = vec![value];
    while let Some(value) = left.pop() {
        match value {
            Value::String(text) => replace(text, |text| finder.replace(text)),
            Value::Array(items) => left.extend(items),
            Value::Object(members) => {
                rename(members, |name| finder.replace(name));
                left.extend(members.values_mut());
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
}

/// Replaces a text in place, if there is anything to replace.
fn replace(text: &mut String, change: impl FnOnce(&str) -> Cow<'_, str>) {
    if let Cow::Owned(changed) = change(text) {
        *text = changed;
    }
}

/// Gives members other names. Of two that would get the same name the later one gets a number, because a record must
/// not lose a member.
fn rename(members: &mut Map<String, Value>, change: impl Fn(&str) -> Cow<'_, str>) {
    let changes: Vec<(String, String)> = members
        .keys()
        .filter_map(|name| match change(name) {
            Cow::Owned(changed) => Some((name.clone(), changed)),
            Cow::Borrowed(_) => None,
        })
        .collect();
    for (name, changed) in changes {
        let Some(value) = members.remove(&name) else {
            continue;
        };
        let mut unique = changed.clone();
        let mut number = 1;
        while members.contains_key(&unique) {
            number += 1;
            unique = format!("{changed}#{number}");
        }
        members.insert(unique, value);
    }
}

#[cfg(test)]
mod tests;
