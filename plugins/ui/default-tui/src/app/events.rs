//! What the session tells.

use std::time::{Duration, Instant};

use stud_sdk::interaction::{InteractionAnswered, InteractionCancelled, Status};
use stud_sdk::{Result, Value};

use super::{App, Effect, Turn};
use crate::options::Thinking;
use crate::text::escape;
use crate::text::row::{Look, Row};
use crate::transcript::card::{Card, State};
use crate::transcript::{error_rows, message_heading, thinking_rows};

/// Rows of thinking that are shown when not all of them are.
const SHORT_THINKING: usize = 5;

/// A turn that took longer is worth a call when it ends.
const LONG_TURN: Duration = Duration::from_secs(10);

/// The events that the screen shows something of.
pub(crate) const HEARD: &[&str] = &[
    "SessionTurnStart",
    "SessionTurnEnd",
    "ProviderRequestStarted",
    "ProviderTokensStreamed",
    "ProviderReasoningStreamed",
    "ProviderRequestCompleted",
    "ProviderRequestFailed",
    "ToolInvocationProposed",
    "ToolInvocationStarted",
    "ToolInvocationSucceeded",
    "ToolInvocationFailed",
    "ToolInvocationCancelled",
    "SuppressedError",
    "InteractionAnswered",
    "InteractionCancelled",
    "InteractionDetached",
    "SessionExitRequested",
    "SessionClosed",
    "EventsSkipped",
    "CompactionPerformed",
    "ModelSwitched",
];

impl App {
    /// Takes an event.
    pub(crate) fn event(&mut self, name: &str, payload: &str, now: Instant) {
        match name {
            InteractionAnswered::NAME => {
                if let Ok(answered) = serde_parse::<InteractionAnswered>(payload) {
                    self.prompt_answered(&answered);
                }
                return;
            }
            InteractionCancelled::NAME => {
                if let Ok(cancelled) = serde_parse::<InteractionCancelled>(payload) {
                    self.prompt_ended(&cancelled.interaction_id, "cancelled", None);
                }
                return;
            }
            _ => {}
        }
        let payload: Value = payload.parse().unwrap_or_default();
        let chip = payload["subagentId"].as_str().map(|id| self.chip(id));
        match name {
            _ if name.starts_with("ToolInvocation") => self.tool_event(name, &payload, chip, now),
            // What a child says is for its parent.
            _ if chip.is_some() => {}
            "SessionTurnStart" => self.turn_started(&payload, now),
            "SessionTurnEnd" => self.turn_ended(&payload, now),
            "ProviderRequestStarted" => self.request_started(),
            "ProviderTokensStreamed" => {
                self.streamed(payload["delta"].as_str().unwrap_or_default());
            }
            "ProviderReasoningStreamed" => {
                self.thinking
                    .push_str(payload["delta"].as_str().unwrap_or_default());
            }
            "ProviderRequestCompleted" => {
                self.request_completed(payload["assistantText"].as_str().unwrap_or_default());
            }
            "ProviderRequestFailed" => self.request_failed(&payload),
            "SuppressedError" => self.suppressed(&payload),
            "InteractionDetached" => {
                if let Some(id) = payload["interactionId"].as_str() {
                    self.detached.insert(id.to_owned());
                }
            }
            "SessionExitRequested" | "SessionClosed" => self.over = true,
            "CompactionPerformed" => self.note(
                "earlier parts of the conversation were summarized",
                Look::Dim,
            ),
            "EventsSkipped" if payload["extId"] == self.own_id => {
                self.note("the screen fell behind; Ctrl-T has everything", Look::Warn);
            }
            _ => {}
        }
    }

    fn turn_started(&mut self, payload: &Value, now: Instant) {
        self.turn = Some(Turn {
            began: now,
            cancelling: false,
            failed: false,
        });
        let seq = payload["inputSeq"].as_u64();
        let known = self
            .queue
            .iter()
            .position(|queued| queued.seq.is_some() && queued.seq == seq);
        let first = || {
            self.queue
                .iter()
                .position(|queued| queued.seq.is_none() || seq.is_none())
        };
        match (known.or_else(first), seq) {
            (Some(at), _) => {
                if let Some(queued) = self.queue.remove(at) {
                    self.echo(&queued.text);
                }
            }
            // Another screen has sent it.
            (None, Some(seq)) => self.effects.push(Effect::ReadInput(seq)),
            (None, None) => {}
        }
    }

