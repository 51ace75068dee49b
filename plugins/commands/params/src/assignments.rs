//! What was typed: `path=value`, any number of times.

use stud_sdk::host::commands::ParamChange;
use stud_sdk::{Error, ErrorExt as _, Result, Value};

/// Takes the line apart. A value is JSON if it reads as JSON, and a text otherwise; only JSON may hold blanks.
pub(crate) fn read(line: &str) -> Result<Vec<ParamChange>> {
    let mut changes = Vec::new();
    let mut rest = line.trim_start();
    while !rest.is_empty() {
        let word = rest.split_whitespace().next().unwrap_or_default();
        let Some((path, _)) = word.split_once('=').filter(|(path, _)| !path.is_empty()) else {
            let why = format!("write a parameter as `path=value`, not as `{word}`");
            return Err(Error::invalid_input(why));
        };
        let (value, end) = value_of(&rest[path.len() + 1..]);
        changes.push(ParamChange {
            path: path.to_owned(),
            value,
        });
        rest = rest[path.len() + 1 + end..].trim_start();
    }
    Ok(changes)
}

/// The value that the text begins with, and where it ends.
fn value_of(text: &str) -> (Value, usize) {
    let end = text.find(char::is_whitespace).unwrap_or(text.len());
    if text.starts_with(['{', '[', '"']) {
        let mut values = serde_json::Deserializer::from_str(text).into_iter();
        if let Some(Ok(value)) = values.next() {
            let json_end = values.byte_offset();
            let follows = text[json_end..].chars().next();
            if follows.is_none_or(char::is_whitespace) {
                return (value, json_end);
            }
        }
    }
    let word = &text[..end];
    let value = serde_json::from_str(word).unwrap_or_else(|_| word.into());
    (value, end)
}

#[cfg(test)]
mod tests {
    use super::*;
    use stud_sdk::json;

    fn values(line: &str) -> Vec<(String, Value)> {
        let changes = read(line).unwrap().into_iter();
        changes.map(|change| (change.path, change.value)).collect()
    }

    #[test]
    fn values_are_json_or_text() {
        let line = r#"effort=high topP=0.9 thinking={"type": "adaptive"}  stopSequences=["a b", "c"] user=a=b seed="#;
        let expected = [
            ("effort", json!("high")),
            ("topP", json!(0.9)),
            ("thinking", json!({"type": "adaptive"})),
            ("stopSequences", json!(["a b", "c"])),
            ("user", json!("a=b")),
            ("seed", json!("")),
        ];
        let expected = expected.map(|(path, value)| (path.to_owned(), value));
        assert_eq!(values(line), expected);
        assert_eq!(values("  "), []);
        assert_eq!(values("x={broken")[0].1, "{broken");
        assert_eq!(values(r#"x="a"b"#)[0].1, r#""a"b"#);
    }

    #[test]
    fn what_is_no_parameter_is_refused() {
        for line in ["temperature", "=1", "topP=1 alone", "topP = 1"] {
            let error = read(line).unwrap_err();
            assert_eq!(error.code(), "InputInvalid", "{line}");
        }
    }
}
