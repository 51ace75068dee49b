use stud_sdk::command::Rendered;
use stud_sdk::host::commands::Deed;
use stud_sdk::interaction::{Payload, SelectAnswer};
use stud_sdk::testing::{FakeHost, Harness};
use stud_sdk::{Class, Error, Result, Value, json};

use super::*;

fn run(host: &FakeHost, typed: &str) -> Result<Rendered> {
    Harness::new(stud_plugin(), host.clone()).command("model", typed)
}

fn choices() -> Value {
    json!({
        "providerId": "work", "modelId": "a",
        "entries": [
            {"id": "echo", "protocol": "echo", "models": ["echo-1"]},
            {"id": "work", "protocol": "openai-compatible", "models": ["a", "b", "mute"]},
        ],
    })
}

fn switched(model: &str) -> Value {
    json!({"providerId": "work", "modelId": model, "warnings": [], "unheeded": []})
}

fn mismatch() -> Error {
    let message = "the session needs `toolCalling`, and the model does not have it";
    Error::new(Class::ProviderCapability, "MissingCapability", message)
        .with("name", "toolCalling")
        .with("providerId", "work")
        .with("modelId", "mute")
}

/// The models that were tried, in order.
fn tried(host: &FakeHost) -> Vec<String> {
    let performed = host.performed().into_iter();
    let models = performed.filter_map(|deed| match deed {
        Deed::SwitchModel { model, .. } => model,
        _ => None,
    });
    models.collect()
}

fn options(host: &FakeHost) -> Vec<String> {
    let Some(Payload::Select(select)) = host.asked().pop() else {
        panic!("nothing was offered");
    };
    select.options
}

#[test]
fn a_name_needs_no_question() {
    let host = FakeHost::new()
        .performs(Ok(choices()))
        .performs(Ok(switched("b")));
    let shown = run(&host, "b").unwrap();
    assert_eq!(shown.rendered, "`b` of `work` answers from now on.");
    assert_eq!(shown.payload.unwrap()["switched"], true);
    assert!(host.asked().is_empty());
    assert_eq!(tried(&host), ["b"]);
}

#[test]
fn without_a_name_the_models_of_the_entry_are_offered() {
    let host = FakeHost::new()
        .performs(Ok(choices()))
        .performs(Ok(switched("b")))
        .answers(SelectAnswer { index: 1 });
    run(&host, "").unwrap();
    assert_eq!(options(&host), ["a", "b", "mute"]);
    assert_eq!(tried(&host), ["b"]);
}

#[test]
fn who_picks_nothing_changes_nothing() {
    let host = FakeHost::new().performs(Ok(choices())).rejects("no".into());
    let shown = run(&host, "").unwrap();
    assert_eq!(shown.rendered, "Nothing was changed.");
    assert!(tried(&host).is_empty());
}

#[test]
fn a_model_that_will_not_do_leads_to_another() {
    let host = FakeHost::new()
        .performs(Ok(choices()))
        .performs(Err(mismatch()))
        .performs(Ok(switched("b")))
        .answers(SelectAnswer { index: 1 });
    let shown = run(&host, "mute").unwrap();
    assert_eq!(options(&host), ["a", "b", "abort"]);
    assert_eq!(tried(&host), ["mute", "b"]);
    assert_eq!(shown.payload.unwrap()["modelId"], "b");
}

#[test]
fn giving_up_names_what_is_missing() {
    let host = FakeHost::new()
        .performs(Ok(choices()))
        .performs(Err(mismatch()))
        .answers(SelectAnswer { index: 2 });
    let shown = run(&host, "mute").unwrap();
    assert!(
        shown.rendered.contains("`toolCalling`"),
        "{}",
        shown.rendered
    );
    let payload = shown.payload.unwrap();
    assert_eq!(payload["switched"], false);
    assert_eq!(payload["error"]["code"], "MissingCapability");
    assert_eq!(tried(&host), ["mute"]);
}

#[test]
fn other_errors_and_too_many_words_are_passed_on() {
    let unknown = Error::new(Class::Validation, "ModelNotInProvider", "no such model");
    let host = FakeHost::new()
        .performs(Ok(choices()))
        .performs(Err(unknown));
    assert_eq!(run(&host, "z").unwrap_err().code(), "ModelNotInProvider");
    let error = run(&FakeHost::new(), "a b").unwrap_err();
    assert_eq!(error.code(), "InputInvalid");
}
