//! `TOOL_CALL`: approvals one after the other, then everything that may run at the same time, then the results in order.

use std::future::poll_fn;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use serde_json::{Value, json};
use stud_contract_hook::{FiringMode, Slot};
use stud_contract_meta::{Error, Result};
use stud_contract_tool::{Envelope, Output};
use stud_diagnostics::{Class, Diagnostic, codes};
use stud_host_api::events::{
    ToolCancelReason, ToolInvocationCancelled, ToolInvocationStarted, ToolInvocationSucceeded,
};
use stud_runtime::clock::Stopwatch;
use tracing::{Instrument as _, debug_span};

use super::authority::{Judged, judge};
use super::permit::Permit;
use super::stream::Proposal;
use super::tool_failure::{FailureReason, ToolFailure};
use super::{Work, is_halt, millis_since};
use crate::executor::{self, FuturesOrdered};
use crate::hooks::{Hooks, Passage};
use crate::ledger::closed;
use crate::platform;
use crate::runtime_snapshot::ToolOutcome;
use crate::session::{Ending, TurnHandle};
use crate::sync::AtomicBool;
use crate::timer::Timer;
use crate::tool_registry::ToolSource;

/// The class of what went wrong in a session that a tool had opened. It is one of a tool's results and of nothing else.
const OF_DELEGATES: &str = "Subagent";

/// Serves the proposals of one answer. Each gets its result, unless the turn halts.
pub(super) async fn serve(work: &Work, proposals: Vec<Proposal>) -> Result<()> {
    let mut judged = Vec::with_capacity(proposals.len());
    let mut waiting = proposals.into_iter();
    while let Some(proposal) = waiting.next() {
        let spare = proposal.clone();
        match judge(work, proposal).await {
            Ok(verdict) => judged.push(verdict),
            Err(end) => return stop(work, judged, spare, waiting, end).await,
        }
    }
    if let Err(end) = announce(work, &judged).await {
        for judged in &judged {
            if let Judged::Permitted(permit) = judged {
                let failure = ToolFailure::before_start(FailureReason::SessionCancelled, &end);
                failure.record(&work.voice, &permit.call);
            }
        }
        return Err(end);
    }
    let alone = judged.len() == 1;
    let calls = judged.into_iter().map(|judged| {
        let (voice, hooks) = (work.voice.clone(), work.hooks());
        async move {
            match judged {
                Judged::Refused(proposal, error) => (proposal, Ended::Result(Err(error))),
                Judged::Completing(proposal, result) => {
                    tell_ended(&voice, &proposal, Stopwatch::start(), &result);
                    (proposal, Ended::Result(result))
                }
                Judged::Answered(proposal, output) => (proposal, Ended::Result(Ok(output))),
                Judged::Permitted(permit) => run(&voice, &hooks, permit, alone).await,
            }
        }
    });
    let mut calls: FuturesOrdered<_> = calls.collect();
    let mut end = Ok(());
    while let Some((proposal, ended)) = calls.next().await {
        match ended {
            Ended::Result(result) => conclude(work, &proposal, &result).await?,
            Ended::Turn(error) => {
                conclude(work, &proposal, &Err(error.clone())).await?;
                end = end.and(Err(error));
            }
        }
    }
    end
}

/// What a call came to.
enum Ended {
    /// A result, for the model.
    Result(Result<Output>),
    /// Something the turn cannot continue from.
    Turn(Error),
}

/// The turn ends while its calls are judged. Nothing runs, also nothing that was approved.
async fn stop(
    work: &Work,
    judged: Vec<Judged>,
    current: Proposal,
    waiting: impl Iterator<Item = Proposal>,
    end: Error,
) -> Result<()> {
    let halted = is_halt(&end);
    let mut left = Vec::new();
    for judged in judged {
        match judged {
            Judged::Refused(proposal, error) => conclude(work, &proposal, &Err(error)).await?,
            Judged::Completing(proposal, result) => conclude(work, &proposal, &result).await?,
            Judged::Answered(proposal, output) => conclude(work, &proposal, &Ok(output)).await?,
            Judged::Permitted(permit) => left.push(permit.call),
        }
    }
    left.push(current);
    for begun in &left {
        let failure = ToolFailure::before_start(FailureReason::SessionCancelled, &end);
        failure.record(&work.voice, begun);
    }
    left.extend(waiting);
    for proposal in left {
        tell_cancelled(work, &proposal, ToolCancelReason::SessionCancelled);
        if !halted {
            conclude(work, &proposal, &Err(end.clone())).await?;
        }
    }
    Err(end)
}

