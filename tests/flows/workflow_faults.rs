//! Machines that misbehave, plans that cannot run, and a process that dies: named, contained, and the session is usable.

use serde_json::{Value, json};
use stud_tests::eventually;

use crate::bench::{Bench, Run, in_both_forms};
use crate::machine::{Machine, done, fan_out, stage, stage_with, to};

fn simple(id: &str) -> Value {
    stage(id, &done(id), &[])
}

/// Runs a machine of these stages, which fails. The session that it ran in answers the next input.
fn fails(bench: &Bench, stages: &[Value], script: &Value) -> (Run, Machine) {
    let machine = Machine::of(bench, "bad", stages, script);
    let run = bench.headless(&["--sm", "bad"], "go");
    assert_eq!(run.status, 1, "{run:#?}");
    assert_eq!(
        bench.headless(&["--continue"], "still there?").answer(),
        "USER still there?"
    );
    (run, machine)
}

#[test]
fn a_machine_that_panics_is_named_with_its_phase() {
    in_both_forms(|bench| {
        for phase in ["setup", "checkGate", "assert", "exit", "next"] {
            let script = json!({"misbehave": {phase: {"only": "panic"}}});
            let (run, _) = fails(bench, &[simple("only")], &script);
            let said = format!("the phase `{phase}` of the stage `only` failed");
            assert!(
                run.stderr.contains("ExtensionHost/LifecycleFailure"),
                "{run:#?}"
            );
            assert!(run.stderr.contains(&said), "{run:#?}");
        }
    });
}

#[test]
fn a_machine_that_hangs_is_left_behind_in_every_phase() {
    in_both_forms(|bench| {
        bench.settings(&json!({"loop": {"phaseTimeoutMs": 200}}));
        for phase in ["setup", "checkGate", "assert", "exit", "next"] {
            let script = json!({"misbehave": {phase: {"only": "hang"}}});
            let (run, _) = fails(bench, &[simple("only")], &script);
            let said = format!(
                "did not return from the phase `{phase}` of the stage `only` within 200 ms"
            );
            assert!(run.stderr.contains(&said), "{run:#?}");
        }
    });
}

#[test]
fn a_machine_that_fails_to_attach_is_not_attached() {
    in_both_forms(|bench| {
        Machine::of(
            bench,
            "bad",
            &[simple("only")],
            &json!({"misbehave": {"attach": "fail"}}),
        );
        let run = bench.headless(&["--sm", "bad"], "go");
        assert_eq!(run.status, 1);
        assert!(
            run.stderr
                .contains("`attach` of `bad` failed: as the script says"),
            "{run:#?}"
        );
        assert_eq!(bench.headless(&[], "hello").answer(), "USER hello");
    });
}

#[test]
fn a_stage_that_does_not_exist_is_named() {
    in_both_forms(|bench| {
        let (run, _) = fails(
            bench,
            &[simple("only")],
            &json!({"next": {"only": to("nowhere")}}),
        );
        assert!(
            run.stderr.contains(
                "leads from the stage `only` to `nowhere`, which is not one of its stages"
            ),
            "{run:#?}"
        );
    });
}

#[test]
fn a_machine_that_goes_in_circles_is_stopped() {
    in_both_forms(|bench| {
        bench.settings(&json!({"loop": {"maxStages": 3}}));
        let (run, machine) = fails(
            bench,
            &[simple("only")],
            &json!({"next": {"only": to("only")}}),
        );
        assert!(
            run.stderr.contains("ExtensionHost/LoopBoundExceeded"),
            "{run:#?}"
        );
        assert_eq!(machine.called("setup", "only").len(), 3);
    });
}

#[test]
fn a_context_is_written_in_setup_and_by_its_owner_alone() {
    in_both_forms(|bench| {
        let script = json!({"misbehave": {"setup": {"only": "mutate"}}});
        let (run, _) = fails(bench, &[simple("only")], &script);
        stud_observed::covers!(CONTEXT_MUTATION_FORBIDDEN, run.stderr);
    });
}

#[test]
fn a_single_stage_has_no_sibling() {
    in_both_forms(|bench| {
        let script = json!({"next": {"first": fan_out(&["second"], None)}});
        let (run, _) = fails(bench, &[simple("first"), simple("second")], &script);
        stud_observed::covers!(INVALID_PARALLEL_PLAN, run.stderr);
    });
}

#[test]
fn a_join_is_a_stage_of_its_own() {
    in_both_forms(|bench| {
        let stages = ["first", "a", "b"].map(simple);
        let script = json!({"next": {"first": fan_out(&["a", "b"], Some("a"))}});
        let (run, machine) = fails(bench, &stages, &script);
        stud_observed::covers!(STAGE_JOIN_DANGLING, run.stderr);
        assert!(machine.called("setup", "a").is_empty());
    });
}

#[test]
fn a_sibling_that_fails_stops_the_others_and_the_join() {
    in_both_forms(|bench| {
        let stages = [
            simple("first"),
            simple("a"),
            stage("b", "!slow 60000", &[]),
            simple("join"),
        ];
        let script = json!({
            "next": {"first": fan_out(&["a", "b"], Some("join"))},
            "assert": {"a": "fail"},
        });
        let (run, machine) = fails(bench, &stages, &script);
        stud_observed::covers!(PARALLEL_SIBLING_FAILURE, run.stderr);
        assert!(machine.called("setup", "join").is_empty());
        let outcomes: Vec<Value> = {
            let records = bench.audited("StageExecution").into_iter();
            let mut outcomes: Vec<Value> = records
                .map(|record| json!([record["payload"]["stageId"], record["payload"]["outcome"]]))
                .collect();
            outcomes.sort_by_key(Value::to_string);
            outcomes
        };
        assert_eq!(
            outcomes,
            [
                json!(["a", "failed"]),
                json!(["b", "cancelled"]),
                json!(["first", "ok"])
            ]
        );
    });
}

