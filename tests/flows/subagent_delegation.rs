//! Subagent delegation: the model opens a child session, a person allows its tools, and what it says is a tool result.

use std::io::Write as _;
use std::process::Stdio;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use stud_tests::eventually;

use crate::bench::{Bench, Run, Ui, approve, deny, in_both_forms};

/// A person who allows every call that is asked about, once.
fn once() -> Value {
    approve(&json!({"allowOnce": true}))
}

fn envelope(outcome: &str) -> Value {
    json!({"do": "accept", "value": {"outcome": outcome, "note": "a remark"}})
}

/// A screen that answers these kinds.
fn screen(bench: &Bench, approvals: Value, envelopes: Value) -> Ui {
    let prompts = json!({"Approve": approvals, "approveSubagentEnvelope": envelopes});
    bench.ui("screen", &json!({ "prompts": prompts }))
}

fn delegate(args: &Value) -> String {
    format!("!tool delegate {args}")
}

/// The result that the parent's model was told.
fn told(run: &Run) -> Value {
    run.result()["result"].clone()
}

/// The kinds of what is on record about children, in order.
fn kinds(records: &[Value]) -> Vec<&str> {
    let kinds = records
        .iter()
        .map(|record| record["kind"].as_str().unwrap());
    kinds.collect()
}

#[test]
fn a_child_does_its_task_with_the_tools_it_was_allowed() {
    in_both_forms(|bench| {
        bench.world.write("project/notes.txt", "three words here\n");
        let screen = screen(bench, once(), envelope("approve"));
        let task = r#"!tool read {"path": "notes.txt"}"#;
        let call = delegate(&json!({
            "prompt": task, "requestedEnvelope": ["read", "list", "read"], "label": "reader",
        }));
        let run = bench.headless(&[], &call);
        let result = told(&run);
        let id = result["subagentId"].as_str().unwrap();
        assert!(
            result["result"]
                .as_str()
                .unwrap()
                .contains("three words here")
        );
        assert_eq!(result["transcriptRef"], format!("subagent:{id}"));

        // The call is asked about, then the tools; the call of the child is not.
        let asked = screen.asked();
        let asked_kinds: Vec<_> = asked.iter().map(|request| &request["kind"]).collect();
        assert_eq!(asked_kinds, ["Approve", "approveSubagentEnvelope"]);
        assert_eq!(
            asked[0]["payload"]["approvalKey"],
            "delegate:provider=echo:model=echo-1:depth=1:envelope=list+read"
        );
        let parent = bench.sessions().pop().unwrap();
        assert_eq!(
            asked[1]["payload"],
            json!({
                "subagentId": id,
                "parentSessionId": parent,
                "depth": 1,
                "requestedEnvelope": ["list", "read"],
                "promptSummary": task,
                "model": {"providerId": "echo", "modelId": "echo-1"},
                "label": "reader",
            })
        );

        let records = bench.audited("SubagentExecution");
        assert_eq!(
            kinds(&records),
            [
                "SubagentEnvelopeApproved",
                "SubagentSpawned",
                "SubagentCompleted"
            ]
        );
        for record in &records {
            assert_eq!(record["subagentId"], id);
            assert_eq!(record["parentSessionId"], parent);
            assert_eq!(record["depth"], 1);
        }
        assert_eq!(
            records[1]["payload"]["approvedEnvelope"],
            json!(["list", "read"])
        );
        assert_eq!(records[1]["payload"]["note"], "a remark");
        let approvals = bench.audited("Approval");
        let of_child = approvals.iter().find(|record| record["subagentId"] == id);
        let of_child = &of_child.unwrap()["payload"];
        assert_eq!(
            (
                &of_child["decision"],
                &of_child["source"],
                &of_child["toolId"]
            ),
            (
                &json!("approve"),
                &json!("subagent-envelope"),
                &json!("read")
            )
        );

        // What happens in the child says whose it is, and its words are not those of the session.
        let started = screen.heard("ProviderRequestStarted");
        let children: Vec<_> = started.iter().map(|event| &event["subagentId"]).collect();
        assert_eq!(
            children,
            [&Value::Null, &json!(id), &json!(id), &Value::Null]
        );
        let spoken = bench.transcript();
        let spoken = spoken
            .iter()
            .filter(|record| record["kind"] == "user_input");
        assert_eq!(spoken.count(), 1);
    });
}

