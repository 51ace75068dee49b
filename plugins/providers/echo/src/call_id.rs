//! Names for tool calls.

use std::hash::{BuildHasher, RandomState};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

/// A new one each time: a `UUIDv7` of the time, a count and chance.
pub(crate) fn call_id() -> String {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    // The keys of a new `RandomState` are random.
    format(now(), count, RandomState::new().hash_one(count))
}

fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| u64::try_from(since.as_millis()).unwrap_or(0))
}

fn format(millis: u64, count: u64, random: u64) -> String {
    let millis = millis & 0xffff_ffff_ffff;
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
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn the_form_is_fixed() {
        assert_eq!(
            format(0x0199_1234_abcd, 0x1002, u64::MAX),
            "01991234-abcd-7002-bfff-ffffffffffff"
        );
        assert_eq!(format(0, 0, 0), "00000000-0000-7000-8000-000000000000");
    }

    #[test]
    fn none_comes_twice() {
        let ids: BTreeSet<String> = (0..10_000).map(|_| call_id()).collect();
        assert_eq!(ids.len(), 10_000);
    }
}
