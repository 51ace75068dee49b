//! What events look like.

use stud_sdk::json;
use stud_sdk::testing::FakeHost;

use super::rig::Rig;

#[test]
fn a_turn_is_text_on_one_stream_and_everything_else_on_the_other() {
    let rig = Rig::new();
    rig.hears("SessionTurnStart", json!({"turnId": "t1"}));
    rig.hears(
        "ProviderRequestStarted",
        json!({"providerId": "echo", "iteration": 0}),
    );
    rig.hears("ProviderReasoningStreamed", json!({"delta": "hm"}));
    rig.hears("ProviderTokensStreamed", json!({"delta": "Let me"}));
    rig.hears("ProviderTokensStreamed", json!({"delta": " see."}));
    rig.hears(
        "ProviderRequestCompleted",
        json!({"assistantText": "Let me see."}),
    );
    rig.hears(
        "ToolInvocationStarted",
        json!({"toolCallId": "c1", "toolName": "read", "argsSummary": "path=\"a\""}),
    );
    rig.hears(
        "ToolInvocationSucceeded",
        json!({"toolCallId": "c1", "toolName": "read"}),
    );
    rig.hears("ProviderRequestStarted", json!({"iteration": 1}));
    rig.hears("ProviderTokensStreamed", json!({"delta": "Done."}));
    rig.hears("SessionTurnEnd", json!({"turnId": "t1"}));
    assert_eq!(rig.text.text(), "Let me see.\nDone.\n");
    assert_eq!(rig.notes.text(), "• read path=\"a\"\n");
}

#[test]
fn text_that_comes_whole_is_shown_once() {
    let rig = Rig::new();
    rig.hears("ProviderRequestStarted", json!({}));
    rig.hears(
        "ProviderRequestCompleted",
        json!({"assistantText": "All at once"}),
    );
    rig.hears("SessionTurnEnd", json!({}));
    rig.hears("SessionTurnEnd", json!({}));
    assert_eq!(rig.text.text(), "All at once\n");
}

#[test]
fn what_went_wrong_is_said_on_one_line_each() {
    let rig = Rig::new();
    rig.hears(
        "ToolInvocationFailed",
        json!({"toolName": "bash", "errorClass": "ToolTerminal", "errorCode": "NotFound", "message": "no\nfile"}),
    );
    rig.hears(
        "ToolInvocationFailed",
        json!({"toolName": "bash", "message": "just so"}),
    );
    rig.hears(
        "ToolInvocationCancelled",
        json!({"toolName": "bash", "reason": "approval-denied"}),
    );
    rig.hears(
        "ProviderRequestFailed",
        json!({"errorClass": "ProviderTransient", "message": "try later\u{1b}[2J"}),
    );
    rig.hears(
        "SuppressedError",
        json!({"reason": "a hook failed", "cause": "boom"}),
    );
    let cause = json!({"class": "Session", "code": "StoreUnavailable", "message": "no\nway", "context": {"a": 1}});
    rig.hears(
        "SuppressedError",
        json!({"reason": "a store failed", "cause": cause.to_string()}),
    );
    rig.hears(
        "HeadlessInteractionRequired",
        json!({"requestKind": "Approve", "hint": "run it again with --yolo"}),
    );
    rig.hears("SessionClosed", json!({"from": "Active", "to": "Closed"}));
    let expected = "• bash failed: ToolTerminal/NotFound: no\\nfile\n\
                    • bash failed: just so\n\
                    • bash cancelled: approval-denied\n\
                    the model's answer failed: ProviderTransient: try later\\u{1b}[2J\n\
                    warning: a hook failed (boom)\n\
                    warning: a store failed (Session/StoreUnavailable: no\\nway)\n\
                    permission required (Approve): run it again with --yolo\n\
                    session closed\n";
    assert_eq!(rig.notes.text(), expected);
    assert_eq!(rig.text.text(), "");
}

#[test]
fn a_plugin_that_fails_at_every_event_is_named_once() {
    let rig = Rig::new();
    for event in ["SessionTurnStart", "SessionActive", "SessionTurnEnd"] {
        let reason = format!("`log` failed to take `{event}`");
        let payload =
            json!({"reason": reason, "cause": "disk full", "extId": "log", "event": event});
        rig.hears("SuppressedError", payload);
    }
    let payload = json!({"reason": "`log` failed to take `X`", "cause": "gone", "extId": "log", "event": "X"});
    rig.hears("SuppressedError", payload);
    let expected = "warning: `log` failed to take `SessionTurnStart` (disk full)\n\
                    warning: `log` failed to take `X` (gone)\n";
    assert_eq!(rig.notes.text(), expected);
}