#[test]
fn a_child_that_is_not_allowed_its_tools_is_not_opened() {
    in_both_forms(|bench| {
        let screen = screen(bench, once(), envelope("deny"));
        let call = delegate(&json!({"prompt": "hello", "requestedEnvelope": ["read"]}));
        let aborted = told(&bench.headless(&[], &call))["aborted"].clone();
        assert_eq!(aborted["reason"], "envelopeDenied");
        assert_eq!(aborted["code"], "Subagent/EnvelopeDenied");
        assert_eq!(aborted["detail"], "a remark");
        let records = bench.audited("SubagentExecution");
        assert_eq!(kinds(&records), ["SubagentEnvelopeDenied"]);
        let denied = &records[0]["payload"];
        assert_eq!(
            (
                &denied["requestedEnvelope"],
                &denied["note"],
                &denied["reason"]
            ),
            (&json!(["read"]), &json!("a remark"), &json!("user-denied"))
        );
        assert_eq!(screen.heard("SubagentEnvelopeDenied").len(), 1);
        assert!(screen.heard("SubagentSpawned").is_empty());
    });
}

#[test]
fn what_cannot_be_opened_is_told_without_asking() {
    in_both_forms(|bench| {
        let screen = screen(bench, once(), envelope("approve"));
        let cases = [
            (
                json!({"prompt": "x", "model": {"modelId": "nope"}}),
                "modelInvalid",
            ),
            (
                json!({"prompt": "x", "model": {"providerId": "nope", "modelId": "echo-1"}}),
                "modelInvalid",
            ),
            (
                json!({"prompt": "x", "requestedEnvelope": ["raed"]}),
                "envelopeInvalid",
            ),
        ];
        for (args, reason) in &cases {
            let aborted = told(&bench.headless(&[], &delegate(args)))["aborted"].clone();
            assert_eq!(
                (&aborted["reason"], &aborted["subagentId"]),
                (&json!(reason), &json!(""))
            );
            assert!(bench.audited("SubagentExecution").is_empty());
        }
        bench.settings(&json!({"tools": {"delegate": {"maxDepth": 0}}}));
        let aborted =
            told(&bench.headless(&[], &delegate(&json!({"prompt": "x"}))))["aborted"].clone();
        assert_eq!(aborted["reason"], "depthExceeded");
        assert!(screen.asked().is_empty());
        let secret = delegate(&json!({"prompt": "use ghp_16C7e42F292c6912E7abcdefghij"}));
        let error = bench.headless(&[], &secret).result()["error"].clone();
        assert_eq!(error["code"], "ContextContainsForbiddenSource");
        let error = bench
            .headless(&[], &delegate(&json!({"prompt": "x", "depth": 0})))
            .result();
        assert_eq!(error["error"]["code"], "InputInvalid");
        assert!(screen.asked().is_empty());
    });
}

#[test]
fn without_a_person_no_child_is_opened_unless_everything_was_approved() {
    in_both_forms(|bench| {
        let call = delegate(&json!({"prompt": "hello", "requestedEnvelope": ["read"]}));
        // The mode lets the call run, and says nothing about the tools.
        let run = bench.headless(&["--mode", "yolo", "--json"], &call);
        assert_eq!(run.status, 0, "{run:#?}");
        let results = bench.recorded("tool_result");
        let content: Value = serde_json::from_str(results[0]["content"].as_str().unwrap()).unwrap();
        assert_eq!(content["ok"], true);
        let halted = &content["result"]["haltStatus"];
        assert_eq!(halted["requestKind"], "approveSubagentEnvelope");
        assert_eq!(halted["decision"], "halt");
        assert_eq!(halted["reason"], "headless without --yolo");
        assert!(!halted["correlationId"].as_str().unwrap().is_empty());
        assert!(!halted["subagentId"].as_str().unwrap().is_empty());
        assert!(bench.audited("SubagentExecution").is_empty());

        let run = bench.headless(&["--yolo"], &call);
        assert_eq!(told(&run)["result"], "USER hello");
        let records = bench.audited("SubagentExecution");
        assert_eq!(records.len(), 3);
    });
}

