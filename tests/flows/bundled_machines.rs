//! The state machines that stud carries, from their first stage to their report.

use std::process::Command;

use serde_json::{Value, json};

use crate::bench::{Bench, in_both_forms};

fn stages(bench: &Bench) -> Vec<Value> {
    let mut ran: Vec<Value> = bench
        .audited("StageExecution")
        .into_iter()
        .map(|mut record| record["payload"]["stageId"].take())
        .collect();
    ran.sort_by_key(Value::to_string);
    ran
}

#[test]
fn a_plan_that_is_agreed_to_is_built_checked_and_reported() {
    in_both_forms(|bench| {
        let yes = json!({"do": "accept", "value": {"confirmed": true}});
        let ui = bench.ui("one", &json!({"prompts": {"Confirm": yes}}));
        let plan = json!({"summary": "add a flag", "steps": ["look", "write"]});
        let input = format!("!tool submit_plan {plan}");
        let run = bench.headless(&["--sm", "plan-then-build"], &input);
        assert!(run.answer().contains("look: USER"), "{run:#?}");
        let asked = ui.asked()[0]["payload"]["prompt"]
            .as_str()
            .unwrap()
            .to_owned();
        assert_eq!(asked, "Carry out this plan?\nadd a flag\n1. look\n2. write");
        assert_eq!(stages(bench), ["build", "look", "plan", "report", "tests"]);
    });
}

#[test]
fn a_plan_that_is_refused_is_not_built() {
    in_both_forms(|bench| {
        let no = json!({"do": "accept", "value": {"confirmed": false}});
        bench.ui("one", &json!({"prompts": {"Confirm": no}}));
        bench
            .headless(&["--sm", "plan-then-build"], "say hello")
            .answer();
        assert_eq!(stages(bench), ["plan"]);
    });
}

#[test]
fn three_reviewers_look_at_the_changes_and_one_reports() {
    in_both_forms(|bench| {
        let git = |arguments: &[&str]| {
            let done = Command::new("git")
                .args([
                    "-c",
                    "user.name=a",
                    "-c",
                    "user.email=a@b.c",
                    "-c",
                    "commit.gpgsign=false",
                ])
                .args(arguments)
                .current_dir(bench.world.project())
                .output()
                .unwrap();
            assert!(done.status.success(), "{done:?}");
        };
        bench.world.write("project/a.txt", "one\n");
        git(&["init", "-q"]);
        git(&["add", "a.txt"]);
        git(&["commit", "-qm", "first"]);
        let run = bench.headless(&["--sm", "review"], "the names");
        assert_eq!(run.status, 1);
        assert!(
            run.stderr.contains("there is nothing to review"),
            "{run:#?}"
        );

        bench.world.write("project/a.txt", "two\n");
        bench.hook("script-observer", "looker", "SEND_REQUEST/pre", json!({}));
        let run = bench.headless(&["--sm", "review"], "the names");
        assert!(run.answer().contains("clarity: USER"), "{run:#?}");
        assert_eq!(
            stages(bench),
            ["clarity", "collect", "correctness", "report", "security"]
        );
        let requests = bench.seen_by("looker");
        assert_eq!(requests.len(), 4);
        for request in &requests[..3] {
            let system = request["system"].as_str().unwrap();
            assert!(system.contains("+two"), "{system}");
            assert!(system.contains("The author asks: the names"), "{system}");
        }
    });
}
