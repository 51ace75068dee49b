//! The life of an instance, and what stays of it.

use std::thread;
use std::time::Duration;

use stud_contract_meta::{Kind, Phase};

use super::calls::samples;
use crate::case::{Context, PATIENCE, Running, Verdict, untyped, whole_life};
use crate::threads;

pub(super) fn order(context: &Context) -> Verdict {
    let subject = context.instance();
    if context.kind() == Some(Kind::Ui)
        && subject.lifecycle(Phase::Init).is_ok()
        && let Err(error) = subject.lifecycle(Phase::Activate)
        && untyped(&error).is_none()
    {
        // A UI may need a terminal, and says so.
        return Verdict::not_applicable(format!("it does not become active here: {error}"));
    }
    whole_life(&*context.instance()).map_or_else(Verdict::Fail, |()| Verdict::Pass)
}

pub(super) fn dispose_twice(context: &Context) -> Verdict {
    let subject = context.instance();
    // What fails the first time is another case.
    let _ = whole_life(&*subject);
    match subject.lifecycle(Phase::Dispose) {
        Ok(()) => Verdict::Pass,
        Err(error) => Verdict::fail(format!("the second `dispose` failed: {error}")),
    }
}

pub(super) fn reactivates(context: &Context) -> Verdict {
    let subject = context.instance();
    let phases = [Phase::Init, Phase::Activate, Phase::Deactivate];
    if phases
        .iter()
        .any(|phase| subject.lifecycle(*phase).is_err())
    {
        return Verdict::not_applicable("it does not get as far as `deactivate`");
    }
    let again = subject.lifecycle(Phase::Activate);
    // It is not left behind active.
    let _ = subject.lifecycle(Phase::Deactivate);
    let _ = subject.lifecycle(Phase::Dispose);
    match again {
        Ok(()) => Verdict::Pass,
        Err(error) => Verdict::fail(format!("the second `activate` failed: {error}")),
    }
}

pub(super) fn independent(context: &Context) -> Verdict {
    let (one, other) = (context.instance(), context.instance());
    let up = |subject: &dyn crate::subject::Subject| {
        subject
            .lifecycle(Phase::Init)
            .and_then(|()| subject.lifecycle(Phase::Activate))
    };
    if up(&*one).is_err() {
        return Verdict::not_applicable("it does not become active");
    }
    let second = up(&*other);
    // The first goes, and the second must be none the worse.
    let _ = one.lifecycle(Phase::Deactivate);
    let _ = one.lifecycle(Phase::Dispose);
    let down = other.lifecycle(Phase::Dispose);
    match second.and(down) {
        Ok(()) => Verdict::Pass,
        Err(error) => Verdict::fail(format!("the second instance failed: {error}")),
    }
}

pub(super) fn dispose_in_call(context: &Context) -> Verdict {
    let Some(call) = samples(context).into_iter().next() else {
        return Verdict::not_applicable("the category has no call to interrupt");
    };
    let subject = context.instance();
    let running = Running::start(&subject, call);
    // The call gets a moment to begin. If it has not, it is refused, and there is nothing to see.
    thread::sleep(Duration::from_millis(20));
    let disposed = subject.lifecycle(Phase::Dispose);
    subject.cancel();
    if running.result().is_none() {
        return Verdict::fail("the call did not return after `dispose` and cancellation");
    }
    // A typed refusal is fine.
    disposed
        .err()
        .and_then(|error| untyped(&error))
        .map_or(Verdict::Pass, Verdict::Fail)
}

pub(super) fn no_threads(context: &Context) -> Verdict {
    if context.alone.is_none() {
        return Verdict::not_applicable(
            "other tests run in this process; `stud plugin check --conformance` looks",
        );
    }
    let Some(before) = threads::running() else {
        return Verdict::not_applicable("this system does not list threads");
    };
    let subject = context.instance();
    for call in samples(context) {
        // What it gives is looked at by other cases.
        let _ = subject.call(&call);
    }
    let _ = subject.lifecycle(Phase::Deactivate);
    let _ = subject.lifecycle(Phase::Dispose);
    drop(subject);
    let pause = Duration::from_millis(10);
    let mut waited = Duration::ZERO;
    loop {
        let now = threads::running().unwrap_or_default();
        let left = now.difference(&before).count();
        if left == 0 {
            return Verdict::Pass;
        }
        if waited >= PATIENCE {
            return Verdict::fail(format!(
                "{left} more threads run after `dispose` than before `init`"
            ));
        }
        thread::sleep(pause);
        waited += pause;
    }
}

pub(super) fn silent(context: &Context) -> Verdict {
    if context.kind() == Some(Kind::Ui) {
        return Verdict::not_applicable("the terminal is there for UIs");
    }
    let Some(output) = &context.alone else {
        return Verdict::not_applicable(
            "other tests write too; `stud plugin check --conformance` looks",
        );
    };
    let said = std::fs::read(output).unwrap_or_default();
    let said = String::from_utf8_lossy(&said);
    let first: String = said.chars().take(200).collect();
    Verdict::of(said.is_empty(), format!("it wrote: {first}"))
}
