//! F6, F7 and F25: a state machine drives the session through its stages.

use serde_json::{Value, json};

use crate::bench::{Bench, in_both_forms};
use crate::machine::{Machine, calls, done, fan_out, grant, stage, stage_with, to};

/// The phases that subscribers hear of, in order: `pre Setup plan 0`.
fn phases(events: &[Value]) -> Vec<String> {
    let fired = events.iter().filter_map(|event| {
        let when = match event["heard"].as_str()? {
            "StagePreFired" => "pre",
            "StagePostFired" => "post",
            _ => return None,
        };
        let payload = &event["payload"];
        let (phase, stage) = (payload["phase"].as_str()?, payload["stageId"].as_str()?);
        Some(format!("{when} {phase} {stage} {}", payload["attempt"]))
    });
    fired.collect()
}

fn bracketed(phases: &[&str], stage: &str, attempt: u32) -> Vec<String> {
    let both = phases
        .iter()
        .flat_map(|phase| ["pre", "post"].map(|when| format!("{when} {phase} {stage} {attempt}")));
    both.collect()
}

const ALL: [&str; 7] = [
    "Setup",
    "Init",
    "CheckGate",
    "Act",
    "Assert",
    "Exit",
    "Next",
];

#[test]
#[expect(clippy::too_many_lines, reason = "one flow, from its start to its end")]
fn f6_a_machine_walks_its_stages_fans_out_joins_and_ends() {
    in_both_forms(|bench| {
        bench.install("gated-tools", "tools");
        let review = calls(&json!([
            ["gt_note", {"path": "src/a"}],
            ["done", {"report": "approved"}],
        ]));
        let stages = [
            stage("discovery", &done("found"), &["read", "list"]),
            stage(
                "decompose",
                &format!("Split {{{{ctx.goal}}}}.\n{}", done("two units")),
                &["read"],
            ),
            stage(
                "build-a",
                &calls(&json!([["gt_note", {"path": "a"}], ["done", {"report": "a"}]])),
                &["gt_note"],
            ),
            stage("build-b", &done("b"), &["gt_note"]),
            stage("join-review", &review, &["read"]),
            stage("complete", &done("all is done"), &[]),
        ];
        let mut stages = stages;
        stages[1]["context"] = json!(["goal"]);
        let script = json!({
            "setup": {"discovery": {"goal": "it", "hidden": "never to be seen"}},
            "next": {
                "discovery": to("decompose"),
                "decompose": fan_out(&["build-a", "build-b"], Some("join-review")),
                "join-review": to("complete"),
            },
        });
        let machine = Machine::of(bench, "ralph", &stages, &script);
        bench.hook("script-observer", "looker", "SEND_REQUEST/pre", json!({}));
        let prompts = json!({"prompts": {"grantStageTool": grant("approve", "once"), "*": {"do": "dismiss"}}});
        let ui = bench.ui("one", &prompts);

        let run = bench.headless(&["--sm", "ralph"], "build it");
        assert_eq!(run.answer(), "all is done");

        let [attached] = &ui.heard("SMAttached")[..] else {
            panic!("it is attached once");
        };
        assert_eq!(
            attached,
            &json!({"resumed": false, "sawSlot": false, "smId": "ralph"})
        );
        assert_eq!(bench.audited("SMAttached")[0]["payload"]["smId"], "ralph");

        // One turn for each stage, and one for the siblings with their join.
        let starts = ui.heard("SessionTurnStart");
        let ends = ui.heard("SessionTurnEnd");
        assert_eq!((starts.len(), ends.len()), (4, 4));
        assert_eq!(starts[0]["stageId"], "discovery");
        assert_eq!(ends[1]["execution"], "parallel");
        let compound = ends[2]["parentCompoundTurnId"].as_str().unwrap().to_owned();
        assert!(compound.ends_with(":decompose:compound:0"), "{compound}");
        assert_eq!(ends[2]["stageId"], "join-review");
        assert!(ui.heard("StagePreFired").iter().any(|fired| {
            fired["stageId"] == "build-a" && fired["parentCompoundTurnId"] == compound.as_str()
        }));

        let heard = phases(&ui.events());
        assert_eq!(heard[..14], bracketed(&ALL, "discovery", 0));
        for stage in ["decompose", "build-a", "build-b", "join-review", "complete"] {
            let of_stage: Vec<String> = heard
                .iter()
                .filter(|fired| fired.contains(&format!(" {stage} ")))
                .cloned()
                .collect();
            assert_eq!(of_stage, bracketed(&ALL, stage, 0));
        }

        // What a stage is told: its body, its transcript, its tools, and nothing else.
        let requests = bench.seen_by("looker");
        let first = &requests[0];
        assert_eq!(first["system"], done("found"));
        assert_eq!(first["messages"], json!([]));
        let names = |request: &Value| -> Vec<String> {
            let tools = request["tools"].as_array().unwrap().iter();
            tools
                .map(|tool| tool["name"].as_str().unwrap().to_owned())
                .collect()
        };
        assert_eq!(names(first), ["read", "list", "done"]);
        assert!(requests.iter().all(|request| {
            let text = request.to_string();
            !text.contains("never to be seen") && !text.contains("build it")
        }));
        let decompose = requests[1]["system"].as_str().unwrap();
        assert!(decompose.starts_with("Split it."), "{decompose}");

        // Both siblings began with the same context; the join has what each handed over.
        let setups =
            ["build-a", "build-b"].map(|id| machine.called("setup", id)[0]["context"].clone());
        assert_eq!(setups[0], setups[1]);
        assert_eq!(
            setups[0]["upstream"][0]["completion"]["report"],
            "two units"
        );
        let join = &machine.called("setup", "join-review")[0]["context"]["siblings"];
        assert_eq!(join["build-a"]["completion"]["report"], "a");
        assert_eq!(join["build-b"]["completion"]["report"], "b");
        assert_eq!(
            join["build-a"]["id"]["parentCompoundTurnId"],
            compound.as_str()
        );
        // The siblings' own tool ran unasked; the join asked for the one it was not given.
        let [asked] = &ui.asked()[..] else {
            panic!("the person is asked once: {:#?}", ui.asked());
        };
        assert_eq!(asked["kind"], "grantStageTool");
        assert_eq!(asked["payload"]["tool"], "gt_note");
        assert_eq!(asked["payload"]["argsSummary"], r#"{"path":"src/a"}"#);
        assert_eq!(asked["payload"]["attempt"], 0);
        let judged = &machine.called("assert", "join-review")[0]["context"]["attempts"][0];
        assert_eq!(judged["grants"][0]["outcome"], "approve");
        assert_eq!(judged["grants"][0]["note"], "once");

        let approvals = bench.audited("Approval");
        let sources: Vec<&Value> = approvals
            .iter()
            .map(|record| &record["payload"]["source"])
            .collect();
        assert_eq!(sources, ["sm-envelope", "sm-grant-token"]);
        let issued = &bench.audited("GrantIssued")[0]["payload"];
        let consumed = &bench.audited("GrantConsumed")[0]["payload"];
        assert_eq!(issued, consumed);
        for member in ["stageExecutionId", "proposalId", "argsDigest", "attempt"] {
            assert_eq!(approvals[1]["payload"][member], issued[member], "{member}");
            assert_eq!(asked["payload"][member], issued[member], "{member}");
        }

        let executions = bench.audited("StageExecution");
        assert_eq!(executions.len(), 6);
        assert!(executions.iter().all(|record| {
            record["payload"]["outcome"] == "ok" && record["payload"]["capHit"] == false
        }));
        let transitions: Vec<Value> = bench
            .audited("SMTransition")
            .into_iter()
            .map(|mut record| record["payload"].take())
            .collect();
        assert_eq!(
            transitions,
            [
                json!({"from": "discovery", "to": "decompose", "nextKind": "sequential"}),
                json!({"from": "decompose", "to": ["build-a", "build-b"], "nextKind": "parallel"}),
                json!({"from": ["build-a", "build-b"], "to": "join-review", "nextKind": "join"}),
                json!({"from": "join-review", "to": "complete", "nextKind": "sequential"}),
                json!({"from": "complete", "to": null, "nextKind": "terminate"}),
            ]
        );

        // The session is kept, and the conversation continues without the stages' messages.
        let run = bench.headless(&["--continue"], "and now?");
        assert_eq!(run.answer(), "USER and now?");
        let last = bench.seen_by("looker").pop().unwrap();
        let said: Vec<&Value> = last["messages"]
            .as_array()
            .unwrap()
            .iter()
            .map(|said| &said["content"])
            .collect();
        assert_eq!(said[0], "build it");
        assert!(said[1].to_string().contains("all is done"), "{said:#?}");
        assert_eq!(said.len(), 3);
    });
}

#[test]
fn the_turn_cap_ends_an_attempt_and_the_machine_judges() {
    in_both_forms(|bench| {
        bench.install("gated-tools", "tools");
        let round = calls(
            &json!([["gt_note", {"path": "a"}], ["gt_note", {"path": "b"}], ["gt_note", {"path": "c"}]]),
        );
        let changes = json!({"turnCap": 2});
        let stages = [stage_with("only", &round, &["gt_note"], &changes)];
        let script = json!({"assert": {"only": "ok"}});
        let machine = Machine::of(bench, "capped", &stages, &script);
        let ui = bench.ear();
        bench.headless(&["--sm", "capped"], "go").answer();
        let judged = &machine.called("assert", "only")[0]["context"]["attempts"][0];
        assert_eq!(judged["capHit"], true);
        // The calls of the last answer ran, and their results were not sent.
        let roles: Vec<&Value> = judged["transcript"]
            .as_array()
            .unwrap()
            .iter()
            .map(|said| &said["role"])
            .collect();
        assert_eq!(roles, ["assistant", "tool", "assistant", "tool"]);
        assert_eq!(ui.heard("SessionTurnEnd")[0]["capHit"], true);
        assert_eq!(
            bench.audited("StageExecution")[0]["payload"]["capHit"],
            true
        );
    });
}

#[test]
fn f7_a_retry_begins_clean_and_asks_again() {
    in_both_forms(|bench| {
        bench.install("gated-tools", "tools");
        let body = calls(&json!([["gt_note", {"path": "src/a"}], ["done", {"report": "tried"}]]));
        let changes =
            json!({"retryPolicy": {"maxAttempts": 2, "backoff": {"kind": "fixed", "ms": 1}}});
        let stages = [stage_with("only", &body, &[], &changes)];
        let script = json!({"assert": {"only": ["retry", "ok"]}});
        let machine = Machine::of(bench, "again", &stages, &script);
        let answers = json!([
            grant("approve", "the first time"),
            grant("defer", "not now")
        ]);
        let ui = bench.ui("one", &json!({"prompts": {"grantStageTool": answers}}));
        bench.headless(&["--sm", "again"], "go").answer();

        let heard = phases(&ui.events());
        let mut expected = bracketed(&ALL[..5], "only", 0);
        expected.extend(bracketed(&ALL[1..], "only", 1));
        assert_eq!(heard, expected);
        assert_eq!(ui.heard("SessionTurnStart").len(), 1);
        let spans = ui.heard("StageExecutionSpanStart");
        let attempts: Vec<&Value> = spans.iter().map(|span| &span["attempt"]).collect();
        assert_eq!(attempts, [0, 1]);

        let asked = ui.asked();
        let [first, second] = [&asked[0]["payload"], &asked[1]["payload"]];
        assert_eq!(asked.len(), 2);
        assert_eq!(
            (&first["attempt"], &second["attempt"]),
            (&json!(0), &json!(1))
        );
        assert_ne!(first["proposalId"], second["proposalId"]);
        assert_eq!(first["argsDigest"], second["argsDigest"]);
        assert_eq!(first["stageExecutionId"], second["stageExecutionId"]);

        let judged = &machine.called("assert", "only")[1]["context"]["attempts"];
        assert_eq!(judged.as_array().unwrap().len(), 2);
        assert_eq!(judged[0]["outcome"], "retry");
        assert_eq!(judged[0]["grants"][0]["note"], "the first time");
        assert_eq!(judged[1]["grants"][0]["outcome"], "defer");
        // The second transcript begins empty, and the call that was put off did not run.
        let results: Vec<String> = (0..2)
            .map(|attempt| {
                judged[attempt]["transcript"][1]["content"]
                    .as_str()
                    .unwrap()
                    .to_owned()
            })
            .collect();
        assert!(results[0].contains(r#""ok":true"#), "{}", results[0]);
        assert!(results[1].contains("ApprovalDenied"), "{}", results[1]);
        assert_eq!(bench.audited("GrantConsumed").len(), 1);
        assert_eq!(machine.called("setup", "only").len(), 1);
    });
}

#[test]
fn f7_attempts_that_are_used_up_fail_the_stage() {
    in_both_forms(|bench| {
        let changes = json!({"retryPolicy": {"maxAttempts": 2, "backoff": "none"}});
        let stages = [stage_with("only", &done("x"), &[], &changes)];
        let machine = Machine::of(
            bench,
            "vain",
            &stages,
            &json!({"assert": {"only": "retry"}}),
        );
        let run = bench.headless(&["--sm", "vain"], "go");
        assert_eq!(run.status, 1);
        assert!(
            run.stderr.contains("its 2 attempts are used up"),
            "{run:#?}"
        );
        assert_eq!(machine.called("assert", "only").len(), 2);
        assert!(machine.called("exit", "only").is_empty());
        assert_eq!(
            bench.audited("StageExecution")[0]["payload"]["outcome"],
            "failed"
        );
    });
}

#[test]
fn f7_fail_fails_at_once_and_skip_goes_on() {
    in_both_forms(|bench| {
        let changes = json!({"retryPolicy": {"maxAttempts": 5, "backoff": "none"}});
        let stages = [
            stage_with("first", &done("x"), &[], &changes),
            stage_with("second", &done("y"), &[], &changes),
        ];
        let script =
            json!({"assert": {"first": "skip", "second": "fail"}, "next": {"first": to("second")}});
        let machine = Machine::of(bench, "both", &stages, &script);
        let run = bench.headless(&["--sm", "both"], "go");
        assert_eq!(run.status, 1, "{run:#?}");
        assert_eq!(machine.called("exit", "first").len(), 1);
        assert_eq!(machine.called("assert", "second").len(), 1);
        assert!(machine.called("exit", "second").is_empty());
        let outcomes: Vec<Value> = bench
            .audited("StageExecution")
            .into_iter()
            .map(|mut record| record["payload"]["outcome"].take())
            .collect();
        assert_eq!(outcomes, ["ok", "failed"]);
    });
}

#[test]
fn f7_a_gate_that_is_shut_leaves_the_model_out() {
    in_both_forms(|bench| {
        let changes = json!({"retryPolicy": {"maxAttempts": 2, "backoff": "none"}});
        let stages = [
            stage_with("waits", &done("x"), &[], &changes),
            stage("unneeded", &done("y"), &[]),
        ];
        let script = json!({
            "checkGate": {"waits": ["retry", "proceed"], "unneeded": "skip"},
            "next": {"waits": to("unneeded")},
        });
        let machine = Machine::of(bench, "gates", &stages, &script);
        let ui = bench.ear();
        bench.headless(&["--sm", "gates"], "go").answer();
        let acts = |stage: &str| {
            let heard = phases(&ui.events());
            heard
                .iter()
                .filter(|fired| fired.starts_with(&format!("pre Act {stage}")))
                .count()
        };
        assert_eq!((acts("waits"), acts("unneeded")), (1, 0));
        assert!(machine.called("assert", "unneeded").is_empty());
        assert_eq!(
            machine.called("next", "unneeded")[0]["context"]["attempts"][0]["outcome"],
            "skip"
        );
    });
}

#[test]
fn a_completion_of_the_wrong_form_goes_back_to_the_model() {
    in_both_forms(|bench| {
        let body = calls(&json!([["done", {"reports": 1}], ["done", {"report": "right"}]]));
        let machine = Machine::of(bench, "formal", &[stage("only", &body, &[])], &json!({}));
        let run = bench.headless(&["--sm", "formal"], "go");
        assert_eq!(run.answer(), "right");
        let transcript =
            &machine.called("assert", "only")[0]["context"]["attempts"][0]["transcript"];
        let refused = transcript[1]["content"].as_str().unwrap();
        assert!(refused.contains("InputInvalid"), "{refused}");
        assert_eq!(transcript[1]["role"], "tool");
    });
}

/// The calls of a grant that is denied do not run, in every mode.
fn denied_in(bench: &Bench, arguments: &[&str]) -> Value {
    bench.install("gated-tools", "tools");
    let body = calls(&json!([["gt_note", {"path": "src/a"}], ["done", {"report": "left out"}]]));
    let machine = Machine::of(bench, "strict", &[stage("only", &body, &[])], &json!({}));
    let mut all = vec!["--sm", "strict"];
    all.extend(arguments);
    assert_eq!(bench.headless(&all, "go").answer(), "left out");
    machine.called("assert", "only")[0]["context"]["attempts"][0].clone()
}

#[test]
fn without_a_person_a_grant_is_denied_whatever_the_mode() {
    in_both_forms(|bench| {
        let attempt = denied_in(bench, &["--mode", "yolo"]);
        assert_eq!(attempt["grants"][0]["outcome"], "deny");
        let refused = attempt["transcript"][1]["content"].as_str().unwrap();
        assert!(refused.contains("sm-grant-token"), "{refused}");
        let approval = &bench.audited("Approval")[0]["payload"];
        assert_eq!(approval["decision"], "deny");
    });
}

#[test]
fn the_flag_yolo_grants_and_a_guard_still_denies() {
    in_both_forms(|bench| {
        bench.install("gated-tools", "tools");
        let body = calls(&json!([
            ["gt_note", {"path": "src/a"}],
            ["gt_note", {"path": "forbidden"}],
            ["done", {"report": "done"}],
        ]));
        let machine = Machine::of(bench, "guarded", &[stage("only", &body, &[])], &json!({}));
        let config = json!({"deny": "forbidden", "reason": "not there"});
        bench.hook("script-guard", "guard", "TOOL_CALL/pre", config);
        bench
            .headless(&["--sm", "guarded", "--yolo"], "go")
            .answer();
        let transcript =
            &machine.called("assert", "only")[0]["context"]["attempts"][0]["transcript"];
        let result = |place: usize| transcript[place]["content"].as_str().unwrap().to_owned();
        assert!(result(1).contains(r#""ok":true"#), "{}", result(1));
        assert!(result(3).contains("not there"), "{}", result(3));
        // What the guard denied was granted and never used.
        assert_eq!(
            (
                bench.audited("GrantIssued").len(),
                bench.audited("GrantConsumed").len()
            ),
            (2, 1)
        );
    });
}

#[test]
fn a_transform_cannot_change_what_was_granted() {
    in_both_forms(|bench| {
        bench.install("gated-tools", "tools");
        let body = calls(&json!([["gt_note", {"path": "src/a"}], ["done", {"report": "done"}]]));
        let machine = Machine::of(bench, "changed", &[stage("only", &body, &[])], &json!({}));
        let config = json!({"at": "/args/path", "put": "src/b"});
        bench.hook("script-transform", "changer", "TOOL_CALL/pre", config);
        let ui = bench.ui(
            "one",
            &json!({"prompts": {"grantStageTool": grant("approve", "")}}),
        );
        bench.headless(&["--sm", "changed"], "go").answer();
        let transcript =
            &machine.called("assert", "only")[0]["context"]["attempts"][0]["transcript"];
        let refused = transcript[1]["content"].as_str().unwrap();
        assert!(refused.contains("GrantNotFound"), "{refused}");
        assert_eq!(ui.asked().len(), 1);
        assert!(bench.audited("GrantConsumed").is_empty());
    });
}

#[test]
fn f25_code_of_the_machine_runs_at_the_boundaries_alone() {
    in_both_forms(|bench| {
        let stages = [stage(
            "only",
            &format!("!think about it\n{}", done("x")),
            &[],
        )];
        let machine = Machine::of(bench, "outside", &stages, &json!({}));
        bench.headless(&["--sm", "outside"], "go").answer();
        assert_eq!(
            machine.phases(),
            [
                "attach ",
                "setup only",
                "checkGate only",
                "assert only",
                "exit only",
                "next only"
            ]
        );
        // No call carries a token, a delta or a grant that could be used.
        let calls = machine.calls();
        let all = json!(calls).to_string();
        assert!(!all.contains("delta") && !all.contains("token"), "{all}");
        let next = &machine.called("next", "only")[0]["context"]["attempts"][0];
        assert_eq!(next["completion"], json!({"report": "x"}));
    });
}