    fn turn_ended(&mut self, payload: &Value, now: Instant) {
        self.end_answer();
        let Some(turn) = self.turn.take() else { return };
        self.elapsed += now.saturating_duration_since(turn.began);
        let (running, ended) = std::mem::take(&mut self.cards)
            .into_iter()
            .partition::<Vec<Card>, _>(|card| card.state == State::Running);
        self.cards = ended;
        for mut card in running {
            card.state = State::Cancelled("the turn has ended".to_owned());
            let rows = card.rows(self.columns(), now);
            self.commit(rows);
        }
        if turn.cancelling {
            self.note("cancelled", Look::Dim);
            self.echo_remark =
                (!self.queue.is_empty()).then_some("queued; the turn before was cancelled");
        } else if let Some(error) = payload.get("error").filter(|_| !turn.failed) {
            self.show_error(error, "class", "code");
        }
        if now.saturating_duration_since(turn.began) > LONG_TURN {
            self.call(false);
        }
        self.status.refresh();
        self.run_widgets(now);
    }

    fn request_started(&mut self) {
        self.end_answer();
        self.streamed_bytes = 0;
    }

    fn streamed(&mut self, delta: &str) {
        if delta.is_empty() {
            return;
        }
        self.end_thinking();
        self.streamed_bytes += delta.len();
        if self.stream.is_none() {
            let rows = message_heading("stud", &self.clock.now(), None);
            self.commit(rows);
        }
        self.stream.get_or_insert_default().push(delta);
    }

    fn request_completed(&mut self, whole: &str) {
        // A provider that does not stream has all of it here, and pieces that were skipped are made up for.
        if let Some(rest) = whole.get(self.streamed_bytes..) {
            let rest = rest.to_owned();
            self.streamed(&rest);
        }
        self.end_answer();
    }

    /// Commits what is there of the answer.
    fn end_answer(&mut self) {
        self.end_thinking();
        if let Some(mut stream) = self.stream.take() {
            let rows = stream.end(self.shape());
            self.commit(rows);
        }
    }

    fn end_thinking(&mut self) {
        let thought = std::mem::take(&mut self.thinking);
        if thought.trim().is_empty() || !self.shows_thinking() {
            return;
        }
        let mut rows = thinking_rows(&thought, self.columns());
        let hidden = rows.len().saturating_sub(SHORT_THINKING);
        if self.options.thinking == Thinking::Short && hidden > 0 {
            rows.truncate(SHORT_THINKING);
            rows.push(crate::text::row::row(
                format!("… {hidden} rows more"),
                Look::Dim,
            ));
        }
        let heading = message_heading("stud[thinking]", &self.clock.now(), None);
        self.commit(heading);
        self.commit(rows);
    }

    /// The rows of thinking that is going on.
    pub(super) fn thinking_tail(&self) -> Vec<Row> {
        if self.thinking.is_empty() || !self.shows_thinking() {
            return Vec::new();
        }
        let mut from = self.thinking.len().saturating_sub(1000);
        while !self.thinking.is_char_boundary(from) {
            from += 1;
        }
        let mut rows = thinking_rows(&self.thinking[from..], self.columns());
        let hidden = rows.len().saturating_sub(SHORT_THINKING);
        let mut shown = vec![crate::text::row::row("stud[thinking]", Look::Dim)];
        shown.append(&mut rows.split_off(hidden));
        shown
    }

    fn request_failed(&mut self, payload: &Value) {
        self.end_answer();
        if let Some(turn) = &mut self.turn {
            turn.failed = true;
        }
        // The caller that cancelled it knows.
        let is_known = payload["errorClass"] == "Cancellation"
            || payload["errorCode"] == "HeadlessInteractionRequired";
        if !is_known {
            self.show_error(payload, "errorClass", "errorCode");
        }
    }

    fn show_error(&mut self, error: &Value, class: &str, code: &str) {
        let part = |name: &str| error[name].as_str().unwrap_or_default().to_owned();
        let code = format!("{}/{}", part(class), part(code));
        let rows = error_rows(&code, &part("message"), self.columns());
        self.commit(rows);
    }

    fn suppressed(&mut self, payload: &Value) {
        let part = |name: &str| payload[name].as_str().unwrap_or_default();
        let cause: Value = part("cause").parse().unwrap_or_default();
        let code = match (cause["class"].as_str(), cause["code"].as_str()) {
            (Some(class), Some(code)) => format!("{class}/{code}"),
            _ => part("reason").to_owned(),
        };
        // One that fails at one event mostly fails at all, and once is enough.
        if !self.told_errors.insert(format!("{} {code}", part("extId"))) {
            return;
        }
        let who = part("extId");
        let who = if who.is_empty() {
            String::new()
        } else {
            format!("{who}: ")
        };
        let why = cause["message"].as_str().unwrap_or(part("cause"));
        self.note(
            &format!("{who}{} ({code}: {})", part("reason"), escape::line(why)),
            Look::Warn,
        );
    }

