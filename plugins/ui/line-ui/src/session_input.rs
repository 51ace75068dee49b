//! What becomes of a line that was typed for the session: a message, a command, or the end.

use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};
use std::time::Duration;

use stud_sdk::host::commands::{CommandArgs, CommandResult};
use stud_sdk::host::session::SessionRecord;
use stud_sdk::{Class, Error, Host, HostExt as _, Result, Schema};

use crate::escape;
use crate::input_router::{Desk, Errand};
use crate::screen::{Busy, Tone};

/// Nothing more will be typed here: the input is at its end, or the person has said so.
///
/// What was typed before has been handed to the session. A program that has no other source of input may finish the
/// turns that are left and end the session.
#[derive(Schema)]
pub(crate) struct LineUiInputEnded {}

/// How often a service that is not ready is asked again, and how long after the first refusal.
const TRIES: u32 = 16;
const FIRST_PAUSE: Duration = Duration::from_millis(10);
const LONGEST_PAUSE: Duration = Duration::from_secs(1);

/// How long to wait for room where too many messages wait for their turns.
const QUEUE_PAUSE: Duration = Duration::from_millis(20);

/// Runs errands until there are no more, or the UI is closed.
pub(crate) fn run(desk: &Desk, host: &Host) {
    desk.set_runner(thread::current());
    while let Some(errand) = desk.next_errand() {
        match errand {
            Errand::Line(line) => match line.strip_prefix('/') {
                Some(word) if matches!(word.trim_end(), "exit" | "quit") => desk.end(),
                Some(command) => dispatch(desk, host, command),
                None => send(desk, host, &line),
            },
            Errand::End => {
                let publish = || Some(host.publish("LineUiInputEnded", &LineUiInputEnded {}));
                let published = patiently(desk, publish);
                return report(desk, "the end of the input was not announced", published);
            }
        }
    }
}

fn send(desk: &Desk, host: &Host, text: &str) {
    let append = || {
        let text = text.to_owned();
        let appended = host.session().append(SessionRecord::UserInput { text });
        wait_for(desk, appended).map(|appended| appended.map(drop))
    };
    report(desk, "not sent", until_there_is_room(desk, append));
}

/// Retries while the queue is full: a writer that is faster than the session is slowed down,
/// and loses nothing. Nothing once the desk is closed.
fn until_there_is_room(
    desk: &Desk,
    mut attempt: impl FnMut() -> Option<Result<()>>,
) -> Option<Result<()>> {
    loop {
        match patiently(desk, &mut attempt)? {
            Err(error) if error.is(Class::Session, "InputQueueFull") => {}
            result => return Some(result),
        }
        if !desk.rest(QUEUE_PAUSE) {
            return None;
        }
    }
}

/// Runs a command. Its line never reaches the model, whatever becomes of it.
fn dispatch(desk: &Desk, host: &Host, line: &str) {
    let (name, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let screen = desk.screen();
    screen.begin(Busy::Command);
    let args = CommandArgs::Text(rest.trim_start().to_owned());
    let shown_name = escape::line(name);
    // A command that asks after the end of the input would keep everything behind it waiting.
    desk.begin_command();
    let in_vain = || desk.is_closed() || desk.gave_up();
    let result = wait_unless(in_vain, host.commands().dispatch(name, args));
    if result.is_some() {
        desk.see_questions_off();
    }
    match result {
        Some(Ok(CommandResult::Done { rendered, .. })) if rendered.is_empty() => {}
        Some(Ok(CommandResult::Done { rendered, .. })) => {
            screen.note(Tone::Plain, rendered.trim_end_matches('\n'));
        }
        Some(Ok(CommandResult::Blocked { reason })) => {
            let reason = escape::line(&reason);
            screen.note(Tone::Alarm, &format!("/{shown_name} is blocked: {reason}"));
        }
        Some(Err(error)) => report(
            desk,
            &format!("/{shown_name} did not run"),
            Some(Err(error)),
        ),
        None if desk.is_closed() => {}
        None => {
            let note = format!("/{shown_name} was cancelled: its question cannot be answered here");
            screen.note(Tone::Alarm, &note);
        }
    }
    screen.end(Busy::Command);
}

fn report(desk: &Desk, what: &str, result: Option<Result<()>>) {
    if let Some(Err(error)) = result {
        let why = escape::line(&error.to_string());
        desk.screen().note(Tone::Alarm, &format!("{what}: {why}"));
        desk.screen().invite();
    }
}

/// Tries again while the host is not ready: a line may be there before the session is. Nothing once the desk is closed.
fn patiently<T>(desk: &Desk, mut attempt: impl FnMut() -> Option<Result<T>>) -> Option<Result<T>> {
    let mut pause = FIRST_PAUSE;
    for _ in 1..TRIES {
        match attempt()? {
            Err(error) if will_be_ready(&error) => {}
            result => return Some(result),
        }
        if !desk.rest(pause) {
            return None;
        }
        pause = (pause * 2).min(LONGEST_PAUSE);
    }
    attempt()
}

fn will_be_ready(error: &Error) -> bool {
    let phase = error
        .context()
        .get("phase")
        .and_then(|phase| phase.as_str());
    error.is(Class::ExtensionHost, "NotReady") && !matches!(phase, Some("inactive" | "disposed"))
}

/// Runs a future to its end on this thread, unless the desk is closed first.
fn wait_for<T>(desk: &Desk, future: impl Future<Output = T>) -> Option<T> {
    wait_unless(|| desk.is_closed(), future)
}

/// The same where nothing could be closed yet.
pub(crate) fn wait<T>(future: impl Future<Output = Result<T>>) -> Result<T> {
    let gone = || {
        Error::new(
            Class::ExtensionHost,
            "NotReady",
            "the caller has stopped waiting",
        )
    };
    wait_unless(|| false, future).unwrap_or_else(|| Err(gone()))
}

/// The same, unless there is another reason not to wait. The code that makes it true wakes this thread.
fn wait_unless<T>(in_vain: impl Fn() -> bool, future: impl Future<Output = T>) -> Option<T> {
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    let mut cx = Context::from_waker(&waker);
    let mut future = pin!(future);
    loop {
        if let Poll::Ready(value) = future.as_mut().poll(&mut cx) {
            return Some(value);
        }
        if in_vain() {
            return None;
        }
        thread::park();
    }
}

struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

#[cfg(test)]
mod tests;
