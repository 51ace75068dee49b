//! Every row of the table, through the plugin's own entry.

mod stopping;

use std::collections::BTreeSet;

use stud_sdk::interaction::{Answer as Reply, AuthAnswer, Payload, Secret};
use stud_sdk::provider::{Content, FinishReason, Message, Part, Request, Role, StreamEvent, Usage};
use stud_sdk::testing::{FakeHost, Harness};
use stud_sdk::{Class, Result, Value, json};

fn message(role: Role, content: impl Into<Content>) -> Message {
    let content = content.into();
    Message { role, content }
}

fn returned(content: &str) -> Message {
    let part = Part::ToolResult {
        tool_call_id: "call-1".to_owned(),
        tool_name: "read".to_owned(),
        content: content.to_owned(),
    };
    message(Role::Tool, vec![part])
}

fn send(host: FakeHost, messages: Vec<Message>) -> Result<Vec<StreamEvent>> {
    let request = Request {
        messages,
        model_id: "echo-1".to_owned(),
        ..Request::default()
    };
    Harness::new(crate::stud_plugin(), host).request(&request)
}

fn say(text: &str) -> Result<Vec<StreamEvent>> {
    send(FakeHost::new(), vec![message(Role::User, text)])
}

/// The text of an answer that ends well.
fn text(events: &[StreamEvent]) -> String {
    assert_eq!(reason(events), FinishReason::Stop);
    let deltas = events.iter().filter_map(|event| match event {
        StreamEvent::TextDelta { delta } => Some(&**delta),
        _ => None,
    });
    deltas.collect()
}

/// The calls of an answer that waits for them, and nothing but calls.
fn calls(events: &[StreamEvent]) -> Vec<(&str, &Value)> {
    assert_eq!(reason(events), FinishReason::ToolCalls);
    let proposed = &events[..events.len() - 2];
    let calls = proposed.iter().map(|event| match event {
        StreamEvent::ToolCall {
            tool_name, args, ..
        } => (&**tool_name, args),
        other => panic!("{other:?} is no call"),
    });
    calls.collect()
}

/// Why an answer ended: every one says what it cost, then ends, once.
fn reason(events: &[StreamEvent]) -> FinishReason {
    let ends = |event: &&StreamEvent| matches!(event, StreamEvent::Finish { .. });
    assert_eq!(events.iter().filter(ends).count(), 1);
    match events {
        [.., StreamEvent::Usage(_), StreamEvent::Finish { reason }] => *reason,
        other => panic!("{other:?} does not end as it should"),
    }
}

#[test]
fn it_claims_what_it_does() {
    let harness = Harness::new(crate::stud_plugin(), FakeHost::new());
    let manifest = harness.manifest();
    assert_eq!(manifest["extId"], "echo");
    assert_eq!(manifest["kind"], "Provider");
    assert_eq!(manifest["protocol"], "echo");
    assert_eq!(manifest["interactionKinds"], json!(["Auth.Password"]));
    let claims = json!({
        "streaming": "hard", "toolCalling": "hard", "reasoning": "hard",
        "structuredOutput": "absent", "multimodal": "absent", "promptCaching": "absent",
        "contextWindow": 128_000,
    });
    assert_eq!(manifest["capabilities"], claims);
    let models = json!([{"modelId": "echo-1", "capabilities": claims}]);
    assert_eq!(manifest["models"], models);
}

#[test]
fn anything_else_is_repeated() {
    for said in [
        "hello",
        "",
        "two\nlines ",
        "!tool",
        "!tool read {",
        "!par []",
        "!what now",
    ] {
        assert_eq!(text(&say(said).unwrap()), format!("USER {said}"));
    }
}

