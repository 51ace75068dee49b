//! Slash commands: what each shows and changes, what it refuses, and that no model ever sees them.

use serde_json::{Value, json};

use crate::bench::{Bench, in_both_forms};

/// The last line of a headless run as JSON lines: what came of it.
fn result(bench: &Bench, line: &str) -> Value {
    let run = bench.headless(&["--json"], line);
    let last = run.stdout.lines().last();
    let last = last.unwrap_or_else(|| panic!("{run:#?}"));
    serde_json::from_str(last).unwrap()
}

fn payload(bench: &Bench, line: &str) -> Value {
    let mut result = result(bench, line);
    assert_eq!(result["status"], "completed", "{line}: {result:#}");
    result["payload"].take()
}

#[test]
fn help_lists_the_commands() {
    in_both_forms(|bench| {
        let help = bench.headless(&[], "/help");
        for name in [
            "compact",
            "exit",
            "health",
            "quit",
            "save-and-close",
            "trust",
        ] {
            let line = format!("/{name:<24}");
            assert!(help.answer().lines().any(|shown| shown.starts_with(&line)));
        }
        assert!(help.answer().lines().is_sorted(), "{help:#?}");
    });
}

#[test]
fn the_mode_is_shown() {
    in_both_forms(|bench| {
        assert_eq!(
            payload(bench, "/mode"),
            json!({"mode": "ask", "sessionFixed": true, "setAt": "session-start"})
        );
    });
}

#[test]
fn health_tells_what_takes_part() {
    in_both_forms(|bench| {
        let health = payload(bench, "/health");
        let ids: Vec<&str> = health["extensions"]
            .as_array()
            .unwrap()
            .iter()
            .map(|extension| extension["id"].as_str().unwrap())
            .collect();
        assert!(ids.is_sorted() && ids.contains(&"echo"), "{health:#}");
        assert_eq!(health["activeStore"], "filesystem-session-store");
        assert_eq!(health["activeInteractor"], Value::Null);
        assert_eq!(health["loop"]["turnCount"], 0);
    });
}

#[test]
fn a_plugin_that_was_refused_is_a_problem_of_health() {
    in_both_forms(|bench| {
        bench
            .world
            .write("home/hooks/broken/libbroken.so", "no library");
        let health = payload(bench, "/health");
        let broken = &health["problems"][0];
        assert_eq!(
            (&broken["class"], &broken["code"]),
            (&json!("Validation"), &json!("LibraryFormatUnknown"))
        );
        let extensions = health["extensions"].as_array().unwrap();
        assert!(
            extensions
                .iter()
                .any(|extension| extension["state"] == "disabled")
        );
    });
}

#[test]
fn tools_are_listed() {
    in_both_forms(|bench| {
        let tools = payload(bench, "/tools");
        assert!(tools["tools"].as_array().unwrap().len() > 10);
        assert!(bench.headless(&[], "/tools").answer().contains("web-fetch"));
    });
}

#[test]
fn uis_are_listed_with_their_roles() {
    in_both_forms(|bench| {
        bench.ear();
        let listed = payload(bench, "/ui");
        let uis = listed["uis"].as_array().unwrap();
        assert_eq!(uis.len(), 1, "the screen is for terminals: {listed:#}");
        assert_eq!(uis[0]["id"], "ear");
        assert_eq!(uis[0]["roles"], json!(["subscriber"]));
        let mut talk = bench.talk(&[]);
        talk.say("/ui");
        talk.is_asked("line-ui  subscriber, interactor\n2 UIs.");
        assert_eq!(talk.end().0, 0);
    });
}

#[test]
fn what_was_asked_for_is_named_where_it_is_not_there() {
    in_both_forms(|bench| {
        let result = result(bench, "/reload nobody");
        assert_eq!(result["error"]["context"]["extId"], "nobody");
    });
}