#[test]
fn why_a_turn_failed_is_said_once() {
    let rig = Rig::new();
    let overflow = json!({"class": "Validation", "code": "ContextOverflow", "message": "too much"});
    let ends = |error| json!({"turnId": "t1", "capHit": false, "error": error});
    rig.hears("SessionTurnStart", json!({"turnId": "t1"}));
    rig.hears("SessionTurnEnd", ends(overflow));
    let gone =
        json!({"errorClass": "ProviderTransient", "errorCode": "Provider5xx", "message": "gone"});
    rig.hears("ProviderRequestFailed", gone);
    let gone = json!({"class": "ProviderTransient", "code": "Provider5xx", "message": "gone"});
    rig.hears("SessionTurnEnd", ends(gone));
    let off = json!({"errorClass": "Cancellation", "errorCode": "TurnCancelled", "message": "off"});
    rig.hears("ProviderRequestFailed", off);
    rig.hears("SessionTurnEnd", json!({"turnId": "t3", "capHit": false}));
    let expected = "this turn failed: Validation/ContextOverflow: too much\n\
                    the model's answer failed: ProviderTransient/Provider5xx: gone\n";
    assert_eq!(rig.notes.text(), expected);
}

#[test]
fn a_subagents_words_are_not_the_assistants() {
    let rig = Rig::new();
    let child = json!({"subagentId": "a1", "parentSessionId": "s1", "depth": 1});
    let with = |mut more: stud_sdk::Value| {
        let members = more.as_object_mut().unwrap();
        members.extend(child.as_object().unwrap().clone());
        more
    };
    rig.hears("ProviderTokensStreamed", json!({"delta": "Mine"}));
    rig.hears(
        "ProviderTokensStreamed",
        with(json!({"delta": "the child's"})),
    );
    rig.hears(
        "ProviderRequestCompleted",
        with(json!({"assistantText": "the child's"})),
    );
    rig.hears(
        "ToolInvocationStarted",
        with(json!({"toolName": "grep", "argsSummary": ""})),
    );
    rig.hears("SessionTurnEnd", with(json!({})));
    assert_eq!(rig.text.text(), "Mine");
    assert_eq!(rig.notes.text(), "[subagent a1] • grep\n");
}

#[test]
fn hostile_text_steers_nothing() {
    let rig = Rig::new();
    let hostile = "\u{1b}[31m\u{9b}\u{7}\u{202e}\u{2066}\u{200b}\u{feff}\u{61c}\u{7f}\r";
    rig.hears(
        "ProviderTokensStreamed",
        json!({"delta": format!("a\n\tb{hostile}")}),
    );
    for name in [
        "ToolInvocationStarted",
        "ToolInvocationFailed",
        "ToolInvocationCancelled",
    ] {
        let payload = json!({
            "toolName": hostile, "argsSummary": hostile, "message": hostile, "reason": hostile,
            "errorClass": hostile, "errorCode": hostile, "subagentId": hostile,
        });
        rig.hears(name, payload);
    }
    rig.hears(
        "SuppressedError",
        json!({"reason": hostile, "cause": hostile}),
    );
    rig.hears(
        "HeadlessInteractionRequired",
        json!({"requestKind": hostile, "prompt": hostile}),
    );
    for written in [rig.text.text(), rig.notes.text()] {
        let steers =
            |character: char| character != '\n' && character != '\t' && hostile.contains(character);
        let mut letters = hostile.chars().filter(char::is_ascii_alphanumeric);
        assert!(letters.all(|letter| written.contains(letter)));
        let found = written
            .chars()
            .find(|character| steers(*character) && !character.is_ascii_graphic());
        assert_eq!(found, None, "{written:?}");
    }
    assert!(rig.text.text().starts_with("a\n\tb\\u{1b}[31m"));
}

#[test]
fn what_it_missed_is_mentioned_and_what_others_missed_is_not() {
    let rig = Rig::new();
    rig.hears("EventsSkipped", json!({"extId": "web", "count": 3}));
    assert_eq!(rig.notes.text(), "");
    rig.hears("EventsSkipped", json!({"extId": "line-ui", "count": 3}));
    assert!(rig.notes.text().contains("fell behind"));
}

#[test]
fn unknown_events_and_strange_payloads_are_passed_over() {
    let rig = Rig::with(FakeHost::new());
    rig.hears("SomethingNew", json!([1, 2]));
    rig.hears("ProviderTokensStreamed", json!({"delta": 7}));
    rig.hears("ToolInvocationStarted", json!(null));
    assert_eq!(rig.text.text(), "");
    assert_eq!(rig.notes.text(), "•\n");
    assert!(
        rig.harness
            .event("InteractionAnswered", &json!({}))
            .is_err()
    );
}
