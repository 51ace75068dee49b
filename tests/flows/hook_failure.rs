//! Hooks that fail, hang, panic, or want what is not theirs.

use serde_json::{Value, json};

use crate::bench::{Bench, Run, in_both_forms};

const CALL: &str = r#"!tool gt_run {"command": "a"}"#;

fn run(bench: &Bench) -> Run {
    bench.install("gated-tools", "tools");
    bench.headless(&["--mode", "yolo"], CALL)
}

fn failed(run: &Run, code: &str) {
    assert_eq!(run.status, 1, "{run:#?}");
    assert!(run.stderr.contains(&format!("error[{code}]")), "{run:#?}");
}

#[test]
fn a_guard_that_fails_is_no_yes() {
    in_both_forms(|bench| {
        bench.settings(&json!({"loop": {"hookTimeoutMs": 300}}));
        for misbehavior in ["fail", "panic", "hang"] {
            let config = json!({"misbehave": misbehavior});
            bench.hook("script-guard", "guard", "TOOL_CALL/pre", config);
            let ear = bench.ear();
            let run = run(bench);
            assert_eq!(run.status, 1, "{run:#?}");
            stud_observed::covers!(HOOK_GUARD_FAILED, run.stderr);
            assert!(run.stderr.contains("`guard` on TOOL_CALL/pre failed"));
            assert!(ear.heard("ToolInvocationStarted").is_empty());
            assert!(ear.heard("HookFired").is_empty());
            let posts = ear.heard("StagePostFired");
            let expected = json!({"stage": "TOOL_CALL", "error": true});
            assert_eq!(posts.last(), Some(&expected));
            let ends = bench.audited("Turn");
            assert_eq!(ends[1]["kind"], "TurnError");
            assert_eq!(ends[1]["payload"]["errorCode"], "HookGuardFailed");
            let [decision] = &bench.audited("Approval")[..] else {
                panic!("a call has one decision on record");
            };
            let decision = &decision["payload"];
            assert_eq!(decision["decision"], "deny");
            assert_eq!(decision["source"], "guard");
            assert_eq!(decision["code"], "HookGuardFailed");
        }
    });
}

#[test]
fn a_transform_that_fails_fails_its_stage() {
    in_both_forms(|bench| {
        for (slot, config) in [
            ("TOOL_CALL/pre", json!({"misbehave": "fail"})),
            ("TOOL_CALL/post", json!({"misbehave": "panic"})),
            ("RECEIVE_INPUT/pre", json!({"misbehave": "fail"})),
        ] {
            bench.hook("script-transform", "transform", slot, config);
            let run = run(bench);
            assert_eq!(run.status, 1, "{run:#?}");
            stud_observed::covers!(HOOK_TRANSFORM_FAILED, run.stderr);
        }
    });
}

#[test]
fn what_a_transform_makes_has_to_keep_its_shape() {
    in_both_forms(|bench| {
        for slot in [
            "RECEIVE_INPUT/pre",
            "COMPOSE_REQUEST/pre",
            "COMPOSE_REQUEST/post",
            "SEND_REQUEST/pre",
            "TOOL_CALL/pre",
            "RENDER/pre",
        ] {
            for give in [json!({}), json!([1])] {
                let config = json!({"give": give});
                bench.hook("script-transform", "transform", slot, config);
                let run = run(bench);
                failed(&run, "ExtensionHost/HookTransformFailed");
                assert!(run.stderr.contains(slot), "{run:#?}");
            }
        }
    });
}

#[test]
fn an_observer_that_fails_is_told_and_changes_nothing() {
    in_both_forms(|bench| {
        bench.settings(&json!({"loop": {"hookTimeoutMs": 300}}));
        for (misbehavior, code) in [
            ("fail", "ToolTerminal/ToolExecutionFailed"),
            ("panic", "ExtensionHost/CallPanicked"),
            ("hang", "ToolTransient/ExecutionTimeout"),
        ] {
            let config = json!({"misbehave": misbehavior});
            bench.hook("script-observer", "looker", "TOOL_CALL/pre", config);
            let ear = bench.ear();
            let before = ear.heard("HookObserverFailed").len();
            assert_eq!(run(bench).result()["ok"], true);
            let failures = ear.heard("HookObserverFailed");
            let [failure] = &failures[before..] else {
                panic!("{failures:#?}");
            };
            assert_eq!(
                (&failure["slot"], &failure["extensionId"]),
                (&json!("TOOL_CALL/pre"), &json!("looker"))
            );
            let error = failure["error"].as_str().unwrap();
            assert!(error.starts_with(code), "{error}");
        }
    });
}

#[test]
fn a_hook_that_calls_the_turn_off_is_obeyed() {
    in_both_forms(|bench| {
        for package in ["script-guard", "script-transform", "script-observer"] {
            let config = json!({"misbehave": "cancel"});
            bench.hook(package, "hook", "TOOL_CALL/pre", config);
            let ear = bench.ear();
            let run = run(bench);
            assert_eq!(run.status, 130, "{package}: {run:#?}");
            assert!(ear.heard("ToolInvocationStarted").is_empty());
            let ends = bench.audited("Turn");
            assert_eq!(ends[1]["payload"]["status"], "cancelled");
            std::fs::remove_dir_all(bench.world.path("home/hooks/hook")).unwrap();
        }
    });
}

#[test]
fn a_hook_may_ask_nobody() {
    in_both_forms(|bench| {
        bench.install("gated-tools", "tools");
        let config = json!({"misbehave": "ask"});
        bench.hook("script-guard", "guard", "TOOL_CALL/pre", config);
        let ui = bench.ui("one", &json!({"prompts": {"*": {"do": "reject"}}}));
        assert_eq!(run(bench).result()["ok"], true);
        let refused: Vec<Value> = bench
            .hooked()
            .into_iter()
            .filter(|line| line.get("refused").is_some())
            .collect();
        assert_eq!(refused[0]["refused"]["code"], "InteractionKindForbidden");
        assert!(ui.asked().is_empty());
    });
}
