//! The view of the whole transcript, on a screen of its own.

use std::fmt::Write as _;
use std::io;
use std::time::{Duration, Instant};

use crate::runner::Runner;
use crate::terminal::key::{Code, Input, Key};
use crate::terminal::{cells, modes};
use crate::text::escape;
use crate::text::row::{Look, Row, cut, plain, row};
use crate::transcript::records::{self, Layout};

use ratatui_core::style::Style;
use stud_sdk::host::session::TranscriptRecord;

/// As many records are read for the view.
const RECORDS: u64 = 5000;

/// The view: records as rows for the present width.
#[derive(Debug, Default)]
pub(crate) struct Pager {
    records: Vec<TranscriptRecord>,
    rows: Vec<Row>,
    /// The record that each row belongs to.
    sources: Vec<usize>,
    top: usize,
    unfolded: bool,
    search: Option<String>,
    typing: bool,
    notice: String,
}

/// What a key does besides moving the view.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Turned {
    Stays,
    Closes,
    Copies(String),
    LaysOut,
}

impl Pager {
    pub(crate) fn new(records: Vec<TranscriptRecord>) -> Self {
        Self {
            records,
            ..Self::default()
        }
    }

    /// Lays all records out, and goes to the end.
    pub(crate) fn lay_out(&mut self, layout: Layout<'_>, most: usize) {
        let layout = Layout {
            unfolded: self.unfolded,
            ..layout
        };
        self.rows.clear();
        self.sources.clear();
        for (at, record) in self.records.iter().enumerate() {
            for row in records::rows(record, layout) {
                self.rows.push(row);
                self.sources.push(at);
            }
        }
        let over = self.rows.len().saturating_sub(most);
        self.rows.drain(..over);
        self.sources.drain(..over);
    }

    pub(crate) fn scroll_to_end(&mut self, height: usize) {
        self.top = self.rows.len().saturating_sub(height);
    }

    pub(crate) fn key(&mut self, key: Key, height: usize) -> Turned {
        let last = self.rows.len().saturating_sub(height);
        if self.typing {
            return self.search_key(key, last);
        }
        self.notice.clear();
        match key.code {
            Code::Char('q') | Code::Esc => return Turned::Closes,
            Code::Char('t' | 'c') if key.ctrl => return Turned::Closes,
            Code::Up | Code::Char('k') => self.top = self.top.saturating_sub(1),
            Code::Down | Code::Char('j') => self.top = (self.top + 1).min(last),
            Code::PageUp => self.top = self.top.saturating_sub(height),
            Code::PageDown | Code::Char(' ') => self.top = (self.top + height).min(last),
            Code::Home | Code::Char('g') => self.top = 0,
            Code::End | Code::Char('G') => self.top = last,
            Code::Char('e') | Code::Enter => {
                self.unfolded = !self.unfolded;
                return Turned::LaysOut;
            }
            Code::Char('/') => {
                self.typing = true;
                self.search = Some(String::new());
            }
            Code::Char('n') => self.find(true, last),
            Code::Char('N') => self.find(false, last),
            Code::Char('y') => {
                if let Some(text) = self.source_at_top() {
                    return Turned::Copies(text);
                }
            }
            _ => {}
        }
        Turned::Stays
    }

    fn search_key(&mut self, key: Key, last: usize) -> Turned {
        let word = self.search.get_or_insert_default();
        match key.code {
            Code::Esc => {
                self.typing = false;
                self.search = None;
            }
            Code::Enter => {
                self.typing = false;
                self.find(true, last);
            }
            Code::Backspace => {
                word.pop();
            }
            _ => word.extend(key.letter()),
        }
        Turned::Stays
    }

    fn find(&mut self, down: bool, last: usize) {
        let Some(word) = self.search.as_deref().filter(|word| !word.is_empty()) else {
            return;
        };
        let word = word.to_lowercase();
        let has = |at: &usize| plain(&self.rows[*at]).to_lowercase().contains(&word);
        let hit = if down {
            (self.top + 1..self.rows.len())
                .find(has)
                .or_else(|| (0..=self.top.min(self.rows.len().saturating_sub(1))).find(has))
        } else {
            (0..self.top.min(self.rows.len())).rev().find(has)
        };
        match hit {
            Some(at) => self.top = at.min(last.max(at)),
            None => "not found".clone_into(&mut self.notice),
        }
    }

