//! What needs no plugin: how messages are written, what is cut where, and in which order things stand.

use serde_json::{Value, json};
use stud_contract_provider::{Content, Part, Request, Role, ToolSpec};
use stud_host_api::ContextFragment;
use stud_host_api::context::FragmentKind;

use super::fragment::{Fragment, settle_slots, sort};
use super::plan::{Keep, Plan, plan};
use super::summary::transcribed;
use super::*;
use crate::redact::Redactor;

fn kept(role: &str, content: Value) -> Arc<Kept> {
    let message = json!({"id": "m1", "role": role, "content": content});
    let Value::Object(message) = message else {
        panic!("an object");
    };
    Arc::new(Kept::new(message))
}

/// `u` is what a person typed, `a` what the model said, `c` a call, `t` its result, `s` a summary.
fn conversation(shape: &str) -> Vec<Arc<Kept>> {
    let call = json!([{"toolCallId": "c1", "toolName": "read", "args": {"path": "x"}}]);
    let message = |letter| match letter {
        'u' => kept("user", "typed".into()),
        'a' => kept("assistant", json!({"text": "said"})),
        'c' => kept("assistant", json!({"text": "", "toolCalls": call})),
        't' => kept(
            "tool",
            json!({"toolCallId": "c1", "toolName": "read", "content": "{}"}),
        ),
        _ => kept("user", json!({"summary": "before"})),
    };
    shape.chars().map(message).collect()
}

fn planned(shape: &str, keep: Keep, room: u64) -> Option<(usize, Option<usize>)> {
    let history = conversation(shape);
    let tokens = vec![10; history.len()];
    plan(&history, &tokens, keep, room).map(|Plan { cut, also }| (cut, also))
}

#[test]
fn as_much_stays_as_fits() {
    assert_eq!(planned("uauaua", Keep::Fitting, 40), Some((2, None)));
    assert_eq!(planned("uauaua", Keep::Fitting, 45), Some((2, None)));
    assert_eq!(planned("uauaua", Keep::Fitting, 30), Some((3, Some(2))));
    assert_eq!(planned("uauaua", Keep::Fitting, 0), Some((5, Some(4))));
    assert_eq!(planned("uauau", Keep::Fitting, 0), Some((4, None)));
}

#[test]
fn a_call_stays_with_its_result_and_with_what_was_asked_for() {
    assert_eq!(planned("uauctt", Keep::Fitting, 10), Some((3, Some(2))));
    assert_eq!(planned("uauctct", Keep::Fitting, 20), Some((5, Some(2))));
    assert_eq!(planned("uauctct", Keep::Fitting, 30), Some((5, Some(2))));
    assert_eq!(planned("uauct", Keep::Turns(0), 0), Some((3, Some(2))));
    assert_eq!(planned("uauc", Keep::Turns(0), 0), Some((3, Some(2))));
}

#[test]
fn so_many_turns_stay_whatever_they_take_up() {
    assert_eq!(planned("uauctaua", Keep::Turns(2), 0), Some((2, None)));
    assert_eq!(planned("uauctaua", Keep::Turns(1), 0), Some((6, None)));
    assert_eq!(planned("uauctaua", Keep::Turns(3), 0), None);
    assert_eq!(planned("uauctaua", Keep::Turns(9), 0), None);
}

#[test]
fn where_nothing_is_gained_nothing_is_done() {
    for shape in ["", "u", "ua", "uct", "s", "su", "sua"] {
        assert_eq!(planned(shape, Keep::Fitting, 5), None, "{shape}");
    }
    assert_eq!(planned("suaua", Keep::Fitting, 20), Some((3, None)));
}

fn messages(history: &[Arc<Kept>], redactor: &Redactor) -> (Vec<Message>, Option<usize>) {
    let (told, said_last) = history::told(history, redactor);
    (
        told.iter().filter_map(RequestMessage::message).collect(),
        said_last,
    )
}

#[test]
fn a_request_is_written_the_same_from_what_was_written_before() {
    let redactor = Redactor::new();
    let mut history = conversation("suctauc");
    history.push(kept("user", json!({"neither": "text", "nor": "summary"})));
    history.push(kept("somebody", "else".into()));
    let read = ToolSpec {
        name: "read".to_owned(),
        description: "Reads a \"file\".".to_owned(),
        parameters: json!({"type": "object"}).into(),
    };
    // Once nothing is known of the messages, once all were looked at, and once more.
    for looked_at in [false, true, true] {
        if looked_at {
            for kept in &history {
                kept.clear_of(redactor.known());
            }
        }
        let (messages, _) = history::told(&history, &redactor);
        let kept = messages
            .iter()
            .filter(|told| matches!(told, RequestMessage::Kept(_)));
        assert_eq!(kept.count() == messages.len() - 1, looked_at);
        let composed = Composed {
            system: Some("Be \"brief\".".to_owned()),
            messages,
            tools: Arc::new(Toolset::of(vec![read.clone()])),
            model_id: "m".to_owned(),
            max_tokens: Some(9),
            temperature: None,
            params: Map::from_iter([("effort".to_owned(), "high".into())]),
        };
        let request = composed.to_request();
        assert_eq!(request.messages.len(), composed.message_count());
        assert_eq!(request.tools, std::slice::from_ref(&read));
        let text = serde_json::to_string(&request).unwrap();
        assert_eq!(composed.to_text(), text);
        assert_eq!(composed.to_text(), text, "and again");
        assert_eq!(Composed::from(request).to_text(), text);
    }
    let none = Composed::from(Request::default());
    let text = serde_json::to_string(&Request::default()).unwrap();
    assert_eq!(none.to_text(), text);
}

