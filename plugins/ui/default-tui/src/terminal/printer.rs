//! Writes committed rows and the live area below them.
//!
//! The terminal owns what was committed. The live area is known by its rows and their widths and is reached by relative
//! moves from the caret; it is never looked for at a place on the screen.

use std::fmt::Write as _;

use ratatui_core::style::Style;

use super::cells::{CellRow, push_style};
use super::modes;
use crate::text::row::Row;
use crate::text::width;

/// What a terminal can do and how it is to be written to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Abilities {
    /// Whether rows that are too long after a resize are wrapped anew rather than cut.
    pub(crate) reflows: bool,
    /// Whether it said that it knows synchronized output.
    pub(crate) synchronized: bool,
    pub(crate) color: bool,
}

/// The writer of frames.
#[derive(Debug)]
pub(crate) struct Printer {
    pub(crate) abilities: Abilities,
    columns: usize,
    live: Vec<CellRow>,
    /// How many columns of each row were ever written. A terminal that wraps rows anew counts those that were cleared at
    /// the end of a row, but not those of a row that was cleared as a whole.
    used: Vec<usize>,
    /// Where the cursor is: a row of the live area and a column.
    caret: (usize, usize),
    /// Whether the live area has to be erased and drawn anew, because the terminal may have moved it.
    unsure: bool,
}

/// Where the cursor stands while a frame is made.
#[derive(Debug, Clone, Copy)]
struct Cursor {
    row: usize,
    column: usize,
}

impl Printer {
    pub(crate) fn new(columns: usize, abilities: Abilities) -> Self {
        Self {
            abilities,
            columns: columns.max(1),
            live: Vec::new(),
            used: Vec::new(),
            caret: (0, 0),
            unsure: false,
        }
    }

    /// The terminal has another width from here on, and may have moved what is on it.
    pub(crate) fn resized(&mut self, columns: usize) {
        self.columns = columns.max(1);
        self.unsure = true;
    }

    /// The live area is gone: something else has written to the terminal. The cursor is in the first column.
    pub(crate) fn forget(&mut self) {
        self.live = Vec::new();
        self.used = Vec::new();
        self.caret = (0, 0);
        self.unsure = false;
    }

    /// The bytes of one frame: `commits` become rows of the terminal for good, and `live` stands below them with the
    /// cursor at `caret`. Nothing if nothing changed.
    pub(crate) fn frame(&mut self, commits: &[Row], live: &[Row], caret: (usize, usize)) -> String {
        let live: Vec<CellRow> = live.iter().map(CellRow::of).collect();
        let caret = (
            caret.0.min(live.len().saturating_sub(1)),
            caret.1.min(self.columns.saturating_sub(1)),
        );
        if commits.is_empty() && !self.unsure && live == self.live && caret == self.caret {
            return String::new();
        }
        let commits: Vec<CellRow> = commits.iter().map(CellRow::of).collect();
        let is_wide = commits.iter().any(|row| row.width() >= self.columns);
        let mut out = String::new();
        if self.unsure || is_wide {
            self.erase(&mut out);
            for row in &commits {
                self.write(&mut out, row, 0, row.width(), Style::new());
                out.push_str("\r\n");
            }
            self.used = self.draw(&mut out, &[], &live, caret);
        } else {
            self.used = self.draw(&mut out, &commits, &live, caret);
        }
        self.live = live;
        self.caret = caret;
        self.unsure = false;
        if self.abilities.synchronized {
            return format!("{}{out}{}", modes::BEGIN_FRAME, modes::END_FRAME);
        }
        out
    }

    /// Takes the live area off the screen. The cursor is then where the next row would begin.
    pub(crate) fn take_down(&mut self) -> String {
        let mut out = String::new();
        self.erase(&mut out);
        out
    }

    /// Draws what changed between the rows that are there and those that are to be there. Gives how many columns of each
    /// row of the live area were written.
    fn draw(
        &self,
        out: &mut String,
        commits: &[CellRow],
        live: &[CellRow],
        caret: (usize, usize),
    ) -> Vec<usize> {
        let blank = CellRow::default();
        let mut written = Vec::new();
        let old = &self.live;
        let total = commits.len() + live.len();
        let mut at = Cursor {
            row: self.caret.0,
            column: self.caret.1,
        };
        for row in 0..total.max(old.len()) {
            let new = match row.checked_sub(commits.len()) {
                None => &commits[row],
                Some(below) => live.get(below).unwrap_or(&blank),
            };
            let is_commit = row < commits.len();
            let used = self.used.get(row).copied().unwrap_or(0);
            if !is_commit {
                written.push(used.max(new.width()));
            }
            if is_commit && used > new.width() {
                at.go(out, row, Some(0));
                out.push_str("\x1b[2K");
                self.write(out, new, 0, new.width(), Style::new());
                at.column = new.width();
                continue;
            }
            if row == 0 || row < old.len() {
                self.draw_changes(out, &mut at, row, old.get(row).unwrap_or(&blank), new);
                continue;
            }
            at.go(out, row - 1, None);
            out.push_str("\r\n");
            at = Cursor { row, column: 0 };
            self.write(out, new, 0, new.width(), Style::new());
            at.column = new.width();
        }
        at.go(out, commits.len() + caret.0, Some(caret.1));
        written.truncate(live.len());
        written
    }

