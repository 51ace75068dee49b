//! A person at a terminal, here a pseudo-terminal.

use std::fs::File;
use std::io::Write as _;
use std::os::fd::OwnedFd;

use rustix::fs::{Mode, OFlags, open};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{LocalModes, tcgetattr};
use stud_sdk::Phase;
use stud_sdk::host::cancellation::Scope;
use stud_sdk::host::commands::{CommandRef, CommandResult};
use stud_sdk::interaction::{Ask, AuthPassword, Confirm, ConfirmAnswer, Status};
use stud_sdk::testing::FakeHost;
use stud_sdk::{Value, json};

use super::rig::{Rig, answer, eventually};

/// The side of a terminal where a person types.
struct Person(File);

impl Person {
    fn sit_down(host: FakeHost) -> (Self, Rig) {
        let (person, terminal) = Self::terminal();
        (person, Rig::on(terminal, host, true))
    }

    fn terminal() -> (Self, OwnedFd) {
        let person = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&person).unwrap();
        unlockpt(&person).unwrap();
        let name = ptsname(&person, Vec::new()).unwrap();
        let terminal = open(name, OFlags::RDWR | OFlags::NOCTTY, Mode::empty()).unwrap();
        (Self(person.into()), terminal)
    }

    fn types(&self, keys: &str) {
        (&self.0).write_all(keys.as_bytes()).unwrap();
    }

    /// Whether the terminal shows what is typed.
    fn sees_keys(&self) -> bool {
        let modes = tcgetattr(&self.0).unwrap().local_modes;
        modes.contains(LocalModes::ECHO | LocalModes::ICANON)
    }
}

#[test]
fn a_person_is_invited_whenever_they_can_type() {
    let (person, rig) = Person::sit_down(FakeHost::new());
    assert_eq!(rig.notes.text(), "> ");
    person.types("\n");
    rig.notes.wait_for("> > ");
    person.types("hello\n");
    assert_eq!(rig.sent(1), ["hello"]);
    rig.hears("SessionTurnStart", json!({}));
    rig.hears("ProviderTokensStreamed", json!({"delta": "USER hello"}));
    rig.hears("SessionTurnEnd", json!({}));
    assert_eq!(rig.text.text(), "USER hello\n");
    assert_eq!(rig.notes.text(), "> > > ");
}

#[test]
fn the_invitation_comes_back_after_a_command() {
    let command = CommandRef {
        name: "help".into(),
        ..CommandRef::default()
    };
    let done = CommandResult::Done {
        rendered: "no help".into(),
        payload: None,
    };
    let config = json!({"prompt": "you\u{1b}: ", "color": "never"});
    let (person, rig) = Person::sit_down(FakeHost::new().command(command, done).config(config));
    person.types("/help\n");
    rig.notes.wait_for("no help\nyou\\u{1b}: ");
}

#[test]
fn a_secret_is_not_shown_while_it_is_typed() {
    let (person, rig) = Person::sit_down(FakeHost::new());
    assert!(person.sees_keys());
    let asked = rig.asks(AuthPassword {
        prompt: "Key".into(),
    });
    rig.notes.wait_for("secret: ");
    assert!(!person.sees_keys());
    person.types("\n");
    rig.notes.wait_for("nothing was typed");
    assert!(!person.sees_keys());
    person.types("hunter2\n");
    let response = asked.response();
    assert_eq!(response.status, Status::Accepted);
    assert_eq!(response.value, Some(json!({"secret": "hunter2"})));
    assert!(person.sees_keys());
    assert!(!rig.notes.text().contains("hunter2"));
}

