//! What happens in the session, as a person gets to read it.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use stud_sdk::interaction::{InteractionAnswered, InteractionCancelled};
use stud_sdk::ui::Event;
use stud_sdk::{Result, Value};

use crate::escape;
use crate::input_router::{Desk, Fate};
use crate::prompt_heading::Names;
use crate::screen::{Busy, Tone};

/// What has been heard so far of the answer that is being given.
#[derive(Debug, Default)]
pub(crate) struct News {
    /// Whether the model's text comes in pieces.
    streamed: AtomicBool,
    /// Whether it was said that the model's answer failed, and with it the turn.
    failed: AtomicBool,
    /// Which plugin fails to take events, and why. A plugin that fails at one event mostly fails at all, so it is reported once.
    failing: Mutex<BTreeSet<String>>,
}

impl News {
    /// Shows one event, if it is one for people.
    pub(crate) fn hear(
        &self,
        event: &Event<'_>,
        own_id: &str,
        desk: &Desk,
        names: &Names,
    ) -> Result<()> {
        match event.name {
            InteractionAnswered::NAME => {
                let answered: InteractionAnswered = event.parse()?;
                if answered.ext_id == own_id {
                    desk.confirm(&answered.interaction_id);
                } else {
                    desk.settle(&answered.interaction_id, Fate::AnsweredBy(answered.ext_id));
                }
            }
            InteractionCancelled::NAME => {
                let cancelled: InteractionCancelled = event.parse()?;
                desk.settle(&cancelled.interaction_id, Fate::Cancelled);
            }
            "EventsSkipped" => {
                let payload: Value = event.parse()?;
                if payload["extId"] == own_id {
                    let note =
                        "warning: the screen fell behind, and some of the session is not shown";
                    desk.screen().note(Tone::Faint, note);
                }
            }
            // Regardless of the cause, input typed from here on would not be answered.
            "SessionExitRequested" => desk.end(),
            name if TEXT_EVENTS.contains(&name) => self.hear_text(name, &event.parse()?, desk),
            name if NOTED_EVENTS.contains(&name) => {
                let payload = event.parse()?;
                if name == "ProviderRequestFailed" {
                    self.failed.store(true, Ordering::Relaxed);
                }
                if !self.is_known(&payload) {
                    note(name, &payload, desk, names);
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// Whether it was said before that this plugin fails to take events for this reason.
    fn is_known(&self, payload: &Value) -> bool {
        /// More reasons than a person would read.
        const MANY: usize = 64;
        let (Some(_), Some(id), Some(cause)) = (
            payload["event"].as_str(),
            payload["extId"].as_str(),
            cause(payload),
        ) else {
            return false;
        };
        let mut failing = self.failing.lock().unwrap_or_else(PoisonError::into_inner);
        if failing.len() >= MANY {
            failing.clear();
        }
        !failing.insert(format!("{id}: {cause}"))
    }

    /// The turn and the assistant's text in it. What a subagent says is for its parent, and not the assistant's text.
    fn hear_text(&self, name: &str, payload: &Value, desk: &Desk) {
        if payload["subagentId"].is_string() {
            return;
        }
        let screen = desk.screen();
        match name {
            "SessionTurnStart" => screen.begin(Busy::Turn),
            "ProviderRequestStarted" => {
                self.streamed.store(false, Ordering::Relaxed);
                self.failed.store(false, Ordering::Relaxed);
                screen.end_text();
            }
            "ProviderTokensStreamed" => {
                self.streamed.store(true, Ordering::Relaxed);
                screen.text(payload["delta"].as_str().unwrap_or_default());
            }
            "ProviderRequestCompleted" => {
                // A provider that does not stream has all of it here.
                if !self.streamed.swap(true, Ordering::Relaxed) {
                    screen.text(payload["assistantText"].as_str().unwrap_or_default());
                }
            }
            _ => {
                screen.end_text();
                let is_told = self.failed.swap(false, Ordering::Relaxed);
                if let Some(error) = payload.get("error").filter(|_| !is_told) {
                    let note = format!("this turn failed: {}", failure(error, "class", "code"));
                    screen.note(Tone::Alarm, &note);
                }
                screen.end(Busy::Turn);
            }
        }
    }
}

const TEXT_EVENTS: [&str; 5] = [
    "SessionTurnStart",
    "ProviderRequestStarted",
    "ProviderTokensStreamed",
    "ProviderRequestCompleted",
    "SessionTurnEnd",
];

const NOTED_EVENTS: [&str; 8] = [
    "StageExecutionSpanStart",
    "ToolInvocationStarted",
    "ToolInvocationFailed",
    "ToolInvocationCancelled",
    "ProviderRequestFailed",
    "SuppressedError",
    "HeadlessInteractionRequired",
    "SessionClosed",
];

fn note(name: &str, payload: &Value, desk: &Desk, names: &Names) {
    let member = |key: &str| payload[key].as_str().map(escape::line);
    let text = |key: &str| member(key).unwrap_or_default();
    let (tone, note) = match name {
        "StageExecutionSpanStart" => {
            let again = match payload["attempt"].as_u64() {
                Some(attempt @ 1..) => format!(", attempt {}", attempt + 1),
                _ => String::new(),
            };
            (Tone::Faint, format!("— stage {}{again}", text("stageId")))
        }
        "ToolInvocationStarted" => {
            let line = format!("• {} {}", text("toolName"), text("argsSummary"));
            (Tone::Plain, line.trim_end().to_owned())
        }
        "ToolInvocationFailed" => {
            let why = failure(payload, "errorClass", "errorCode");
            let note = format!("• {} failed: {why}", text("toolName"));
            (Tone::Alarm, note)
        }
        "ToolInvocationCancelled" => {
            let note = format!("• {} cancelled: {}", text("toolName"), text("reason"));
            (Tone::Faint, note)
        }
        // A cancellation needs no report, and a missing interactor is reported separately.
        "ProviderRequestFailed"
            if payload["errorClass"] == "Cancellation"
                || payload["errorCode"] == "HeadlessInteractionRequired" =>
        {
            return;
        }
        "ProviderRequestFailed" => {
            let why = failure(payload, "errorClass", "errorCode");
            (Tone::Alarm, format!("the model's answer failed: {why}"))
        }
        "SuppressedError" => {
            let cause = cause(payload).map(|cause| format!(" ({cause})"));
            let note = format!("warning: {}{}", text("reason"), cause.unwrap_or_default());
            (Tone::Faint, note)
        }
        "HeadlessInteractionRequired" => {
            let kind = member("requestKind").map(|kind| format!(" ({kind})"));
            let hint = member("hint").or_else(|| member("prompt"));
            let hint = hint.map(|hint| format!(": {hint}"));
            let (kind, hint) = (kind.unwrap_or_default(), hint.unwrap_or_default());
            (Tone::Alarm, format!("permission required{kind}{hint}"))
        }
        _ => (Tone::Faint, "session closed".to_owned()),
    };
    let chip = payload["subagentId"]
        .as_str()
        .map(|id| names.chip(id) + " ");
    let note = chip.unwrap_or_default() + &note;
    desk.screen().note(tone, &note);
}

/// Why an error was passed over, in words. The other fields of the error are in the record.
fn cause(payload: &Value) -> Option<String> {
    let told = payload["cause"].as_str()?;
    let error: Value = told.parse().unwrap_or_default();
    if error["message"].is_string() {
        Some(failure(&error, "class", "code"))
    } else {
        Some(escape::line(told))
    }
}

/// `Class/Code: message`, as far as it was told.
fn failure(payload: &Value, class: &str, code: &str) -> String {
    let part = |key: &str| payload[key].as_str().map(escape::line);
    let message = part("message").unwrap_or_default();
    match (part(class), part(code)) {
        (Some(class), Some(code)) => format!("{class}/{code}: {message}"),
        (Some(one), None) | (None, Some(one)) => format!("{one}: {message}"),
        (None, None) => message,
    }
}
