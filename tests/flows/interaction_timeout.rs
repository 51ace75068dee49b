//! Interaction timeout: a tool's prompt that times out.

use serde_json::{Value, json};

use crate::bench::in_both_forms;

const GATE: &str = r#"!tool fx_gate {"key": "door", "timeoutMs": 200}"#;

#[test]
fn an_answer_in_time_is_the_answer() {
    in_both_forms(|bench| {
        bench.install("fixture-tools", "tools");
        let yes = json!({"do": "accept", "value": {"action": "approve", "approvalScope": "once"}});
        let ui = bench.ui("one", &json!({"prompts": {"ToolApproval": yes}}));
        let call = r#"!tool fx_gate {"key": "door", "timeoutMs": 600000}"#;
        let result = bench.headless(&[], call).result();
        let expected = json!({"ok": true, "via": "prompt", "scope": "once"});
        assert_eq!(result["result"], expected);
        assert_eq!(ui.heard("InteractionAnswered").len(), 1);
        assert_eq!(
            bench.audited("Interaction")[0]["kind"],
            "InteractionAnswered"
        );
    });
}

#[test]
fn nobody_answering_in_time_is_told_to_the_tool() {
    in_both_forms(|bench| {
        bench.install("fixture-tools", "tools");
        let ui = bench.ui("one", &json!({"prompts": {"ToolApproval": {"do": "wait"}}}));
        let result = bench.headless(&[], GATE).result();
        let expected = json!({"ok": false, "error": "Approval timed out"});
        assert_eq!(result["result"], expected);

        let [request] = &ui.asked()[..] else {
            panic!("one prompt was shown");
        };
        assert!(ui.heard("InteractionAnswered").is_empty());
        let records = bench.audited("Interaction");
        assert_eq!(records.len(), 1);
        assert_eq!(records[0]["kind"], "InteractionTimedOut");
        assert_eq!(records[0]["correlationId"], request["correlationId"]);
    });
}

#[test]
fn an_answer_that_comes_too_late_is_told_so_and_changes_nothing() {
    in_both_forms(|bench| {
        bench.install("fixture-tools", "tools");
        let late =
            json!({"do": "respondLate", "value": {"action": "approve", "approvalScope": "once"}});
        let ui = bench.ui("one", &json!({"prompts": {"ToolApproval": late}}));
        let result = bench.headless(&[], GATE).result();
        assert_eq!(result["result"]["error"], "Approval timed out");
        let lines = ui.lines();
        let late = lines
            .iter()
            .find(|line| line["call"] == "interaction.respond");
        assert_eq!(late.unwrap()["error"]["code"], "InteractionAlreadyAnswered");
        assert!(lines.iter().any(|line| line.get("calledOff").is_some()));
        assert_eq!(bench.audited("Interaction").len(), 1);
    });
}

#[test]
fn the_next_prompt_in_line_is_shown_then() {
    in_both_forms(|bench| {
        bench.install("fixture-tools", "tools");
        let yes = json!({"do": "accept", "value": {"action": "approve", "approvalScope": "once"}});
        let script = json!({"prompts": {"ToolApproval": [{"do": "wait"}, yes]}});
        let ui = bench.ui("one", &script);
        let calls = json!([
            ["fx_gate", {"key": "one", "timeoutMs": 200}],
            ["fx_gate", {"key": "two", "timeoutMs": 600_000}],
        ]);
        bench.headless(&[], &format!("!seq {calls}")).result();
        assert_eq!(ui.asked().len(), 2);
        let results = bench.recorded("tool_result");
        let told = |place: usize| -> Value {
            serde_json::from_str(results[place]["content"].as_str().unwrap()).unwrap()
        };
        assert_eq!(told(0)["result"]["error"], "Approval timed out");
        assert_eq!(told(1)["result"]["ok"], true);
    });
}

#[test]
fn a_tool_that_cannot_do_without_fails_as_timed_out() {
    in_both_forms(|bench| {
        bench.install("fixture-tools", "tools");
        let ui = bench.ui("one", &json!({"prompts": {"ToolInput": {"do": "wait"}}}));
        let form = json!({
            "schema": {"type": "form", "fields": [{"id": "a", "type": "text", "label": "A"}]},
            "timeoutMs": 200,
        });
        let result = bench
            .headless(&[], &format!("!tool fx_form {form}"))
            .result();
        let error = &result["error"];
        assert_eq!(
            (&error["class"], &error["code"]),
            (&json!("ToolTransient"), &json!("ExecutionTimeout"))
        );
        assert_eq!(ui.asked().len(), 1);
    });
}

#[test]
fn no_time_at_all_is_refused_and_nobody_is_asked() {
    in_both_forms(|bench| {
        bench.install("fixture-tools", "tools");
        let ui = bench.ui("one", &json!({}));
        let call = r#"!tool fx_gate {"key": "door", "timeoutMs": 0}"#;
        let result = bench.headless(&[], call).result();
        let error = &result["error"];
        assert_eq!(
            (&error["class"], &error["code"]),
            (&json!("Validation"), &json!("TimeoutMsInvalid"))
        );
        assert!(ui.asked().is_empty());
    });
}
