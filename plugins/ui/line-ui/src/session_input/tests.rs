use std::cell::Cell;
use std::io;

use super::*;
use crate::keyboard::Keyboard;
use crate::screen::{Look, Screen};
use crate::tests::rig::Paper;

fn desk() -> Desk {
    let (input, _) = io::pipe().unwrap();
    let look = Look {
        prompt: String::new(),
        invites: false,
        color: false,
    };
    let screen = Screen::new(
        Paper::default().output(false),
        Paper::default().output(false),
        look,
    );
    Desk::new(Arc::new(Keyboard::new(input.into())), Arc::new(screen))
}

fn not_ready(phase: &str) -> Error {
    Error::new(Class::ExtensionHost, "NotReady", "there is no session yet").with("phase", phase)
}

#[test]
fn a_line_waits_for_the_session() {
    let tries = Cell::new(0);
    let attempt = || {
        tries.set(tries.get() + 1);
        Some(if tries.get() < 4 {
            Err(not_ready("active"))
        } else {
            Ok(())
        })
    };
    assert_eq!(patiently(&desk(), attempt), Some(Ok(())));
    assert_eq!(tries.get(), 4);
}

#[test]
fn what_will_not_be_ready_is_not_tried_again() {
    let other = Error::new(Class::ExtensionHost, "UserInputForbidden", "not a UI");
    for error in [not_ready("disposed"), not_ready("inactive"), other] {
        let tries = Cell::new(0);
        let attempt = || {
            tries.set(tries.get() + 1);
            Some(Err::<(), _>(error.clone()))
        };
        assert_eq!(patiently(&desk(), attempt), Some(Err(error.clone())));
        assert_eq!(tries.get(), 1, "{error}");
    }
}

#[test]
fn a_line_waits_for_room_however_long_that_takes() {
    let full = Error::new(
        Class::Session,
        "InputQueueFull",
        "256 inputs are waiting already",
    );
    let tries = Cell::new(0);
    let attempt = || {
        tries.set(tries.get() + 1);
        Some(if tries.get() <= TRIES + 1 {
            Err(full.clone())
        } else {
            Ok(())
        })
    };
    assert_eq!(until_there_is_room(&desk(), attempt), Some(Ok(())));
    assert_eq!(tries.get(), TRIES + 2);

    let desk = desk();
    desk.close();
    assert_eq!(until_there_is_room(&desk, || Some(Err(full.clone()))), None);
}

#[test]
fn a_closed_desk_waits_for_nothing() {
    let desk = desk();
    desk.set_runner(thread::current());
    let attempt = || {
        desk.close();
        Some(Err::<(), _>(not_ready("active")))
    };
    assert_eq!(patiently(&desk, attempt), None);
    assert_eq!(wait_for(&desk, std::future::pending::<()>()), None);
    assert_eq!(wait_for(&desk, std::future::ready(1)), Some(1));
}

#[test]
fn closing_wakes_whoever_waits_for_the_host() {
    let desk = desk();
    desk.set_runner(thread::current());
    thread::scope(|scope| {
        scope.spawn(|| desk.close());
        assert_eq!(wait_for(&desk, std::future::pending::<()>()), None);
    });
}
