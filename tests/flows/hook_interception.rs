//! Hook interception: who runs before and after a stage, in which order, and what that changes.

use serde_json::{Value, json};

use crate::bench::{Bench, in_both_forms, members};

const CALL: &str = r#"!tool gt_run {"command": "a"}"#;

#[test]
fn guards_come_first_then_transforms_then_observers() {
    in_both_forms(|bench| {
        bench.install("gated-tools", "tools");
        let slot = "TOOL_CALL/pre";
        for (package, id, config) in [
            ("script-observer", "a-looker", json!({})),
            (
                "script-transform",
                "b-transform",
                json!({"at": "/args/command", "append": " b"}),
            ),
            (
                "script-transform",
                "c-transform",
                json!({"at": "/args/command", "append": " c"}),
            ),
            ("script-guard", "d-guard", json!({})),
            ("script-guard", "e-guard", json!({})),
        ] {
            bench.hook(package, id, slot, config);
        }
        let ear = bench.ear();
        let result = bench.headless(&["--mode", "yolo"], CALL).result();
        // The stage sees what the transforms made of it.
        assert_eq!(result["result"], json!({"ran": "a b c"}));

        // Changed arguments are judged again, so the guards also see what runs.
        let order = [
            "d-guard",
            "e-guard",
            "b-transform",
            "c-transform",
            "d-guard",
            "e-guard",
            "a-looker",
        ];
        assert_eq!(bench.hooks_that_ran(), order);
        let commands = |hook: &str| -> Vec<Value> {
            let seen = bench.seen_by(hook).into_iter();
            seen.map(|mut saw| saw["args"]["command"].take()).collect()
        };
        assert_eq!(commands("b-transform"), ["a"]);
        assert_eq!(commands("c-transform"), ["a b"]);
        assert_eq!(commands("d-guard"), ["a", "a b c"]);
        assert_eq!(commands("a-looker"), ["a b c"]);

        let fired = ear.heard("HookFired");
        let told: Vec<_> = fired.iter().map(|fired| &fired["extensionId"]).collect();
        assert_eq!(told, order);
        for fired in &fired {
            assert_eq!(
                members(fired),
                ["durationMs", "extensionId", "slot", "subKind"]
            );
            assert_eq!(fired["slot"], slot);
            assert!(fired["durationMs"].is_u64(), "{fired}");
        }
        assert_eq!(fired[0]["subKind"], "guard");
        assert_eq!(fired[2]["subKind"], "transform");
        assert_eq!(fired[6]["subKind"], "observer");
    });
}

#[test]
fn arguments_that_nobody_changes_are_judged_once() {
    in_both_forms(|bench| {
        bench.install("gated-tools", "tools");
        bench.hook("script-guard", "guard", "TOOL_CALL/pre", json!({}));
        bench.hook("script-transform", "transform", "TOOL_CALL/pre", json!({}));
        bench.headless(&["--mode", "yolo"], CALL).result();
        assert_eq!(bench.hooks_that_ran(), ["guard", "transform"]);
    });
}

fn guards(bench: &Bench) {
    for (root, id) in [
        ("home", "global-a"),
        ("home", "global-b"),
        ("project/.stud", "a-project"),
    ] {
        bench.hook_in(root, "script-guard", id, "RECEIVE_INPUT/pre", json!({}));
    }
}

#[test]
fn without_a_manifest_the_order_is_by_scope_and_then_by_id() {
    in_both_forms(|bench| {
        bench.trust();
        guards(bench);
        bench.headless(&[], "hello").answer();
        assert_eq!(
            bench.hooks_that_ran(),
            ["global-a", "global-b", "a-project"]
        );
    });
}

#[test]
fn those_a_manifest_names_come_first() {
    in_both_forms(|bench| {
        bench.trust();
        guards(bench);
        let manifest = json!({"hooks": {"RECEIVE_INPUT/pre": ["a-project", "global-b"]}});
        bench
            .world
            .write("home/ordering.json", manifest.to_string());
        let ear = bench.ear();
        bench.headless(&[], "hello").answer();
        assert_eq!(
            bench.hooks_that_ran(),
            ["a-project", "global-b", "global-a"]
        );
        assert!(ear.heard("OrderingRewrite").is_empty());
    });
}

