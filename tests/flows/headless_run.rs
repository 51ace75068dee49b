//! Headless run: one input, one answer, and a halt where a prompt would be needed.

use serde_json::{Value, json};

use crate::bench::{approve, in_both_forms, members};

const LS: &str = r#"!tool gt_run {"command": "ls"}"#;

#[test]
fn an_answer_alone_is_on_standard_output() {
    in_both_forms(|bench| {
        let run = bench.headless(&[], "hello\n");
        assert_eq!((run.status, &*run.stdout), (0, "USER hello\n"));
        assert_eq!(run.stderr, "");
    });
}

#[test]
fn nothing_to_answer_is_wrong_usage() {
    in_both_forms(|bench| {
        let run = bench.headless(&[], " \n");
        assert_eq!((run.status, &*run.stdout), (2, ""));
        assert!(
            run.stderr.contains("error[Validation/ArgumentMissing]"),
            "{run:#?}"
        );
        assert!(bench.sessions().is_empty(), "no session is kept");
    });
}

#[test]
fn a_call_that_nobody_can_approve_halts_the_turn_cleanly() {
    in_both_forms(|bench| {
        bench.install("gated-tools", "tools");
        bench.hook("script-guard", "watch", "TOOL_CALL/pre", json!({}));
        let ear = bench.ear();
        let run = bench.headless(&[], LS);
        assert_eq!((run.status, &*run.stdout), (3, ""), "{run:#?}");
        assert!(
            run.stderr
                .contains("error[Validation/HeadlessInteractionRequired]"),
            "{run:#?}"
        );

        let [message] = &ear.heard("HeadlessInteractionRequired")[..] else {
            panic!("one message");
        };
        assert_eq!(
            members(message),
            ["correlationId", "hint", "kind", "requestKind"]
        );
        assert_eq!(
            (&message["kind"], &message["requestKind"]),
            (&json!("permission-required"), &json!("Approve"))
        );
        assert!(ear.heard("InteractionRaised").is_empty());
        // Nothing failed: every stage that began has ended, and so has the turn.
        let posts = ear.heard("StagePostFired");
        assert!(posts.iter().all(|post| post.get("error").is_none()));
        assert_eq!(ear.stages().last().unwrap(), "post RENDER");
        assert_eq!(ear.heard("SessionTurnEnd")[0]["capHit"], false);
        assert_eq!(ear.heard("SessionPersisted").len(), 1);
        assert!(bench.hooked().is_empty(), "no guard runs");
    });
}

/// An interactor that leaves everything to others is no person who could answer.
#[test]
fn a_prompt_that_every_interactor_dismisses_halts_the_turn() {
    in_both_forms(|bench| {
        bench.install("gated-tools", "tools");
        let dismiss = json!({"prompts": {"Approve": {"do": "dismiss"}, "Ask": {"do": "dismiss"}}});
        let (one, two) = (bench.ui("one", &dismiss), bench.ui("two", &dismiss));
        let run = bench.headless(&[], LS);
        assert_eq!((run.status, &*run.stdout), (3, ""), "{run:#?}");
        assert_eq!((one.asked().len(), two.asked().len()), (1, 1));
        assert_eq!(one.heard("HeadlessInteractionRequired").len(), 1);
        assert_eq!(bench.headless(&["--yolo"], LS).result()["ok"], true);
    });
}

#[test]
fn the_interactor_that_does_not_dismiss_answers() {
    in_both_forms(|bench| {
        bench.install("gated-tools", "tools");
        bench.ui("one", &json!({"prompts": {"Approve": {"do": "dismiss"}}}));
        bench.ui("two", &json!({"prompts": {"Approve": approve(&json!({}))}}));
        assert_eq!(bench.headless(&[], LS).result()["ok"], true);
    });
}

#[test]
fn a_tools_own_prompt_that_is_dismissed_is_unavailable() {
    in_both_forms(|bench| {
        bench.install("fixture-tools", "tools");
        bench.ui(
            "one",
            &json!({"prompts": {"Tool.Input": {"do": "dismiss"}, "ToolInput": {"do": "dismiss"}}}),
        );
        let result = bench.headless(&[], "!tool fx_fallback {}").result();
        assert_eq!(result["result"]["code"], "InteractionUnavailable");
    });
}