#[test]
fn a_call_outside_its_tools_is_asked_about_in_the_name_of_the_child() {
    in_both_forms(|bench| {
        bench.install("gated-tools", "tools");
        let screen = screen(bench, once(), envelope("approve"));
        let run = r#"["gt_run", {"command": "one"}]"#;
        let task = format!("!seq [{run}, {run}]");
        let call = delegate(&json!({"prompt": task, "label": "runner"}));
        bench.headless(&[], &call).answer();
        let asked = screen.asked();
        let of_child: Vec<_> = asked
            .iter()
            .filter(|request| request["payload"]["toolId"] == "gt_run")
            .collect();
        assert_eq!(of_child.len(), 2, "once is once: {asked:#?}");
        let parent = bench.sessions().pop().unwrap();
        for request in &of_child {
            assert_eq!(request["parentSessionId"], parent);
            assert_eq!(request["subagentId"], asked[1]["payload"]["subagentId"]);
        }
        let records = bench.audited("SubagentExecution");
        let escalated: Vec<_> = records
            .iter()
            .filter(|record| record["kind"] == "SubagentEscalated")
            .collect();
        assert_eq!(escalated.len(), 2);
        assert_eq!(escalated[0]["payload"]["toolName"], "gt_run");
        assert_eq!(escalated[0]["payload"]["approvalKey"], "one");
    });
}

#[test]
fn a_person_who_says_no_in_a_child_ends_neither_the_child_nor_its_parent() {
    in_both_forms(|bench| {
        bench.install("gated-tools", "tools");
        let screen = screen(bench, json!([once(), deny()]), envelope("approve"));
        let task = r#"!tool gt_run {"command": "no"}"#;
        let run = bench.headless(&[], &delegate(&json!({"prompt": task})));
        let said = told(&run)["result"].as_str().unwrap().to_owned();
        assert!(said.contains("ApprovalDenied"), "{said}");
        assert_eq!(screen.asked().len(), 3);
        let records = bench.audited("SubagentExecution");
        assert_eq!(records.last().unwrap()["kind"], "SubagentCompleted");
    });
}

#[test]
fn what_a_person_allowed_the_session_does_not_count_in_a_child_nor_the_other_way_round() {
    in_both_forms(|bench| {
        bench.install("gated-tools", "tools");
        let for_good = approve(&json!({"scope": "session"}));
        let screen = screen(bench, for_good, envelope("approve"));
        let run = json!(["gt_run", {"command": "one"}]);
        let task = format!("!seq [{run}, {run}]");
        let delegate = json!(["delegate", {"prompt": task}]);
        bench
            .headless(&[], &format!("!seq [{run}, {delegate}, {delegate}, {run}]"))
            .answer();
        let asked = screen.asked();
        let runs = asked
            .iter()
            .filter(|request| request["payload"]["toolId"] == "gt_run");
        let askers: Vec<&Value> = runs.map(|request| &request["subagentId"]).collect();
        // Once for the session, and once for each child.
        assert_eq!(askers.len(), 3, "{asked:#?}");
        assert_eq!(askers[0], &Value::Null);
        assert!(askers[1].is_string() && askers[2].is_string() && askers[1] != askers[2]);
    });
}

/// A task that takes longer than any test.
const ENDLESS: &str = "!slow 600000";

fn parallel(calls: &[Value]) -> String {
    let calls: Vec<Value> = calls.iter().map(|args| json!(["delegate", args])).collect();
    format!("!par {}", json!(calls))
}

/// Waits until this many children were opened, and gives their ids in order.
fn spawned(screen: &Ui, count: usize) -> Vec<String> {
    eventually("children that were opened", || {
        let spawned = screen.heard("SubagentSpawned");
        (spawned.len() == count).then(|| {
            let ids = spawned.iter().map(|event| event["subagentId"].as_str());
            let mut ids: Vec<String> = ids.map(|id| id.unwrap().to_owned()).collect();
            ids.sort();
            ids
        })
    })
}

/// What every child came to, by its id.
fn ends(bench: &Bench) -> Vec<(String, String, Value)> {
    let records = bench.audited("SubagentExecution").into_iter();
    let ends = records.filter(|record| {
        let kind = record["kind"].as_str().unwrap();
        ["SubagentCompleted", "SubagentHalted", "SubagentAborted"].contains(&kind)
    });
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    ends.map(|end| {
        let reason = end["payload"]["reason"].clone();
        (text(&end["subagentId"]), text(&end["kind"]), reason)
    })
    .collect()
}

