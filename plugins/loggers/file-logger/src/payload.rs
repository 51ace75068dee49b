//! What becomes of a payload before it is written.

use std::fmt::Write as _;
use std::mem;

use stud_sdk::Value;
use stud_sdk::logger::{Record, RecordKind};

use crate::secret;

/// What takes the place of a text with a secret in it.
const REDACTED: &str = "[REDACTED]";

/// A longer text is cut.
const LONGEST_TEXT_BYTES: usize = 64 * 1024;

/// Takes secrets out, if asked to, and cuts what is too long.
///
/// An audit record stays as it is: it is evidence, and core has judged its content before.
pub(crate) fn prepare(record: &mut Record, redacts_secrets: bool) {
    match record.kind {
        RecordKind::Audit => {}
        RecordKind::Event | RecordKind::Diagnostic => {
            let mut payload = Value::Object(mem::take(&mut record.payload));
            clean(&mut payload, redacts_secrets);
            if let Value::Object(cleaned) = payload {
                record.payload = cleaned;
            }
        }
    }
}

fn clean(value: &mut Value, redacts_secrets: bool) {
    if redacts_secrets && is_reference(value) {
        return;
    }
    match value {
        Value::String(text) if redacts_secrets && secret::is_in(text) => {
            REDACTED.clone_into(text);
        }
        Value::String(text) => shorten(text),
        Value::Array(items) => {
            for item in items {
                clean(item, redacts_secrets);
            }
        }
        Value::Object(members) => {
            for member in members.values_mut() {
                clean(member, redacts_secrets);
            }
            if redacts_secrets && members.keys().any(|name| secret::is_in(name)) {
                let renamed = mem::take(members).into_iter().map(without_secret);
                *members = renamed.collect();
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Whether this says where a secret is: `{"kind": "env", "name": "API_KEY"}`, and nothing besides.
fn is_reference(value: &Value) -> bool {
    value.as_object().is_some_and(|members| members.len() == 2)
        && matches!(value["kind"].as_str(), Some("env" | "keyring" | "file"))
        && value["name"].is_string()
}

fn without_secret((name, value): (String, Value)) -> (String, Value) {
    if secret::is_in(&name) {
        (REDACTED.to_owned(), value)
    } else {
        (name, value)
    }
}

/// Cuts a text that is too long, between two characters, and says by how much.
fn shorten(text: &mut String) {
    let total = text.len();
    if total > LONGEST_TEXT_BYTES {
        let mut between = (0..=LONGEST_TEXT_BYTES).rev();
        let kept = between.find(|at| text.is_char_boundary(*at)).unwrap_or(0);
        text.truncate(kept);
        let cut = total - kept;
        // Writing to a `String` cannot fail.
        let _ = write!(text, "… [truncated: {cut} of {total} bytes cut]");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use stud_sdk::json;

    fn prepared(kind: RecordKind, payload: &Value, redacts_secrets: bool) -> Value {
        let mut record = Record {
            kind,
            payload: payload.as_object().unwrap().clone(),
            ..Record::default()
        };
        prepare(&mut record, redacts_secrets);
        Value::Object(record.payload)
    }

    fn redacted(payload: &Value) -> Value {
        prepared(RecordKind::Event, payload, true)
    }

    #[test]
    fn a_text_with_a_secret_is_replaced_whole_wherever_it_is() {
        let payload = json!({
            "plain": "nothing here", "number": 3, "none": null, "yes": true,
            "key": "sk-ant-1",
            "deep": [{"command": "curl -H 'Authorization: ghp_abc'"}, "task-1"],
        });
        let expected = json!({
            "plain": "nothing here", "number": 3, "none": null, "yes": true,
            "key": "[REDACTED]",
            "deep": [{"command": "[REDACTED]"}, "task-1"],
        });
        assert_eq!(redacted(&payload), expected);
    }

    #[test]
    fn a_name_with_a_secret_is_replaced_too() {
        let payload = json!({"a": {"sk-1": 1, "b": "c"}});
        assert_eq!(
            redacted(&payload),
            json!({"a": {"[REDACTED]": 1, "b": "c"}})
        );
    }

    #[test]
    fn references_stay_and_what_only_resembles_one_does_not() {
        let references = json!({
            "env": {"kind": "env", "name": "sk-1"},
            "keyring": {"kind": "keyring", "name": "sk-1"},
            "file": {"kind": "file", "name": "sk-1"},
        });
        assert_eq!(redacted(&references), references);
        let others = json!({
            "kind": {"kind": "text", "name": "sk-1"},
            "more": {"kind": "file", "name": "a", "content": "sk-1"},
            "list": {"kind": "env", "name": ["sk-1"]},
        });
        let expected = json!({
            "kind": {"kind": "text", "name": "[REDACTED]"},
            "more": {"kind": "file", "name": "a", "content": "[REDACTED]"},
            "list": {"kind": "env", "name": ["[REDACTED]"]},
        });
        assert_eq!(redacted(&others), expected);
    }

    #[test]
    fn diagnostics_are_redacted_and_audit_records_never_touched() {
        let long = "x".repeat(LONGEST_TEXT_BYTES + 1);
        let payload = json!({"key": "sk-1", "long": long});
        let diagnostic = prepared(RecordKind::Diagnostic, &payload, true);
        assert_eq!(diagnostic["key"], "[REDACTED]");
        assert_eq!(prepared(RecordKind::Audit, &payload, true), payload);
    }

    #[test]
    fn nothing_is_redacted_unless_asked_for() {
        let payload = json!({"key": "sk-1"});
        assert_eq!(prepared(RecordKind::Event, &payload, false), payload);
    }

    #[test]
    fn a_text_is_cut_beyond_64_kib_and_says_so() {
        let longest = "x".repeat(65_536);
        let payload = json!({"a": longest, "b": [format!("{longest}yz")]});
        for redacts_secrets in [true, false] {
            let cut = prepared(RecordKind::Event, &payload, redacts_secrets);
            assert_eq!(cut["a"], *longest);
            let expected = format!("{longest}… [truncated: 2 of 65538 bytes cut]");
            assert_eq!(cut["b"][0], expected);
        }
    }

    #[test]
    fn a_text_is_cut_between_characters() {
        // Bytes 65535 to 65537 are one character.
        let text = format!("{}€{}", "x".repeat(65_535), "y".repeat(10));
        let cut = redacted(&json!({"a": text}));
        let expected = format!("{}… [truncated: 13 of 65548 bytes cut]", "x".repeat(65_535));
        assert_eq!(cut["a"], expected);
    }

    #[test]
    fn a_secret_beyond_the_cut_is_seen() {
        let text = format!("{} sk-1", "x".repeat(70_000));
        assert_eq!(redacted(&json!({"a": text}))["a"], "[REDACTED]");
    }
}
