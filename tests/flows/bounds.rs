//! What bounds a turn: continuations, tries, time, and the rules of a stream.

use serde_json::{Value, json};
use stud_tests::cause_of;

use crate::bench::{Bench, in_both_forms};

#[test]
fn so_many_continuations_are_allowed_and_the_next_is_not() {
    in_both_forms(|bench| {
        bench.install("fixture-tools", "tools");
        bench.settings(&json!({"loop": {"maxContinuations": 2}}));
        let calls =
            |count: usize| format!("!seq {}", json!(vec![json!(["fx_bytes", {"n": 1}]); count]));
        assert_eq!(bench.headless(&[], &calls(2)).result()["ok"], true);

        let ear = bench.ear();
        let run = bench.headless(&[], &calls(3));
        assert_eq!(run.status, 1);
        stud_observed::covers!(LOOP_BOUND_EXCEEDED, run.stderr);
        assert_eq!(ear.heard("ProviderRequestStarted").len(), 3);
        // What ran has its result, though no model hears of the last.
        assert_eq!(bench.recorded("tool_result").len(), 3);
        let [ended] = &ear.heard("SessionTurnEnd")[..] else {
            panic!("a turn ends once");
        };
        assert_eq!(ended["capHit"], false);
        assert_eq!(ended["error"]["class"], "ExtensionHost");
        assert_eq!(ended["error"]["code"], "LoopBoundExceeded");
        assert!(ear.heard("TurnRendered").is_empty());
        let end = &bench.audited("Turn")[1]["payload"];
        assert_eq!(end["errorCode"], "LoopBoundExceeded");
    });
}

#[test]
fn a_provider_that_fails_for_the_moment_is_tried_again() {
    in_both_forms(|bench| {
        let retry = json!({"attempts": 2, "firstMs": 1, "longestMs": 4});
        bench.settings(&json!({"providers": {"retry": retry}}));
        let ear = bench.ear();
        assert_eq!(bench.headless(&[], "!fail RateLimited").status, 1);
        let tries = ear.heard("SuppressedError");
        let reasons: Vec<_> = tries.iter().map(|again| &again["reason"]).collect();
        assert_eq!(
            reasons,
            [
                "the request is sent again in 1 ms (try 2 of 3)",
                "the request is sent again in 2 ms (try 3 of 3)"
            ]
        );
        for again in &tries {
            assert_eq!(cause_of(again)["code"], "RateLimited");
        }
        let failed = ear.heard("ProviderRequestFailed");
        assert_eq!(failed.len(), 1);
        assert_eq!(failed[0]["errorCode"], "RateLimited");
        assert_eq!(bench.audited("SuppressedError").len(), 2);
    });
}

#[test]
fn what_will_fail_again_is_not_tried_again() {
    in_both_forms(|bench| {
        let retry = json!({"attempts": 2, "firstMs": 1});
        bench.settings(&json!({"providers": {"retry": retry}}));
        for code in ["Unauthorized", "EndpointNotFound", "MissingToolCalling"] {
            let ear = bench.ear();
            let before = ear.heard("ProviderRequestFailed").len();
            assert_eq!(bench.headless(&[], &format!("!fail {code}")).status, 1);
            let failed = ear.heard("ProviderRequestFailed");
            assert_eq!(failed.len() - before, 1);
            assert_eq!(failed.last().unwrap()["errorCode"], code);
            assert!(ear.heard("SuppressedError").is_empty(), "{code}");
        }
    });
}

#[test]
fn a_tool_that_hangs_is_named_and_the_turn_goes_on() {
    in_both_forms(|bench| {
        bench.install("fixture-tools", "tools");
        bench.world.write(
            "home/tools/fixture-tools/config.json",
            r#"{"timeoutMs": 300}"#,
        );
        let ear = bench.ear();
        let calls = r#"!par [["fx_hang", {}], ["fx_bytes", {"n": 1}]]"#;
        assert_eq!(bench.headless(&[], calls).result()["result"], "x");
        let results = bench.recorded("tool_result");
        let told: Value = serde_json::from_str(results[0]["content"].as_str().unwrap()).unwrap();
        let error = &told["error"];
        assert_eq!(
            (&error["class"], &error["code"]),
            (&json!("ToolTransient"), &json!("ExecutionTimeout"))
        );
        assert_eq!(
            error["message"],
            "`fx_hang` did not come back within 300 ms"
        );
        assert_eq!(error["context"]["extId"], "fixture-tools");
        let failed = ear.heard("ToolInvocationFailed");
        assert_eq!(failed[0]["toolName"], "fx_hang");
        assert_eq!(failed[0]["errorCode"], "ExecutionTimeout");
    });
}