#[test]
fn a_sibling_that_is_left_out_keeps_the_join_from_running() {
    in_both_forms(|bench| {
        let stages = ["first", "a", "b", "join"].map(simple);
        let script = json!({
            "next": {"first": fan_out(&["a", "b"], Some("join"))},
            "assert": {"b": "skip"},
        });
        let (run, _) = fails(bench, &stages, &script);
        stud_observed::covers!(JOIN_PRECONDITION_VIOLATED, run.stderr);
    });
}

#[test]
fn parallel_stages_without_a_join_go_on_each_by_itself() {
    in_both_forms(|bench| {
        let stages = ["first", "a", "b", "after-a", "after-b"].map(simple);
        let script = json!({
            "next": {
                "first": fan_out(&["a", "b"], None),
                "a": to("after-a"),
                "b": to("after-b"),
            },
        });
        let machine = Machine::of(bench, "split", &stages, &script);
        let run = bench.headless(&["--sm", "split"], "go");
        assert_eq!(run.answer(), "after-b");
        let mut setups = machine.phases();
        setups.retain(|phase| phase.starts_with("setup after"));
        assert_eq!(setups, ["setup after-a", "setup after-b"]);
    });
}

#[test]
fn a_machine_asks_at_the_boundaries_of_a_stage() {
    in_both_forms(|bench| {
        let script = json!({"ask": {"exit": {"only": {"prompt": "Keep it?"}}}});
        let machine = Machine::of(bench, "asks", &[simple("only")], &script);
        let yes = json!({"do": "accept", "value": {"confirmed": true}});
        let ui = bench.ui("one", &json!({"prompts": {"Confirm": yes}}));
        bench.headless(&["--sm", "asks"], "go").answer();
        assert_eq!(ui.asked()[0]["payload"]["prompt"], "Keep it?");
        assert_eq!(
            machine.called("exit", "only")[0]["answer"],
            json!({"confirmed": true})
        );
    });
}

#[test]
fn without_a_person_a_question_halts_the_workflow() {
    in_both_forms(|bench| {
        let script = json!({"ask": {"exit": {"only": {"prompt": "Keep it?"}}}});
        Machine::of(bench, "asks", &[simple("only")], &script);
        let run = bench.headless(&["--sm", "asks"], "go");
        assert_eq!(run.status, 3, "{run:#?}");
    });
}

/// Starts a workflow whose second stage takes long, and kills the process there.
fn cut_off(bench: &Bench) -> Machine {
    let slow = stage_with("slow", "!slow 60000", &[], &json!({}));
    let stages = [simple("quick"), slow];
    let machine = Machine::of(
        bench,
        "long",
        &stages,
        &json!({"next": {"quick": to("slow")}}),
    );
    let mut stud = bench
        .world
        .command()
        .args(["--headless", "--sm", "long", "go"])
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null())
        .spawn()
        .unwrap();
    eventually("the second stage", || {
        (machine.called("checkGate", "slow").len() == 1).then_some(())
    });
    stud.kill().unwrap();
    stud.wait().unwrap();
    machine
}

#[test]
fn a_stage_that_was_cut_off_is_not_entered_again_unasked() {
    in_both_forms(|bench| {
        let machine = cut_off(bench);
        let run = bench.headless(&["--continue"], "");
        assert_eq!(run.status, 3, "{run:#?}");
        assert_eq!(machine.called("setup", "slow").len(), 1);

        let no = json!({"do": "accept", "value": {"confirmed": false}});
        let ui = bench.ui("one", &json!({"prompts": {"Confirm": no}}));
        let run = bench.headless(&["--continue"], "something else");
        assert_eq!(run.answer(), "USER something else");
        let prompt = ui.asked()[0]["payload"]["prompt"]
            .as_str()
            .unwrap()
            .to_owned();
        assert_eq!(
            prompt,
            "The stage `slow` of `long` was cut off before the end. Enter it again?"
        );
        assert_eq!(
            bench.headless(&["--continue"], "more").answer(),
            "USER more"
        );
        assert_eq!(machine.called("setup", "slow").len(), 1);
    });
}

#[test]
fn a_stage_that_was_cut_off_is_entered_again_when_the_person_agrees() {
    in_both_forms(|bench| {
        let machine = cut_off(bench);
        // The same machine, and nothing in the way this time.
        let stages = [simple("quick"), simple("slow")];
        Machine::of(
            bench,
            "long",
            &stages,
            &json!({"next": {"quick": to("slow")}}),
        );
        let yes = json!({"do": "accept", "value": {"confirmed": true}});
        let ui = bench.ui("one", &json!({"prompts": {"Confirm": yes}}));
        let run = bench.headless(&["--continue"], "");
        assert_eq!(run.answer(), "slow");
        assert_eq!(ui.heard("SMAttached")[0]["resumed"], true);
        assert_eq!(ui.heard("SessionResumed")[0]["smRestored"], true);
        // The first stage is not run again, and what it handed over is there.
        assert_eq!(machine.called("setup", "quick").len(), 1);
        let setups = machine.called("setup", "slow");
        assert_eq!(setups.len(), 2);
        assert_eq!(setups[0]["context"], setups[1]["context"]);
        let records = bench.audited("StageExecution");
        let again: Vec<&Value> = records
            .iter()
            .filter(|record| record["kind"] == "StageReentered")
            .collect();
        assert_eq!(again.len(), 1);
        assert_eq!(again[0]["payload"]["stageId"], "slow");
        // A call of the first process is not part of the conversation.
        assert_eq!(
            bench.headless(&["--continue"], "and now?").answer(),
            "USER and now?"
        );
    });
}