#[test]
fn piped_text_is_added_to_the_prompt() {
    in_both_forms(|bench| {
        let run = bench.headless(&["explain this"], "line one\nline two\n");
        assert_eq!(run.answer(), "USER explain this\n\nline one\nline two");
        let run = bench.headless(&["explain this"], "");
        assert_eq!(run.answer(), "USER explain this");
    });
}

#[test]
fn the_halt_is_on_record_once_and_no_result_is_made_up() {
    in_both_forms(|bench| {
        bench.install("gated-tools", "tools");
        bench.headless(&[], LS);
        let records = bench.audited("Approval");
        let [record] = &records[..] else {
            panic!("{records:#?}");
        };
        let payload = &record["payload"];
        assert_eq!(
            (&payload["decision"], &payload["requestKind"]),
            (&json!("halt"), &json!("Approve"))
        );
        assert_eq!(
            (
                &payload["source"],
                &payload["toolId"],
                &payload["approvalKey"]
            ),
            (&json!("mode-gate"), &json!("gt_run"), &json!("ls"))
        );
        assert!(payload["reason"].is_string());
        assert!(payload["toolCallId"].is_string());
        for of_stage in ["stageExecutionId", "attempt", "proposalId", "argsDigest"] {
            assert_eq!(payload.get(of_stage), Some(&Value::Null), "{of_stage}");
        }
        let turn = bench.audited("Turn");
        assert_eq!(turn[1]["kind"], "TurnEnded");
        assert_eq!(turn[1]["payload"]["status"], "halted");
        assert!(bench.recorded("tool_call").is_empty());
        assert!(bench.recorded("tool_result").is_empty());
        // The call was taken up and not run.
        let invocation = bench.audited("ToolInvocation");
        let kinds: Vec<_> = invocation.iter().map(|record| &record["kind"]).collect();
        assert_eq!(kinds, ["ToolCallStarted", "ToolCallFailed"]);
        assert_eq!(invocation[1]["payload"]["reason"], "session-cancelled");
    });
}

#[test]
fn a_halt_keeps_earlier_denials_and_runs_nothing() {
    in_both_forms(|bench| {
        bench.install("gated-tools", "tools");
        bench.install("fixture-tools", "tools");
        let ear = bench.ear();
        let calls = json!([
            ["no_such", {}],
            ["fx_bytes", {"n": 1}],
            ["gt_run", {"command": "ls"}],
            ["gt_run", {"command": "pwd"}],
        ]);
        let run = bench.headless(&[], &format!("!par {calls}"));
        assert_eq!(run.status, 3);
        assert!(ear.heard("ToolInvocationStarted").is_empty());
        let results = bench.recorded("tool_result");
        let names: Vec<_> = results.iter().map(|result| &result["toolName"]).collect();
        assert_eq!(names, ["no_such"]);
        // The last call was not even looked at.
        assert_eq!(bench.audited("Approval").len(), 1);
    });
}

#[test]
fn a_halted_session_goes_on_with_a_person() {
    in_both_forms(|bench| {
        bench.install("gated-tools", "tools");
        assert_eq!(bench.headless(&[], LS).status, 3);
        bench.hook("script-observer", "looker", "SEND_REQUEST/pre", json!({}));
        let ui = bench.ui("one", &json!({"prompts": {"Approve": approve(&json!({}))}}));
        let result = bench.headless(&["--continue"], LS).result();
        assert_eq!(result["result"], json!({"ran": "ls"}));
        assert_eq!(ui.asked().len(), 1, "nothing was remembered");

        // No model continues from a call without a result, so it is told that this one was never decided.
        let request = &bench.seen_by("looker")[0];
        let messages = request["messages"].as_array().unwrap();
        let roles: Vec<_> = messages.iter().map(|message| &message["role"]).collect();
        assert_eq!(roles, ["user", "assistant", "tool", "user"]);
        let (call, result) = (&messages[1]["content"][0], &messages[2]["content"][0]);
        assert_eq!(call["toolCallId"], result["toolCallId"]);
        assert!(result["content"].as_str().unwrap().contains("did not run"));
    });
}

