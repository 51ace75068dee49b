//! Rows as cells, so that two of them can be compared column by column.

use std::fmt::Write as _;

use ratatui_core::style::{Color, Modifier, Style};

use crate::text::row::Row;
use crate::text::width;

/// One column. The second column of a wide cluster is empty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Cell {
    pub(crate) text: String,
    pub(crate) style: Style,
}

/// A row, column by column. Behind the last cell it is blank.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct CellRow(pub(crate) Vec<Cell>);

impl CellRow {
    pub(crate) fn of(row: &Row) -> Self {
        let mut cells: Vec<Cell> = Vec::new();
        for span in &row.spans {
            for cluster in width::clusters(&span.content) {
                match width::of_cluster(cluster) {
                    // A mark without a letter of its own belongs to the letter before it.
                    0 => {
                        if let Some(cell) =
                            cells.iter_mut().rev().find(|cell| !cell.text.is_empty())
                        {
                            cell.text.push_str(cluster);
                        }
                    }
                    wide => {
                        cells.push(Cell {
                            text: cluster.to_owned(),
                            style: span.style,
                        });
                        if wide == 2 {
                            cells.push(Cell {
                                text: String::new(),
                                style: span.style,
                            });
                        }
                    }
                }
            }
        }
        while cells
            .last()
            .is_some_and(|cell| cell.text == " " && is_bare(cell.style))
        {
            cells.pop();
        }
        Self(cells)
    }

    pub(crate) fn width(&self) -> usize {
        self.0.len()
    }
}

/// Whether a blank in this style looks like no cell at all.
fn is_bare(style: Style) -> bool {
    style.bg.is_none_or(|color| color == Color::Reset)
        && !style
            .add_modifier
            .intersects(Modifier::REVERSED | Modifier::UNDERLINED | Modifier::CROSSED_OUT)
}

/// Puts the sequence that switches to a style behind `out`.
pub(crate) fn push_style(out: &mut String, style: Style, with_color: bool) {
    out.push_str("\x1b[0");
    for (modifier, number) in [
        (Modifier::BOLD, ";1"),
        (Modifier::DIM, ";2"),
        (Modifier::ITALIC, ";3"),
        (Modifier::UNDERLINED, ";4"),
        (Modifier::REVERSED, ";7"),
        (Modifier::CROSSED_OUT, ";9"),
    ] {
        if style.add_modifier.contains(modifier) {
            out.push_str(number);
        }
    }
    if with_color {
        if let Some(number) = style.fg.and_then(number_of) {
            let _ = write!(out, ";{number}");
        }
        if let Some(number) = style.bg.and_then(number_of) {
            let _ = write!(out, ";{}", number + 10);
        }
    }
    out.push('m');
}

fn number_of(color: Color) -> Option<u8> {
    Some(match color {
        Color::Black => 30,
        Color::Red => 31,
        Color::Green => 32,
        Color::Yellow => 33,
        Color::Blue => 34,
        Color::Magenta => 35,
        Color::Cyan => 36,
        Color::Gray => 37,
        Color::DarkGray => 90,
        Color::LightRed => 91,
        Color::LightGreen => 92,
        Color::LightYellow => 93,
        Color::LightBlue => 94,
        Color::LightMagenta => 95,
        Color::LightCyan => 96,
        Color::White => 97,
        _ => return None,
    })
}
