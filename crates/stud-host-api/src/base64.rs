//! Bytes as text, for the one payload that may be binary.

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serializer};

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

pub(crate) fn serialize<S: Serializer>(bytes: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&encode(bytes))
}

pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<u8>, D::Error> {
    decode(&String::deserialize(deserializer)?).ok_or_else(|| D::Error::custom("not base64"))
}

fn encode(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for group in bytes.chunks(3) {
        let bits = group
            .iter()
            .enumerate()
            .fold(0, |bits, (i, byte)| bits | u32::from(*byte) << (16 - 8 * i));
        for i in 0..4 {
            let index = bits >> (18 - 6 * i) & 63;
            // A group of n bytes has n + 1 digits; the rest is padding.
            text.push(if i <= group.len() {
                ALPHABET[index as usize].into()
            } else {
                '='
            });
        }
    }
    text
}

/// Strict: whole groups, padding only at the end, no stray bits.
fn decode(text: &str) -> Option<Vec<u8>> {
    let digits = text.trim_end_matches('=').as_bytes();
    if !text.len().is_multiple_of(4) || text.len() - digits.len() > 2 {
        return None;
    }
    let mut bytes = Vec::with_capacity(digits.len() * 3 / 4);
    for group in digits.chunks(4) {
        let mut bits = 0;
        for (i, digit) in group.iter().enumerate() {
            let index = ALPHABET.iter().position(|letter| letter == digit)?;
            bits |= u32::try_from(index).ok()? << (18 - 6 * i);
        }
        let [_, decoded @ ..] = bits.to_be_bytes();
        let (whole, rest) = decoded.split_at(group.len() - 1);
        if rest.iter().any(|byte| *byte != 0) {
            return None;
        }
        bytes.extend_from_slice(whole);
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_published_vectors() {
        for (plain, text) in [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foob", "Zm9vYg=="),
            ("fooba", "Zm9vYmE="),
            ("foobar", "Zm9vYmFy"),
        ] {
            assert_eq!(encode(plain.as_bytes()), text);
            assert_eq!(decode(text).as_deref(), Some(plain.as_bytes()));
        }
    }

    #[test]
    fn every_byte_survives() {
        let bytes: Vec<u8> = (0..=255).collect();
        assert_eq!(decode(&encode(&bytes)), Some(bytes));
    }

    #[test]
    fn anything_else_is_refused() {
        for text in [
            "Zg", "Zg=", "Z===", "====", "Zh==", "Zm9", "Zm 9", "Zg==Zg==", "Zm9v\n",
        ] {
            assert_eq!(decode(text), None, "{text:?}");
        }
    }
}
