//! A payload in the form it has in an audit record.
//!
//! Besides known secrets, a text that holds something of the shape of one goes as a whole, references become
//! `<ref:NAME>`, and what would make a record unreadable is made readable: text and nesting without end, and numbers
//! that JSON readers round.

use std::borrow::Cow;

use serde_json::{Map, Number, Value};

use super::known::Finder;
use super::reference::SecretReference;
use super::{REDACTED, Redactor, rename, replace, shape_of};

/// A longer text, in bytes, is cut.
pub const LONGEST_TEXT: usize = 65_536;

/// Deeper nesting is cut. A reader of JSON may refuse more than 128 levels, and the record itself adds some.
const DEEPEST: usize = 100;

/// Above this, other readers of JSON round a whole number.
const LARGEST_EXACT: u64 = (1 << 53) - 1;

impl Redactor {
    /// A payload as an audit record holds it.
    pub fn for_record(&self, payload: &mut Map<String, Value>) {
        let form = RecordForm {
            finder: self.finder(),
        };
        form.members(payload, 1);
    }

    /// A text as an audit record holds it.
    pub fn text_for_record<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let form = RecordForm {
            finder: self.finder(),
        };
        form.text(text)
    }
}

struct RecordForm {
    finder: Option<Finder>,
}

impl RecordForm {
    fn members(&self, members: &mut Map<String, Value>, depth: usize) {
        rename(members, |name| self.text(name));
        for value in members.values_mut() {
            self.value(value, depth);
        }
    }

    /// `depth` is the number of objects and lists around the value.
    fn value(&self, value: &mut Value, depth: usize) {
        match value {
            Value::String(text) => replace(text, |text| self.text(text)),
            Value::Array(_) | Value::Object(_) if depth >= DEEPEST => {
                *value = format!("[nested deeper than {DEEPEST} levels]").into();
            }
            Value::Array(items) => {
                for item in items {
                    self.value(item, depth + 1);
                }
            }
            Value::Object(members) => match SecretReference::in_members(members) {
                // A name may look like a key, but a known secret is not to be passed off as one.
                Some(reference) => {
                    let name = short(&self.known(&reference.name)).into_owned();
                    *value = format!("<ref:{name}>").into();
                }
                None => self.members(members, depth + 1),
            },
            Value::Number(number) if !is_exact(number) => *value = number.to_string().into(),
            Value::Number(_) | Value::Bool(_) | Value::Null => {}
        }
    }

    fn text<'a>(&self, text: &'a str) -> Cow<'a, str> {
        if shape_of(text).is_some() {
            return Cow::Owned(REDACTED.to_owned());
        }
        match self.known(text) {
            Cow::Borrowed(text) => short(text),
            Cow::Owned(text) => Cow::Owned(short(&text).into_owned()),
        }
    }

    fn known<'a>(&self, text: &'a str) -> Cow<'a, str> {
        match &self.finder {
            Some(finder) => finder.replace(text),
            None => Cow::Borrowed(text),
        }
    }
}

/// Cuts a text that is too long, and says by how much. What is left with its remark is not cut again.
fn short(text: &str) -> Cow<'_, str> {
    let total = text.len();
    if total <= LONGEST_TEXT {
        return Cow::Borrowed(text);
    }
    let longest_remark = cut_remark(total, total).len();
    let mut end = LONGEST_TEXT - longest_remark;
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let kept = &text[..end];
    let remark = cut_remark(total - kept.len(), total);
    Cow::Owned(format!("{kept}{remark}"))
}

/// What stands where something was cut.
pub(crate) fn cut_remark(cut: usize, total: usize) -> String {
    format!("…[cut {cut} of {total} bytes]")
}

fn is_exact(number: &Number) -> bool {
    match (number.as_u64(), number.as_i64()) {
        (Some(whole), _) => whole <= LARGEST_EXACT,
        (None, Some(negative)) => negative.unsigned_abs() <= LARGEST_EXACT,
        // A number with a fraction is a double everywhere.
        (None, None) => true,
    }
}