#[test]
fn the_terminal_shows_keys_again_however_a_secret_prompt_ends() {
    let end_by_token = |rig: &Rig| rig.host().cancel(Scope::Turn);
    let end_by_phase = |rig: &Rig| rig.harness.lifecycle(Phase::Deactivate).unwrap();
    let end_by_event = |rig: &Rig| {
        let payload = json!({"correlationId": "turn-1", "interactionId": "interaction-1"});
        rig.hears("InteractionCancelled", payload);
    };
    let ends: [&dyn Fn(&Rig); 3] = [&end_by_token, &end_by_phase, &end_by_event];
    for end in ends {
        let (person, rig) = Person::sit_down(FakeHost::new());
        let asked = rig.asks(AuthPassword::default());
        rig.notes.wait_for("secret: ");
        assert!(!person.sees_keys());
        end(&rig);
        assert_eq!(asked.response().status, Status::Dismissed);
        assert!(person.sees_keys());
    }
}

#[test]
fn half_a_line_typed_before_a_prompt_is_thrown_away() {
    let (person, rig) = Person::sit_down(FakeHost::new());
    person.types("hello\nye");
    assert_eq!(rig.sent(1), ["hello"]);
    let asked = rig.asks(Confirm::default());
    rig.notes.wait_for("[y/n] ");
    person.types("s\nn\n");
    let response = asked.response();
    let confirmed = false;
    let expected = Some(ConfirmAnswer { confirmed }.into());
    assert_eq!(answer(&response, &Confirm::default().into()), expected);
    assert!(rig.notes.text().contains("type y or n"));
}

#[test]
fn half_a_line_typed_for_a_prompt_goes_with_it() {
    let (person, rig) = Person::sit_down(FakeHost::new());
    let asked = rig.asks(Ask::default());
    rig.notes.wait_for("answer: ");
    person.types("my secret pl");
    rig.host().cancel(Scope::Turn);
    assert_eq!(asked.response().status, Status::Dismissed);
    person.types("hello\n");
    assert_eq!(rig.sent(1), ["hello"]);
}

#[test]
fn the_end_of_typing_is_the_end_of_the_input() {
    let (person, rig) = Person::sit_down(FakeHost::new());
    person.types("\u{4}");
    eventually("the end is announced", || {
        !rig.host().published().is_empty()
    });
    assert_eq!(rig.notes.text(), "> \n");
    rig.hears("SessionTurnEnd", json!({}));
    assert_eq!(rig.notes.text(), "> \n");
}

#[test]
fn nobody_is_asked_what_they_cannot_see() {
    let (person, terminal) = Person::terminal();
    let rig = Rig::on(terminal, FakeHost::new(), false);
    let response = rig.asks(Ask::default()).response();
    assert_eq!(response.status, Status::Dismissed);
    let notes = &rig.notes;
    assert!(
        notes.text().contains("the prompt would not be visible"),
        "{}",
        notes.text()
    );
    drop(person);
}

/// Whether notes are colored with this config and environment.
fn is_colored(config: Value, env: &[(&str, &str)]) -> bool {
    let host = FakeHost::new().config(config);
    let host = env
        .iter()
        .fold(host, |host, (name, value)| host.env(name, value));
    let (_person, rig) = Person::sit_down(host);
    rig.hears("SuppressedError", json!({"reason": "x"}));
    rig.notes.text().contains("\u{1b}[2mwarning: x\u{1b}[0m")
}

#[test]
fn color_is_used_where_it_is_wanted() {
    assert!(is_colored(json!({}), &[("TERM", "xterm")]));
    assert!(is_colored(json!({}), &[("NO_COLOR", "")]));
    assert!(!is_colored(json!({}), &[("NO_COLOR", "1")]));
    assert!(!is_colored(json!({}), &[("TERM", "dumb")]));
    assert!(!is_colored(json!({"color": "never"}), &[]));
    assert!(is_colored(json!({"color": "always"}), &[("NO_COLOR", "1")]));
}

#[test]
fn a_pipe_is_not_colored() {
    let rig = Rig::new();
    rig.hears("SuppressedError", json!({"reason": "x"}));
    assert_eq!(rig.notes.text(), "warning: x\n");
}
