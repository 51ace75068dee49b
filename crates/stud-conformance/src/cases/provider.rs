//! Providers.

use serde_json::Value;

use super::calls::request;
use crate::case::{Context, Running, Verdict};
use crate::subject::Call;

/// What every provider claims.
const CLAIMS: [&str; 7] = [
    "streaming",
    "toolCalling",
    "structuredOutput",
    "multimodal",
    "reasoning",
    "promptCaching",
    "contextWindow",
];

pub(super) fn capabilities(context: &Context) -> Verdict {
    if context.manifest["protocol"]
        .as_str()
        .unwrap_or_default()
        .trim()
        .is_empty()
    {
        return Verdict::fail("`protocol` is empty");
    }
    let claims = &context.manifest["capabilities"];
    let missing = CLAIMS.iter().find(|claim| claims.get(**claim).is_none());
    missing.map_or(Verdict::Pass, |claim| {
        Verdict::fail(format!("`capabilities` says nothing about `{claim}`"))
    })
}

pub(super) fn one_finish(context: &Context) -> Verdict {
    let subject = context.instance();
    let result = Running::start(&subject, Call::Request(request())).result();
    subject.cancel();
    let events = match result {
        None => return Verdict::fail("the answer did not end within three seconds"),
        Some(Err(error)) => {
            return Verdict::not_applicable(format!("it does not answer here: {error}"));
        }
        Some(Ok(events)) => events,
    };
    let events = events.as_array().map_or(&[] as &[Value], Vec::as_slice);
    let finishes = events
        .iter()
        .filter(|event| event["type"] == "finish")
        .count();
    let last = events.last().is_some_and(|event| event["type"] == "finish");
    Verdict::of(
        finishes == 1 && last,
        format!(
            "there are {finishes} finishes among {} events",
            events.len()
        ),
    )
}