    /// Writes the columns in which two rows differ.
    fn draw_changes(
        &self,
        out: &mut String,
        at: &mut Cursor,
        row: usize,
        old: &CellRow,
        new: &CellRow,
    ) {
        /// To write so many equal cells is cheaper than to move over them.
        const NEAR: usize = 5;
        let differs = |column: usize| old.0.get(column) != new.0.get(column);
        let mut column = 0;
        while column < new.width() {
            if !differs(column) {
                column += 1;
                continue;
            }
            let mut from = column;
            while from > 0 && new.0[from].text.is_empty() {
                from -= 1;
            }
            let mut to = column + 1;
            let mut next = to;
            while next < new.width() && next < to + NEAR {
                if differs(next) {
                    to = next + 1;
                }
                next += 1;
            }
            while to < new.width() && new.0[to].text.is_empty() {
                to += 1;
            }
            at.go(out, row, Some(from));
            self.write(out, new, from, to, Style::new());
            at.column = to;
            column = to;
        }
        if old.width() > new.width() {
            at.go(out, row, Some(new.width()));
            out.push_str("\x1b[K");
        }
    }

    /// Writes the cells of a row from one column to another, and ends in the plain style.
    fn write(&self, out: &mut String, row: &CellRow, from: usize, to: usize, plain: Style) {
        let mut style = plain;
        for (column, cell) in row.0.iter().enumerate().take(to).skip(from) {
            if cell.text.is_empty() {
                continue;
            }
            if cell.style != style {
                push_style(out, cell.style, self.abilities.color);
                style = cell.style;
            }
            out.push_str(&cell.text);
            if width::is_disputed(&cell.text) {
                let next = column + width::of_cluster(&cell.text);
                if next < self.columns {
                    let _ = write!(out, "\x1b[{}G", next + 1);
                }
            }
        }
        if style != plain {
            out.push_str("\x1b[0m");
        }
    }

    /// Erases the live area row by row, and leaves the cursor in its first column.
    ///
    /// The way back to its first row is a saved cursor: a counted one could end in a committed row where the last rows
    /// are below the end of the screen.
    fn erase(&mut self, out: &mut String) {
        let above = self
            .live
            .iter()
            .take(self.caret.0)
            .map(|row| self.rows_of(row))
            .sum::<usize>();
        let above = above
            + if self.abilities.reflows {
                self.caret.1 / self.columns
            } else {
                0
            };
        let all: usize = self.live.iter().map(|row| self.rows_of(row)).sum();
        out.push('\r');
        if above > 0 {
            let _ = write!(out, "\x1b[{above}A");
        }
        out.push_str("\x1b7");
        for row in 0..all.max(1) {
            if row > 0 {
                out.push_str("\x1b[1B");
            }
            out.push_str("\x1b[2K");
        }
        out.push_str("\x1b8");
        self.forget();
    }

    /// How many rows of the screen a row takes at the width of now.
    fn rows_of(&self, row: &CellRow) -> usize {
        if self.abilities.reflows {
            row.width().div_ceil(self.columns).max(1)
        } else {
            1
        }
    }
}

impl Cursor {
    /// Moves to a row, and to a column where one is wanted.
    fn go(&mut self, out: &mut String, row: usize, column: Option<usize>) {
        // Writing to a `String` cannot fail.
        let _ = match row.cmp(&self.row) {
            std::cmp::Ordering::Less => write!(out, "\x1b[{}A", self.row - row),
            std::cmp::Ordering::Greater => write!(out, "\x1b[{}B", row - self.row),
            std::cmp::Ordering::Equal => Ok(()),
        };
        self.row = row;
        if let Some(column) = column
            && column != self.column
        {
            let _ = match column {
                0 => write!(out, "\r"),
                _ => write!(out, "\x1b[{}G", column + 1),
            };
            self.column = column;
        }
    }
}

#[cfg(test)]
mod tests;
