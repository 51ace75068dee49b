use std::num::NonZero;

use super::*;
use crate::text::row::{Look, row};

const PLAIN: Abilities = Abilities {
    reflows: true,
    synchronized: false,
    color: true,
};

/// A terminal in memory, and the printer that writes to it.
struct Rig {
    screen: vt100::Parser,
    printer: Printer,
    bytes: usize,
}

impl Rig {
    fn new(rows: u16, columns: u16) -> Self {
        Self {
            screen: vt100::Parser::new(
                NonZero::new(rows).unwrap(),
                NonZero::new(columns).unwrap(),
                1000,
            ),
            printer: Printer::new(usize::from(columns), PLAIN),
            bytes: 0,
        }
    }

    fn frame(&mut self, commits: &[&str], live: &[&str], caret: (usize, usize)) -> String {
        let rows = |texts: &[&str]| -> Vec<Row> {
            texts.iter().map(|text| row(*text, Look::Plain)).collect()
        };
        let bytes = self.printer.frame(&rows(commits), &rows(live), caret);
        self.bytes = bytes.len();
        self.screen.process(bytes.as_bytes());
        bytes
    }

    fn rows(&self) -> Vec<String> {
        let (_, columns) = self.screen.screen().size();
        let rows = self.screen.screen().rows(0, columns.get());
        let mut rows: Vec<String> = rows.map(|row| row.trim_end().to_owned()).collect();
        while rows.last().is_some_and(String::is_empty) {
            rows.pop();
        }
        rows
    }
}

#[test]
fn the_live_area_stands_below_what_was_committed() {
    let mut rig = Rig::new(6, 20);
    rig.screen.process(b"$ stud\r\n");
    rig.frame(&["one"], &["rule", "> ", "status"], (1, 2));
    assert_eq!(rig.rows(), ["$ stud", "one", "rule", ">", "status"]);
    assert_eq!(rig.screen.screen().cursor_position(), (3, 2));
    rig.frame(&["two", "three"], &["rule", "> a", "status"], (1, 3));
    assert_eq!(rig.rows(), ["one", "two", "three", "rule", "> a", "status"]);
    assert_eq!(rig.screen.screen().cursor_position(), (4, 3));
}

#[test]
fn tui_15_more_rows_than_the_screen_has_are_all_committed_once() {
    let mut rig = Rig::new(5, 20);
    let mut expected = Vec::new();
    for frame in 0..20 {
        let rows: Vec<String> = (0..=frame % 9)
            .map(|row| format!("row {frame}.{row}"))
            .collect();
        let texts: Vec<&str> = rows.iter().map(String::as_str).collect();
        rig.frame(&texts, &["rule", ">"], (1, 1));
        expected.extend(rows);
    }
    rig.screen.screen_mut().set_scrollback(usize::MAX);
    let above = rig.screen.screen().scrollback();
    let mut seen = Vec::new();
    for back in (0..=above).rev() {
        rig.screen.screen_mut().set_scrollback(back);
        let first = rig.screen.screen().rows(0, 20).next().unwrap_or_default();
        seen.push(first.trim_end().to_owned());
    }
    rig.screen.screen_mut().set_scrollback(0);
    seen.extend(rig.rows().into_iter().skip(1));
    expected.extend(["rule".to_owned(), ">".to_owned()]);
    assert_eq!(seen, expected);
}

#[test]
fn tui_16_a_smaller_live_area_leaves_no_gap() {
    let mut rig = Rig::new(8, 20);
    rig.frame(
        &["one"],
        &["tail 1", "tail 2", "rule", ">", "status"],
        (3, 1),
    );
    rig.frame(&["two"], &["rule", ">", "status"], (1, 1));
    assert_eq!(rig.rows(), ["one", "two", "rule", ">", "status"]);
    rig.frame(&[], &["a", "b", "rule", ">", "status"], (3, 1));
    assert_eq!(rig.rows(), ["one", "two", "a", "b", "rule", ">", "status"]);
}

#[test]
fn tui_18_only_what_changed_is_written() {
    let mut rig = Rig::new(8, 80);
    rig.frame(&[], &["rule", "> ab", "status line"], (1, 4));
    let bytes = rig.frame(&[], &["rule", "> abc", "status line"], (1, 5));
    assert_eq!(bytes, "c");
    assert_eq!(
        rig.frame(&[], &["rule", "> abc", "status line"], (1, 5)),
        ""
    );
    let bytes = rig.frame(&[], &["rule", "> abcd", "status line 2"], (1, 6));
    assert!(bytes.len() <= 24, "{bytes:?}");
    assert_eq!(rig.rows(), ["rule", "> abcd", "status line 2"]);
}

#[test]
fn tui_14_nothing_but_rows_of_the_live_area_is_erased() {
    let mut rig = Rig::new(8, 20);
    let mut all = rig.frame(&["one"], &["rule", ">"], (1, 1));
    rig.printer.resized(20);
    all += &rig.frame(&["two"], &["rule", "> a", "status"], (1, 3));
    all += &rig.printer.take_down();
    for forbidden in ["J", "r", "?1049", "?47", "?1000", "H"] {
        let sequences = all.split("\x1b[").skip(1);
        for sequence in sequences {
            let end = sequence
                .find(|c: char| c.is_ascii_alphabetic())
                .unwrap_or(0);
            assert_ne!(&sequence[end..=end], forbidden, "{all:?}");
        }
    }
}

#[test]
fn a_row_wider_than_the_terminal_is_wrapped_by_the_terminal() {
    let mut rig = Rig::new(8, 10);
    rig.frame(&[], &["rule", ">"], (1, 1));
    rig.frame(&["0123456789abc"], &["rule", ">"], (1, 1));
    assert_eq!(rig.rows(), ["0123456789", "abc", "rule", ">"]);
    assert!(rig.screen.screen().row_wrapped(0));
}

#[test]
fn tui_22_the_column_after_a_disputed_cluster_is_set() {
    let mut rig = Rig::new(4, 40);
    let bytes = rig.frame(&[], &["👩\u{200d}🔬 x"], (0, 0));
    assert!(bytes.contains("\x1b[3G x"), "{bytes:?}");
}

#[test]
fn tui_107_without_color_there_is_none() {
    let abilities = Abilities {
        color: false,
        ..PLAIN
    };
    let mut printer = Printer::new(40, abilities);
    let bytes = printer.frame(&[row("bad", Look::Bad)], &[], (0, 0));
    assert!(
        bytes.contains("\x1b[0;1m") && !bytes.contains(";31"),
        "{bytes:?}"
    );
}

#[test]
fn tui_17_synchronized_output_is_used_only_where_it_is_known() {
    let abilities = Abilities {
        synchronized: true,
        ..PLAIN
    };
    let mut printer = Printer::new(40, abilities);
    let bytes = printer.frame(&[], &[row(">", Look::Plain)], (0, 1));
    assert!(bytes.starts_with(modes::BEGIN_FRAME) && bytes.ends_with(modes::END_FRAME));
    let mut printer = Printer::new(40, PLAIN);
    assert!(
        !printer
            .frame(&[], &[row(">", Look::Plain)], (0, 1))
            .contains("2026")
    );
}
