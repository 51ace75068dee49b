//! The end of the input, and the end of the plugin.

use std::io::{Read as _, Write as _};

use stud_sdk::interaction::{Approve, Ask, Confirm, Status};
use stud_sdk::testing::FakeHost;
use stud_sdk::{Phase, json};

use super::rig::{Rig, eventually};

fn input_ended(rig: &Rig) -> bool {
    let published = rig.host().published();
    published
        .iter()
        .any(|event| event.name == "LineUiInputEnded" && event.payload == json!({}))
}

#[test]
fn a_pipe_that_ends_is_announced_after_its_lines() {
    let mut rig = Rig::new();
    rig.types("hello\nlast");
    rig.hangs_up();
    eventually("the end is announced", || input_ended(&rig));
    assert_eq!(rig.sent(0), ["hello", "last"]);
    assert_eq!(rig.host().published().len(), 1);
}

#[test]
fn exit_and_quit_end_the_input_and_nothing_after_them_is_sent() {
    for word in ["/exit", "/quit", "/exit \r"] {
        let rig = Rig::new();
        rig.types(&format!("hello\n{word}\nmore\n"));
        eventually("the end is announced", || input_ended(&rig));
        assert_eq!(rig.sent(0), ["hello"]);
        assert!(rig.host().dispatched().is_empty());
        let response = rig.asks(Ask::default()).response();
        assert_eq!(response.status, Status::Dismissed);
    }
}

#[test]
fn a_prompt_after_the_end_is_shown_and_left_to_others() {
    let mut rig = Rig::new();
    rig.types("do it\n");
    rig.hangs_up();
    eventually("the end is announced", || input_ended(&rig));
    let approve = Approve {
        tool_id: "bash".into(),
        ..Approve::default()
    };
    let response = rig.asks(approve).response();
    assert_eq!(response.status, Status::Dismissed);
    let notes = rig.notes.text();
    assert!(notes.contains("? Allow the tool bash?"), "{notes}");
    assert!(
        notes.ends_with("not answered here: the input has ended\n"),
        "{notes}"
    );
}

#[test]
fn a_prompt_at_the_end_is_never_answered_by_silence() {
    for typed in ["", "y"] {
        let mut rig = Rig::new();
        let asked = rig.asks(Confirm {
            prompt: "Sure?".into(),
            default: Some(true),
        });
        rig.notes.wait_for("[Y/n] ");
        rig.types(typed);
        rig.hangs_up();
        let response = asked.response();
        assert_eq!(response.status, Status::Dismissed);
        assert_eq!(rig.sent(0), Vec::<String>::new());
    }
}

#[test]
fn deactivation_releases_prompts_and_leaves_the_input_to_others() {
    let (input, mut keys) = std::io::pipe().unwrap();
    let mut next_reader = input.try_clone().unwrap();
    let rig = Rig::on(input.into(), FakeHost::new(), false);
    let asked = rig.asks(Ask::default());
    rig.notes.wait_for("answer: ");
    rig.harness.lifecycle(Phase::Deactivate).unwrap();
    let response = asked.response();
    assert_eq!(response.status, Status::Dismissed);
    assert!(
        rig.notes
            .text()
            .contains("not answered here: this screen closes\n")
    );

    keys.write_all(b"for the next one\n").unwrap();
    let mut line = [0; 17];
    next_reader.read_exact(&mut line).unwrap();
    assert_eq!(&line, b"for the next one\n");

    let late = rig.asks(Ask::default()).response();
    assert_eq!(late.status, Status::Dismissed);
    rig.hears("ProviderTokensStreamed", json!({"delta": "late"}));
    assert_eq!(rig.text.text(), "");
    rig.harness.lifecycle(Phase::Dispose).unwrap();
    rig.harness.lifecycle(Phase::Dispose).unwrap();
    assert!(rig.host().appended().is_empty() && rig.host().published().is_empty());
}

#[test]
fn it_can_be_activated_again() {
    let rig = Rig::new();
    rig.types("one\n");
    assert_eq!(rig.sent(1), ["one"]);
    rig.harness.lifecycle(Phase::Deactivate).unwrap();
    rig.harness.lifecycle(Phase::Activate).unwrap();
    rig.types("two\n");
    assert_eq!(rig.sent(2), ["one", "two"]);
}

#[test]
fn a_dropped_plugin_leaves_no_thread_behind() {
    let (input, keys) = std::io::pipe().unwrap();
    let rig = Rig::on(input.into(), FakeHost::new(), false);
    drop(rig);
    // Once the last reader is gone, writing fails.
    eventually("the input is closed", || (&keys).write_all(b"x").is_err());
}
