//! Names of tool calls, each of which a session has once.

use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher, RandomState};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use stud_sdk::provider::{Content, Message, Part, Request};

/// The names that are taken.
///
/// Backends name calls as they like, some with a count that begins anew in every answer and some not at all. A name that
/// is missing or taken is replaced, and the backend hears the new one from then on.
///
/// A long conversation has very many names, and every request goes through them, so only their hashes are kept. Where
/// two names have the same hash, one is replaced in vain.
#[derive(Debug, Clone, Default)]
pub struct CallIds(Vec<u64>);

impl CallIds {
    /// The names of all calls in a conversation.
    pub fn of(request: &Request) -> Self {
        let all = request.messages.iter().flat_map(parts);
        let named = all.filter_map(|part| match part {
            Part::ToolCall { tool_call_id, .. } => Some(hash_of(tool_call_id)),
            _ => None,
        });
        Self(named.collect())
    }

    /// This name if it is one and free, or a new one.
    pub fn claim(&mut self, proposed: &str) -> String {
        let id = if proposed.is_empty() || self.0.contains(&hash_of(proposed)) {
            fresh()
        } else {
            proposed.to_owned()
        };
        self.0.push(hash_of(&id));
        id
    }
}

fn hash_of(id: &str) -> u64 {
    BuildHasherDefault::<DefaultHasher>::default().hash_one(id)
}

fn parts(message: &Message) -> &[Part] {
    match &message.content {
        Content::Parts(parts) => parts,
        Content::Text(_) => &[],
    }
}

/// A `UUIDv7` of the time, a count and chance.
fn fresh() -> String {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    let millis = since.map_or(0, |since| since.as_millis()) & 0xffff_ffff_ffff;
    // The keys of a new `RandomState` are random.
    let random = RandomState::new().hash_one(count);
    format!(
        "{:08x}-{:04x}-7{:03x}-{:04x}-{:012x}",
        millis >> 16,
        millis & 0xffff,
        count & 0xfff,
        0x8000 | (random >> 48 & 0x3fff),
        random & 0xffff_ffff_ffff,
    )
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use stud_sdk::json;
    use stud_sdk::provider::Role;

    #[test]
    fn a_free_name_is_kept_and_a_taken_one_replaced() {
        let called = Part::ToolCall {
            tool_call_id: "call_0".to_owned(),
            tool_name: "read".to_owned(),
            args: json!({}),
        };
        let request = Request {
            messages: vec![Message {
                role: Role::Assistant,
                content: vec![called].into(),
            }],
            ..Request::default()
        };
        let mut ids = CallIds::of(&request);
        assert_eq!(ids.claim("call_1"), "call_1");
        for taken in ["call_0", "call_1", ""] {
            let id = ids.claim(taken);
            assert_eq!(id.len(), 36, "{id}");
            assert_eq!(id.as_bytes()[14], b'7', "{id}");
            assert_ne!(ids.claim(&id), id);
        }
    }

    #[test]
    fn none_comes_twice() {
        let ids: BTreeSet<String> = (0..10_000).map(|_| fresh()).collect();
        assert_eq!(ids.len(), 10_000);
    }
}
