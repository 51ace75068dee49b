//! What children may do, over many random tasks: nothing runs in one without an envelope, an answer or a gate that let
//! it, and what a guard denies their parent it denies them.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use crate::bench::{Bench, Form, approve, deny, in_both_forms};

/// Numbers that look random and are the same in every run.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % sides
    }

    fn pick<'a, T>(&mut self, of: &'a [T]) -> &'a T {
        let place = self.roll(of.len());
        &of[place]
    }
}

/// The guard denies calls with this word as an argument.
const DENIED: &str = "forbidden";

/// Calls of tools that need approval, some of which the guard denies.
fn calls(dice: &mut Dice) -> Vec<Value> {
    let words = ["one", "two", DENIED];
    let calls = (0..2 + dice.roll(4)).map(|_| {
        let word = dice.pick(&words);
        match dice.roll(3) {
            0 => json!(["gt_run", {"command": word}]),
            1 => json!(["gt_note", {"path": format!("{word}/a.txt")}]),
            _ => json!(["gt_move", {"from": format!("{word}/a"), "to": "b/c"}]),
        }
    });
    calls.collect()
}

fn envelope(dice: &mut Dice) -> BTreeSet<&'static str> {
    let tools = ["gt_run", "gt_note", "gt_move"];
    tools.into_iter().filter(|_| dice.roll(2) == 0).collect()
}

/// What is on record of the calls of one kind of session: who let each run, or who denied it.
#[derive(Debug, Default)]
struct Record {
    /// The source of the approval and the tool, by the call.
    approved: BTreeMap<String, (String, String)>,
    /// The calls that ran.
    ran: BTreeSet<String>,
    /// What the guard denied: tool and digest of the arguments.
    guarded: BTreeSet<(String, String)>,
}

fn record(bench: &Bench, depth: Option<u64>) -> Record {
    let mut record = Record::default();
    for entry in bench.audit() {
        if entry.get("depth").and_then(Value::as_u64) != depth {
            continue;
        }
        let payload = &entry["payload"];
        let text = |member: &str| payload[member].as_str().unwrap_or_default().to_owned();
        match entry["kind"].as_str() {
            Some("ToolApproval") if payload["decision"] == "approve" => {
                let approved = (text("source"), text("toolId"));
                record.approved.insert(text("toolCallId"), approved);
            }
            Some("ToolApproval") if payload["source"] == "guard" => {
                record.guarded.insert((text("toolId"), text("argsDigest")));
            }
            Some("ToolCallSucceeded") if text("toolName") != "delegate" => {
                record.ran.insert(text("toolCallId"));
            }
            _ => {}
        }
    }
    record
}

/// A task for the deepest child, handed down through as many children as it takes.
fn handed_down(task: &str, tools: &BTreeSet<&str>, depth: u64) -> String {
    let mut tools = json!(tools);
    let mut task = task.to_owned();
    for _ in 0..depth {
        task = format!(
            "!tool delegate {}",
            json!({"prompt": task, "requestedEnvelope": tools})
        );
        tools = json!(["delegate"]);
    }
    task
}

#[test]
fn nothing_outside_its_tools_runs_unasked_in_a_child_however_deep() {
    in_both_forms(|bench| {
        bench.install("gated-tools", "tools");
        bench.settings(&json!({"tools": {"delegate": {"maxDepth": 4}}}));
        // Within the task of a child the quotes are escaped, so that only the call itself is denied.
        let config =
            json!({"deny": format!(":\"{DENIED}"), "code": "Forbidden", "reason": "not that"});
        bench.hook("script-guard", "guard", "TOOL_CALL/pre", config);
        // The first call is that of `delegate`; whatever a child asks about is denied.
        let once = approve(&json!({"allowOnce": true}));
        let yes = json!({"do": "accept", "value": {"outcome": "approve"}});
        let prompts = json!({"Approve": [once, deny()], "approveSubagentEnvelope": yes});
        bench.ui("screen", &json!({ "prompts": prompts }));
        for seed in 1..=4 {
            let dice = &mut Dice(seed);
            let (calls, tools) = (calls(dice), envelope(dice));
            let depth = 1 + dice.roll(4) as u64;
            let task = format!("!seq {}", json!(calls));
            println!("seed {seed}: depth {depth}, {tools:?}, {task}");
            bench
                .headless(&[], &handed_down(&task, &tools, depth))
                .answer();
            let child = record(bench, Some(depth));
            for call in &child.ran {
                let (source, tool) = &child.approved[call];
                assert_eq!(source, "subagent-envelope", "{child:#?}");
                assert!(tools.contains(tool.as_str()), "{child:#?}");
            }
            // The same calls, where a person allowed everything in advance.
            bench.headless(&["--yolo"], &task).answer();
            let parent = record(bench, None);
            let judged = |(tool, _): &&(String, String)| tools.contains(tool.as_str());
            let expected: BTreeSet<_> = parent.guarded.iter().filter(judged).collect();
            let denied: BTreeSet<_> = child.guarded.iter().collect();
            assert_eq!(denied, expected, "what a guard denies it denies in a child");
        }
    });
}

#[test]
fn a_library_that_only_has_the_name_of_the_tool_opens_no_children() {
    in_both_forms(|bench| {
        // As libraries the plugins are links, which a test must not write to.
        if bench.form == Form::Libraries {
            return;
        }
        bench.place("delegate", "home/tools/delegate", |manifest| {
            manifest["tools"][0]["description"] = "Looks like the one that stud carries.".into();
        });
        let result = bench
            .headless(&["--yolo"], r#"!tool delegate {"prompt": "hello"}"#)
            .result();
        assert_eq!(result["error"]["code"], "InputInvalid", "{result:#}");
        assert!(bench.audited("SubagentExecution").is_empty());
    });
}