/// The intent comes first: whatever happens now, it is known which tools may have run.
async fn announce(work: &Work, judged: &[Judged]) -> Result<()> {
    let permitted = judged.iter().filter_map(|judged| match judged {
        Judged::Permitted(permit) => {
            let mut call = json!(permit.call);
            if let Some(attempt) = &work.attempt {
                call["stage"] = attempt.marker();
            }
            Some(call)
        }
        Judged::Refused(..) | Judged::Completing(..) | Judged::Answered(..) => None,
    });
    work.turn.record_all("tool_call", permitted.collect()).await
}

/// Writes down what came of a proposal. Each has its result, because no model continues from a call without one.
async fn conclude(work: &Work, proposal: &Proposal, result: &Result<Output>) -> Result<()> {
    let content = match result {
        Ok(output) => {
            let mut content = json!({"ok": true, "result": output.value()});
            if !output.errors().is_empty() {
                content["errors"] = output.errors().iter().map(told).collect();
            }
            content
        }
        Err(error) => json!({"ok": false, "error": told(error)}),
    };
    let payload = json!({
        "toolCallId": proposal.tool_call_id,
        "toolName": proposal.tool_name,
        "content": content.to_string(),
    });
    work.record("tool_result", "tool", payload).await?;
    Ok(())
}

/// The words of an error for the model.
fn told(error: &Error) -> Value {
    let mut told = json!({
        "class": error.class(),
        "code": error.code(),
        "message": error.message(),
    });
    if !error.context().is_empty() {
        told["context"] = json!(error.context());
    }
    told
}

/// Runs what is permitted, and lets hooks see what came of it.
async fn run(voice: &TurnHandle, hooks: &Hooks, permit: Permit, alone: bool) -> (Proposal, Ended) {
    let key = permit.approval_key.clone();
    let spare = permit.call.clone();
    let (giver, call) = match permit.redeem() {
        Ok(redeemed) => redeemed,
        Err(error) => {
            let failure = ToolFailure::before_start(FailureReason::ApprovalDenied, &error);
            failure.record(voice, &spare);
            return (spare, Ended::Result(Err(error)));
        }
    };
    voice.publish(&started(&call));
    let began = (Stopwatch::start(), platform::now());
    let span = debug_span!(
        "tool_call",
        tool = call.tool_name,
        plugin = giver.ext_id(),
        call = call.tool_call_id
    );
    let running = execute(voice, &giver, &call, alone);
    let done = running.instrument(span).await;
    let ended = match done {
        Done::Result(result) => {
            let seen = Seen {
                call: &call,
                key: key.as_deref(),
                began,
            };
            let ended = match seen.by(voice, hooks, result).await {
                Ok(ended) => ended,
                Err(end) => Ended::Turn(end),
            };
            match &ended {
                Ended::Result(result) => tell_ended(voice, &call, began.0, result),
                Ended::Turn(end) => tell_stopped(voice, &call, began.0, end),
            }
            ended
        }
        // No interactor is attached, so the turn cannot continue.
        Done::CalledOff(end) | Done::Halted(end) => {
            tell_stopped(voice, &call, began.0, &end);
            Ended::Turn(end)
        }
    };
    (call, ended)
}

enum Done {
    Result(Result<Output>),
    CalledOff(Error),
    Halted(Error),
}

/// On a thread of its own, because a tool's code may block or never come back. Only a brief call that no other has to
/// wait for is run on the spot: two threads take longer to wake than it takes.
async fn execute(
    voice: &TurnHandle,
    giver: &Arc<dyn ToolSource>,
    call: &Proposal,
    alone: bool,
) -> Done {
    let session = voice.session();
    let ext_id = giver.ext_id();
    let scope = session
        .scopes()
        .begin_tool(ext_id, &call.tool_name, &call.tool_call_id);
    let cx = voice.call(scope.token(), Some(&call.tool_call_id));
    let usual = session.rules().tool;
    let limit = giver.patience(&call.tool_name, &call.args, usual);
    let (called, proposed) = (giver.clone(), call.clone());
    let running = voice
        .session()
        .within(Some(&call.tool_call_id), async move {
            called
                .execute(&proposed.tool_name, &proposed.args, cx)
                .await
        });
    let late = Arc::new(AtomicBool::new(false));
    let time_is_up = {
        let (late, scope) = (late.clone(), scope.clone());
        move || {
            late.store(true, Ordering::Release);
            scope.cancel();
        }
    };
    let running = async {
        let done = if alone && giver.is_brief(&call.tool_name) {
            Some(on_the_spot(&**session.timer(), limit, time_is_up, running).await)
        } else {
            executor::spawn_future(running).await
        };
        done.unwrap_or_else(|| Err(closed()))
            .and_then(Envelope::into_result)
    };
    let patient = session.patiently(ext_id, limit, running);
    let done = executor::or_cancelled(voice.cancelled(), patient).await;
    session.scopes().end_tool(ext_id, &call.tool_call_id);
    // Its prompts end with the call, but for one that it wants to stay open.
    let returned = match &done {
        Some(Some(Ok(output))) => Some(output.value()),
        _ => None,
    };
    session.tool_is_done(ext_id, &call.tool_call_id, returned);
    match done {
        None => {
            scope.cancel();
            Done::CalledOff(voice.called_off())
        }
        Some(None) => {
            scope.cancel();
            Done::Result(Err(left_behind(voice, ext_id, call, limit)))
        }
        Some(Some(done)) => match done {
            Ok(output) => Done::Result(Ok(output)),
            Err(error) if voice.cancelled().is_cancelled() => Done::CalledOff(error),
            Err(error) if error.code() == codes::HEADLESS_INTERACTION_REQUIRED.name => {
                Done::Halted(error)
            }
            // It was told that its time was up, and came back.
            Err(_) if late.load(Ordering::Acquire) => {
                Done::Result(Err(left_behind(voice, ext_id, call, limit)))
            }
            Err(error) => Done::Result(Err(typed(error))),
        },
    }
}

