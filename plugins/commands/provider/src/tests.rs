use stud_sdk::command::Rendered;
use stud_sdk::host::commands::Deed;
use stud_sdk::interaction::{Payload, SelectAnswer};
use stud_sdk::testing::{FakeHost, Harness};
use stud_sdk::{Class, Error, Result, Value, json};

use super::*;

fn run(host: &FakeHost, typed: &str) -> Result<Rendered> {
    Harness::new(stud_plugin(), host.clone()).command("provider", typed)
}

fn choices() -> Value {
    json!({
        "providerId": "home", "modelId": "a",
        "entries": [
            {"id": "home", "protocol": "openai-compatible", "models": ["a"]},
            {"id": "work", "protocol": "openai-compatible", "models": ["mute", "b"]},
        ],
    })
}

fn switched(provider: &str, model: &str) -> Value {
    let doubt = json!({"name": "reasoning", "reason": "preferred-unmet"});
    json!({"providerId": provider, "modelId": model, "warnings": [doubt], "unheeded": []})
}

fn options(host: &FakeHost) -> Vec<String> {
    let Some(Payload::Select(select)) = host.asked().pop() else {
        panic!("nothing was offered");
    };
    select.options
}

#[test]
fn an_entry_is_chosen_by_name_or_from_the_list() {
    for (typed, answer) in [("work", None), ("", Some(SelectAnswer { index: 1 }))] {
        let mut host = FakeHost::new()
            .performs(Ok(choices()))
            .performs(Ok(switched("work", "b")));
        if let Some(answer) = answer {
            host = host.answers(answer);
        }
        let shown = run(&host, typed).unwrap();
        assert!(
            shown.rendered.contains("lacks `reasoning`"),
            "{}",
            shown.rendered
        );
        let wanted = Deed::SwitchModel {
            provider: Some("work".to_owned()),
            model: None,
        };
        assert_eq!(host.performed().last(), Some(&wanted));
        if answer.is_some() {
            assert_eq!(options(&host), ["home", "work"]);
        }
    }
}

#[test]
fn what_will_not_do_leads_to_other_models_and_other_entries() {
    let mismatch = Error::new(Class::ProviderCapability, "MissingCapability", "no tools")
        .with("providerId", "work")
        .with("modelId", "mute");
    let host = FakeHost::new()
        .performs(Ok(choices()))
        .performs(Err(mismatch))
        .performs(Ok(switched("work", "b")))
        .answers(SelectAnswer { index: 0 });
    run(&host, "work").unwrap();
    assert_eq!(options(&host), ["b", "provider home", "abort"]);
    let wanted = Deed::SwitchModel {
        provider: Some("work".to_owned()),
        model: Some("b".to_owned()),
    };
    assert_eq!(host.performed().last(), Some(&wanted));
}