#[test]
fn a_tool_says_whether_it_would_run_unasked() {
    in_both_forms(|bench| {
        bench.install("fixture-tools", "tools");
        let allowed = |more: &[&str]| {
            let run = bench.headless(&[&["--json"], more].concat(), "/tools");
            let last = run.stdout.lines().last().unwrap();
            let result: Value = serde_json::from_str(last).unwrap();
            let tools = result["payload"]["tools"].as_array().unwrap().clone();
            ["bash", "fx_bytes"].map(|name| {
                let tool = tools.iter().find(|tool| tool["name"] == name);
                tool.unwrap()["allowedNow"].as_bool().unwrap()
            })
        };
        assert_eq!(allowed(&[]), [false, true], "one is gated, one is not");
        assert_eq!(allowed(&["--mode", "yolo"]), [true, true]);
        assert_eq!(allowed(&["--yolo"]), [true, true]);
    });
}

#[test]
fn commands_are_listed_with_their_layer() {
    in_both_forms(|bench| {
        let listed = payload(bench, "/commands list");
        let listed = listed["commands"].as_array().unwrap();
        let own = listed.iter().find(|command| command["name"] == "commands");
        assert_eq!(own.unwrap()["layer"], bench.layer());
    });
}

#[test]
fn both_ways_out_lead_out() {
    in_both_forms(|bench| {
        assert_eq!(payload(bench, "/exit"), Value::Null);
        let run = bench.headless(&[], "/quit");
        assert_eq!((run.status, run.stdout.as_str()), (0, ""));
    });
}

/// Holds a line to the error it must end with: class, code and the command's own, if it is wrapped.
fn refused(bench: &Bench, line: &str, class: &str, code: &str, cause: Option<&str>) {
    let result = result(bench, line);
    let error = &result["error"];
    assert_eq!(result["status"], "failed", "{line}: {result:#}");
    assert_eq!(
        (&error["class"], &error["code"]),
        (&json!(class), &json!(code)),
        "{line}"
    );
    assert_eq!(error["context"]["cause"].as_str(), cause, "{line}");
}

#[test]
fn what_cannot_be_done_is_refused_with_its_code() {
    in_both_forms(|bench| {
        for (line, class, code) in [
            (
                "/network-policy forbid a.org",
                "Validation",
                "ConfigSchemaViolation",
            ),
            (
                "/network-policy deny",
                "Validation",
                "ConfigSchemaViolation",
            ),
            ("/trust bless /x", "Validation", "ConfigSchemaViolation"),
            ("/trust grant", "Validation", "ConfigSchemaViolation"),
            ("/trust grant relative", "Validation", "ProjectPathInvalid"),
            ("/commands lst", "Validation", "ConfigSchemaViolation"),
            ("/reload nobody", "Validation", "ExtensionNotFound"),
            ("/compact", "ExtensionHost", "NotReady"),
            ("/compact 0", "ToolTerminal", "InputInvalid"),
        ] {
            refused(bench, line, class, code, None);
        }
    });
}

#[test]
fn what_a_command_says_with_another_class_is_the_cause() {
    in_both_forms(|bench| {
        for (line, cause) in [
            ("/mode yolo", "ToolTerminal/InputInvalid"),
            ("/network-policy deny http://a", "ToolTerminal/InputInvalid"),
            ("/trust --clear-mcp nobody", "ToolTerminal/NotFound"),
        ] {
            let (class, code) = ("ExtensionHost", "CommandExecFailed");
            refused(bench, line, class, code, Some(cause));
        }
    });
}

#[test]
fn a_line_that_is_no_command_is_refused() {
    in_both_forms(|bench| {
        refused(bench, "/hlep", "Validation", "CommandUnknown", None);
        refused(bench, "/", "Validation", "CommandNameInvalid", None);
    });
}

#[test]
fn a_command_that_must_ask_halts_where_nobody_is() {
    in_both_forms(|bench| {
        let run = bench.headless(&[], "/network-policy deny a.org");
        assert_eq!(run.status, 3, "{run:#?}");
        assert!(!bench.world.home().join("settings.json").exists());
    });
}

