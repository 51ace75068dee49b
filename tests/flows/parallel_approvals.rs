//! Parallel tool approvals: asked about one after the other, run together, told in order.

use serde_json::{Value, json};
use stud_tests::eventually;

use crate::bench::{Bench, Run, Ui, approve, deny, in_both_forms};

/// Two legs of a relay, which can only finish together, with a command between them.
const THREE: &str = r#"!par [["gt_relay", {"key": "k", "place": 0, "last": 1}], ["gt_run", {"command": "no"}], ["gt_relay", {"key": "k", "place": 1, "last": 1}]]"#;

/// Two who are asked: one who approves the first prompt and denies the second, each once the other has seen it too, and
/// one who answers when it is too late.
struct Race {
    quick: Ui,
    slow: Ui,
}

impl Race {
    fn of(bench: &Bench) -> Self {
        bench.install("gated-tools", "tools");
        let until = |gate: &str, mut rule: Value| {
            rule["until"] = json!(bench.world.path(gate));
            rule
        };
        let rules = [
            until("seen-1", approve(&json!({}))),
            until("seen-2", deny()),
        ];
        let late = json!({"do": "respondLate", "value": {"decision": "approve"}});
        Self {
            quick: bench.ui("quick", &json!({"prompts": {"Approve": rules}})),
            slow: bench.ui("slow", &json!({"prompts": {"Approve": late}})),
        }
    }

    fn run(&self, bench: &Bench) -> Run {
        std::thread::scope(|threads| {
            let run = threads.spawn(|| bench.headless(&[], THREE));
            for count in 1..=2 {
                eventually("a prompt at the slow one", || {
                    (self.slow.asked().len() == count).then_some(())
                });
                bench.world.write(format!("seen-{count}"), "");
            }
            run.join().unwrap()
        })
    }
}

#[test]
fn one_prompt_is_shown_at_a_time_to_everyone_at_once() {
    in_both_forms(|bench| {
        let race = Race::of(bench);
        race.run(bench).answer();
        let keys = |ui: &Ui| -> Vec<Value> {
            let asked = ui.asked().into_iter();
            asked
                .map(|mut request| request["payload"]["approvalKey"].take())
                .collect()
        };
        // The third call has the tool and the key of the first.
        assert_eq!(keys(&race.quick), ["k", "no"]);
        assert_eq!(keys(&race.slow), ["k", "no"]);
        let steps: Vec<&str> = race
            .slow
            .lines()
            .iter()
            .filter_map(|line| {
                let saw = line.get("saw").map(|_| "saw");
                let let_go = line.get("calledOff").map(|_| "let go");
                saw.or(let_go)
            })
            .take(3)
            .collect();
        assert_eq!(steps, ["saw", "let go", "saw"]);
    });
}

#[test]
fn the_first_answer_wins_and_a_late_one_is_told_so() {
    in_both_forms(|bench| {
        let race = Race::of(bench);
        race.run(bench).answer();
        let answered = race.quick.heard("InteractionAnswered");
        let winners: Vec<_> = answered.iter().map(|answer| &answer["extId"]).collect();
        assert_eq!(winners, ["quick", "quick"]);
        let lines = race.slow.lines();
        let late = lines
            .iter()
            .find(|line| line["call"] == "interaction.respond");
        let error = &late.unwrap()["error"];
        assert_eq!(
            (&error["class"], &error["code"]),
            (&json!("Session"), &json!("InteractionAlreadyAnswered"))
        );
    });
}

#[test]
fn what_is_approved_runs_together_and_is_told_in_order() {
    in_both_forms(|bench| {
        let race = Race::of(bench);
        let result = race.run(bench).result();
        // The first leg can only have finished after the last one.
        assert_eq!(result, json!({"ok": true, "result": {"place": 1}}));

        let proposed = race.quick.heard("ToolInvocationProposed");
        let ids: Vec<_> = proposed.iter().map(|call| &call["toolCallId"]).collect();
        let results = bench.recorded("tool_result");
        let told: Vec<_> = results.iter().map(|result| &result["toolCallId"]).collect();
        assert_eq!(told, ids);
        assert!(
            results[1]["content"]
                .as_str()
                .unwrap()
                .contains("ApprovalDenied")
        );
        assert_eq!(race.quick.heard("ToolInvocationStarted").len(), 2);
    });
}

#[test]
fn every_call_has_one_decision_on_record_in_the_order_of_the_proposal() {
    in_both_forms(|bench| {
        let race = Race::of(bench);
        race.run(bench).answer();
        let proposed = race.quick.heard("ToolInvocationProposed");
        let records = bench.audited("Approval");
        let decisions: Vec<_> = records
            .iter()
            .map(|record| {
                let payload = &record["payload"];
                (
                    &payload["toolCallId"],
                    payload["decision"].as_str().unwrap(),
                )
            })
            .collect();
        let ids: Vec<_> = proposed.iter().map(|call| &call["toolCallId"]).collect();
        assert_eq!(
            decisions,
            [(ids[0], "approve"), (ids[1], "deny"), (ids[2], "approve")]
        );
        // All are decided before any runs.
        let trail = bench.audit();
        let last = trail
            .iter()
            .rposition(|record| record["class"] == "Approval");
        let first = trail
            .iter()
            .position(|record| record["kind"] == "ToolCallSucceeded");
        assert!(last < first);
        let heard = race.quick.events();
        let answered = heard
            .iter()
            .rposition(|event| event["heard"] == "InteractionAnswered");
        let started = heard
            .iter()
            .position(|event| event["heard"] == "ToolInvocationStarted");
        assert!(answered < started);
    });
}

#[test]
fn one_that_panics_leaves_the_prompt_to_the_other() {
    in_both_forms(|bench| {
        bench.install("gated-tools", "tools");
        let broken = bench.ui("broken", &json!({"prompts": {"Approve": {"do": "panic"}}}));
        let gate = bench.world.path("broken-has-seen-it");
        let mut yes = approve(&json!({}));
        yes["until"] = json!(gate);
        let sound = bench.ui("sound", &json!({"prompts": {"Approve": yes}}));
        std::thread::scope(|threads| {
            let run = threads.spawn(|| bench.headless(&[], r#"!tool gt_run {"command": "ls"}"#));
            eventually("a prompt at the broken one", || broken.asked().pop());
            bench.world.write("broken-has-seen-it", "");
            assert_eq!(run.join().unwrap().result()["ok"], true);
        });
        assert_eq!(sound.heard("InteractionAnswered")[0]["extId"], "sound");
    });
}

#[test]
fn once_everybody_has_gone_the_headless_rules_hold() {
    in_both_forms(|bench| {
        bench.install("gated-tools", "tools");
        let ear = bench.ear();
        let mut talk = bench.talk(&[]);
        talk.say(r#"!tool gt_run {"command": "ls"}"#);
        let (_, stdout, _) = talk.end();
        assert_eq!(stdout, "");
        assert_eq!(ear.heard("HeadlessInteractionRequired").len(), 1);
        assert!(ear.heard("ToolInvocationStarted").is_empty());
        assert_eq!(bench.audited("Approval")[0]["payload"]["decision"], "halt");
    });
}
