//! Prompts that others settle, and prompts that come together.

use stud_sdk::host::cancellation::Scope;
use stud_sdk::interaction::{Ask, AskAnswer, Status};
use stud_sdk::json;
use stud_sdk::ui::Answer;

use super::rig::{Rig, answer, answered_by};

fn ask(prompt: &str) -> Ask {
    Ask {
        prompt: prompt.into(),
        ..Ask::default()
    }
}

fn text(text: &str) -> Answer {
    AskAnswer { text: text.into() }.into()
}

#[test]
fn a_prompt_answered_elsewhere_is_closed_and_says_by_whom() {
    let rig = Rig::new();
    let asked = rig.asks(ask("Name?"));
    rig.notes.wait_for("answer: ");
    rig.hears("InteractionAnswered", answered_by("web\u{1b}", "another"));
    rig.hears(
        "InteractionAnswered",
        answered_by("web\u{1b}", "interaction-1"),
    );
    let response = asked.response();
    assert_eq!(response.status, Status::Dismissed);
    assert!(
        rig.notes
            .text()
            .ends_with("answer: \nanswered by web\\u{1b}\n"),
        "{}",
        rig.notes.text()
    );
    rig.types("Ada\n");
    assert_eq!(rig.sent(1), ["Ada"]);
}

#[test]
fn a_prompt_called_off_by_event_is_closed() {
    let rig = Rig::new();
    let asked = rig.asks(ask("Name?"));
    rig.notes.wait_for("answer: ");
    let payload = json!({"correlationId": "turn-1", "interactionId": "interaction-1"});
    rig.hears("InteractionCancelled", payload);
    assert_eq!(asked.response().status, Status::Dismissed);
    assert!(rig.notes.text().ends_with("\ncancelled\n"));
}

#[test]
fn a_prompt_called_off_by_its_token_is_closed_and_explained_later() {
    let rig = Rig::new();
    let asked = rig.asks(ask("Name?"));
    rig.notes.wait_for("answer: ");
    rig.host().cancel(Scope::Turn);
    assert_eq!(asked.response().status, Status::Dismissed);
    let closed = "\nclosed here: cancelled, or answered elsewhere\n";
    assert!(rig.notes.text().ends_with(closed));
    rig.hears("InteractionAnswered", answered_by("web", "interaction-1"));
    rig.hears("InteractionAnswered", answered_by("web", "interaction-1"));
    let explained = format!("{closed}answered by web\n");
    assert!(
        rig.notes.text().ends_with(&explained),
        "{}",
        rig.notes.text()
    );
}

#[test]
fn a_prompt_that_is_over_when_it_comes_is_not_shown_and_takes_no_line() {
    let rig = Rig::new();
    rig.host().cancel(Scope::Turn);
    let asked = rig.asks(ask("Name?"));
    assert_eq!(asked.response().status, Status::Dismissed);
    assert!(!rig.notes.text().contains("Name?"));
    rig.types("Ada\n");
    assert_eq!(rig.sent(1), ["Ada"]);
}

#[test]
fn an_answer_that_came_too_late_is_no_failure() {
    let rig = Rig::new();
    let response = rig.gets(ask("Name?"), "answer: ", "Ada\n");
    assert_eq!(response.status, Status::Accepted);
    rig.hears("InteractionAnswered", answered_by("web", "interaction-1"));
    assert!(rig.notes.text().ends_with("answered by web\n"));
}

#[test]
fn its_own_answer_is_not_news() {
    let rig = Rig::new();
    let response = rig.gets(ask("Name?"), "answer: ", "Ada\n");
    assert_eq!(response.status, Status::Accepted);
    let before = rig.notes.text();
    rig.hears(
        "InteractionAnswered",
        answered_by("line-ui", "interaction-1"),
    );
    rig.hears("InteractionAnswered", answered_by("web", "interaction-1"));
    assert_eq!(rig.notes.text(), before);
}

#[test]
fn two_prompts_at_once_are_asked_one_after_the_other() {
    let rig = Rig::new();
    let first = rig.asks(ask("First?"));
    rig.notes.wait_for("First?");
    let second = rig.asks(ask("Second?"));
    rig.types("one\n");
    let response = first.response();
    assert_eq!(answer(&response, &ask("First?").into()), Some(text("one")));
    rig.notes.wait_for("Second?");
    rig.types("two\n");
    let response = second.response();
    assert_eq!(answer(&response, &ask("Second?").into()), Some(text("two")));
    let notes = rig.notes.text();
    assert_eq!(notes, "? First?\nanswer: \n? Second?\nanswer: ");
}
