//! Numbers that every turn goes by. One that cannot be meant is refused, so that nobody takes the default for it.

use serde_json::{Map, Value};

/// Members of `loop`: each is a whole number above zero.
const OF_LOOP: [&str; 3] = ["maxContinuations", "toolTimeoutMs", "hookTimeoutMs"];

/// Members of `providers.retry`: each is a whole number, and may be zero.
const OF_RETRY: [&str; 3] = ["attempts", "firstMs", "longestMs"];

/// The first member of `loop` that is no such number, and what is wrong with it.
pub(super) fn flaw_of_loop(members: &Map<String, Value>) -> Option<(String, &'static str)> {
    let what = "is not a whole number above zero";
    flaw(members, &OF_LOOP, 1).map(|member| (format!("/loop/{member}"), what))
}

/// The same of `providers.retry`.
pub(super) fn flaw_of_retry(members: &Map<String, Value>) -> Option<(String, &'static str)> {
    let what = "is not a whole number, or is below zero";
    flaw(members, &OF_RETRY, 0).map(|member| (format!("/providers/retry/{member}"), what))
}

fn flaw(members: &Map<String, Value>, names: &[&'static str], least: u64) -> Option<&'static str> {
    let is_wrong = |value: &Value| value.as_u64().is_none_or(|number| number < least);
    let mut names = names.iter();
    names
        .find(|name| members.get(**name).is_some_and(is_wrong))
        .copied()
}