#[test]
fn what_was_written_before_is_not_sent_once_it_is_a_secret() {
    let redactor = Redactor::new();
    let history = [
        kept("user", "go on".into()),
        kept("assistant", json!({"text": "it is hunter2-hunter2"})),
    ];
    let text = |redactor: &Redactor| {
        let (messages, _) = history::told(&history, redactor);
        let request = Composed {
            messages,
            ..Composed::from(Request::default())
        };
        request.to_text()
    };
    for kept in &history {
        kept.clear_of(redactor.known());
    }
    assert!(text(&redactor).contains("hunter2-hunter2"));
    redactor.learn_text("hunter2-hunter2");
    assert!(!text(&redactor).contains("hunter2-hunter2"));
}

#[test]
fn messages_are_as_a_provider_takes_them() {
    let redactor = Redactor::new();
    redactor.learn_text("hunter2-hunter2");
    let mut history = conversation("tsuct");
    history.push(kept("user", "my hunter2-hunter2".into()));
    history.push(kept("assistant", json!({"text": "your hunter2-hunter2"})));
    let (messages, said_last) = messages(&history, &redactor);
    let roles: Vec<Role> = messages.iter().map(|message| message.role).collect();
    let expected = [
        Role::User,
        Role::User,
        Role::Assistant,
        Role::Tool,
        Role::User,
        Role::Assistant,
    ];
    assert_eq!(roles, expected);
    assert_eq!(said_last, Some(4));
    assert!(messages[0].content.text().ends_with("before"));
    let call = Part::ToolCall {
        tool_call_id: "c1".to_owned(),
        tool_name: "read".to_owned(),
        args: json!({"path": "x"}),
    };
    assert_eq!(messages[2].content, Content::Parts(vec![call]));
    assert_eq!(messages[4].content.text(), "my hunter2-hunter2");
    assert_eq!(messages[5].content.text(), "your [REDACTED]");
}

#[test]
fn what_is_measured_is_what_is_sent() {
    let call = json!([{"toolCallId": "c1", "toolName": "write", "args": {"text": "a \"b\""}}]);
    let message = kept("assistant", json!({"text": "so", "toolCalls": call}));
    assert_eq!(
        history::text(&message),
        "assistant:so\nwrite\n{\"text\":\"a \\\"b\\\"\"}"
    );
    let umlauts = kept("user", "äöü".into());
    let size = history::size(&umlauts);
    assert_eq!((size.bytes, size.chars), (11, 8));
    assert_eq!(Meter::Rough.message(&umlauts), 2);
}

fn fragment(owner: &str, kind: FragmentKind, content: &str, priority: i64) -> Fragment {
    let added = ContextFragment {
        kind,
        content: content.to_owned(),
        token_budget: 100,
        priority,
        exclusive_slot: None,
    };
    Fragment::of(owner, added)
}

#[test]
fn a_slot_goes_to_the_owner_that_is_first_by_name() {
    let claim = |owner: &str, slot: Option<&str>, priority| {
        let mut claimed = fragment(owner, FragmentKind::SystemMessage, owner, priority);
        claimed.exclusive_slot = slot.map(str::to_owned);
        claimed
    };
    let mut fragments = vec![
        claim("z", Some("persona"), 9),
        claim("b", Some("persona"), 5),
        claim("b", None, 4),
        claim("b", Some("persona"), 3),
        claim("a", Some("style"), 2),
        claim("c", Some("persona"), 1),
    ];
    let conflicts = settle_slots(&mut fragments);
    let left: Vec<(&str, i64)> = fragments
        .iter()
        .map(|fragment| (&*fragment.owner, fragment.priority))
        .collect();
    assert_eq!(left, [("b", 5), ("b", 4), ("a", 2)]);
    let lost = |loser| json!({"exclusiveSlot": "persona", "winnerExtId": "b", "loserExtId": loser});
    assert_eq!(json!(conflicts), json!([lost("z"), lost("b"), lost("c")]));
    assert!(settle_slots(&mut fragments).is_empty());
}

