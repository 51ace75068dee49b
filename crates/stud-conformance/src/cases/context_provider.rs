//! Context providers.

use crate::case::{Context, Running, Verdict};
use crate::subject::Call;

const KINDS: [&str; 4] = [
    "system-message",
    "prompt-fragment",
    "resource-binding",
    "tool-hint",
];

pub(super) fn fragments(context: &Context) -> Verdict {
    let subject = context.instance();
    let provide = || Running::start(&subject, Call::Provide).result();
    let (first, second) = match (provide(), provide()) {
        (Some(Ok(first)), Some(Ok(second))) => (first, second),
        (Some(Err(error)), _) | (_, Some(Err(error))) => {
            return Verdict::not_applicable(format!("it provides nothing here: {error}"));
        }
        _ => return Verdict::fail("it did not return within three seconds"),
    };
    for fragment in first.as_array().into_iter().flatten() {
        if !KINDS.iter().any(|kind| fragment["kind"] == *kind) {
            return Verdict::fail(format!("{} is none of the four kinds", fragment["kind"]));
        }
        if fragment["tokenBudget"].as_u64().is_none() {
            return Verdict::fail(format!(
                "a fragment has the budget {}, which is no count of tokens",
                fragment["tokenBudget"]
            ));
        }
    }
    Verdict::of(
        first == second,
        "it says something else the second time, though nothing has changed",
    )
}
