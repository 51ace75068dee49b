//! What a request begins with: the system prompt and the tools, the same in nearly all requests of a session.

use std::sync::{Arc, Mutex, PoisonError};

use stud_sdk::provider::{Request, ToolSpec};

/// The last beginning, with what was made of it.
#[derive(Debug, Default)]
pub(crate) struct LastBeginning(Mutex<Option<Arc<Beginning>>>);

/// A beginning, and what was made of it.
#[derive(Debug)]
pub(crate) struct Beginning {
    system: Option<String>,
    tools: Vec<ToolSpec>,
    pub(crate) cache_key: String,
    /// The tools as a backend wants them, by whether it is to hold the model to their schemas.
    pub(crate) written: (Option<bool>, String),
}

impl LastBeginning {
    /// That of a request. Its tools are written anew only if they are not those of the last one.
    pub(crate) fn of(
        &self,
        request: &Request,
        strict: Option<bool>,
        write: impl FnOnce(&[ToolSpec]) -> String,
    ) -> Arc<Beginning> {
        let (system, tools) = (&request.system, &request.tools);
        let mut last = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(last) = &*last
            && (&last.system, &last.tools, last.written.0) == (system, tools, strict)
        {
            return last.clone();
        }
        let beginning = Arc::new(Beginning {
            system: system.clone(),
            tools: tools.clone(),
            cache_key: cache_key(system.as_deref(), tools),
            written: (strict, write(tools)),
        });
        *last = Some(beginning.clone());
        beginning
    }
}

/// The key by which a backend finds what it remembers of a beginning: `stud-` and its hash.
pub(crate) fn cache_key(system: Option<&str>, tools: &[ToolSpec]) -> String {
    let mut beginning = system.unwrap_or_default().as_bytes().to_vec();
    // Texts and JSON values: nothing in them can fail to be written.
    let _ = serde_json::to_writer(&mut beginning, tools);
    format!("stud-{:08x}", hash_of(&beginning))
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
    fn the_same_beginning_is_written_once() {
        let last = LastBeginning::default();
        let mut request = Request {
            system: Some("Be brief.".to_owned()),
            ..Request::default()
        };
        let mut written = 0;
        let mut key = |request: &Request, strict| {
            let beginning = last.of(request, strict, |_| {
                written += 1;
                format!("[{written}]")
            });
            (beginning.cache_key.clone(), beginning.written.1.clone())
        };
        let first = key(&request, None);
        assert_eq!(first, (cache_key(Some("Be brief."), &[]), "[1]".to_owned()));
        assert_eq!(key(&request, None), first);
        assert_eq!(key(&request, Some(true)).1, "[2]");
        request.system = None;
        assert_eq!(key(&request, Some(true)).0, cache_key(None, &[]));
        request.tools.push(ToolSpec {
            name: "read".to_owned(),
            description: String::new(),
            parameters: json!({}).into(),
        });
        assert_eq!(key(&request, Some(true)).1, "[4]");
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