#[test]
fn a_command_never_reaches_the_model() {
    in_both_forms(|bench| {
        let run = bench.headless(&["--json"], "/help");
        assert!(!run.stdout.contains("ProviderRequestStarted"), "{run:#?}");
        assert!(run.stdout.contains(r#""name":"CommandResulted""#));
        assert!(!run.stdout.contains("SessionTurnStart"));
    });
}

#[test]
fn the_session_goes_on_whatever_becomes_of_a_command() {
    in_both_forms(|bench| {
        let mut talk = bench.talk(&[]);
        talk.say("/mdoe");
        talk.is_asked(
            "Validation/CommandUnknown: there is no command `mdoe`; did you mean `mode`?",
        );
        talk.say("");
        talk.say("/mode ask");
        talk.is_asked("ExtensionHost/CommandExecFailed: the command `mode` failed with ToolTerminal/InputInvalid");
        talk.say("hello");
        talk.hears("USER hello");
        talk.say("/mode");
        talk.is_asked("ask: you are asked");
        talk.say("/exit");
        talk.is_asked("session closed");
        let (status, stdout, _) = talk.end();
        assert_eq!((status, stdout.trim_end()), (0, "USER hello"));
        assert_eq!(
            bench.recorded("user_input").len(),
            1,
            "the blank line is none"
        );
    });
}

#[test]
fn sessions_are_listed_newest_first() {
    in_both_forms(|bench| {
        bench.headless(&[], "the first one").answer();
        bench.headless(&[], "the second one").answer();
        let listed = payload(bench, "/sessions");
        let words: Vec<&str> = listed["sessions"]
            .as_array()
            .unwrap()
            .iter()
            .map(|session| session["firstWords"].as_str().unwrap())
            .collect();
        assert_eq!(words, ["the second one", "the first one"]);
        assert_eq!(listed["sessions"][0]["messageCount"], 2);
        let shown = bench.headless(&[], "/sessions");
        assert!(
            shown.answer().contains("2 messages  the second one"),
            "{shown:#?}"
        );
    });
}

#[test]
fn trust_is_given_and_taken_back() {
    in_both_forms(|bench| {
        let project = bench.world.project().join(".stud");
        std::fs::create_dir_all(&project).unwrap();
        let folder = bench.world.project().display().to_string();
        let target = project.canonicalize().unwrap().display().to_string();
        let mut talk = bench.talk(&[]);
        talk.say(&format!("/trust grant {folder}"));
        talk.is_asked("is trusted from the next start on");
        talk.say("/trust");
        talk.is_asked(&format!("{target}  20"));
        talk.say(&format!("/trust revoke {folder}"));
        talk.is_asked("Take back the trust in");
        talk.say("n");
        talk.is_asked("Nothing was changed.");
        talk.say("hello");
        talk.hears("USER hello");
        talk.end();
        let decided = |audit: &[Value]| -> Vec<Value> {
            let records = audit
                .iter()
                .filter(|record| record["class"] == "TrustDecision");
            records.map(|record| record["payload"].clone()).collect()
        };
        assert_eq!(
            decided(&bench.audit()),
            [json!({"decision": "granted", "scope": "project", "target": target})]
        );
        let settings = json!({"commands": {"trust": {"requireConfirmForClear": false}}});
        bench.settings(&settings);
        let run = bench.headless(&["--json"], &format!("/trust revoke {folder}"));
        let revoked = json!({"revoked": true, "target": target});
        assert!(run.stdout.contains(&revoked.to_string()), "{run:#?}");
        // Nothing was said in that session, and what was decided stays on record.
        assert_eq!(
            decided(&bench.audit()),
            [json!({"decision": "revoked", "scope": "project", "target": target})]
        );
        let listed = bench.world.stud(&["trust", "--list", "--json"]);
        assert!(
            listed.stdout.contains(r#""trusted": []"#) || listed.stdout.contains(r#""trusted":[]"#)
        );
    });
}

#[test]
fn a_turn_that_runs_is_waited_for_before_the_session_is_saved() {
    in_both_forms(|bench| {
        let ear = bench.ear();
        let mut talk = bench.talk(&[]);
        talk.say("!slow 500");
        talk.say("/save-and-close");
        talk.is_asked("The session is saved in");
        let (status, stdout, _) = talk.end();
        assert_eq!(status, 0);
        assert!(stdout.contains("USER !slow 500"), "{stdout}");
        let saved = lifecycle(bench, "save");
        assert!(
            saved.iter().any(|save| save["drainedTurns"] == 1),
            "{saved:#?}"
        );
        assert_eq!(
            ear.heard("SessionExitRequested"),
            [json!({"forced": false})]
        );
    });
}

#[test]
fn a_turn_that_takes_too_long_is_left_behind() {
    in_both_forms(|bench| {
        bench.settings(&json!({"commands": {"save-and-close": {"drainTimeoutMs": 1}}}));
        let ear = bench.ear();
        let mut talk = bench.talk(&[]);
        talk.say("!slow 600000");
        talk.say("/save-and-close");
        talk.is_asked("took longer than 1 ms");
        let (status, _, _) = talk.end();
        assert_eq!(status, 0);
        assert_eq!(lifecycle(bench, "save-and-close-timeout").len(), 1);
        assert_eq!(ear.heard("SessionExitRequested"), [json!({"forced": true})]);
    });
}

fn lifecycle(bench: &Bench, event: &str) -> Vec<Value> {
    let records = bench.audit().into_iter();
    records
        .filter(|record| {
            record["class"] == "SessionLifecycle" && record["payload"]["event"] == event
        })
        .map(|mut record| record["payload"].take())
        .collect()
}

#[test]
fn a_conversation_that_is_short_enough_stays_and_that_is_on_record() {
    in_both_forms(|bench| {
        let ear = bench.ear();
        let mut talk = bench.talk(&[]);
        talk.say("hello");
        talk.hears("USER hello");
        ear.sees_turns(1);
        talk.say("/compact");
        talk.is_asked("The conversation is short enough");
        talk.end();
        assert_eq!(ear.heard("CompactionCompleted")[0]["segmentsCompacted"], 0);
        let records = bench.audited("Compaction");
        assert_eq!(records.last().unwrap()["payload"]["segmentsCompacted"], 0);
    });
}

#[test]
fn what_a_command_could_not_do_is_on_record_before_and_after() {
    in_both_forms(|bench| {
        let project = bench.world.project().join(".stud");
        std::fs::create_dir_all(&project).unwrap();
        let target = project.canonicalize().unwrap().display().to_string();
        let mut talk = bench.talk(&[]);
        talk.say("hello");
        talk.hears("USER hello");
        bench.world.write("home/trust.json", "{");
        talk.say(&format!("/trust grant {}", bench.world.project().display()));
        talk.is_asked("TrustStoreUnavailable");
        bench.world.write("home/settings.json", "{");
        talk.say("/network-policy deny a.org");
        talk.is_asked("Deny tools to reach a.org?");
        talk.say("y");
        talk.is_asked("Validation/SettingsShapeInvalid");
        bench.world.write("home/settings.json", "{}");
        std::fs::remove_file(bench.world.path("home/trust.json")).unwrap();
        talk.end();
        let granted = json!({"decision": "granted", "scope": "project", "target": target});
        let denied = json!({"action": "deny", "host": "a.org"});
        for (class, facts) in [("TrustDecision", granted), ("NetworkPolicyChange", denied)] {
            let records = bench.audited(class);
            let [announced, failed] = &records[..] else {
                panic!("{records:#?}");
            };
            assert_eq!(announced["payload"], facts);
            let mut failed = failed["payload"].clone();
            assert!(failed["error"]["code"].is_string(), "{failed}");
            failed.as_object_mut().unwrap().remove("error");
            assert_eq!(failed, facts);
        }
    });
}
