//! The full screen at a pseudo-terminal: keys in, bytes and screen out.
//!
//! What is on the screen is what a terminal in memory makes of all bytes so far.
#![forbid(unsafe_code)]

use std::num::NonZero;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;
use stud_tests::{Terminal, World, eventually};

#[cfg(test)]
mod attached;

const ROWS: NonZero<u16> = NonZero::new(24).unwrap();
const COLUMNS: NonZero<u16> = NonZero::new(80).unwrap();

/// A home with a provider, so that no first start asks for one.
fn home() -> World {
    let world = World::new();
    let settings = json!({"active": {"provider": "echo"}});
    world.write("home/settings.json", settings.to_string());
    world
}

/// The program at a terminal that can do more than show lines.
fn full(world: &World) -> Terminal {
    let mut command = world.command();
    command.env("TERM", "xterm-256color").env("LANG", "C.UTF-8");
    Terminal::start(&mut command)
}

/// Everything that can be seen, the rows that have scrolled away included.
fn screen(terminal: &Terminal) -> String {
    let mut parser = vt100::Parser::new(ROWS, COLUMNS, 10_000);
    parser.process(terminal.so_far().as_bytes());
    parser.screen_mut().set_scrollback(usize::MAX);
    let above = parser.screen().scrollback();
    let mut rows = Vec::new();
    for back in (1..=above).rev() {
        parser.screen_mut().set_scrollback(back);
        rows.extend(parser.screen().rows(0, COLUMNS.get()).next());
    }
    parser.screen_mut().set_scrollback(0);
    rows.extend(parser.screen().rows(0, COLUMNS.get()));
    rows.iter().flat_map(|row| [row.trim_end(), "\n"]).collect()
}

fn shows(terminal: &Terminal, text: &str) {
    eventually(&format!("`{text}` on the screen"), || {
        screen(terminal).contains(text).then_some(())
    });
}

/// No sequence that the main view never writes, and everything that was switched on is off at the end.
fn is_restored(bytes: &str) {
    for forbidden in [
        "\u{1b}[?1049h",
        "\u{1b}[?1000h",
        "\u{1b}[?1006h",
        "\u{1b}[2J",
        "\u{1b}[3J",
        "\u{1b}[J",
    ] {
        assert!(!bytes.contains(forbidden), "{forbidden:?} in {bytes:?}");
    }
    for (on, off) in [
        ("\u{1b}[?2004h", "\u{1b}[?2004l"),
        ("\u{1b}[?1004h", "\u{1b}[?1004l"),
    ] {
        assert!(
            bytes.rfind(on) < bytes.rfind(off),
            "{on:?} is left on: {bytes:?}"
        );
    }
}

#[test]
fn tui_1_a_terminal_gets_the_full_screen_and_no_other() {
    let world = home();
    let terminal = full(&world);
    shows(&terminal, "a plugin host for coding assistants");
    shows(&terminal, "mode ask · online");
    assert!(!terminal.shows_keys());
    terminal.types("/ui\r");
    shows(&terminal, "default-tui  subscriber, interactor");
    assert!(
        !screen(&terminal).contains("line-ui"),
        "{}",
        screen(&terminal)
    );
    terminal.types("\u{4}");
    eventually("the terminal as it was", || {
        terminal.shows_keys().then_some(())
    });
    let (status, bytes) = terminal.end();
    assert_eq!(status, 0);
    is_restored(&bytes);
}

#[test]
fn tui_2_a_plain_terminal_and_accessible_get_the_line_screen() {
    let world = home();
    let mut command = world.command();
    let terminal = Terminal::start(command.env("TERM", "dumb"));
    terminal.sees("echo");
    terminal.types("\u{4}");
    let (status, bytes) = terminal.end();
    assert_eq!(status, 0);
    assert!(!bytes.contains("\u{1b}[?"), "{bytes:?}");

    let settings =
        json!({"active": {"provider": "echo"}, "ui": {"default-tui": {"accessible": true}}});
    world.write("home/settings.json", settings.to_string());
    let terminal = full(&world);
    terminal.types("hello\n");
    terminal.sees("USER hello");
    terminal.types("\u{4}");
    let (status, bytes) = terminal.end();
    assert_eq!(status, 0);
    assert!(!bytes.contains("\u{1b}[?"), "{bytes:?}");
}

#[test]
fn tui_5_verbs_without_a_session_leave_the_terminal_alone() {
    let world = home();
    for arguments in [&["plugin", "list"][..], &["--version"]] {
        let mut command = world.command();
        command.env("TERM", "xterm-256color").args(arguments);
        let (status, bytes) = Terminal::start(&mut command).end();
        assert_eq!(status, 0, "{bytes}");
        assert!(!bytes.contains("\u{1b}[?"), "{bytes:?}");
    }
}

#[test]
fn tui_28_an_answer_is_shown_once() {
    let world = home();
    let terminal = full(&world);
    shows(&terminal, "mode ask");
    terminal.types("hello there\r");
    shows(&terminal, "USER hello there");
    terminal.types("!flood 2000\r");
    shows(&terminal, "out 2.0k");
    terminal.types("\u{4}");
    let (status, bytes) = terminal.end();
    assert_eq!(status, 0);
    is_restored(&bytes);
}

#[test]
fn tui_63_ctrl_c_calls_the_turn_off_and_the_next_input_is_answered() {
    let world = home();
    let terminal = full(&world);
    shows(&terminal, "mode ask");
    terminal.types("!slow 600000\r");
    shows(&terminal, "!slow 600000\n");
    shows(&terminal, "stud  ");
    terminal.types("after\r");
    shows(&terminal, "queued 1: after");
    terminal.types("\u{3}");
    shows(&terminal, "cancelled");
    shows(&terminal, "USER after");
    terminal.types("\u{4}");
    assert_eq!(terminal.end().0, 0);
}

#[test]
fn tui_78_and_82_a_tool_is_asked_about_and_denied() {
    let world = home();
    let terminal = full(&world);
    shows(&terminal, "mode ask");
    terminal.types("!tool bash {\"command\":\"touch made\"}\r");
    shows(&terminal, "? Allow bash");
    shows(&terminal, "│ command = touch made");
    shows(&terminal, "y once · n no");
    terminal.types("n");
    shows(&terminal, "said no  here");
    shows(&terminal, "RESULT");
    assert!(!world.project().join("made").exists());
    terminal.types("\u{4}");
    assert_eq!(terminal.end().0, 0);
}

#[test]
fn tui_116_a_signal_leaves_the_terminal_as_it_was() {
    let world = home();
    for (signal, status) in [(Signal::TERM, 0), (Signal::HUP, 0)] {
        let terminal = full(&world);
        shows(&terminal, "mode ask");
        let pid = Pid::from_raw(terminal.pid()).unwrap();
        kill_process(pid, signal).unwrap();
        eventually("the terminal as it was", || {
            terminal.shows_keys().then_some(())
        });
        let (ended, bytes) = terminal.end();
        assert_eq!(ended, status);
        is_restored(&bytes);
    }
}

#[test]
fn tui_116_a_second_interrupt_ends_the_program_with_the_terminal_as_it_was() {
    let world = home();
    let terminal = full(&world);
    shows(&terminal, "mode ask");
    terminal.types("!tool bash {\"command\":\"sleep 100\"}\r");
    shows(&terminal, "y once");
    let pid = Pid::from_raw(terminal.pid()).unwrap();
    eventually("the end of the program", || {
        let _ = kill_process(pid, Signal::INT);
        terminal.shows_keys().then_some(())
    });
    let (_, bytes) = terminal.end();
    is_restored(&bytes);
}
