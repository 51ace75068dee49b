use super::*;
use stud_sdk::host::cancellation::Scope;
use stud_sdk::interaction::AskAnswer;
use stud_sdk::testing::{FakeHost, Harness};

fn harness(host: FakeHost) -> Harness {
    Harness::new(stud_plugin(), host)
}

fn refused(host: FakeHost, args: Value) -> String {
    let error = harness(host).tool("ask-user", args).unwrap_err();
    format!("{}/{}", error.class(), error.code())
}

#[test]
fn the_answer_comes_back() {
    let host = FakeHost::new().answers(AskAnswer {
        text: "blue".to_owned(),
    });
    let args = json!({"prompt": "Which color?", "placeholder": "a color", "defaultValue": "red"});
    let output = harness(host.clone()).tool("ask-user", args).unwrap();
    assert_eq!(
        *output.value(),
        json!({"answer": "blue", "cancelled": false})
    );
    let asked = Payload::from(Ask {
        prompt: "Which color?".to_owned(),
        placeholder: Some("a color".to_owned()),
        default_value: Some("red".to_owned()),
    });
    assert_eq!(host.asked(), [asked]);
}

#[test]
fn an_empty_answer_is_an_answer() {
    let host = FakeHost::new().answers(AskAnswer::default());
    let output = harness(host).tool("ask-user", json!({"prompt": "Anything else?"}));
    assert_eq!(output.unwrap().value()["answer"], "");
}

#[test]
fn an_empty_question_is_refused_and_nobody_is_asked() {
    for prompt in ["", " \n"] {
        let host = FakeHost::new();
        let code = refused(host.clone(), json!({"prompt": prompt}));
        assert_eq!(code, "ToolTerminal/InputInvalid", "{prompt:?}");
        assert!(host.asked().is_empty());
    }
    let more = json!({"prompt": "Why?", "more": 1});
    assert_eq!(refused(FakeHost::new(), more), "ToolTerminal/InputInvalid");
}

#[test]
fn who_does_not_want_to_answer_ends_the_turn() {
    for host in [
        FakeHost::new().dismisses(),
        FakeHost::new().rejects("not now".to_owned()),
    ] {
        assert_eq!(
            refused(host, json!({"prompt": "Why?"})),
            "Cancellation/TurnCancelled"
        );
    }
}

#[test]
fn a_question_nobody_answers_in_time_is_given_up() {
    let host = FakeHost::new()
        .config(json!({"timeoutMs": 20}))
        .never_answers();
    assert_eq!(
        refused(host, json!({"prompt": "Why?"})),
        "ToolTransient/ExecutionTimeout"
    );
}

#[test]
fn a_time_limit_does_not_hold_up_an_answer() {
    let said = AskAnswer {
        text: "now".to_owned(),
    };
    let host = FakeHost::new()
        .config(json!({"timeoutMs": 600_000}))
        .answers(said);
    let output = harness(host).tool("ask-user", json!({"prompt": "When?"}));
    assert_eq!(output.unwrap().value()["answer"], "now");
}

#[test]
fn what_the_host_refuses_is_passed_on() {
    let nobody = Error::new(
        Class::Validation,
        "HeadlessInteractionRequired",
        "nobody is there",
    );
    let host = FakeHost::new().fails(nobody);
    assert_eq!(
        refused(host, json!({"prompt": "Why?"})),
        "Validation/HeadlessInteractionRequired"
    );
}

#[test]
fn a_question_is_given_up_with_its_turn() {
    let host = FakeHost::new().never_answers();
    let harness = harness(host.clone());
    harness.start().unwrap();
    std::thread::scope(|scope| {
        let asking = scope.spawn(|| harness.tool("ask-user", json!({"prompt": "Why?"})));
        while host.asked().is_empty() {
            std::thread::yield_now();
        }
        host.cancel(Scope::Turn);
        let error = asking.join().unwrap().unwrap_err();
        assert_eq!(
            (error.class(), error.code()),
            ("Cancellation", "ToolCancelled")
        );
    });
    let late = harness
        .tool("ask-user", json!({"prompt": "Why?"}))
        .unwrap_err();
    assert_eq!(
        (late.class(), late.code()),
        ("Cancellation", "TurnCancelled")
    );
    assert_eq!(host.asked().len(), 1);
}

#[test]
fn the_manifest_says_what_the_tool_takes() {
    let harness = harness(FakeHost::new());
    let manifest = harness.manifest();
    let tool = &manifest["tools"][0];
    assert_eq!(manifest["extId"], "ask-user");
    assert_eq!(manifest["interactionKinds"], json!(["Ask"]));
    assert_eq!(
        (&tool["name"], &tool["gated"]),
        (&json!("ask-user"), &json!(true))
    );
    assert_eq!(tool["inputSchema"]["required"], json!(["prompt"]));
    assert_eq!(tool["inputSchema"]["properties"]["prompt"]["minLength"], 1);
    assert_eq!(
        tool["outputSchema"]["required"],
        json!(["answer", "cancelled"])
    );
    let key = harness.approval_key("ask-user", &json!({"prompt": "Why?"}));
    assert_eq!(key.unwrap(), "ask-user");
}
