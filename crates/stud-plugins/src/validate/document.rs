//! Reading members of a manifest, with a diagnostic that says what was expected where.

use serde_json::{Map, Value};
use stud_diagnostics::{Diagnostic, Stage, codes};

use crate::provenance::Provenance;
use stud_config::did_you_mean::nearest;

/// One object of a manifest and the pointer that leads to it.
pub(crate) struct Document<'a> {
    pub(crate) provenance: &'a Provenance,
    pub(crate) stage: Stage,
    pub(crate) pointer: String,
    pub(crate) members: &'a Map<String, Value>,
}

impl<'a> Document<'a> {
    /// `value` as an object, or a refusal at its place.
    pub(crate) fn new(
        provenance: &'a Provenance,
        stage: Stage,
        pointer: String,
        value: &'a Value,
    ) -> Result<Self, Diagnostic> {
        match value {
            Value::Object(members) => Ok(Self {
                provenance,
                stage,
                pointer,
                members,
            }),
            other => Err(invalid(
                provenance,
                stage,
                &pointer,
                "an object",
                Some(other),
            )),
        }
    }

    pub(crate) fn path(&self, member: &str) -> String {
        format!("{}/{}", self.pointer, escape(member))
    }

    pub(crate) fn invalid(&self, member: &str, expected: &str) -> Diagnostic {
        invalid(
            self.provenance,
            self.stage,
            &self.path(member),
            expected,
            self.members.get(member),
        )
        .with("field", member)
    }

    pub(crate) fn required(&self, member: &str, expected: &str) -> Result<&'a Value, Diagnostic> {
        self.members
            .get(member)
            .ok_or_else(|| self.invalid(member, expected))
    }

    pub(crate) fn text(&self, member: &str, expected: &str) -> Result<&'a str, Diagnostic> {
        self.required(member, expected)?
            .as_str()
            .ok_or_else(|| self.invalid(member, expected))
    }

    /// A text with something in it.
    pub(crate) fn words(&self, member: &str, expected: &str) -> Result<&'a str, Diagnostic> {
        let text = self.text(member, expected)?;
        if text.trim().is_empty() {
            return Err(self.invalid(member, expected));
        }
        Ok(text)
    }

    pub(crate) fn object(&self, member: &str, expected: &str) -> Result<Document<'a>, Diagnostic> {
        match self.required(member, expected)? {
            Value::Object(members) => Ok(Document {
                provenance: self.provenance,
                stage: self.stage,
                pointer: self.path(member),
                members,
            }),
            _ => Err(self.invalid(member, expected)),
        }
    }

    /// An array; a missing one is empty.
    pub(crate) fn list(&self, member: &str, expected: &str) -> Result<&'a [Value], Diagnostic> {
        match self.members.get(member) {
            None => Ok(&[]),
            Some(Value::Array(items)) => Ok(items),
            Some(_) => Err(self.invalid(member, expected)),
        }
    }

    /// An array of texts; a missing one is empty.
    pub(crate) fn texts(&self, member: &str, expected: &str) -> Result<Vec<String>, Diagnostic> {
        let items = self.list(member, expected)?;
        let read = |(index, item): (usize, &Value)| {
            item.as_str().map(str::to_owned).ok_or_else(|| {
                let pointer = format!("{}/{index}", self.path(member));
                invalid(self.provenance, self.stage, &pointer, "a text", Some(item))
            })
        };
        items.iter().enumerate().map(read).collect()
    }

    /// One word of a closed set, with a suggestion when it is nearly one.
    pub(crate) fn word<T>(
        &self,
        member: &str,
        known: &[&'static str],
        parse: impl FnOnce(&str) -> Option<T>,
    ) -> Result<T, Diagnostic> {
        let expected = format!("one of {}", join(known));
        let text = self.text(member, &expected)?;
        parse(text).ok_or_else(|| suggest(self.invalid(member, &expected), text, known))
    }
}

/// A `Validation/ShapeInvalid` at a place.
pub(crate) fn invalid(
    provenance: &Provenance,
    stage: Stage,
    pointer: &str,
    expected: &str,
    found: Option<&Value>,
) -> Diagnostic {
    let found = found.map_or_else(|| "missing".to_owned(), describe);
    let shown = if pointer.is_empty() { "/" } else { pointer };
    provenance
        .error(
            stage,
            &codes::SHAPE_INVALID,
            format!("`{shown}` must be {expected}, and is {found}"),
        )
        .field(shown)
        .with("expected", expected)
        .with("found", found)
        .help("author: rebuild with `stud-sdk`, which writes this member")
}

/// Adds the known word nearest to the one found.
pub(crate) fn suggest(diagnostic: Diagnostic, word: &str, known: &[&'static str]) -> Diagnostic {
    match nearest(word, known.iter().copied()) {
        Some(near) => diagnostic.help(format!("did you mean `{near}`?")),
        None => diagnostic,
    }
}

pub(crate) fn join(words: &[&str]) -> String {
    let quoted: Vec<String> = words.iter().map(|word| format!("`{word}`")).collect();
    quoted.join(", ")
}

/// A member name inside a JSON Pointer.
pub(crate) fn escape(member: &str) -> String {
    member.replace('~', "~0").replace('/', "~1")
}

/// What was found, said so that a short word is seen and a long one does not hide what is wrong with it.
fn describe(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(_) => "a boolean".to_owned(),
        Value::Number(number) => format!("the number {number}"),
        Value::String(text) if text.trim().is_empty() => "an empty text".to_owned(),
        Value::String(text) if text.chars().count() <= 40 => format!("the text `{text}`"),
        Value::String(_) => "a longer text".to_owned(),
        Value::Array(items) if items.is_empty() => "an empty list".to_owned(),
        Value::Array(_) => "a list".to_owned(),
        Value::Object(_) => "an object".to_owned(),
    }
}
