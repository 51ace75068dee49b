//! Payloads to text and back, with errors that say where and never what.

use serde::Serialize;
use serde::de::DeserializeOwned;
use stud_contract_meta::{Error, Result};
use stud_diagnostics::codes;

use crate::refusal::refuse;

/// Which way a payload goes.
#[derive(Clone, Copy)]
pub(super) enum Part {
    Request,
    Reply,
}

impl Part {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Request => "request",
            Self::Reply => "reply",
        }
    }
}

pub(super) fn write<T: Serialize>(operation: &str, part: Part, value: &T) -> Result<String> {
    // A path that is not UTF-8 is the one value here that JSON cannot say.
    serde_json::to_string(value)
        .map_err(|_| unreadable(operation, part, "", "something that JSON can say"))
}

pub(super) fn read<T: DeserializeOwned>(operation: &str, part: Part, text: &str) -> Result<T> {
    serde_json::from_str(text).map_err(|error| {
        let (field, expected) = describe(text, &error);
        unreadable(operation, part, &field, &expected)
    })
}

/// `Validation/ShapeInvalid`: the two sides do not mean the same by an operation.
pub(super) fn unreadable(operation: &str, part: Part, field: &str, expected: &str) -> Error {
    let part = part.as_str();
    let place = if field.is_empty() {
        String::new()
    } else {
        format!("`{field}` in ")
    };
    let message = format!("{place}the {part} of `{operation}` should be {expected}");
    refuse(&codes::SHAPE_INVALID, message)
        .with("operation", operation)
        .with("part", part)
        .with("field", field)
        .with("expected", expected)
}

/// `ExtensionHost/NotImplemented`: this side is older than the other.
pub(super) fn not_implemented(operation: &str) -> Error {
    let message = format!("this host does not know `{operation}`");
    refuse(&codes::NOT_IMPLEMENTED, message).with("operation", operation)
}

/// The place of a fault as a JSON Pointer, and what belongs there.
fn describe(text: &str, error: &serde_json::Error) -> (String, String) {
    if !error.is_data() {
        return (String::new(), "JSON".to_owned());
    }
    let place = pointer(before(text, error.line(), error.column()));
    let message = error.to_string();
    let message = message
        .rsplit_once(" at line ")
        .map_or(&*message, |it| it.0);
    let missing = message
        .strip_prefix("missing field `")
        .and_then(|rest| rest.strip_suffix('`'));
    if let Some(name) = missing {
        return (format!("{place}/{name}"), "present".to_owned());
    }
    // What was found comes first in the message and what was expected last.
    let expected = message.rsplit_once(", expected ").map(|it| it.1);
    (place, expected.unwrap_or("of its shape").to_owned())
}

/// What the parser had read when it reached this line and column.
fn before(text: &str, line: usize, column: usize) -> &[u8] {
    let above: usize = text
        .split_inclusive('\n')
        .take(line.saturating_sub(1))
        .map(str::len)
        .sum();
    let bytes = text.as_bytes();
    &bytes[..bytes.len().min(above + column)]
}

/// One step into a document.
enum Step<'a> {
    /// Into an object; nothing before its next key.
    Member(Option<&'a [u8]>),
    /// Into an array.
    Element(usize),
}

/// Where in a document its beginning `read` ends.
fn pointer(read: &[u8]) -> String {
    let mut steps = Vec::new();
    let mut at = 0;
    while let Some(&byte) = read.get(at) {
        at += 1;
        match byte {
            b'{' => steps.push(Step::Member(None)),
            b'[' => steps.push(Step::Element(0)),
            b'}' | b']' => {
                steps.pop();
            }
            b',' => match steps.last_mut() {
                Some(Step::Member(key)) => *key = None,
                Some(Step::Element(index)) => *index += 1,
                None => {}
            },
            b'"' => {
                let start = at;
                while read.get(at).is_some_and(|byte| *byte != b'"') {
                    at += if read[at] == b'\\' { 2 } else { 1 };
                }
                if let Some(Step::Member(key @ None)) = steps.last_mut() {
                    *key = read.get(start..at);
                }
                at += 1;
            }
            _ => {}
        }
    }
    steps.iter().map(segment).collect()
}

