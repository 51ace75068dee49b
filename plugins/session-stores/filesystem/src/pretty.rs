//! JSON for people and for diffs: indented, with the members of every object in byte order.

use std::collections::BTreeMap;

use serde::{Serialize, Serializer};
use serde_json::Value;

/// The text of a value, ending in a newline.
pub(crate) fn pretty(value: &impl Serialize) -> serde_json::Result<Vec<u8>> {
    let value = serde_json::to_value(value)?;
    let mut text = serde_json::to_vec_pretty(&Sorted(&value))?;
    text.push(b'\n');
    Ok(text)
}

/// A value whose objects are in order, whichever order this build of `serde_json` keeps.
struct Sorted<'a>(&'a Value);

impl Serialize for Sorted<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Value::Object(members) => {
                let members: BTreeMap<_, _> = members
                    .iter()
                    .map(|(name, value)| (name, Sorted(value)))
                    .collect();
                serializer.collect_map(members)
            }
            Value::Array(items) => serializer.collect_seq(items.iter().map(Sorted)),
            other => other.serialize(serializer),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use stud_sdk::json;

    #[test]
    fn members_are_in_order_all_the_way_down() {
        let text = pretty(&json!({"b": [{"z": 1, "a": null}], "a": "x"})).unwrap();
        let expected = "{\n  \"a\": \"x\",\n  \"b\": [\n    {\n      \"a\": null,\n      \"z\": 1\n    }\n  ]\n}\n";
        assert_eq!(str::from_utf8(&text).unwrap(), expected);
    }
}
