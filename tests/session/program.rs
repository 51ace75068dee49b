//! The program from outside, with a UI that is a library.

use std::io::Write as _;
use std::process::{Output, Stdio};

use serde_json::json;
use stud_tests::World;

use crate::stage::{install, tools, ui};

/// Runs `stud --headless` on one input.
fn headless(world: &World, more: &[&str], input: &str) -> Output {
    let mut stud = world
        .command()
        .arg("--headless")
        .args(more)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    stud.stdin
        .take()
        .unwrap()
        .write_all(input.as_bytes())
        .unwrap();
    stud.wait_with_output().unwrap()
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

const GATED: &str = r#"!tool line_count {"path": "/dev/null"}"#;

#[test]
fn without_a_terminal_an_installed_interactor_still_answers() {
    let world = World::new();
    let submit = json!({"do": "accept", "value": {"action": "submit", "input": {"answer": "Ada"}}});
    let approve = json!({"do": "accept", "value": {"decision": "approve"}});
    let prompts = json!({"ToolInput": submit, "Approve": approve});
    let one = ui(&world, "one", &json!({"prompts": prompts}));
    tools(&world);
    install(&world, "good-tool", "tools");
    let asked = headless(&world, &[], r#"!tool ask_user {"question": "Your name?"}"#);
    assert!(asked.status.success(), "{asked:?}");
    assert_eq!(
        stdout(&asked),
        "RESULT {\"ok\":true,\"result\":{\"answer\":\"Ada\",\"ok\":true}}\n"
    );
    let approved = headless(&world, &[], GATED);
    assert_eq!(
        stdout(&approved),
        "RESULT {\"ok\":true,\"result\":\"0 lines\"}\n"
    );
    one.saw("Approve");
}

#[test]
fn with_nobody_to_ask_it_halts_and_says_so() {
    let world = World::new();
    install(&world, "good-tool", "tools");
    let halted = headless(&world, &[], GATED);
    assert_eq!(halted.status.code(), Some(3), "{halted:?}");
    assert_eq!(stdout(&halted), "");
    let said = String::from_utf8_lossy(&halted.stderr);
    assert!(
        said.contains("Validation/HeadlessInteractionRequired"),
        "{said}"
    );

    let approved = headless(&world, &["--yolo"], GATED);
    assert!(approved.status.success(), "{approved:?}");
    assert_eq!(
        stdout(&approved),
        "RESULT {\"ok\":true,\"result\":\"0 lines\"}\n"
    );
}

#[test]
fn what_a_ui_brings_is_answered_before_the_program_ends() {
    let world = World::new();
    let input = json!({"call": "session.append", "with": {"kind": "userInput", "text": "first"}});
    let one = ui(&world, "one", &json!({"activate": [input]}));
    let answered = headless(&world, &[], "second");
    assert!(answered.status.success(), "{answered:?}");
    assert_eq!(stdout(&answered), "USER second\n");
    one.heard("SessionClosed");
    let said = one.all_heard("ProviderRequestCompleted");
    let texts = said
        .iter()
        .map(|event| event["payload"]["assistantText"].clone());
    assert_eq!(texts.collect::<Vec<_>>(), ["USER first", "USER second"]);
}
