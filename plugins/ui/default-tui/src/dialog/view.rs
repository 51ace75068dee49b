//! The rows of a dialog.

use std::time::{Duration, Instant};

use stud_sdk::interaction::Payload;

use super::{Dialog, MOST_CHOICES, Purpose};
use crate::text::row::{Look, Row, joined, piece, row};
use crate::text::{escape, wrap};

impl Dialog {
    /// The rows in `columns`, no more than `height`, and the caret in them if it is here.
    pub(crate) fn rows(
        &mut self,
        columns: usize,
        height: usize,
        now: Instant,
    ) -> (Vec<Row>, Option<(usize, usize)>) {
        let columns = columns.saturating_sub(1).max(4);
        let mut head = wrap::wrap(&self.heading, columns, &Row::default(), &Row::from("  "));
        if let Some(left) = self
            .expires
            .map(|expires| expires.saturating_duration_since(now))
        {
            head.push(row(format!("  open for {}", remaining(left)), Look::Dim));
        }
        let (mut below, caret) = self.lower_rows(columns, height.saturating_sub(head.len() + 2));
        if let Some(error) = &self.error {
            below.insert(0, row(format!("! {error}"), Look::Bad));
        }
        let shift = usize::from(self.error.is_some());
        let hint = if self.armed {
            self.hint()
        } else {
            String::new()
        };
        let mut body: Vec<Row> = Vec::new();
        for line in &self.body {
            for part in wrap::fold(line, columns.saturating_sub(2)) {
                let mut spans = vec![piece("│ ", Look::Dim)];
                spans.extend(part.spans);
                body.push(joined(spans));
            }
        }
        let room = height.saturating_sub(head.len() + below.len() + 1).max(1);
        let all = body.len();
        let mut rows = head;
        if all <= room {
            self.hidden = 0;
            self.scroll = 0;
            self.seen = true;
            rows.extend(body);
        } else {
            let room = room.saturating_sub(1).max(1);
            self.page = room;
            self.hidden = all - room;
            self.scroll = self.scroll.min(self.hidden);
            let last = self.scroll + room;
            self.seen = self.seen || last >= all;
            rows.extend(body.into_iter().skip(self.scroll).take(room));
            let more = if self.seen { "" } else { " · PgDn reads on" };
            rows.push(row(
                format!("  rows {}–{last} of {all}{more}", self.scroll + 1),
                Look::Dim,
            ));
        }
        let caret = caret.map(|(row, column)| (rows.len() + shift + row, column));
        rows.append(&mut below);
        rows.push(row(hint, Look::Dim));
        (rows, caret)
    }

    /// What stands below the body: the choices, the text or the form.
    fn lower_rows(&mut self, columns: usize, height: usize) -> (Vec<Row>, Option<(usize, usize)>) {
        if let Some(entry) = &self.entry {
            let label = format!("{}: ", entry.label);
            let room = columns.saturating_sub(label.len());
            let (lines, (caret_row, caret_column)) = entry.field.rows(room);
            let most = height.clamp(1, MOST_CHOICES);
            let first = caret_row.saturating_sub(most - 1);
            let mut rows = Vec::new();
            for (at, line) in lines.into_iter().enumerate().skip(first).take(most) {
                let lead = if at == 0 {
                    label.clone()
                } else {
                    " ".repeat(label.len())
                };
                let mut spans = vec![piece(lead, Look::Bold)];
                spans.extend(line);
                rows.push(joined(spans));
            }
            if let Payload::Ask(ask) = &self.request.payload
                && entry.field.is_empty()
                && let Some(placeholder) = &ask.placeholder
                && let Some(first) = rows.first_mut()
            {
                first
                    .spans
                    .push(piece(escape::line(placeholder).into_owned(), Look::Dim));
            }
            return (rows, Some((caret_row - first, caret_column + label.len())));
        }
        if let Some(form) = &mut self.form {
            return form.rows(columns, height);
        }
        let visible = self.visible();
        let at = self
            .selected
            .and_then(|selected| visible.iter().position(|index| *index == selected));
        let most = MOST_CHOICES.min(height.max(1));
        let first = at.unwrap_or(0).saturating_sub(most.saturating_sub(1));
        let mut rows = Vec::new();
        let mut caret = None;
        if let Some(filter) = &self.filter {
            rows.push(row(
                format!("/{}", escape::line(&filter.text())),
                Look::Bold,
            ));
        }
        for index in visible.iter().skip(first).take(most) {
            let choice = &self.choices[*index];
            let is_selected = self.selected == Some(*index);
            if is_selected {
                caret = Some((rows.len(), 0));
            }
            let inactive = choice.allows && !self.seen_or_fits();
            rows.extend(choice.rows(index + 1, is_selected, inactive, columns));
        }
        let below = visible.len().saturating_sub(first + most);
        if below > 0 {
            rows.push(row(format!("  … {below} more"), Look::Dim));
        }
        if let Some(note) = &self.note {
            rows.push(row(format!("  note: {}", escape::line(note)), Look::Dim));
        }
        (rows, caret)
    }

    pub(super) fn seen_or_fits(&self) -> bool {
        self.seen || self.shown_at.is_none()
    }

    fn hint(&self) -> String {
        if let Some(entry) = &self.entry {
            return match entry.purpose {
                Purpose::Answer => "  Enter send · Ctrl-J new line · Esc cancel",
                Purpose::Secret => "  Enter send · Esc cancel",
                Purpose::Reason => "  Enter say no with this reason · Esc back",
                Purpose::Note => "  Enter keep the note · Esc back",
            }
            .to_owned();
        }
        match &self.request.payload {
            Payload::Approve(_) => "  ↑↓ choose · Enter take · y once · n no · r reason",
            Payload::ToolApproval(_) => {
                "  ↑↓ choose · Enter take · y once · n no · r reason · c cancel"
            }
            Payload::GrantStageTool(_) => {
                "  ↑↓ choose · Enter take · y approve · n deny · d defer · t note"
            }
            Payload::ApproveSubagentEnvelope(_) => {
                "  ↑↓ choose · Enter take · y yes · n no · t note"
            }
            Payload::Confirm(_) => "  ↑↓ choose · Enter take · y yes · n no",
            Payload::Select(_) => "  ↑↓ choose · Enter take · / filter · Esc cancel",
            Payload::AuthDeviceCode(_) => {
                "  Enter once you are done · y copies the address · Esc cancels"
            }
            Payload::ToolInput(_) => "  Tab next · Enter next or press · Esc cancel",
            _ => "  Enter take · Esc cancel",
        }
        .to_owned()
    }
}

/// A time that is left, coarse while there is much of it.
pub(super) fn remaining(left: Duration) -> String {
    let seconds = left.as_secs();
    let seconds = if seconds > 10 {
        seconds.div_ceil(10) * 10
    } else {
        seconds
    };
    format!("{}:{:02}", seconds / 60, seconds % 60)
}