fn segment(step: &Step<'_>) -> String {
    match step {
        Step::Member(None) => String::new(),
        Step::Member(Some(key)) => {
            let key = String::from_utf8_lossy(key);
            format!("/{}", key.replace('~', "~0").replace('/', "~1"))
        }
        Step::Element(index) => format!("/{index}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::{OpenChild, SessionRecord, SessionView};

    fn fault<T: DeserializeOwned>(text: &str) -> (String, String) {
        let error = read::<T>("a.b", Part::Request, text).err().unwrap();
        assert_eq!(error.code(), "ShapeInvalid");
        assert_eq!(error.context()["operation"], "a.b");
        assert_eq!(error.context()["part"], "request");
        let fact = |key: &str| error.context()[key].as_str().unwrap().to_owned();
        (fact("field"), fact("expected"))
    }

    fn says(field: &str, expected: &str) -> (String, String) {
        (field.to_owned(), expected.to_owned())
    }

    #[test]
    fn a_wrong_type_is_found_where_it_is() {
        let text = r#"{"prompt": "a, {\"b\" [", "requestedEnvelope": ["x", 5], "depth": 1}"#;
        assert_eq!(
            fault::<OpenChild>(text),
            says("/requestedEnvelope/1", "a string")
        );
        let text = "{\"prompt\": \"a\",\n \"requestedEnvelope\": [],\n \"depth\": {}}";
        assert_eq!(fault::<OpenChild>(text), says("/depth", "u32"));
        assert_eq!(fault::<OpenChild>("7"), says("", "struct OpenChild"));
    }

    #[test]
    fn a_missing_member_is_named_below_its_object() {
        assert_eq!(fault::<OpenChild>("{}"), says("/prompt", "present"));
        let text =
            r#"{"prompt": "a", "requestedEnvelope": [], "depth": 1, "model": {"providerId": "p"}}"#;
        assert_eq!(fault::<OpenChild>(text), says("/model/modelId", "present"));
    }

    #[test]
    fn an_unknown_word_is_told_the_known_ones() {
        let text = r#"{"sessionId": "s", "mode": "free"}"#;
        assert_eq!(
            fault::<SessionView>(text),
            says("/mode", "one of `ask`, `yolo`, `allowlist`")
        );
        let (_, expected) = fault::<SessionRecord>(r#"{"kind": "shout", "text": "x"}"#);
        assert_eq!(expected, "`userInput` or `note`");
    }

    #[test]
    fn what_is_no_json_is_said_so() {
        for text in ["", "{", "{\"prompt\" 1}", "nul", "\"\\"] {
            assert_eq!(fault::<OpenChild>(text), says("", "JSON"), "{text}");
        }
    }

    #[test]
    fn what_was_found_is_never_told() {
        let secrets = [
            r#"{"prompt": 987654}"#,
            r#"{"prompt": ["987654"]}"#,
            r#"{"prompt": "a", "requestedEnvelope": "987654, expected 987654"}"#,
        ];
        for text in secrets {
            let error = read::<OpenChild>("a.b", Part::Reply, text).unwrap_err();
            assert!(!format!("{error:?}").contains("987654"), "{error:?}");
        }
    }

    #[test]
    fn keys_are_escaped_in_a_pointer() {
        assert_eq!(pointer(br#"{"a/b": {"c~d": [1, 2"#), "/a~1b/c~0d/1");
        assert_eq!(pointer(br#"{"a": 1, "#), "");
        assert_eq!(pointer(b"\"\\"), "");
    }

    #[test]
    fn what_json_cannot_say_is_an_error() {
        let odd = std::collections::BTreeMap::from([((1, 2), 3)]);
        let error = write("a.b", Part::Reply, &odd).unwrap_err();
        assert_eq!(
            (error.code(), &error.context()["part"]),
            ("ShapeInvalid", &"reply".into())
        );
    }
}
