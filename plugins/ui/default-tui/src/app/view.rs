//! The picture of a moment: rows to commit, and the live area.

use std::time::Instant;

use super::{App, Frame};
use crate::status;
use crate::text::row::{Look, Row, cut, row};
use crate::text::{escape, width};

/// A screen with fewer columns or rows shows only what is needed to continue.
pub(super) const SMALL: (u16, u16) = (40, 8);

/// As many queued inputs are shown.
const QUEUED: usize = 3;

/// No more rows are committed in one frame, so that a frame stays small.
const MOST_COMMITS: usize = 200;

impl App {
    /// The picture of now. Rows that are committed are given out once.
    pub(crate) fn frame(&mut self, now: Instant) -> Frame {
        self.show_next(now);
        self.arm(now);
        self.forget_hints(now);
        let shape = self.shape();
        if let Some(stream) = &mut self.stream {
            let rows = stream.take(shape);
            self.commit(rows);
        }
        let count = self.pending.len().min(MOST_COMMITS);
        let commits: Vec<Row> = self.pending.drain(..count).collect();
        let (live, caret) = self.live(now);
        Frame {
            commits,
            live,
            caret,
        }
    }

    /// Whether another frame has to follow at once.
    pub(crate) fn has_more(&self) -> bool {
        !self.pending.is_empty()
    }

    fn forget_hints(&mut self, now: Instant) {
        self.hint.take_if(|(_, until)| now >= *until);
        self.armed.take_if(|(_, until)| now >= *until);
        if let Some((_, held)) = self.introduction.take_if(|(until, _)| now >= *until) {
            self.introduce(held);
        }
    }

    fn live(&mut self, now: Instant) -> (Vec<Row>, (usize, usize)) {
        let columns = self.columns();
        let rows = usize::from(self.size.1);
        if self.size.0 < SMALL.0 || self.size.1 < SMALL.1 {
            return self.small(columns, rows, now);
        }
        let most = rows - 1;
        let status = self.status_row(columns, now);
        let (mut lower, caret) = self.lower(columns, most.saturating_sub(2 + status.len()), now);
        let rule = self.rule(columns);
        let mut upper = self.upper(columns, now);
        let room = most.saturating_sub(1 + lower.len() + status.len());
        let hidden = upper.len().saturating_sub(room);
        let mut live = upper.split_off(hidden);
        live.push(rule);
        let caret = (live.len() + caret.0, caret.1);
        live.append(&mut lower);
        live.extend(status);
        let room = columns.saturating_sub(1);
        let live: Vec<Row> = live.iter().map(|row| cut(row, room)).collect();
        let last = live.len().saturating_sub(1);
        (live, (caret.0.min(last), caret.1.min(room)))
    }

    /// What happens right now, above the rule.
    fn upper(&mut self, columns: usize, now: Instant) -> Vec<Row> {
        let shape = self.shape();
        let mut rows = self.thinking_tail();
        if let Some(stream) = &self.stream {
            rows.extend(stream.tail(shape));
        }
        let cards = self.cards.iter();
        rows.extend(cards.map(|card| card.heading(columns, now)));
        if let Some(panel) = &self.panel {
            rows.extend(panel.rows(&self.snapshot, columns));
        }
        if self.turn.is_some() || self.dialog.is_some() {
            let known = self.queue.iter().filter(|queued| queued.seq.is_some());
            for (at, queued) in known.clone().take(QUEUED).enumerate() {
                let first = queued.text.lines().next().unwrap_or_default();
                rows.push(row(
                    format!("queued {}: {}", at + 1, escape::line(first)),
                    Look::Dim,
                ));
            }
            let more = known.count().saturating_sub(QUEUED);
            if more > 0 {
                rows.push(row(format!("… {more} more"), Look::Dim));
            }
        }
        if let Some((hint, _)) = &self.hint {
            rows.push(row(hint.clone(), Look::Warn));
        }
        if self.dialog.is_some() && !self.composer.is_empty() {
            let text = self.composer.text();
            let first = width::cut(&escape::line(text.lines().next().unwrap_or_default()), 40);
            rows.push(row(format!("draft: {first} (Tab answers)"), Look::Accent));
        }
        rows
    }

    /// The dialog, or the composer with its palette.
    fn lower(&mut self, columns: usize, height: usize, now: Instant) -> (Vec<Row>, (usize, usize)) {
        if let Some(dialog) = &mut self.dialog {
            let (rows, caret) = dialog.rows(columns, height, now);
            let last = rows.len().saturating_sub(1);
            return (rows, caret.unwrap_or((last, 0)));
        }
        let (mut rows, caret) = self.composer.rows(columns, usize::from(self.size.1));
        if let Some(palette) = &self.palette {
            rows.extend(palette.rows(columns));
        }
        (rows, caret)
    }

    /// What stands above the composer: who answers, and how tool calls are gated.
    fn rule(&self, columns: usize) -> Row {
        let waiting = match self.detached.len() {
            0 => String::new(),
            1 => " · 1 question waits".to_owned(),
            many => format!(" · {many} questions wait"),
        };
        let more = match self.prompts.len() {
            0 => String::new(),
            more => format!(" · {more} more to answer"),
        };
        let facts = format!("─ {}{waiting}{more} ", status::facts(&self.snapshot));
        let facts = width::cut(&facts, columns.saturating_sub(2));
        let rest = columns.saturating_sub(1 + width::of(&facts));
        row(format!("{facts}{}", "─".repeat(rest)), Look::Dim)
    }

    fn status_row(&self, columns: usize, now: Instant) -> Vec<Row> {
        if !self.options.has_status_line() {
            return Vec::new();
        }
        let running = self
            .turn
            .as_ref()
            .map(|turn| now.saturating_duration_since(turn.began));
        let elapsed = self.elapsed + running.unwrap_or_default();
        vec![self.status.row(&self.snapshot, elapsed, columns)]
    }

    /// A screen with hardly any room: the composer, and one word.
    fn small(&mut self, columns: usize, rows: usize, now: Instant) -> (Vec<Row>, (usize, usize)) {
        let room = columns.saturating_sub(1);
        if let Some(dialog) = &mut self.dialog {
            // It cannot be read here, so it can only be denied.
            let _ = now;
            let text = if dialog.armed {
                "a question: n says no"
            } else {
                "a question"
            };
            return (vec![cut(&row(text, Look::Warn), room)], (0, 0));
        }
        let (draft, caret) = self.composer.rows(columns, rows);
        let word = if self.turn.is_some() { "busy" } else { "ready" };
        let first = (caret.0 + 2).saturating_sub(rows.saturating_sub(1).max(1));
        let first = first.min(caret.0);
        let mut live: Vec<Row> = draft
            .into_iter()
            .skip(first)
            .take(rows.saturating_sub(2).max(1))
            .collect();
        live.push(row(word, Look::Dim));
        let live: Vec<Row> = live.iter().map(|row| cut(row, room)).collect();
        (live, (caret.0 - first, caret.1.min(room)))
    }
}