#[test]
fn several_children_work_at_once_and_ask_one_after_the_other() {
    in_both_forms(|bench| {
        bench.install("gated-tools", "tools");
        let screen = screen(bench, once(), envelope("approve"));
        // Each can only finish together with the other.
        let leg = |place: u8| {
            let leg = json!({"key": "k", "place": place, "last": 1});
            json!({"prompt": format!("!tool gt_relay {leg}"), "label": format!("leg {place}")})
        };
        bench.headless(&[], &parallel(&[leg(0), leg(1)])).answer();
        let asked = screen.asked();
        let of_children: Vec<_> = asked
            .iter()
            .filter_map(|request| request["subagentId"].as_str())
            .collect();
        let ids = spawned(&screen, 2);
        assert_eq!(of_children.len(), 2, "{asked:#?}");
        assert!(ids.iter().all(|id| of_children.contains(&id.as_str())));
        let raised = screen.heard("InteractionRaised").len();
        assert_eq!(raised, screen.heard("InteractionAnswered").len());
        let ends = ends(bench);
        assert_eq!(ends.len(), 2);
        assert!(ends.iter().all(|(_, kind, _)| kind == "SubagentCompleted"));
    });
}

#[test]
fn a_child_that_is_cancelled_ends_neither_its_parent_nor_the_other_child() {
    in_both_forms(|bench| {
        let screen = screen(bench, once(), envelope("approve"));
        let mut talk = bench.talk(&[]);
        talk.say(&parallel(&[
            json!({"prompt": ENDLESS, "label": "first"}),
            json!({"prompt": ENDLESS, "label": "second"}),
        ]));
        let ids = spawned(&screen, 2);
        talk.says_until("/agents", "2 subagents; `/agents cancel ID` cancels one.");
        talk.say(&format!("/agents cancel {}", ids[0]));
        talk.is_asked(&format!("The subagent {} is cancelled.", ids[0]));
        eventually("the end of one child", || {
            (screen.heard("SubagentAborted").len() == 1).then_some(())
        });
        talk.say("/agents");
        talk.is_asked("1 subagent; `/agents cancel ID` cancels one.");
        talk.say(&format!("/agents cancel {}", &ids[1]));
        talk.hears("RESULT");
        let (status, ..) = talk.end();
        assert_eq!(status, 0);
        let cancelled = |id: &String| {
            let reason = json!("parentCancel");
            (id.clone(), "SubagentAborted".to_owned(), reason)
        };
        assert_eq!(ends(bench), [cancelled(&ids[0]), cancelled(&ids[1])]);
        let results = bench.recorded("tool_result");
        assert_eq!(results.len(), 2);
        assert!(
            results
                .iter()
                .all(|result| { result["content"].as_str().unwrap().contains("parentCancel") })
        );
    });
}

#[test]
fn a_turn_that_is_cancelled_takes_its_children_and_their_prompts_with_it() {
    in_both_forms(|bench| {
        bench.install("gated-tools", "tools");
        // Both calls are allowed, and the call of a child is asked about for ever.
        let rules = json!([once(), once(), {"do": "wait"}]);
        let screen = screen(bench, rules, envelope("approve"));
        let mut command = bench.world.command();
        let mut stud = command
            .arg("--headless")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let run = r#"!tool gt_run {"command": "one"}"#;
        let calls = parallel(&[json!({"prompt": run}), json!({"prompt": ENDLESS})]);
        let mut stdin = stud.stdin.take().unwrap();
        stdin.write_all(calls.as_bytes()).unwrap();
        drop(stdin);
        let ids = spawned(&screen, 2);
        eventually("the prompt of a child", || {
            let asked = screen.asked();
            let mut of_children = asked
                .iter()
                .filter(|request| request["subagentId"].is_string());
            of_children.next().map(drop)
        });
        kill_process(Pid::from_child(&stud), Signal::INT).unwrap();
        assert_eq!(stud.wait().unwrap().code(), Some(130));
        let mut ends = ends(bench);
        ends.sort_by(|one, other| one.0.cmp(&other.0));
        let aborted = |id: &String| {
            let reason = json!("parentCancel");
            (id.clone(), "SubagentAborted".to_owned(), reason)
        };
        assert_eq!(ends, [aborted(&ids[0]), aborted(&ids[1])]);
        let interactions = bench.audited("Interaction");
        let of_children = interactions
            .iter()
            .filter(|record| record["subagentId"].is_string());
        let kinds: Vec<_> = of_children.map(|record| &record["kind"]).collect();
        assert_eq!(kinds, ["InteractionCancelled"]);
    });
}