/// Runs a tool on this thread. The timeout is not checked until it first waits for something, so `time_is_up` is called
/// from elsewhere when it is.
fn on_the_spot<T>(
    timer: &dyn Timer,
    limit: Duration,
    time_is_up: impl FnOnce() + Send + 'static,
    tool: impl Future<Output = T>,
) -> impl Future<Output = T> {
    let mut tool = Box::pin(tool);
    let mut alarm = Some(timer.after(limit, Box::new(time_is_up)));
    poll_fn(move |cx| {
        let polled = tool.as_mut().poll(cx);
        drop(alarm.take());
        polled
    })
}

/// What a tool fails with is typed, so that a model can act on it. Whatever else went wrong is a failure of the tool.
fn typed(error: Error) -> Error {
    let is_known = |class: &str| class.parse::<Class>().is_ok() || class == OF_DELEGATES;
    let panicked = error.is(codes::CALL_PANICKED.class, codes::CALL_PANICKED.name);
    if is_known(error.class()) && !error.code().is_empty() && !panicked {
        return error;
    }
    let code = &codes::TOOL_EXECUTION_FAILED;
    let cause = format!("{}/{}", error.class(), error.code());
    let failed = Error::new(code.class, code.name, error.message());
    let context = error.context().iter();
    context
        .fold(failed, |failed, (name, fact)| {
            failed.with(name, fact.clone())
        })
        .with("cause", cause)
}

/// A tool that does not come back is named and left where it is.
fn left_behind(voice: &TurnHandle, ext_id: &str, call: &Proposal, limit: Duration) -> Error {
    let limit = limit.as_millis();
    let message = format!("`{}` did not come back within {limit} ms", call.tool_name);
    let code = &codes::EXECUTION_TIMEOUT;
    voice
        .session()
        .report(&Diagnostic::error(code, &*message).of(ext_id));
    Error::new(code.class, code.name, message)
        .with("toolName", call.tool_name.as_str())
        .with("extId", ext_id)
}

/// What hooks on `TOOL_CALL/post` are told besides the result.
struct Seen<'a> {
    call: &'a Proposal,
    key: Option<&'a str>,
    began: (Stopwatch, std::time::SystemTime),
}

impl Seen<'_> {
    /// Lets the hooks see the result, and change it. A hook that fails ends the turn.
    async fn by(&self, voice: &TurnHandle, hooks: &Hooks, result: Result<Output>) -> Result<Ended> {
        let slot = Slot::ToolCallPost;
        if !hooks.any(slot, FiringMode::PerCall) {
            return Ok(Ended::Result(result));
        }
        let passage = Passage {
            voice,
            slot,
            mode: FiringMode::PerCall,
        };
        let before = self.payload(&result);
        let after = hooks.transform(passage, before.clone()).await?;
        hooks.observe(passage, &after).await?;
        if after["result"] == before["result"] {
            return Ok(Ended::Result(result));
        }
        let changed: Envelope = serde_json::from_value(after["result"].clone())
            .map_err(|error| super::misshapen(slot, &error))?;
        Ok(Ended::Result(changed.into_result()))
    }

    fn payload(&self, result: &Result<Output>) -> Value {
        let result = Envelope::from(result.clone());
        json!({
            "toolCallId": self.call.tool_call_id,
            "invocationId": self.call.tool_call_id,
            "toolName": self.call.tool_name,
            "toolId": self.call.tool_name,
            "approvalKey": self.key,
            "startedAt": platform::rfc3339(self.began.1),
            "endedAt": platform::rfc3339(platform::now()),
            "durationMs": millis_since(self.began.0),
            "result": result,
        })
    }
}

