use std::io;

use super::*;
use crate::tests::rig::Paper;

/// A screen whose streams end on the same paper, as on one terminal.
fn terminal(color: bool) -> (Screen, Paper) {
    let paper = Paper::default();
    let look = Look {
        prompt: "> ".to_owned(),
        invites: true,
        color,
    };
    let screen = Screen::new(paper.output(true), paper.output(true), look);
    (screen, paper)
}

fn pipes() -> (Screen, Paper, Paper) {
    let (text, notes) = (Paper::default(), Paper::default());
    let look = Look {
        prompt: "> ".to_owned(),
        invites: false,
        color: false,
    };
    let screen = Screen::new(text.output(false), notes.output(false), look);
    (screen, text, notes)
}

#[test]
fn text_and_notes_take_rows_of_their_own_on_a_terminal() {
    let (screen, paper) = terminal(false);
    screen.invite();
    screen.text("Let me");
    screen.text(" see.");
    screen.note(Tone::Plain, "• read");
    screen.end_text();
    screen.text("Done.");
    screen.end_text();
    screen.end_text();
    screen.invite();
    screen.invite();
    assert_eq!(paper.text(), "> \nLet me see.\n• read\nDone.\n> ");
}

#[test]
fn a_pipe_gets_the_text_and_nothing_else() {
    let (screen, text, notes) = pipes();
    screen.invite();
    screen.text("Let me");
    screen.note(Tone::Alarm, "• read failed");
    screen.text(" see.");
    screen.ask("? Sure?", "[y/n] ");
    screen.note(Tone::Faint, "cancelled");
    screen.end_text();
    screen.text("Done.\n");
    screen.end_text();
    assert_eq!(text.text(), "Let me see.\nDone.\n");
    assert_eq!(notes.text(), "• read failed\n? Sure?\n[y/n] \ncancelled\n");
}

#[test]
fn nobody_is_invited_while_something_goes_on() {
    let (screen, paper) = terminal(false);
    screen.begin(Busy::Turn);
    screen.begin(Busy::Question);
    screen.invite();
    screen.end(Busy::Turn);
    assert_eq!(paper.text(), "");
    screen.end(Busy::Question);
    assert_eq!(paper.text(), "> ");
    screen.note(Tone::Plain, "by the way");
    assert_eq!(paper.text(), "> \nby the way\n> ");
    screen.entered();
    screen.text("Hi");
    assert_eq!(paper.text(), "> \nby the way\n> Hi");
}

#[test]
fn color_is_for_notes_alone() {
    let (screen, paper) = terminal(true);
    screen.text("plain\n");
    screen.note(Tone::Alarm, "bad\u{1b}[0m");
    screen.note(Tone::Plain, "fine");
    assert_eq!(
        paper.text(),
        "plain\n\u{1b}[31mbad\\u{1b}[0m\u{1b}[0m\nfine\n"
    );
}

#[test]
fn everything_that_is_shown_is_escaped() {
    let (screen, text, notes) = pipes();
    screen.text("a\u{1b}]0;x\u{7}\tb\u{200b}\n");
    screen.note(Tone::Plain, "c\u{9b}d");
    screen.ask("e\u{202e}", "f\r");
    assert_eq!(text.text(), "a\\u{1b}]0;x\\u{7}\tb\\u{200b}\n");
    assert_eq!(notes.text(), "c\\u{9b}d\ne\\u{202e}\nf\\r");
}

/// A pipe without a reader.
struct Broken;

impl Write for Broken {
    fn write(&mut self, _: &[u8]) -> io::Result<usize> {
        Err(io::ErrorKind::BrokenPipe.into())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_lost_reader_is_mentioned_once() {
    let notes = Paper::default();
    let text = Output {
        writer: Box::new(Broken),
        is_terminal: false,
    };
    let look = Look {
        prompt: String::new(),
        invites: false,
        color: false,
    };
    let screen = Screen::new(text, notes.output(false), look);
    screen.text("one");
    screen.text("two");
    screen.end_text();
    assert_eq!(notes.text().matches("cannot be written").count(), 1);
}
