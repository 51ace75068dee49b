//! Guard deny and re-proposal: a no that wins over every approval, and is told to the model.

use serde_json::{Value, json};

use crate::bench::{Bench, approve, in_both_forms};

/// A command that the guard denies, and then one that it lets pass.
const TWO: &str =
    r#"!seq [["gt_run", {"command": "rm -rf /"}], ["gt_run", {"command": "rm -r /tmp/x"}]]"#;

fn guarded(bench: &Bench) {
    bench.install("gated-tools", "tools");
    let config = json!({"deny": "rm -rf", "code": "Forbidden", "reason": "not that"});
    bench.hook("script-guard", "guard", "TOOL_CALL/pre", config);
}

#[test]
fn a_denied_call_does_not_run_and_the_model_proposes_again() {
    in_both_forms(|bench| {
        guarded(bench);
        let ear = bench.ear();
        let result = bench.headless(&["--mode", "yolo"], TWO).result();
        // The turn continued: the second command ran.
        assert_eq!(result["result"], json!({"ran": "rm -r /tmp/x"}));

        let proposed = ear.heard("ToolInvocationProposed");
        let started = ear.heard("ToolInvocationStarted");
        assert_eq!((proposed.len(), started.len()), (2, 1));
        assert_eq!(started[0]["toolCallId"], proposed[1]["toolCallId"]);
        assert_eq!(
            ear.heard("HookGuardDenied"),
            [json!({"slot": "TOOL_CALL/pre", "extensionId": "guard", "reason": "not that"})]
        );
        let cancelled = ear.heard("ToolInvocationCancelled");
        assert_eq!(cancelled[0]["reason"], "approval-denied");
    });
}

#[test]
fn the_denial_is_a_typed_result_of_that_call() {
    in_both_forms(|bench| {
        guarded(bench);
        let ear = bench.ear();
        bench.headless(&["--mode", "yolo"], TWO);
        let results = bench.recorded("tool_result");
        assert_eq!(
            results[0]["toolCallId"],
            ear.heard("ToolInvocationProposed")[0]["toolCallId"]
        );
        let told: Value = serde_json::from_str(results[0]["content"].as_str().unwrap()).unwrap();
        let error = &told["error"];
        assert_eq!(
            (&error["class"], &error["code"], &error["message"]),
            (
                &json!("ToolTerminal"),
                &json!("ApprovalDenied"),
                &json!("not that")
            )
        );
        assert_eq!(
            (&error["context"]["source"], &error["context"]["code"]),
            (&json!("guard"), &json!("Forbidden"))
        );
    });
}

#[test]
fn both_decisions_are_on_record_and_so_is_the_guard() {
    in_both_forms(|bench| {
        guarded(bench);
        bench.headless(&["--mode", "yolo"], TWO);
        let records = bench.audited("Approval");
        let decisions: Vec<_> = records
            .iter()
            .map(|record| (&record["payload"]["decision"], &record["payload"]["source"]))
            .collect();
        let [deny, approve] = [json!("deny"), json!("approve")];
        let [guard, gate] = [json!("guard"), json!("mode-gate")];
        assert_eq!(decisions, [(&deny, &guard), (&approve, &gate)]);
        assert_eq!(records[0]["payload"]["code"], "Forbidden");
        let denials = bench.audited("GuardDeny");
        let [denial] = &denials[..] else {
            panic!("{denials:#?}");
        };
        assert_eq!(denial["payload"]["extensionId"], "guard");
        assert_eq!(denial["payload"]["code"], "Forbidden");
    });
}

#[test]
fn the_example_of_a_guard_says_what_it_denies_and_why() {
    in_both_forms(|bench| {
        bench.settings(&json!({"hooks": {"guard-example": {"enabled": true}}}));
        let calls = json!([
            ["bash", {"command": "rm -rf nothing"}],
            ["bash", {"command": "echo rm -rf"}],
        ]);
        let run = bench.headless(&["--mode", "yolo"], &format!("!seq {calls}"));
        assert_eq!(run.result()["result"]["stdout"], "rm -rf\n");
        let results = bench.recorded("tool_result");
        let told: Value = serde_json::from_str(results[0]["content"].as_str().unwrap()).unwrap();
        let facts = json!({
            "toolId": "bash",
            "blockedPrefix": "rm -rf",
            "command": "rm -rf nothing",
        });
        for (member, value) in facts.as_object().unwrap() {
            assert_eq!(told["error"]["context"][member], *value, "{told:#}");
        }
        let denials = bench.audited("GuardDeny");
        assert_eq!(denials[0]["payload"]["context"], facts);
    });
}

