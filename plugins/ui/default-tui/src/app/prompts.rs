//! Prompts: which one is on the screen, when it takes keys, and how it ends.

use std::time::{Duration, Instant};

use stud_sdk::interaction::{Payload, Request, Response};
use stud_sdk::{Class, Result};

use super::{App, Effect, Waiting};
use crate::dialog::{Dialog, QUIET, Reply, one_line};
use crate::text::escape;
use crate::text::row::{Look, joined, piece};

impl App {
    /// Takes a prompt.
    pub(crate) fn prompt(&mut self, request: Request, now: Instant) {
        if let Payload::ApproveSubagentEnvelope(envelope) = &request.payload {
            let label = envelope.label.as_deref().map(|label| format!("{label} "));
            let name = format!("{}depth {}", label.unwrap_or_default(), envelope.depth);
            self.names.insert(envelope.subagent_id.clone(), name);
        }
        let kind = request.kind().as_str().to_owned();
        let line = one_line(&request.payload);
        self.asked
            .insert(request.interaction_id.clone(), (kind, line));
        if let Payload::Approve(approve) = &request.payload
            && let (Some(id), Some(preview)) = (&approve.tool_call_id, &approve.preview)
            && let Some(card) = self.cards.iter_mut().find(|card| card.id == *id)
        {
            card.preview = Some(preview.clone());
        }
        self.prompts.push_back(Waiting { request });
        self.call(true);
        self.show_next(now);
    }

    /// Puts the first prompt that waits on the screen.
    pub(super) fn show_next(&mut self, now: Instant) {
        if self.dialog.is_some() {
            return;
        }
        let Some(Waiting { request }) = self.prompts.pop_front() else {
            return;
        };
        let chip = request.subagent_id.as_deref().map(|id| self.chip(id));
        let layer = match &request.payload {
            Payload::Approve(approve) => {
                let mut tools = self.snapshot.tools.items.iter();
                let tool =
                    tools.find(|tool| tool.name == approve.tool_id || tool.id == approve.tool_id);
                tool.and_then(|tool| stud_sdk::json!(tool.source).as_str().map(str::to_owned))
            }
            _ => None,
        };
        self.dialog = Some(Dialog::new(request, chip, layer.as_deref(), now));
        self.dialog_focus = false;
    }

    /// Names a subagent: the first characters of its id, the name it was given and its depth.
    pub(super) fn chip(&self, subagent_id: &str) -> String {
        let id: String = subagent_id.chars().take(8).collect();
        let label = self
            .names
            .get(subagent_id)
            .map(|label| format!(" {}", escape::line(label)));
        format!("[{}{}]", escape::line(&id), label.unwrap_or_default())
    }

    /// The frame with the dialog was written.
    pub(crate) fn frame_written(&mut self, now: Instant) {
        if let Some(dialog) = &mut self.dialog {
            dialog.shown_at.get_or_insert(now);
        }
    }

    /// Lets the dialog take keys, if it has been seen for long enough without a key.
    pub(crate) fn arm(&mut self, now: Instant) {
        let free = self.composer.is_empty() || self.dialog_focus;
        let quiet_since = self.quiet_since();
        if let Some(dialog) = &mut self.dialog {
            dialog.armed = free
                && (dialog.armed
                    || quiet_since
                        .is_some_and(|since| now.saturating_duration_since(since) >= QUIET));
        }
    }

    /// Since when the dialog has been on the screen without a key.
    fn quiet_since(&self) -> Option<Instant> {
        let shown = self.dialog.as_ref()?.shown_at?;
        Some(self.last_key.map_or(shown, |key| key.max(shown)))
    }

    /// When the dialog changes by itself.
    pub(super) fn dialog_change(&self, now: Instant) -> Option<Instant> {
        let dialog = self.dialog.as_ref()?;
        let free = self.composer.is_empty() || self.dialog_focus;
        let arming = (!dialog.armed && free)
            .then(|| self.quiet_since())
            .flatten()
            .map(|since| since + QUIET);
        let limit = dialog.expires().map(|expires| {
            let left = expires.saturating_duration_since(now);
            let step = if left > Duration::from_secs(11) {
                10_000
            } else {
                1000
            };
            let over = left.as_millis() % step;
            let wait = if over == 0 { step } else { over };
            now + Duration::from_millis(u64::try_from(wait).unwrap_or(1000))
        });
        [arming, limit].into_iter().flatten().min()
    }

    /// Does what a dialog replied.
    pub(super) fn reply(&mut self, reply: Reply, now: Instant) {
        let Some(dialog) = &self.dialog else { return };
        let request = &dialog.request;
        match reply {
            Reply::Nothing | Reply::Taken => {}
            Reply::Accept(answer) => {
                let response = Response::accepted(request, answer);
                self.effects.push(Effect::Respond(Box::new(response)));
            }
            Reply::Reject(reason) => {
                let reason = reason.unwrap_or_else(|| "said no".to_owned());
                let response = Response::rejected(request, reason);
                self.effects.push(Effect::Respond(Box::new(response)));
            }
            Reply::Copy(text) => self.effects.push(Effect::Copy(text)),
            Reply::Edit(text) => self.effects.push(Effect::Editor(text)),
        }
        let _ = now;
    }

    /// An answer that was given here has won, or has not.
    pub(super) fn responded(&mut self, id: &str, result: Result<()>) {
        match result {
            Err(error) if error.is(Class::Validation, "InteractionPayloadMismatch") => {
                if let Some(dialog) = self.dialog.as_mut().filter(|dialog| dialog.id() == id) {
                    dialog.complain(error.message());
                }
            }
            // Another interactor was faster, or it was cancelled: the event says so.
            _ => self.close_dialog(id),
        }
    }

    /// A prompt was settled or cancelled: one row says how.
    pub(super) fn prompt_ended(&mut self, id: &str, outcome: &str, who: Option<&str>) {
        self.close_dialog(id);
        self.detached.remove(id);
        let Some((kind, line)) = self.asked.remove(id) else {
            return;
        };
        let who = who
            .map(|who| format!("  {}", escape::line(who)))
            .unwrap_or_default();
        self.commit([crate::text::row::cut(
            &joined([
                piece("? ", Look::Accent),
                piece(format!("{kind}  "), Look::Dim),
                piece(line, Look::Plain),
                piece(format!("  {}", escape::line(outcome)), Look::Bold),
                piece(who, Look::Dim),
            ]),
            usize::from(self.size.0).saturating_sub(1),
        )]);
    }

    /// The call that brought a prompt is off.
    pub(crate) fn prompt_gone(&mut self, id: &str) {
        self.close_dialog(id);
    }

    fn close_dialog(&mut self, id: &str) {
        self.prompts
            .retain(|waiting| waiting.request.interaction_id != id);
        if self.dialog.as_ref().is_some_and(|dialog| dialog.id() == id) {
            self.dialog = None;
            self.dialog_focus = false;
        }
    }
}
