//! A payload as canonical text that fits into a record.

use serde_json::{Map, Value};

use crate::redact::{LONGEST_TEXT, cut_remark};

/// A longer payload loses its largest members. With what is around it, a record stays well below the longest line.
const LONGEST: usize = 1024 * 1024;

/// The text of a payload, which is shortened first if there is too much of it.
pub(super) fn text(payload: &mut Map<String, Value>) -> serde_json::Result<String> {
    let text = if payload.iter().all(is_plain) && payload.keys().is_sorted() {
        serde_json::to_string(payload)?
    } else {
        serde_json_canonicalizer::to_string(payload)?
    };
    if text.len() <= LONGEST {
        return Ok(text);
    }
    for value in payload.values_mut() {
        let length = serde_json_canonicalizer::to_string(value)?.len();
        if length > LONGEST_TEXT {
            *value = cut_remark(length, length).into();
        }
    }
    let shortened = serde_json_canonicalizer::to_string(payload)?;
    if shortened.len() <= LONGEST {
        return Ok(shortened);
    }
    // So many members that none of them is to blame.
    let remark = cut_remark(text.len(), text.len());
    *payload = Map::from_iter([("payload".to_owned(), remark.into())]);
    serde_json_canonicalizer::to_string(payload)
}

/// Whether a member is written the same way with and without care: most are, and it takes a fraction of the time.
///
/// Care is needed where names sort differently as UTF-16, where a map does not keep its names in order, and where a
/// number has a fraction.
fn is_plain((name, value): (&String, &Value)) -> bool {
    name.is_ascii() && is_plain_value(value)
}

fn is_plain_value(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(_) | Value::String(_) => true,
        Value::Number(number) => number.is_i64() || number.is_u64(),
        Value::Array(items) => items.iter().all(is_plain_value),
        Value::Object(members) => members.iter().all(is_plain) && members.keys().is_sorted(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_short_way_writes_what_the_long_way_writes() {
        let plain = json!({
            "b": "\u{0}\u{8}\t\n\u{c}\r\u{1f}\"\\/\u{7f}\u{2028}é\u{1F980}",
            "a": [1, -1, 0, null, true, {"z": {}, "Z": [], "": ""}],
            "A": 9_007_199_254_740_991_u64,
        });
        let odd = [
            json!({"a": 1.5}),
            json!({"a": {"b": [1e21]}}),
            json!({"\u{FB33}": 1, "\u{1F600}": 2}),
        ];
        for payload in std::iter::once(&plain).chain(&odd) {
            let Value::Object(mut payload) = payload.clone() else {
                panic!("{payload}");
            };
            let canonical = serde_json_canonicalizer::to_string(&payload).unwrap();
            assert_eq!(text(&mut payload).unwrap(), canonical);
        }
        assert!(is_plain_value(&plain));
        assert!(!odd.iter().any(is_plain_value));
    }
}
