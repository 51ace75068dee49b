//! Tool call cycle: proposed, judged, asked about, run, and told to the model.

use serde_json::{Value, json};

use crate::bench::{Bench, approve, deny, in_both_forms, members, place};

const LS: &str = r#"!tool gt_run {"command": "ls"}"#;

fn with_approval() -> Value {
    json!({"prompts": {"Approve": approve(&json!({}))}})
}

#[test]
fn an_approved_call_is_told_step_by_step() {
    in_both_forms(|bench| {
        bench.install("gated-tools", "tools");
        bench.hook("script-guard", "watch", "TOOL_CALL/pre", json!({}));
        let ui = bench.ui("one", &with_approval());
        let result = bench.headless(&[], LS).result();
        assert_eq!(result, json!({"ok": true, "result": {"ran": "ls"}}));

        let turn = ui.turn();
        let steps = [
            "ToolInvocationProposed",
            "InteractionRaised",
            "InteractionAnswered",
            "HookFired",
            "ToolInvocationStarted",
            "ToolInvocationSucceeded",
        ];
        let places = steps.map(|step| place(&turn, step));
        assert!(places.is_sorted(), "{turn:#?}");

        let [proposed] = &ui.heard("ToolInvocationProposed")[..] else {
            panic!("one call was proposed");
        };
        assert_eq!(members(proposed), ["args", "toolCallId", "toolName"]);
        assert_eq!(proposed["args"], json!({"command": "ls"}));
        let id = &proposed["toolCallId"];
        let started =
            json!({"toolCallId": id, "toolName": "gt_run", "argsSummary": "{\"command\":\"ls\"}"});
        assert_eq!(ui.heard("ToolInvocationStarted"), [started]);
        let [succeeded] = &ui.heard("ToolInvocationSucceeded")[..] else {
            panic!("one call succeeded");
        };
        assert_eq!(members(succeeded), ["durationMs", "toolCallId", "toolName"]);
        assert_eq!(succeeded["toolCallId"], *id);
    });
}

#[test]
fn the_stages_of_the_continuation_are_passed_again() {
    in_both_forms(|bench| {
        bench.install("gated-tools", "tools");
        let ui = bench.ui("one", &with_approval());
        bench.headless(&[], LS);
        let begun = ui.stages().into_iter();
        let begun: Vec<String> = begun
            .filter_map(|stage| stage.strip_prefix("pre ").map(str::to_owned))
            .collect();
        assert_eq!(
            begun,
            [
                "RECEIVE_INPUT",
                "COMPOSE_REQUEST",
                "SEND_REQUEST",
                "STREAM_RESPONSE",
                "TOOL_CALL",
                "COMPOSE_REQUEST",
                "SEND_REQUEST",
                "STREAM_RESPONSE",
                "RENDER"
            ]
        );
        let iterations = ui.heard("ProviderRequestStarted").into_iter();
        let iterations: Vec<_> = iterations.map(|mut it| it["iteration"].take()).collect();
        assert_eq!(iterations, [0, 1]);
        let reasons = ui.heard("ProviderRequestCompleted").into_iter();
        let reasons: Vec<_> = reasons.map(|mut it| it["finishReason"].take()).collect();
        assert_eq!(reasons, ["tool-calls", "stop"]);
    });
}

