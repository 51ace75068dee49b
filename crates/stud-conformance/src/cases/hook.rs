//! Hooks.

use super::calls::payload;
use crate::case::{Context, Running, Verdict};
use crate::subject::Call;

pub(super) fn deterministic(context: &Context) -> Verdict {
    let subject = context.instance();
    let call = || Running::start(&subject, Call::Hook(payload(context))).result();
    let Some(first) = call() else {
        subject.cancel();
        return Verdict::not_applicable("it does not return");
    };
    for _ in 0..3 {
        match call() {
            Some(next) if next == first => {}
            next => {
                return Verdict::fail(format!("the same payload gave {first:?} and then {next:?}"));
            }
        }
    }
    Verdict::Pass
}

pub(super) fn in_time(context: &Context) -> Verdict {
    let subject = context.instance();
    let running = Running::start(&subject, Call::Hook(payload(context)));
    let result = running.result();
    subject.cancel();
    Verdict::of(result.is_some(), "it did not return within three seconds")
}