#[test]
fn a_child_may_open_children_as_deep_as_the_settings_say() {
    in_both_forms(|bench| {
        bench.settings(&json!({"tools": {"delegate": {"maxDepth": 2}}}));
        let screen = screen(bench, once(), envelope("approve"));
        let third = delegate(&json!({"prompt": "hello"}));
        let second = delegate(&json!({"prompt": third}));
        let first = delegate(&json!({"prompt": second, "requestedEnvelope": ["delegate"]}));
        let run = bench.headless(&[], &first);
        let said = told(&run)["result"].as_str().unwrap().to_owned();
        assert!(said.contains("depthExceeded"), "{said}");
        let envelopes: Vec<Value> = screen
            .asked()
            .into_iter()
            .filter(|request| request["kind"] == "approveSubagentEnvelope")
            .collect();
        let depths: Vec<_> = envelopes
            .iter()
            .map(|request| &request["payload"]["depth"])
            .collect();
        assert_eq!(depths, [1, 2]);
        let child = &envelopes[0]["payload"]["subagentId"];
        assert_eq!(&envelopes[1]["subagentId"], child);
        assert_eq!(&envelopes[1]["payload"]["parentSessionId"], child);
        assert_eq!(ends(bench).len(), 2);
    });
}

#[test]
fn a_child_whose_process_is_killed_is_aborted_when_the_session_is_resumed() {
    in_both_forms(|bench| {
        let screen = screen(bench, once(), envelope("approve"));
        let mut talk = bench.talk(&[]);
        talk.say(&parallel(&[
            json!({"prompt": ENDLESS}),
            json!({"prompt": ENDLESS}),
        ]));
        let ids = spawned(&screen, 2);
        drop(talk);
        assert_eq!(ends(bench), []);
        let run = bench.headless(&["--continue"], "hello again");
        assert_eq!(run.answer(), "USER hello again");
        let mut ends = ends(bench);
        ends.sort_by(|one, other| one.0.cmp(&other.0));
        let crashed: Vec<_> = ids
            .iter()
            .map(|id| (id.clone(), "SubagentAborted".to_owned(), json!("crash")))
            .collect();
        assert_eq!(ends, crashed);
        // What a child had begun has its end too, and once more is not another end.
        let turns = bench.audited("Turn");
        let of_children = turns.iter().filter(|turn| turn["subagentId"].is_string());
        let kinds: Vec<_> = of_children
            .map(|turn| turn["kind"].as_str().unwrap())
            .collect();
        let count = |kind: &str| kinds.iter().filter(|known| **known == kind).count();
        assert_eq!(count("TurnStarted"), count("TurnError"));
        bench.headless(&["--continue"], "and again").answer();
        assert_eq!(ends.len(), self::ends(bench).len());
    });
}

#[test]
fn what_children_did_is_shown_below_their_session() {
    in_both_forms(|bench| {
        bench.world.write("project/notes.txt", "three words here\n");
        screen(bench, once(), envelope("approve"));
        let task = r#"!tool read {"path": "notes.txt"}"#;
        let args = json!({"prompt": task, "requestedEnvelope": ["read"], "label": "reader"});
        let result = told(&bench.headless(&[], &delegate(&args)));
        let id = result["subagentId"].as_str().unwrap();
        let session = bench.sessions().pop().unwrap();
        let shown = bench.world.stud(&["sessions", "show", &session, "--tree"]);
        assert_eq!(shown.status, 0, "{shown:#?}");
        for part in [
            "reader",
            &id[..8],
            "completed",
            "echo-1 of echo; read; ",
            "result of read",
        ] {
            assert!(shown.stdout.contains(part), "{part}: {}", shown.stdout);
        }
        let plain = bench.world.stud(&["sessions", "show", &session]);
        assert!(!plain.stdout.contains("completed"), "{}", plain.stdout);
        let audit = bench.world.stud(&["audit", "show", &session]);
        assert!(
            audit.stdout.contains(&format!("core in {id}")),
            "{}",
            audit.stdout
        );
        assert!(audit.stdout.contains("│ "), "{}", audit.stdout);

        let file = format!("sessions/{session}/subagents/{id}.jsonl");
        assert!(bench.world.home().join(&file).exists());
        let gone = bench.world.stud(&["sessions", "delete", &session]);
        assert_eq!(gone.status, 0, "{gone:#?}");
        assert!(!bench.world.home().join("sessions").join(&session).exists());
    });
}