/// One that takes a time limit says by itself that the time is up, and is not cut off before.
#[test]
fn a_tool_that_keeps_time_itself_has_its_own_time() {
    in_both_forms(|bench| {
        let yolo = ["--mode", "yolo"];
        let bash = |args: &str| {
            bench
                .headless(&yolo, &format!("!tool bash {args}"))
                .result()
        };
        bench.settings(&json!({"loop": {"toolTimeoutMs": 50}}));
        let result = bash(r#"{"command": "sleep 0.3; echo done"}"#);
        assert_eq!(result["result"]["stdout"], "done\n", "{result:#}");
        let result = bash(r#"{"command": "sleep 60", "timeoutMs": 300}"#);
        let error = &result["error"];
        assert_eq!(error["code"], "ExecutionTimeout", "{result:#}");
        let own = error["message"].as_str().unwrap();
        assert!(!own.contains("did not come back"), "{own}");

        // What the operator says of the plugin holds for it.
        bench.settings(&json!({"tools": {"bash": {"timeoutMs": 300}}}));
        let result = bash(r#"{"command": "sleep 60", "timeoutMs": 60000}"#);
        assert_eq!(
            result["error"]["message"],
            "`bash` did not come back within 300 ms"
        );
    });
}

#[test]
fn a_tool_that_panics_is_named_and_the_turn_goes_on() {
    in_both_forms(|bench| {
        bench.install("fixture-tools", "tools");
        let result = bench.headless(&[], "!tool fx_panic {}").result();
        let error = &result["error"];
        assert_eq!(
            (&error["class"], &error["code"]),
            (&json!("ToolTerminal"), &json!("ToolExecutionFailed"))
        );
        assert_eq!(error["context"]["cause"], "ExtensionHost/CallPanicked");
        assert_eq!(error["context"]["extId"], "fixture-tools");
    });
}

/// Lets a model say these pieces.
fn streaming(bench: &Bench, pieces: &[Value]) -> crate::bench::Run {
    bench.install("unruly-provider", "providers");
    bench.settings(&json!({"active": {"provider": "unruly-provider"}}));
    let lines: Vec<String> = pieces.iter().map(Value::to_string).collect();
    bench.headless_with(&[("STUD_UNRULY", &lines.join("\n"))], "hello")
}

/// The same, and what came of it as the last line of JSON.
fn streaming_json(bench: &Bench, pieces: &[Value]) -> Value {
    let lines: Vec<String> = pieces.iter().map(Value::to_string).collect();
    let mut command = bench.world.command();
    command.env("STUD_UNRULY", lines.join("\n"));
    let output = command
        .args(["--headless", "--json", "hello"])
        .output()
        .unwrap();
    let stdout = String::from_utf8(output.stdout).unwrap();
    serde_json::from_str(stdout.lines().last().unwrap()).unwrap()
}

fn finish(reason: &str) -> Value {
    json!({"type": "finish", "reason": reason})
}

#[test]
fn a_stream_ends_with_its_finish_and_there_alone() {
    in_both_forms(|bench| {
        let text = json!({"type": "text-delta", "delta": "hi"});
        let good = streaming(bench, &[text.clone(), finish("stop")]);
        assert_eq!(good.answer(), "hi");
        for pieces in [vec![text.clone()], vec![finish("stop"), text], vec![]] {
            let run = streaming(bench, &pieces);
            assert_eq!(run.status, 1, "{pieces:?}");
            stud_observed::covers!(PROVIDER_PROTOCOL_VIOLATION, run.stderr);
        }
    });
}

#[test]
fn calls_count_only_where_the_model_waits_for_them() {
    in_both_forms(|bench| {
        let call = json!({"type": "tool-call", "toolCallId": "c1", "toolName": "any", "args": {}});
        let ear = bench.ear();
        streaming(bench, &[call, finish("length")]).answer();
        assert!(ear.heard("ToolInvocationProposed").is_empty());
        assert!(ear.inside("TOOL_CALL").is_empty());
        let nothing = streaming(bench, &[finish("tool-calls")]);
        assert_eq!(nothing.answer(), "");
        assert!(ear.inside("TOOL_CALL").is_empty());
    });
}

#[test]
fn a_call_without_a_name_is_no_answer() {
    in_both_forms(|bench| {
        let call = json!({"type": "tool-call", "toolCallId": "c1", "toolName": "", "args": {}});
        let run = streaming(bench, &[call, finish("tool-calls")]);
        assert_eq!(run.status, 1);
        assert!(
            run.stderr
                .contains("error[ProviderCapability/OutputMalformed]"),
            "{run:#?}"
        );
        let call = json!({"type": "tool-call", "toolCallId": "c1", "toolName": "", "args": {}});
        let line = streaming_json(bench, &[call, finish("tool-calls")]);
        assert_eq!(line["error"]["context"]["callId"], "c1", "{line:#}");
    });
}