#[test]
fn the_first_no_is_final_and_those_who_look_see_it() {
    in_both_forms(|bench| {
        bench.install("gated-tools", "tools");
        let slot = "TOOL_CALL/pre";
        let config = json!({"deny": "rm -rf", "reason": "not that"});
        bench.hook("script-guard", "a-guard", slot, config);
        bench.hook("script-guard", "b-guard", slot, json!({}));
        bench.hook("script-transform", "c-transform", slot, json!({}));
        bench.hook("script-observer", "d-looker", slot, json!({}));
        bench.hook("script-observer", "e-looker", "TOOL_CALL/post", json!({}));
        let ear = bench.ear();
        let call = r#"!tool gt_run {"command": "rm -rf /"}"#;
        let result = bench.headless(&["--mode", "yolo"], call).result();
        assert_eq!(
            result["error"]["context"]["code"], "Forbidden",
            "a plain no has a code too"
        );
        assert_eq!(bench.hooks_that_ran(), ["a-guard", "d-looker"]);
        // The guard has done its work, and then its no is told.
        let turn = ear.turn();
        let of_hooks: Vec<_> = turn
            .iter()
            .filter(|name| name.starts_with("Hook"))
            .collect();
        assert_eq!(of_hooks, ["HookFired", "HookGuardDenied", "HookFired"]);
    });
}

#[test]
fn a_no_with_a_code_of_its_own_counts_as_an_answer_of_the_guard() {
    in_both_forms(|bench| {
        guarded(bench);
        let ear = bench.ear();
        let call = r#"!tool gt_run {"command": "rm -rf /"}"#;
        bench.headless(&["--mode", "yolo"], call).result();
        let turn = ear.turn();
        let of_hooks: Vec<_> = turn
            .iter()
            .filter(|name| name.starts_with("Hook"))
            .collect();
        assert_eq!(of_hooks, ["HookFired", "HookGuardDenied"]);
    });
}

#[test]
fn a_denial_wins_over_a_person_and_is_not_remembered() {
    in_both_forms(|bench| {
        guarded(bench);
        let ui = bench.ui("one", &json!({"prompts": {"Approve": approve(&json!({}))}}));
        let again =
            r#"!seq [["gt_run", {"command": "rm -rf /"}], ["gt_run", {"command": "rm -rf /"}]]"#;
        let result = bench.headless(&[], again).result();
        assert_eq!(result["error"]["context"]["source"], "guard");
        // The person's yes is remembered; the guard is asked each time.
        assert_eq!(ui.asked().len(), 1);
        assert_eq!(bench.hooks_that_ran(), ["guard", "guard"]);
        assert_eq!(ui.heard("HookGuardDenied").len(), 2);
    });
}

#[test]
fn a_guard_is_asked_about_tools_that_need_no_approval_too() {
    in_both_forms(|bench| {
        bench.install("fixture-tools", "tools");
        let config = json!({"deny": "fx_bytes", "reason": "no bytes"});
        bench.hook("script-guard", "guard", "TOOL_CALL/pre", config);
        let result = bench.headless(&[], r#"!tool fx_bytes {"n": 1}"#).result();
        assert_eq!(result["error"]["message"], "no bytes");
        let records = bench.audited("Approval");
        assert_eq!(records.len(), 1);
        assert_eq!(records[0]["payload"]["source"], "guard");
    });
}

#[test]
fn a_model_that_never_gives_up_is_stopped() {
    in_both_forms(|bench| {
        guarded(bench);
        bench.settings(&json!({"loop": {"maxContinuations": 2}}));
        let calls = vec![json!(["gt_run", {"command": "rm -rf /"}]); 9];
        let run = bench.headless(&["--mode", "yolo"], &format!("!seq {}", json!(calls)));
        assert_eq!(run.status, 1);
        assert!(
            run.stderr
                .contains("error[ExtensionHost/LoopBoundExceeded]"),
            "{run:#?}"
        );
        assert_eq!(bench.audited("Approval").len(), 3);
    });
}