#[test]
fn what_was_approved_in_advance_runs_after_the_guards() {
    in_both_forms(|bench| {
        bench.install("gated-tools", "tools");
        let config = json!({"deny": "rm -rf"});
        bench.hook("script-guard", "guard", "TOOL_CALL/pre", config);
        let ear = bench.ear();
        assert_eq!(bench.headless(&["--yolo"], LS).result()["ok"], true);
        let records = bench.audited("Approval");
        assert_eq!(records.len(), 1);
        assert_eq!(records[0]["payload"]["decision"], "approve");
        assert!(ear.heard("HeadlessInteractionRequired").is_empty());
        let denied = bench.headless(&["--yolo"], r#"!tool gt_run {"command": "rm -rf /"}"#);
        assert_eq!(denied.result()["error"]["context"]["source"], "guard");
    });
}

#[test]
fn the_allowlist_needs_nobody() {
    in_both_forms(|bench| {
        bench.install("gated-tools", "tools");
        let mode = json!({"mode": "allowlist", "allowlist": ["gt_run(ls)"]});
        bench.settings(&json!({"securityMode": mode}));
        assert_eq!(bench.headless(&[], LS).result()["ok"], true);
        let denied = bench.headless(&[], r#"!tool gt_run {"command": "pwd"}"#);
        assert_eq!(
            denied.result()["error"]["context"]["code"],
            "NotOnAllowlist"
        );
    });
}

#[test]
fn a_password_that_nobody_can_give_halts_too() {
    in_both_forms(|bench| {
        let ear = bench.ear();
        let run = bench.headless(&[], "!auth the vault");
        assert_eq!((run.status, &*run.stdout), (3, ""), "{run:#?}");
        let message = &ear.heard("HeadlessInteractionRequired")[0];
        assert_eq!(message["requestKind"], "Auth.Password");
        let records: Vec<Value> = bench.audited("Interaction");
        assert_eq!(records.len(), 1);
        assert_eq!(records[0]["payload"]["decision"], "halt");
        assert!(bench.audited("Approval").is_empty());
        assert_eq!(ear.heard("SessionTurnEnd").len(), 1);
    });
}

#[test]
fn a_tool_that_asks_hears_that_nobody_is_there() {
    in_both_forms(|bench| {
        bench.install("fixture-tools", "tools");
        let result = bench.headless(&[], "!tool fx_fallback {}").result();
        assert_eq!(result["result"]["error"], "no interactive UI");
        assert_eq!(result["result"]["code"], "InteractionUnavailable");
    });
}

/// No interactor was attached, so the tool cannot decide that the turn continues.
#[test]
fn a_tool_that_makes_nothing_of_it_does_not_keep_the_turn_going() {
    in_both_forms(|bench| {
        bench.install("gated-tools", "tools");
        let ear = bench.ear();
        let run = bench.headless(&["--mode", "yolo"], "!tool gt_shrug {}");
        assert_eq!(run.status, 3, "{run:#?}");
        assert_eq!(ear.heard("HeadlessInteractionRequired").len(), 1);
        let turn = bench.audited("Turn");
        assert_eq!(turn[1]["payload"]["status"], "halted");
        // What the tool has done is done.
        assert_eq!(bench.recorded("tool_result").len(), 1);
        assert_eq!(ear.heard("ToolInvocationSucceeded").len(), 1);
    });
}

#[test]
fn a_call_that_ends_with_its_turn_has_its_end_on_record() {
    in_both_forms(|bench| {
        let ear = bench.ear();
        let run = bench.headless(&["--mode", "yolo"], r#"!tool ask-user {"prompt": "Who?"}"#);
        assert_eq!(run.status, 3, "{run:#?}");
        assert_eq!(ear.heard("ToolInvocationStarted").len(), 1);
        let cancelled = &ear.heard("ToolInvocationCancelled");
        assert_eq!(cancelled[0]["reason"], "session-cancelled");
        let kinds: Vec<Value> = bench
            .audited("ToolInvocation")
            .iter()
            .map(|record| record["kind"].clone())
            .collect();
        assert_eq!(kinds, ["ToolCallStarted", "ToolCallFailed"]);
    });
}

#[test]
fn the_command_line_lets_single_calls_run() {
    in_both_forms(|bench| {
        bench.install("gated-tools", "tools");
        let run = |flags: &[&str]| bench.headless(flags, LS);
        assert_eq!(run(&["--allow-tool", "gt_run(ls)"]).result()["ok"], true);
        let other = run(&["--allow-tool", "gt_run(pwd)", "--allow-tool", "bash(ls)"]);
        assert_eq!(other.status, 3, "{other:#?}");
        assert!(
            other
                .stderr
                .contains("`--allow-tool 'gt_run(ls)'` would let this call run"),
            "{other:#?}"
        );
        let wrong = run(&["--allow-tool", "git *"]);
        assert_eq!(wrong.status, 2, "{wrong:#?}");
        assert!(wrong.stderr.contains("AllowlistEntryInvalid"), "{wrong:#?}");
        assert!(wrong.stderr.contains("bash(git *)"), "{wrong:#?}");
    });
}

#[test]
fn each_command_of_a_line_needs_an_entry() {
    in_both_forms(|bench| {
        let line = |line: &str| format!("!tool bash {}", json!({"command": line}));
        let listed = json!({"mode": "allowlist", "allowlist": ["bash(git *)", "bash(echo *)"]});
        bench.settings(&json!({"securityMode": listed}));
        let run = |command: &str| bench.headless(&[], &line(command)).result();
        assert_eq!(
            run("echo one && echo two")["result"]["stdout"],
            "one\ntwo\n"
        );
        for command in [
            "git status; touch X",
            "echo $(touch X)",
            "PATH=. git status",
            "echo x > X",
            "git -c alias.x='!touch X' x",
        ] {
            let denied = run(command);
            assert_eq!(
                denied["error"]["context"]["code"], "NotOnAllowlist",
                "{command}"
            );
        }
        assert!(!bench.world.path("project/X").exists());

        bench.settings(&json!({}));
        let halted = bench.headless(&[], &line("echo one && pwd"));
        assert_eq!(halted.status, 3, "{halted:#?}");
        let flags =
            "`--allow-tool 'bash(echo one)' --allow-tool 'bash(pwd)'` would let this call run";
        assert!(halted.stderr.contains(flags), "{halted:#?}");
        let flags = [
            "--allow-tool",
            "bash(echo one)",
            "--allow-tool",
            "bash(pwd)",
        ];
        assert_eq!(
            bench.headless(&flags, &line("echo one && pwd")).result()["ok"],
            true
        );
        let halted = bench.headless(&[], &line("echo $HOME"));
        assert!(
            halted
                .stderr
                .contains("no `--allow-tool` can let this line run"),
            "{halted:#?}"
        );
    });
}

#[test]
fn what_only_reads_is_not_asked_about() {
    in_both_forms(|bench| {
        bench.world.write("project/a.txt", "text of a\n");
        let read = r#"!tool read {"path": "a.txt"}"#;
        let run = bench.headless(&[], read);
        if bench.layer() != "bundled" {
            // A tool that is installed under the name is another tool.
            assert_eq!(run.status, 3, "{run:#?}");
            return;
        }
        assert_eq!(run.result()["result"]["content"], "text of a\n");
        let record = &bench.audited("Approval")[0]["payload"];
        assert_eq!(
            (&record["decision"], &record["source"]),
            (&json!("approve"), &json!("read-only"))
        );
        for call in [
            r#"!tool list {"path": "."}"#,
            r#"!tool glob {"pattern": "*"}"#,
            r#"!tool grep {"pattern": "text"}"#,
            r#"!tool diff {"oldText": "a", "newText": "b"}"#,
            "!tool catalog {}",
        ] {
            assert_eq!(bench.headless(&[], call).result()["ok"], true, "{call}");
        }
        let write = r#"!tool write {"path": "b", "content": ""}"#;
        assert_eq!(bench.headless(&[], write).status, 3);

        let listed = json!({"mode": "allowlist", "allowlist": ["bash(ls)"]});
        bench.settings(&json!({"securityMode": listed}));
        let denied = bench.headless(&[], read).result();
        assert_eq!(denied["error"]["context"]["code"], "NotOnAllowlist");
        bench.settings(&json!({"securityMode": {"askForReads": true}}));
        assert_eq!(bench.headless(&[], read).status, 3);
        // A project may ask for more questions, and not for fewer.
        let fewer = json!({"securityMode": {"askForReads": false}});
        bench
            .world
            .write("project/.stud/settings.json", fewer.to_string());
        bench.trust();
        assert_eq!(bench.headless(&[], read).status, 3);
    });
}