    /// The source of the message at the top of the view.
    fn source_at_top(&self) -> Option<String> {
        let record = self.records.get(*self.sources.get(self.top)?)?;
        let text = record.payload["text"]
            .as_str()
            .or(record.payload["content"].as_str())?;
        Some(text.to_owned())
    }

    /// The screen: rows of the view, and a row that says where it is.
    pub(crate) fn screen(&self, columns: usize, rows: usize, waits: bool) -> Vec<Row> {
        let height = rows.saturating_sub(1);
        let mut screen: Vec<Row> = self
            .rows
            .iter()
            .skip(self.top)
            .take(height)
            .map(|row| cut(row, columns))
            .collect();
        screen.resize(height, Row::default());
        let end = (self.top + height).min(self.rows.len());
        let state = match (&self.search, self.typing) {
            (Some(word), true) => format!("/{}", escape::line(word)),
            _ if waits => "a question waits: q closes this view".to_owned(),
            _ if !self.notice.is_empty() => self.notice.clone(),
            _ => format!(
                "rows {}–{end} of {} · q closes · / searches · e unfolds · y copies",
                (self.top + 1).min(end),
                self.rows.len()
            ),
        };
        screen.push(cut(&row(state, Look::Selected), columns));
        screen
    }
}

impl Runner {
    /// Shows the view until it is closed. Messages wait meanwhile.
    pub(crate) fn page(&mut self) -> io::Result<()> {
        let records = self.jobs.last(RECORDS).unwrap_or_default();
        let mut pager = Pager::new(records);
        self.put(modes::ENTER_PAGER)?;
        let mut shape = (0, 0);
        let mut stale = true;
        loop {
            let size = self.device.size();
            let (columns, rows) = (usize::from(size.0), usize::from(size.1));
            let height = rows.saturating_sub(1);
            if size != shape {
                self.lay_out(&mut pager, columns);
                if shape == (0, 0) {
                    pager.scroll_to_end(height);
                }
                shape = size;
                stale = true;
            }
            if stale {
                let screen = pager.screen(columns, rows, self.mailbox.has_prompt());
                let bytes = self.painted(&screen);
                self.device.write(bytes.as_bytes())?;
                stale = false;
            }
            for input in self.next_inputs(Duration::from_millis(500))? {
                let Input::Key(key) = input else { continue };
                stale = true;
                match pager.key(key, height) {
                    Turned::Stays => {}
                    Turned::LaysOut => self.lay_out(&mut pager, columns),
                    Turned::Copies(text) => self.copy(&text)?,
                    Turned::Closes => {
                        self.put(modes::LEAVE_PAGER)?;
                        self.app.came_back(Instant::now());
                        self.mailbox.post(crate::mailbox::Message::Resized);
                        return Ok(());
                    }
                }
            }
            if self.mailbox.is_closing() {
                return self.put(modes::LEAVE_PAGER);
            }
        }
    }

    fn lay_out(&self, pager: &mut Pager, columns: usize) {
        let layout = Layout {
            columns,
            shape: crate::markdown::Shape {
                columns: columns.saturating_sub(1).clamp(4, 100),
                ..self.app.shape()
            },
            clock: &self.app.clock,
            unfolded: false,
        };
        let most = usize::try_from(self.app.options.max_log_lines)
            .unwrap_or(2000)
            .max(2000);
        pager.lay_out(layout, most);
    }

    /// The bytes of a whole screen.
    fn painted(&self, screen: &[Row]) -> String {
        let mut out = String::new();
        for (at, row) in screen.iter().enumerate() {
            let _ = write!(out, "\x1b[{};1H\x1b[2K", at + 1);
            let row = cells::CellRow::of(&self.charset.row(row.clone()));
            let mut style = Style::new();
            for cell in row.0 {
                if cell.style != style {
                    cells::push_style(&mut out, cell.style, self.printer.abilities.color);
                    style = cell.style;
                }
                out.push_str(&cell.text);
            }
            out.push_str("\x1b[0m");
        }
        out
    }
}