#[test]
fn a_tool_call() {
    let events = say(r#"!tool read {"path": "a b"}"#).unwrap();
    assert_eq!(calls(&events), [("read", &json!({"path": "a b"}))]);
}

#[test]
fn tool_calls_together() {
    let events = say(r#"!par [["b", {"n": 1}], ["a", {}], ["b", {"n": 2}]]"#).unwrap();
    let expected = [
        ("b", &json!({"n": 1})),
        ("a", &json!({})),
        ("b", &json!({"n": 2})),
    ];
    assert_eq!(calls(&events), expected);
    let ids = events.iter().filter_map(|event| match event {
        StreamEvent::ToolCall { tool_call_id, .. } => Some(tool_call_id),
        _ => None,
    });
    assert_eq!(ids.collect::<BTreeSet<_>>().len(), 3);
}

#[test]
fn tool_calls_one_after_the_other() {
    let said = message(Role::User, r#"!seq [["a", {"n": 1}], ["b", {}]]"#);
    let mut messages = vec![returned("of an older turn"), said];
    let mut next = |result: Option<&str>| {
        messages.extend(result.map(returned));
        let answer = send(FakeHost::new(), messages.clone()).unwrap();
        messages.push(message(Role::Assistant, "…"));
        answer
    };
    assert_eq!(calls(&next(None)), [("a", &json!({"n": 1}))]);
    assert_eq!(
        calls(&next(Some(r#"{"ok":false,"error":"no"}"#))),
        [("b", &json!({}))]
    );
    let last = next(Some(r#"{"ok": true, "result": 2}"#));
    assert_eq!(text(&last), r#"RESULT {"ok":true,"result":2}"#);
}

#[test]
fn a_result_is_told_as_it_was_given() {
    let told = |result| {
        let said = message(Role::User, "!tool read {}");
        text(&send(FakeHost::new(), vec![said, returned(result)]).unwrap())
    };
    let failed = r#"{"ok": false, "error": {"code": "NotFound", "class": "ToolTerminal"}}"#;
    let expected = r#"RESULT {"ok":false,"error":{"code":"NotFound","class":"ToolTerminal"}}"#;
    assert_eq!(told(failed), expected);
    assert_eq!(told("plain  text"), "RESULT plain  text");
}

#[test]
fn a_stage_body_drives_a_stage() {
    let body = "Read the file.\n\n!seq [[\"read\", {}]]\n";
    let mut request = Request {
        system: Some(body.to_owned()),
        ..Request::default()
    };
    let harness = Harness::new(crate::stud_plugin(), FakeHost::new());
    assert_eq!(
        calls(&harness.request(&request).unwrap()),
        [("read", &json!({}))]
    );
    request.messages.push(returned("{}"));
    assert_eq!(text(&harness.request(&request).unwrap()), "RESULT {}");
    request.messages.push(message(Role::User, "and now?"));
    assert_eq!(text(&harness.request(&request).unwrap()), "USER and now?");
}

#[test]
fn a_thought_comes_first() {
    let events = say("!think twice").unwrap();
    let delta = "twice".to_owned();
    assert_eq!(events[0], StreamEvent::ThinkingDelta { delta });
    assert_eq!(text(&events), "USER !think twice");
}

#[test]
fn a_failure_as_asked_for() {
    for (said, class, code) in [
        ("!fail RateLimited", Class::ProviderTransient, "RateLimited"),
        (
            "!fail MissingToolCalling",
            Class::ProviderCapability,
            "MissingToolCalling",
        ),
    ] {
        assert!(say(said).unwrap_err().is(class, code), "{said}");
    }
}

#[test]
fn the_price_is_counted_in_words() {
    let events = say("one two three").unwrap();
    let usage = Usage {
        input_tokens: 3,
        output_tokens: 4,
        cached_input_tokens: None,
    };
    assert!(events.contains(&StreamEvent::Usage(usage)), "{events:?}");
}

#[test]
fn a_password_is_counted_and_never_told() {
    let secret = "pässwörd-4711";
    let answer = Reply::AuthPassword(AuthAnswer::Secret(Secret::new(secret)));
    let host = FakeHost::new().answers(answer);
    let events = send(host.clone(), vec![message(Role::User, "!auth the vault")]).unwrap();
    assert_eq!(text(&events), "AUTH 13");
    assert!(!format!("{events:?}").contains(secret));
    match &host.asked()[..] {
        [Payload::AuthPassword(asked)] => assert_eq!(asked.prompt, "the vault"),
        other => panic!("{other:?}"),
    }
    assert!(host.published().is_empty());
    assert!(host.audited().is_empty());
}

#[test]
fn a_login_done_elsewhere_has_no_characters() {
    let host = FakeHost::new().answers(Reply::AuthPassword(AuthAnswer::Completed));
    let events = send(host, vec![message(Role::User, "!auth the vault")]).unwrap();
    assert_eq!(text(&events), "AUTH 0");
}

#[test]
fn without_a_password_there_is_no_answer() {
    let ask = |host| send(host, vec![message(Role::User, "!auth the vault")]).unwrap_err();
    for host in [
        FakeHost::new().rejects("no".to_owned()),
        FakeHost::new().dismisses(),
    ] {
        assert!(ask(host).is(Class::Cancellation, "TurnCancelled"));
    }
    let error = ask(FakeHost::new());
    assert!(error.is(Class::Session, "NoInteractorAttached"), "{error}");
}
