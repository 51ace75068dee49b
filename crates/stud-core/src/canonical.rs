//! JSON in canonical form (RFC 8785): the same text for the same value.
//!
//! Most values are written the same way with and without care, and without takes a fraction of the time. Care is needed
//! where names sort differently as UTF-16, where a map does not keep its names in order, and where a number has a
//! fraction or is too large for a double.

use serde_json::{Map, Result, Value};

/// The text of a value.
pub(crate) fn text(value: &Value) -> Result<String> {
    if is_plain(value) {
        serde_json::to_string(value)
    } else {
        serde_json_canonicalizer::to_string(value)
    }
}

/// The text of an object.
pub(crate) fn members(members: &Map<String, Value>) -> Result<String> {
    if are_plain(members) {
        serde_json::to_string(members)
    } else {
        serde_json_canonicalizer::to_string(members)
    }
}

fn is_plain(value: &Value) -> bool {
    /// Beyond this, not every whole number is a double.
    const LARGEST_EXACT: u64 = 1 << 53;
    match value {
        Value::Null | Value::Bool(_) | Value::String(_) => true,
        Value::Number(number) => {
            let size = number.as_i64().map(i64::unsigned_abs).or(number.as_u64());
            size.is_some_and(|size| size < LARGEST_EXACT)
        }
        Value::Array(items) => items.iter().all(is_plain),
        Value::Object(members) => are_plain(members),
    }
}

fn are_plain(members: &Map<String, Value>) -> bool {
    let mut each = members.iter();
    each.all(|(name, value)| name.is_ascii() && is_plain(value)) && members.keys().is_sorted()
}

#[cfg(test)]
#[cfg(not(shuttle))]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_short_way_writes_what_the_long_way_writes() {
        let plain = json!({
            "b": "\u{0}\u{8}\t\n\u{c}\r\u{1f}\"\\/\u{7f}\u{2028}é\u{1F980}",
            "a": [1, -1, 0, null, true, {"z": {}, "Z": [], "": ""}],
            "A": [9_007_199_254_740_991_u64, -9_007_199_254_740_991_i64],
        });
        let odd = [
            json!({"a": 1.5}),
            json!({"a": {"b": [1e21]}}),
            json!({"a": u64::MAX}),
            json!({"a": i64::MIN}),
            json!({"\u{FB33}": 1, "\u{1F600}": 2}),
        ];
        for value in std::iter::once(&plain).chain(&odd) {
            let canonical = serde_json_canonicalizer::to_string(value).unwrap();
            assert_eq!(text(value).unwrap(), canonical);
            assert_eq!(members(value.as_object().unwrap()).unwrap(), canonical);
        }
        assert!(is_plain(&plain));
        assert!(!odd.iter().any(is_plain));
    }
}
