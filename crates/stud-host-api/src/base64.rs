//! Bytes as text, for the one payload that may be binary.

use data_encoding::BASE64;
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serializer};

pub(crate) fn serialize<S: Serializer>(bytes: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&BASE64.encode(bytes))
}

/// Strict: whole groups, padding only at the end, no stray bits.
pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<u8>, D::Error> {
    let text = String::deserialize(deserializer)?;
    let bytes = BASE64.decode(text.as_bytes());
    bytes.map_err(|_| D::Error::custom("not base64"))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    fn decoded(text: &str) -> Option<Vec<u8>> {
        super::deserialize(json!(text)).ok()
    }

    #[test]
    fn every_byte_survives() {
        let bytes: Vec<u8> = (0..=255).collect();
        let Value::String(text) = super::serialize(&bytes, serde_json::value::Serializer).unwrap()
        else {
            panic!("it is a text");
        };
        assert!(
            text.starts_with("AAECAwQF") && text.ends_with("/P3+/w=="),
            "{text}"
        );
        assert_eq!(decoded(&text), Some(bytes));
    }

    #[test]
    fn anything_else_is_refused() {
        for text in [
            "Zg", "Zg=", "Z===", "====", "Zh==", "Zm9", "Zm 9", "Zm9v\n", "Zm-_",
        ] {
            assert_eq!(decoded(text), None, "{text:?}");
        }
    }
}