#[test]
fn a_project_that_rewrites_the_order_is_told() {
    in_both_forms(|bench| {
        bench.trust();
        guards(bench);
        for (path, order) in [
            ("home/ordering.json", ["global-a", "a-project"]),
            ("project/.stud/ordering.json", ["a-project", "global-b"]),
        ] {
            let manifest = json!({"hooks": {"RECEIVE_INPUT/pre": order}});
            bench.world.write(path, manifest.to_string());
        }
        let ear = bench.ear();
        bench.headless(&[], "hello").answer();
        assert_eq!(
            bench.hooks_that_ran(),
            ["a-project", "global-b", "global-a"]
        );
        assert_eq!(
            ear.heard("OrderingRewrite"),
            [json!({
                "slot": "RECEIVE_INPUT/pre",
                "scope": "project",
                "previousOrder": ["global-a", "a-project"],
                "newOrder": ["a-project", "global-b"],
            })]
        );
    });
}

#[test]
fn a_manifest_that_names_nobody_warns_and_stops_nothing() {
    in_both_forms(|bench| {
        let manifest = json!({"hooks": {"RENDER/pre": ["nobody"]}});
        bench
            .world
            .write("home/ordering.json", manifest.to_string());
        let run = bench.headless(&[], "hello");
        assert_eq!(run.answer(), "USER hello");
        assert!(
            run.stderr
                .contains("warning[Validation/ExtensionNotFound] no active hook `nobody`"),
            "{run:#?}"
        );
    });
}

/// Each slot that takes a transform, what to change there, and what the person sees then.
#[test]
fn a_transform_changes_what_its_stage_goes_on_with() {
    in_both_forms(|bench| {
        for (slot, at, input, answer) in [
            ("RECEIVE_INPUT/pre", "/content", "hi", "USER hi!"),
            ("RECEIVE_INPUT/post", "/content", "hi", "USER hi!"),
            ("COMPOSE_REQUEST/pre", "/prior/content", "hi", "USER hi!"),
            (
                "COMPOSE_REQUEST/post",
                "/messages/0/content",
                "hi",
                "USER hi!",
            ),
            ("SEND_REQUEST/pre", "/messages/0/content", "hi", "USER hi!"),
            ("RENDER/pre", "/text", "hi", "USER hi!"),
            (
                "TOOL_CALL/pre",
                "/args/name",
                r#"!tool fx_env {"name": "PATH"}"#,
                r#"RESULT {"ok":true,"result":{"set":false}}"#,
            ),
            (
                "TOOL_CALL/post",
                "/result/value",
                r#"!tool fx_bytes {"n": 2}"#,
                r#"RESULT {"ok":true,"result":"xx!"}"#,
            ),
        ] {
            bench.install("fixture-tools", "tools");
            let config = json!({"at": at, "append": "!"});
            bench.hook("script-transform", "change", slot, config);
            assert_eq!(bench.headless(&[], input).answer(), answer, "{slot}");
        }
    });
}

