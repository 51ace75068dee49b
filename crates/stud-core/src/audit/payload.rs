//! A payload as canonical text that fits into a record.

use serde_json::{Map, Value};

use crate::redact::{LONGEST_TEXT, cut_remark};

/// A longer payload loses its largest members. With what is around it, a record stays well below the longest line.
const LONGEST: usize = 1024 * 1024;

/// The text of a payload, which is shortened first if there is too much of it.
pub(super) fn text(payload: &mut Map<String, Value>) -> serde_json::Result<String> {
    let text = serde_json_canonicalizer::to_string(payload)?;
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