    fn tool_event(&mut self, name: &str, payload: &Value, chip: Option<String>, now: Instant) {
        let part = |name: &str| payload[name].as_str().unwrap_or_default();
        let id = part("toolCallId");
        match name {
            "ToolInvocationProposed" if chip.is_none() => {
                self.proposed.insert(id.to_owned(), payload["args"].clone());
            }
            "ToolInvocationStarted" => {
                self.end_answer();
                let mut card = Card::running(id, part("toolName"), now);
                card.args = self.proposed.get(id).cloned();
                card.chip = chip;
                self.cards.push(card);
            }
            "ToolInvocationSucceeded" => {
                let took = Duration::from_millis(payload["durationMs"].as_u64().unwrap_or(0));
                self.tool_ended(
                    id,
                    part("toolName"),
                    State::Completed(Some(took)),
                    chip,
                    now,
                );
            }
            "ToolInvocationFailed" => {
                let why = format!("{}/{}", part("errorClass"), part("errorCode"));
                let card = self.tool_ended(id, part("toolName"), State::Failed(why), chip, now);
                if let Some(card) = card {
                    card.result = Some(stud_sdk::json!({"error": {"message": part("message")}}));
                }
                self.finish_card(id, None, now);
            }
            "ToolInvocationCancelled" => {
                let why = part("reason").to_owned();
                self.tool_ended(id, part("toolName"), State::Cancelled(why), chip, now);
                self.finish_card(id, None, now);
            }
            _ => {}
        }
    }

    /// Notes how a call ended. What it gave is asked for where there is something to show.
    fn tool_ended(
        &mut self,
        id: &str,
        name: &str,
        state: State,
        chip: Option<String>,
        now: Instant,
    ) -> Option<&mut Card> {
        let at = self.cards.iter().position(|card| card.id == id);
        let at = at.unwrap_or_else(|| {
            let mut card = Card::running(id, name, now);
            card.args = self.proposed.get(id).cloned();
            card.chip.clone_from(&chip);
            self.cards.push(card);
            self.cards.len() - 1
        });
        self.cards[at].state = state;
        let is_own = self.cards[at].chip.is_none();
        if matches!(self.cards[at].state, State::Completed(_)) {
            if is_own {
                self.awaited.insert(id.to_owned());
                self.effects.push(Effect::ToolResult(id.to_owned()));
            } else {
                self.finish_card(id, None, now);
                return None;
            }
        }
        self.cards.get_mut(at)
    }

    /// Commits a card, and those before it that have ended.
    pub(super) fn finish_card(&mut self, id: &str, result: Option<Value>, now: Instant) {
        let Some(at) = self.cards.iter().position(|card| card.id == id) else {
            return;
        };
        let mut card = self.cards.remove(at);
        if result.is_some() {
            card.result = result;
        }
        self.proposed.remove(id);
        let rows = card.rows(self.columns(), now);
        if !self.awaited.remove(id) {
            return self.commit(rows);
        }
        // What came meanwhile stands behind it.
        let behind = std::mem::take(&mut self.behind);
        let awaited = std::mem::take(&mut self.awaited);
        self.commit(rows);
        self.awaited = awaited;
        self.commit(behind);
    }

    fn prompt_answered(&mut self, answered: &InteractionAnswered) {
        let value = answered.value.as_ref();
        let member = |name: &str| value.and_then(|value| value[name].as_str());
        let word = member("decision")
            .or(member("action"))
            .or(member("outcome"));
        let confirmed = value.and_then(|value| value["confirmed"].as_bool());
        let outcome = match (answered.status, word, confirmed) {
            (Status::Rejected, ..) | (_, Some("deny"), _) => "said no".to_owned(),
            (_, Some("approve"), _) => {
                let scope = member("scope")
                    .or(member("approvalScope"))
                    .unwrap_or("once");
                format!("approved, {scope}")
            }
            (_, Some(word), _) => word.to_owned(),
            (_, _, Some(true)) => "yes".to_owned(),
            (_, _, Some(false)) => "no".to_owned(),
            _ => "answered".to_owned(),
        };
        let who = if answered.ext_id == self.own_id {
            "here"
        } else {
            &answered.ext_id
        };
        self.prompt_ended(&answered.interaction_id, &outcome, Some(who));
    }
}

fn serde_parse<'a, T: serde::Deserialize<'a>>(payload: &'a str) -> Result<T> {
    stud_sdk::ui::Event {
        seq: 0,
        name: "",
        correlation_id: "",
        payload,
    }
    .parse()
}