#[test]
fn a_transform_of_tool_results_changes_what_the_model_is_told() {
    in_both_forms(|bench| {
        bench.install("fixture-tools", "tools");
        let told = r#"{"ok":true,"result":"changed"}"#;
        let config = json!({"at": "/prior/content/0/content", "put": told});
        bench.hook("script-transform", "change", "COMPOSE_REQUEST/pre", config);
        let run = bench.headless(&[], r#"!tool fx_bytes {"n": 2}"#);
        assert_eq!(run.result()["result"], "changed");
        let kinds: Vec<Value> = bench
            .seen_by("change")
            .into_iter()
            .map(|mut saw| saw["prior"]["kind"].take())
            .collect();
        assert_eq!(kinds, ["message", "tool-results"]);
        // The transcript has what the tool said.
        let results = bench.recorded("tool_result");
        assert_eq!(results[0]["content"], r#"{"ok":true,"result":"xx"}"#);
    });
}

#[test]
fn a_transform_of_every_piece_changes_the_stream() {
    in_both_forms(|bench| {
        let config = json!({"name": "change", "at": "/delta", "append": "."});
        bench.place("script-transform", "home/hooks/change", |manifest| {
            manifest["extId"] = "change".into();
            manifest["discoveryRules"]["manifestKey"] = "change".into();
            manifest["registration"]["slot"] = "STREAM_RESPONSE/pre".into();
            manifest["registration"]["firingMode"] = "per-token".into();
        });
        bench
            .world
            .write("home/hooks/change/config.json", config.to_string());
        let ear = bench.ear();
        let answer = bench.headless(&[], "!flood 3");
        assert_eq!(answer.answer(), "echoing .echoing .echoing .");
        let deltas = ear.heard("ProviderTokensStreamed");
        assert_eq!(deltas.len(), 3);
        assert_eq!(deltas[0]["delta"], "echoing .");
    });
}

/// What each slot shows. The same table stands in the documentation for authors.
#[test]
fn every_slot_shows_what_passes_there() {
    in_both_forms(|bench| {
        bench.install("gated-tools", "tools");
        let slots = [
            "RECEIVE_INPUT/pre",
            "RECEIVE_INPUT/post",
            "COMPOSE_REQUEST/pre",
            "COMPOSE_REQUEST/post",
            "SEND_REQUEST/pre",
            "SEND_REQUEST/post",
            "STREAM_RESPONSE/pre",
            "STREAM_RESPONSE/post",
            "TOOL_CALL/pre",
            "TOOL_CALL/post",
            "RENDER/pre",
            "RENDER/post",
        ];
        let id = |slot: &str| slot.to_lowercase().replace(['/', '_'], "-");
        for slot in slots {
            bench.hook("script-observer", &id(slot), slot, json!({}));
        }
        let ear = bench.ear();
        bench.headless(&["--mode", "yolo"], CALL).result();
        let turn = &ear.heard("SessionTurnStart")[0]["turnId"];
        let seen = |slot: &str| bench.seen_by(&id(slot));

        for slot in ["RECEIVE_INPUT/pre", "RECEIVE_INPUT/post"] {
            let seq = &seen(slot)[0]["monotonicTs"];
            let expected = json!({"kind": "message", "content": CALL, "correlationId": turn, "monotonicTs": seq});
            assert_eq!(seen(slot), [expected]);
        }
        let priors = seen("COMPOSE_REQUEST/pre");
        let expected = json!({"prior": {"kind": "message", "content": CALL}, "iteration": 0});
        assert_eq!((priors.len(), &priors[0]), (2, &expected));
        assert_eq!(
            members(&priors[1]["prior"]["content"][0]),
            ["content", "toolCallId", "toolName"]
        );
        for slot in ["COMPOSE_REQUEST/post", "SEND_REQUEST/pre"] {
            let requests = seen(slot);
            assert_eq!(requests.len(), 2);
            assert_eq!(
                members(&requests[0]),
                ["messages", "modelId", "system", "tools"]
            );
        }
        for slot in ["SEND_REQUEST/post", "STREAM_RESPONSE/pre"] {
            let exchange = |iteration| json!({"providerId": "echo", "modelId": "echo-1", "iteration": iteration});
            assert_eq!(seen(slot), [exchange(0), exchange(1)]);
        }
        let answers = seen("STREAM_RESPONSE/post");
        assert_eq!(answers[0]["finishReason"], "tool-calls");
        assert_eq!(
            members(&answers[0]["toolCalls"][0]),
            ["args", "toolCallId", "toolName"]
        );
        assert_eq!(answers[1]["finishReason"], "stop");
        let call = &seen("TOOL_CALL/pre")[0];
        assert_eq!(members(call), ["args", "toolCallId", "toolId", "toolName"]);
        let result = &seen("TOOL_CALL/post")[0];
        assert_eq!(
            members(result),
            [
                "approvalKey",
                "durationMs",
                "endedAt",
                "invocationId",
                "result",
                "startedAt",
                "toolCallId",
                "toolId",
                "toolName"
            ]
        );
        assert_eq!(
            (&result["result"], &result["approvalKey"]),
            (&json!({"ok": true, "value": {"ran": "a"}}), &json!("a"))
        );
        for slot in ["RENDER/pre", "RENDER/post"] {
            let [shown] = &seen(slot)[..] else {
                panic!("one answer was shown");
            };
            assert_eq!(members(shown), ["correlationId", "monotonicTs", "text"]);
            let place = |payload: &Value| -> u64 {
                let place = payload["monotonicTs"].as_str().unwrap();
                place.parse().unwrap()
            };
            assert!(place(shown) > place(&seen("RECEIVE_INPUT/post")[0]));
        }
    });
}
