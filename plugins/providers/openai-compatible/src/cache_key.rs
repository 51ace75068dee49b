//! The key by which a backend finds what it remembers of a request's beginning.

use std::sync::{Mutex, PoisonError};

use stud_sdk::provider::ToolSpec;

/// `stud-` and the hash of what all requests of a session begin with.
pub(crate) fn cache_key(system: Option<&str>, tools: &[ToolSpec]) -> String {
    /// The last beginning and its hash: the next request mostly has the same, and to compare is much faster.
    static LAST: Mutex<(Vec<u8>, u32)> = Mutex::new((Vec::new(), OFFSET));

    let mut beginning = system.unwrap_or_default().as_bytes().to_vec();
    // Texts and JSON values: nothing in them can fail to be written.
    let _ = serde_json::to_writer(&mut beginning, tools);
    let mut last = LAST.lock().unwrap_or_else(PoisonError::into_inner);
    if last.0 != beginning {
        let hash = hash_of(&beginning);
        *last = (beginning, hash);
    }
    format!("stud-{:08x}", last.1)
}

fn hash_of(bytes: &[u8]) -> u32 {
    bytes.iter().fold(OFFSET, |hash, byte| {
        (hash ^ u32::from(*byte)).wrapping_mul(PRIME)
    })
}

/// FNV-1a, 32 bits: fast, known to everyone, and nothing here needs more.
const OFFSET: u32 = 0x811c_9dc5;
const PRIME: u32 = 0x0100_0193;

#[cfg(test)]
mod tests {
    use super::*;
    use stud_sdk::json;

    #[test]
    fn the_hash_is_the_known_one() {
        // `[]` stands for no tools: the published hash of `foobar[]` begins with that of `foobar`, bf9cf968.
        let foobar = 0xbf9c_f968_u32;
        let expected = b"[]".iter().fold(foobar, |hash, byte| {
            (hash ^ u32::from(*byte)).wrapping_mul(PRIME)
        });
        assert_eq!(
            cache_key(Some("foobar"), &[]),
            format!("stud-{expected:08x}")
        );
    }

    #[test]
    fn another_beginning_has_another_key() {
        let tool = ToolSpec {
            name: "read".to_owned(),
            description: "Reads.".to_owned(),
            parameters: json!({"type": "object"}).into(),
        };
        let keys = [
            cache_key(None, &[]),
            cache_key(Some("a"), &[]),
            cache_key(Some("a"), std::slice::from_ref(&tool)),
        ];
        assert_ne!(keys[0], keys[1]);
        assert_ne!(keys[1], keys[2]);
        assert_eq!(keys[2], cache_key(Some("a"), &[tool]));
    }
}