/// A call was answered before it ran. To everyone who looks it has succeeded.
pub(super) fn tell_answered(voice: &TurnHandle, call: &Proposal, output: &Output) {
    voice.publish(&started(call));
    tell_ended(voice, call, Stopwatch::start(), &Ok(output.clone()));
}

fn tell_ended(voice: &TurnHandle, call: &Proposal, began: Stopwatch, result: &Result<Output>) {
    let duration = millis_since(began);
    match result {
        Ok(_) => {
            let succeeded = ToolInvocationSucceeded {
                duration_ms: duration,
                tool_call_id: call.tool_call_id.clone(),
                tool_name: call.tool_name.clone(),
            };
            voice.audit(
                "ToolInvocation",
                Some("ToolCallSucceeded"),
                json!(succeeded),
            );
            let metrics = voice.session().metrics();
            metrics.tool_invoked(&call.tool_name, ToolOutcome::Succeeded);
            voice.publish(&succeeded);
        }
        Err(error) => {
            ToolFailure::after(duration, FailureReason::ExecutionFailed, error)
                .publish(voice, call);
        }
    }
}

/// Puts on record that a call is taken up, before anything is found out about it. Each has its end there as well.
pub(super) fn tell_begun(work: &Work, call: &Proposal) {
    let voice = &work.voice;
    voice.audit(
        "ToolInvocation",
        Some("ToolCallStarted"),
        json!(started(call)),
    );
}

fn started(call: &Proposal) -> ToolInvocationStarted {
    ToolInvocationStarted {
        args_summary: summary(&call.args),
        tool_call_id: call.tool_call_id.clone(),
        tool_name: call.tool_name.clone(),
    }
}

pub(super) fn tell_cancelled(work: &Work, call: &Proposal, reason: ToolCancelReason) {
    work.turn.publish(&cancelled(call, reason));
}

fn cancelled(call: &Proposal, reason: ToolCancelReason) -> ToolInvocationCancelled {
    ToolInvocationCancelled {
        reason,
        tool_call_id: call.tool_call_id.clone(),
        tool_name: call.tool_name.clone(),
    }
}

/// The turn ends while a tool runs, and what began has its end on record.
fn tell_stopped(voice: &TurnHandle, call: &Proposal, began: Stopwatch, end: &Error) {
    let duration = millis_since(began);
    if matches!(Ending::of(end.clone()), Ending::Failed(_)) {
        ToolFailure::after(duration, FailureReason::HookFailed, end).publish(voice, call);
        return;
    }
    ToolFailure::after(duration, FailureReason::SessionCancelled, end).record(voice, call);
    // The turn's own voice is silent by now, and this is still to be told.
    let books = voice.session().books();
    let cancelled = cancelled(call, ToolCancelReason::SessionCancelled);
    books.publish(voice.turn_id(), &cancelled);
}

/// The arguments in one line, for people.
pub(super) fn summary(args: &Value) -> String {
    const LONGEST: usize = 120;
    let text = args.to_string();
    match text.char_indices().nth(LONGEST) {
        Some((cut, _)) => format!("{}…", &text[..cut]),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use stud_abi::CancellationSource;

    use super::*;
    use crate::executor::block_on;
    use crate::timer;

    #[test]
    fn a_tool_run_on_the_spot_is_told_when_its_time_is_up() {
        let scope = CancellationSource::new();
        let token = scope.token();
        let busy = async move {
            // Its code holds the thread, as that of a search does.
            while !token.is_cancelled() {
                std::thread::yield_now();
            }
            "told"
        };
        let limit = Duration::from_millis(10);
        let timer = timer::system();
        let done = on_the_spot(&*timer, limit, move || scope.cancel(), busy);
        assert_eq!(block_on(done), "told");
    }

    #[test]
    fn a_tool_that_waits_is_not_called_off_by_it() {
        let scope = CancellationSource::new();
        let token = scope.token();
        let limit = Duration::from_millis(10);
        let mut waited = false;
        let waiting = poll_fn(move |cx| {
            if std::mem::replace(&mut waited, true) {
                return std::task::Poll::Ready(());
            }
            let waker = cx.waker().clone();
            std::thread::spawn(move || {
                std::thread::sleep(5 * limit);
                waker.wake();
            });
            std::task::Poll::Pending
        });
        let timer = timer::system();
        let time_is_up = move || scope.cancel();
        block_on(on_the_spot(&*timer, limit, time_is_up, waiting));
        assert!(!token.is_cancelled());
    }
}