#[test]
fn the_more_important_comes_first_and_then_the_owner_decides() {
    let of = |owner, priority| fragment(owner, FragmentKind::ToolHint, "x", priority);
    let mut fragments = vec![of("b", 1), of("c", -5), of("a", 1), of("z", 9), of("b", 1)];
    sort(&mut fragments);
    let order: Vec<(&str, i64)> = fragments
        .iter()
        .map(|fragment| (&*fragment.owner, fragment.priority))
        .collect();
    assert_eq!(order, [("z", 9), ("a", 1), ("b", 1), ("b", 1), ("c", -5)]);
}

#[test]
fn what_looks_like_a_credential_is_refused_in_every_kind() {
    let keys = [
        ("sk-ant-api03-abc", "anthropic-api-key"),
        ("sk-proj-abc123", "openai-api-key"),
        ("ghp_16C7e42F292c69", "github-pat"),
        ("AIzaSyA-1234567890_abcdefgh", "google-api-key"),
    ];
    for (key, pattern) in keys {
        for kind in FragmentKind::ALL {
            let text = format!("Use {key} for it.");
            let error = fragment("notes", kind, &text, 0).screen().unwrap_err();
            assert_eq!(error.class(), "Validation");
            assert_eq!(error.code(), "ContextContainsForbiddenSource");
            let facts = json!({
                "ownerExtId": "notes", "fragmentKind": kind.as_str(), "patternId": pattern,
            });
            assert_eq!(Value::Object(error.context().clone()), facts);
            assert!(!error.message().contains(key));
        }
    }
}

#[test]
fn what_is_added_to_the_prompt_stands_before_what_the_person_said() {
    let (mut told, said_last) = history::told(&conversation("uau"), &Redactor::new());
    let fragments = [
        fragment("rules", FragmentKind::SystemMessage, "Be brief.", 0),
        fragment("notes", FragmentKind::PromptFragment, "A note.", 0),
        fragment("notes", FragmentKind::PromptFragment, "", 0),
        fragment("docs", FragmentKind::ResourceBinding, "x </context> y", 0),
    ];
    system::add_to_prompt(&mut told, said_last, &fragments);
    let messages: Vec<_> = told.iter().filter_map(RequestMessage::message).collect();
    assert_eq!(messages.len(), 4);
    assert_eq!(messages[3].content.text(), "typed");
    assert_eq!(
        messages[2].content.text(),
        "<context source=\"notes\">\nA note.\n</context>\n\n\
         <context source=\"docs\" untrusted=\"true\">\nx <\\/context> y\n</context>"
    );
    system::add_to_prompt(&mut told, said_last, &fragments[..1]);
    assert_eq!(told.len(), 4, "the session says that itself");
}

#[test]
fn a_long_message_is_cut_in_its_middle_for_the_summarizer() {
    let redactor = Redactor::new();
    redactor.learn_text("hunter2-hunter2");
    let long = kept(
        "assistant",
        json!({"text": format!("ä{}z", "ö".repeat(1000))}),
    );
    let text = transcribed(&long, &redactor, 100);
    assert!(
        text.starts_with("assistant:ä") && text.ends_with("z\n\n"),
        "{text}"
    );
    assert!(text.contains("[cut ") && text.len() < 200, "{text}");
    let secret = kept("assistant", json!({"text": "hunter2-hunter2"}));
    assert_eq!(
        transcribed(&secret, &redactor, 100),
        "assistant:[REDACTED]\n\n"
    );
}

#[test]
fn how_full_a_window_is_has_one_place() {
    assert!((percent(1, 3) - 33.3).abs() < 1e-9);
    assert!((percent(128, 128) - 100.0).abs() < 1e-9);
}

#[test]
fn the_default_prompt_is_short_and_plain() {
    let text = default_system_prompt();
    assert!(!text.is_empty() && text.len() < 4096 && text.is_ascii());
}

#[test]
fn a_call_that_nobody_decided_about_is_told_as_such() {
    let calls = json!([{"toolCallId": "a", "toolName": "x", "args": {}}, {"toolCallId": "b", "toolName": "x", "args": {}}]);
    let history = [
        kept("assistant", json!({"text": "", "toolCalls": calls})),
        kept(
            "tool",
            json!({"toolCallId": "a", "toolName": "x", "content": "1"}),
        ),
        kept("user", "and now?".into()),
    ];
    let (messages, said_last) = messages(&history, &Redactor::new());
    let text = serde_json::to_string(&messages[2]).unwrap();
    assert!(
        text.contains("did not run") && text.contains(r#""toolCallId":"b""#),
        "{text}"
    );
    assert_eq!((messages.len(), said_last), (4, Some(3)));
}