#[test]
fn the_person_is_asked_with_the_tool_its_key_and_a_description() {
    in_both_forms(|bench| {
        bench.install("gated-tools", "tools");
        let ui = bench.ui("one", &with_approval());
        bench.headless(&[], LS);
        let [request] = &ui.asked()[..] else {
            panic!("one prompt was shown");
        };
        assert_eq!(request["kind"], "Approve");
        let payload = &request["payload"];
        assert_eq!(
            (&payload["toolId"], &payload["approvalKey"]),
            (&json!("gt_run"), &json!("ls"))
        );
        assert_eq!(payload["description"], r#"gt_run {"command":"ls"}"#);
        let turn = &ui.heard("SessionTurnStart")[0]["turnId"];
        assert_eq!(request["correlationId"], *turn);
        let [answered] = &ui.heard("InteractionAnswered")[..] else {
            panic!("one prompt was answered");
        };
        assert_eq!(
            members(answered),
            ["correlationId", "extId", "interactionId", "status", "value"]
        );
        assert_eq!(
            (&answered["extId"], &answered["status"]),
            (&json!("one"), &json!("accepted"))
        );
    });
}

#[test]
fn one_approval_is_on_record_for_one_call() {
    in_both_forms(|bench| {
        bench.install("gated-tools", "tools");
        let ui = bench.ui("one", &with_approval());
        bench.headless(&[], LS);
        let records = bench.audited("Approval");
        let [record] = &records[..] else {
            panic!("{records:#?}");
        };
        let id = &ui.heard("ToolInvocationProposed")[0]["toolCallId"];
        let digest = record["payload"]["argsDigest"].clone();
        let digits = digest.as_str().unwrap_or_default();
        assert!(digits.len() == 64 && digits.bytes().all(|digit| digit.is_ascii_hexdigit()));
        let expected = json!({
            "decision": "approve",
            "source": "mode-gate",
            "toolId": "gt_run",
            "approvalKey": "ls",
            "toolCallId": id,
            "stageExecutionId": null,
            "attempt": null,
            "proposalId": null,
            "argsDigest": digest,
        });
        assert_eq!(record["payload"], expected);
        let invocation = bench.audited("ToolInvocation");
        let kinds: Vec<_> = invocation.iter().map(|record| &record["kind"]).collect();
        assert_eq!(kinds, ["ToolCallStarted", "ToolCallSucceeded"]);
        let interaction = bench.audited("Interaction");
        assert_eq!(interaction.len(), 1);
        assert_eq!(interaction[0]["payload"]["requestKind"], "Approve");

        // That there is a call is on record before anything is decided about it, and the decision before the act.
        let trail = bench.audit();
        let place = |kind: &str| trail.iter().position(|record| record["kind"] == kind);
        let order = ["ToolCallStarted", "ToolApproval", "ToolCallSucceeded"].map(place);
        assert!(order.is_sorted() && order[0].is_some(), "{order:?}");
    });
}

#[test]
fn the_next_request_has_the_call_and_its_result_under_one_id() {
    in_both_forms(|bench| {
        bench.install("gated-tools", "tools");
        bench.hook("script-observer", "looker", "SEND_REQUEST/pre", json!({}));
        let ui = bench.ui("one", &with_approval());
        bench.headless(&[], LS);
        let id = &ui.heard("ToolInvocationProposed")[0]["toolCallId"];
        let requests = bench.seen_by("looker");
        let messages = requests[1]["messages"].as_array().unwrap();
        assert_eq!(messages[0], json!({"role": "user", "content": LS}));
        let call = json!({"type": "tool-call", "toolCallId": id, "toolName": "gt_run", "args": {"command": "ls"}});
        assert_eq!(messages[1], json!({"role": "assistant", "content": [call]}));
        let result = &messages[2]["content"][0];
        assert_eq!(
            (&messages[2]["role"], &result["toolCallId"]),
            (&json!("tool"), id)
        );
        let told: Value = serde_json::from_str(result["content"].as_str().unwrap()).unwrap();
        assert_eq!(told, json!({"ok": true, "result": {"ran": "ls"}}));
    });
}

#[test]
fn a_person_at_a_pipe_approves_a_call() {
    in_both_forms(|bench| {
        bench.install("gated-tools", "tools");
        let mut talk = bench.talk(&[]);
        talk.say(LS);
        talk.is_asked("Allow the tool gt_run?");
        talk.is_asked("n = no");
        talk.say("y");
        talk.hears("RESULT");
        let (status, stdout, stderr) = talk.end();
        assert_eq!(status, 0, "{stderr}");
        assert_eq!(stdout, "RESULT {\"ok\":true,\"result\":{\"ran\":\"ls\"}}\n");
    });
}

#[test]
fn a_plain_yes_holds_once_and_another_for_the_session() {
    in_both_forms(|bench| {
        bench.install("gated-tools", "tools");
        let twice = format!(
            "!seq {}",
            json!(vec![json!(["gt_run", {"command": "ls"}]); 2])
        );
        for (answer, questions) in [("s", 1), ("y", 2)] {
            let mut talk = bench.talk(&[]);
            talk.say(&twice);
            for time in 1..=questions {
                talk.is_asked_times("y = once, s = for this session", time);
                talk.say(answer);
            }
            talk.hears("RESULT");
            let (status, _, stderr) = talk.end();
            assert_eq!(status, 0, "{stderr}");
            let asked = stderr.matches("Allow the tool").count();
            assert_eq!(asked, questions, "{answer}");
        }
    });
}

#[test]
fn a_refused_call_goes_back_to_the_model_and_no_guard_runs() {
    in_both_forms(|bench| {
        bench.install("gated-tools", "tools");
        bench.hook("script-guard", "watch", "TOOL_CALL/pre", json!({}));
        let ui = bench.ui("one", &json!({"prompts": {"Approve": deny()}}));
        let result = bench.headless(&[], LS).result();
        let error = &result["error"];
        assert_eq!(
            (&error["class"], &error["code"]),
            (&json!("ToolTerminal"), &json!("ApprovalDenied"))
        );
        assert_eq!(error["message"], "the person did not allow `gt_run`");
        assert_eq!(error["context"]["code"], "AskRefused");
        assert_eq!(error["context"]["source"], "mode-gate");

        let [cancelled] = &ui.heard("ToolInvocationCancelled")[..] else {
            panic!("one call did not run");
        };
        assert_eq!(cancelled["reason"], "approval-denied");
        assert_eq!(members(cancelled), ["reason", "toolCallId", "toolName"]);
        assert!(ui.heard("ToolInvocationStarted").is_empty());
        assert!(bench.hooked().is_empty(), "guards run on an approval alone");
        let records = bench.audited("Approval");
        let [record] = &records[..] else {
            panic!("{records:#?}");
        };
        let payload = &record["payload"];
        assert_eq!(
            (&payload["decision"], &payload["source"], &payload["code"]),
            (&json!("deny"), &json!("mode-gate"), &json!("AskRefused"))
        );
        assert_eq!(failure(bench)["reason"], "approval-denied");
    });
}

/// What is on record of the one call, which began and failed.
fn failure(bench: &Bench) -> Value {
    let records = bench.audited("ToolInvocation");
    let kinds: Vec<_> = records.iter().map(|record| &record["kind"]).collect();
    assert_eq!(kinds, ["ToolCallStarted", "ToolCallFailed"]);
    let [started, failed] = [0, 1].map(|place| &records[place]["payload"]);
    assert_eq!(members(started), ["argsSummary", "toolCallId", "toolName"]);
    assert_eq!(started["toolCallId"], failed["toolCallId"]);
    failed.clone()
}

#[test]
fn a_person_may_say_why_not() {
    in_both_forms(|bench| {
        bench.install("gated-tools", "tools");
        let no = json!({"do": "reject", "reason": "that is the wrong folder"});
        bench.ui("one", &json!({"prompts": {"Approve": no}}));
        let result = bench.headless(&[], LS).result();
        let error = &result["error"];
        assert_eq!(error["code"], "ApprovalDenied");
        assert_eq!(error["message"], "that is the wrong folder");
    });
}

/// A part that failed is told beside what was found, and a hook sees both and may change either.
#[test]
fn a_partial_result_says_what_is_missing() {
    in_both_forms(|bench| {
        bench.install("gated-tools", "tools");
        let call = || {
            bench
                .headless(&["--mode", "yolo"], "!tool gt_some {}")
                .result()
        };
        let missing = json!({
            "class": "ToolTerminal",
            "code": "NotFound",
            "message": "there is no `b`",
            "context": {"path": "b"},
        });
        let told = json!({"ok": true, "result": ["a"], "errors": [missing]});
        assert_eq!(call(), told);

        let change = json!({"at": "/result/value", "put": ["c"]});
        bench.hook("script-transform", "changes", "TOOL_CALL/post", change);
        assert_eq!(
            call(),
            json!({"ok": true, "result": ["c"], "errors": [missing]})
        );
        let seen = &bench.seen_by("changes")[0]["result"];
        assert_eq!(
            *seen,
            json!({"ok": true, "value": ["a"], "errors": [missing]})
        );
    });
}

#[test]
fn the_same_tool_and_key_are_asked_about_once() {
    in_both_forms(|bench| {
        bench.install("gated-tools", "tools");
        let ui = bench.ui("one", &with_approval());
        let run = bench.headless(
            &[],
            r#"!seq [["gt_run", {"command": "ls"}], ["gt_run", {"command": "ls"}], ["gt_run", {"command": "pwd"}]]"#,
        );
        assert_eq!(run.result()["result"], json!({"ran": "pwd"}));
        let asked = ui.asked();
        let keys: Vec<_> = asked
            .iter()
            .map(|request| &request["payload"]["approvalKey"])
            .collect();
        assert_eq!(keys, ["ls", "pwd"]);
        assert_eq!(bench.audited("Approval").len(), 3);
    });
}

#[test]
fn an_approval_for_once_is_forgotten() {
    in_both_forms(|bench| {
        bench.install("gated-tools", "tools");
        for once in [json!({"allowOnce": true}), json!({"scope": "once"})] {
            let script = json!({"prompts": {"Approve": approve(&once)}});
            let ui = bench.ui("one", &script);
            let before = ui.asked().len();
            bench.headless(
                &[],
                r#"!seq [["gt_run", {"command": "ls"}], ["gt_run", {"command": "ls"}]]"#,
            );
            assert_eq!(ui.asked().len() - before, 2, "{once}");
        }
    });
}

#[test]
fn arguments_that_do_not_fit_are_told_and_nobody_is_asked() {
    in_both_forms(|bench| {
        bench.install("gated-tools", "tools");
        let ui = bench.ui("one", &with_approval());
        let result = bench
            .headless(&[], r#"!tool gt_run {"command": 7}"#)
            .result();
        let error = &result["error"];
        assert_eq!(
            (&error["class"], &error["code"]),
            (&json!("ToolTerminal"), &json!("InputInvalid"))
        );
        assert_eq!(error["context"]["fieldPath"], "/command");
        assert!(ui.asked().is_empty());
        let [failed] = &ui.heard("ToolInvocationFailed")[..] else {
            panic!("one call failed");
        };
        assert_eq!(failed["errorCode"], "InputInvalid");
        assert!(ui.heard("ToolInvocationStarted").is_empty());
        assert!(bench.audited("Approval").is_empty());
        assert_eq!(failure(bench)["reason"], "schema-violation");
    });
}

#[test]
fn a_tool_that_is_not_there_is_told_to_the_model() {
    in_both_forms(|bench| {
        let ui = bench.ui("one", &with_approval());
        let result = bench.headless(&[], "!tool no_such {}").result();
        let error = &result["error"];
        assert_eq!(
            (&error["class"], &error["code"]),
            (&json!("ToolTerminal"), &json!("InputInvalid"))
        );
        assert_eq!(error["message"], "there is no tool `no_such`");
        let context = json!({
            "toolName": "no_such",
            "reason": "tool-not-available",
            "cause": "ToolNotRegistered",
        });
        assert_eq!(error["context"], context);
        assert_eq!(failure(bench)["reason"], "tool-not-available");
        let near = bench.headless(&[], "!tool multi_edit {}").result();
        assert_eq!(
            near["error"]["message"],
            "there is no tool `multi_edit`; did you mean `multi-edit`?"
        );
        let cancelled = ui.heard("ToolInvocationCancelled");
        assert_eq!(cancelled[0]["reason"], "tool-not-available");
        assert!(ui.asked().is_empty());
    });
}

/// What no approval would make possible is not asked about.
#[test]
fn a_path_outside_the_workspace_is_refused_and_nobody_is_asked() {
    in_both_forms(|bench| {
        let ui = bench.ui("one", &with_approval());
        let result = bench
            .headless(&[], r#"!tool read {"path": "/etc/hostname"}"#)
            .result();
        let error = &result["error"];
        assert_eq!(
            (&error["class"], &error["code"]),
            (&json!("ToolTerminal"), &json!("Forbidden"))
        );
        assert!(ui.asked().is_empty());
        assert!(bench.audited("Approval").is_empty());
        assert_eq!(failure(bench)["reason"], "normalize-failed");
        assert_eq!(
            ui.heard("ToolInvocationFailed")[0]["errorCode"],
            "Forbidden"
        );
    });
}

/// A key that cannot be used is refused in every mode, before anyone is asked.
#[test]
fn an_unusable_key_is_refused_whatever_the_mode() {
    in_both_forms(|bench| {
        bench.install("gated-tools", "tools");
        let ui = bench.ui("one", &with_approval());
        let long = "x".repeat(1025);
        for (command, reason) in [
            ("", "empty"),
            ("a\\u0007b", "control-character"),
            (&*long, "too-long"),
        ] {
            for mode in ["ask", "yolo"] {
                let call = format!(r#"!tool gt_run {{"command": "{command}"}}"#);
                let result = bench.headless(&["--mode", mode], &call).result();
                let error = &result["error"];
                stud_observed::covers!(APPROVAL_KEY_INVALID, error);
                assert_eq!(error["context"]["reason"], reason);
                assert_eq!(failure(bench)["reason"], "approval-key-failed");
            }
        }
        assert!(ui.asked().is_empty());
        let longest = "x".repeat(1024);
        let call = format!(r#"!tool gt_run {{"command": "{longest}"}}"#);
        assert_eq!(bench.headless(&[], &call).result()["ok"], true);
    });
}

#[test]
fn a_tool_that_cannot_derive_its_key_is_refused_and_the_turn_goes_on() {
    in_both_forms(|bench| {
        bench.settings(&json!({"loop": {"hookTimeoutMs": 300}}));
        bench.install("gated-tools", "tools");
        let ui = bench.ui("one", &with_approval());
        for misbehavior in ["panic", "hang"] {
            let call = json!({"command": "ls", "misbehave": misbehavior});
            let result = bench
                .headless(&[], &format!("!tool gt_run {call}"))
                .result();
            let error = &result["error"];
            stud_observed::covers!(APPROVAL_KEY_DERIVATION_FAILED, error);
            assert_eq!(error["context"]["extId"], "gated-tools");
        }
        assert!(ui.asked().is_empty());
    });
}

#[test]
fn who_approved_everything_in_advance_is_not_asked() {
    in_both_forms(|bench| {
        bench.install("gated-tools", "tools");
        let ui = bench.ui("one", &with_approval());
        for arguments in [&["--mode", "yolo"][..], &["--yolo"]] {
            assert_eq!(bench.headless(arguments, LS).result()["ok"], true);
            let records = bench.audited("Approval");
            let [record] = &records[..] else {
                panic!("{records:#?}");
            };
            let payload = &record["payload"];
            assert_eq!(
                (&payload["decision"], &payload["source"]),
                (&json!("approve"), &json!("mode-gate"))
            );
        }
        assert!(ui.asked().is_empty());
        assert!(ui.heard("InteractionRaised").is_empty());
    });
}
