//! A payload as canonical text that fits into a record.

use serde_json::{Map, Value};

use crate::canonical;
use crate::redact::{LONGEST_TEXT, cut_remark};

/// A longer payload loses its largest members. With what is around it, a record stays well below the longest line.
const LONGEST: usize = 1024 * 1024;

/// The text of a payload, which is shortened first if there is too much of it.
pub(super) fn text(payload: &mut Map<String, Value>) -> serde_json::Result<String> {
    let text = canonical::members(payload)?;
    if text.len() <= LONGEST {
        return Ok(text);
    }
    for value in payload.values_mut() {
        let length = canonical::text(value)?.len();
        if length > LONGEST_TEXT {
            *value = cut_remark(length, length).into();
        }
    }
    let shortened = canonical::members(payload)?;
    if shortened.len() <= LONGEST {
        return Ok(shortened);
    }
    // So many members that none of them is to blame.
    let remark = cut_remark(text.len(), text.len());
    *payload = Map::from_iter([("payload".to_owned(), remark.into())]);
    canonical::members(payload)
}
