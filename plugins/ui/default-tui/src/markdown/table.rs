//! A table that fits the width: columns shrink, and what is too narrow becomes a list.

use pulldown_cmark::Alignment;
use ratatui_core::style::Style;
use ratatui_core::text::{Line, Span};

use crate::text::row::{Look, Piece, Row, piece, row, width_of};
use crate::text::wrap;

/// A column that would be narrower is no column.
const NARROWEST: usize = 6;

/// The cells, row by row; the first row is the header.
#[derive(Debug)]
pub(crate) struct Table {
    alignments: Vec<Alignment>,
    cells: Vec<Vec<Row>>,
}

impl Table {
    pub(crate) fn new(alignments: Vec<Alignment>) -> Self {
        Self {
            alignments,
            cells: Vec::new(),
        }
    }

    pub(crate) fn begin_row(&mut self) {
        self.cells.push(Vec::new());
    }

    pub(crate) fn add_cell(&mut self, cell: Row) {
        if let Some(row) = self.cells.last_mut() {
            row.push(cell);
        }
    }

    /// The table in so many columns.
    pub(crate) fn rows(&self, columns: usize) -> Vec<Row> {
        let Some(widths) = self.widths(columns) else {
            return self.as_list(columns);
        };
        let mut rows = Vec::new();
        for (number, cells) in self.cells.iter().enumerate() {
            rows.extend(self.laid_out(cells, &widths, number == 0));
            if number == 0 {
                let rule = widths.iter().map(|width| "-".repeat(width + 2));
                let rule = rule.collect::<Vec<_>>().join("|");
                rows.push(row(format!("|{rule}|"), Look::Dim));
            }
        }
        rows
    }

    /// How wide each column is; nothing if one would be too narrow.
    fn widths(&self, columns: usize) -> Option<Vec<usize>> {
        let count = self.alignments.len();
        let mut wanted = vec![1; count];
        for cells in &self.cells {
            for (width, cell) in wanted.iter_mut().zip(cells) {
                *width = (*width).max(width_of(cell));
            }
        }
        let frame = count * 3 + 1;
        let room = columns.checked_sub(frame)?;
        while wanted.iter().sum::<usize>() > room {
            let widest = wanted.iter().copied().max()?;
            if widest <= NARROWEST {
                return None;
            }
            let second = wanted
                .iter()
                .copied()
                .filter(|width| *width < widest)
                .max()
                .unwrap_or(0);
            let many = wanted.iter().filter(|width| **width == widest).count();
            let over = wanted.iter().sum::<usize>() - room;
            let less = over
                .div_ceil(many)
                .min(widest - second.max(NARROWEST))
                .max(1);
            for width in wanted.iter_mut().filter(|width| **width == widest) {
                *width -= less;
            }
        }
        Some(wanted)
    }

    fn laid_out(&self, cells: &[Row], widths: &[usize], is_header: bool) -> Vec<Row> {
        let blank = Row::default();
        let wrapped: Vec<Vec<Row>> = widths
            .iter()
            .enumerate()
            .map(|(at, width)| wrap::plain(cells.get(at).unwrap_or(&blank), *width))
            .collect();
        let height = wrapped.iter().map(Vec::len).max().unwrap_or(1);
        let mut rows = Vec::new();
        for line in 0..height {
            let mut spans: Vec<Piece> = vec![piece("|", Look::Dim)];
            for (at, (cell, width)) in wrapped.iter().zip(widths).enumerate() {
                let text = cell.get(line).unwrap_or(&blank);
                let free = width.saturating_sub(width_of(text));
                let before = match self.alignments.get(at) {
                    Some(Alignment::Right) => free,
                    Some(Alignment::Center) => free / 2,
                    _ => 0,
                };
                spans.push(Span::raw(" ".repeat(before + 1)));
                let bold = if is_header {
                    Look::Bold.style()
                } else {
                    Style::default()
                };
                spans.extend(text.spans.iter().map(|span| span.clone().patch_style(bold)));
                spans.push(Span::raw(" ".repeat(free - before + 1)));
                spans.push(piece("|", Look::Dim));
            }
            rows.push(Line::from(spans));
        }
        rows
    }

    /// Each row as `Header: value` lines.
    fn as_list(&self, columns: usize) -> Vec<Row> {
        let mut rows = Vec::new();
        let Some((header, body)) = self.cells.split_first() else {
            return rows;
        };
        for (number, cells) in body.iter().enumerate() {
            if number > 0 {
                rows.push(Row::default());
            }
            for (name, value) in header.iter().zip(cells) {
                let mut line = name.clone().patch_style(Look::Bold.style());
                line.spans = line
                    .spans
                    .into_iter()
                    .map(|span| span.patch_style(Look::Bold.style()))
                    .collect();
                line.spans.push(Span::raw(": "));
                line.spans.extend(value.spans.iter().cloned());
                line.style = Style::new();
                rows.extend(wrap::wrap(
                    &line,
                    columns,
                    &Row::default(),
                    &Row::from("  "),
                ));
            }
        }
        rows
    }
}
