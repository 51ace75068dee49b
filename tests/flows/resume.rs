//! Session resume: a session continues in another process where it stopped.

use serde_json::{Value, json};

use crate::bench::{Bench, approve, in_both_forms};

const LS: &str = r#"!tool gt_run {"command": "ls"}"#;

fn trigger(ear: &crate::bench::Ui, event: &str) -> Vec<Value> {
    ear.heard(event)
}

fn begins(bench: &Bench) -> Vec<Value> {
    let records = bench.audited("SessionLifecycle").into_iter();
    let payloads = records.map(|mut record| record["payload"].take());
    let begins = payloads.filter(|payload| payload.get("mode").is_some());
    let facts = [
        "event",
        "projectRoot",
        "mode",
        "provider",
        "model",
        "storeId",
    ];
    begins
        .map(|payload| facts.map(|fact| payload[fact].clone()).into())
        .collect()
}

fn lifecycle(bench: &Bench) -> Vec<Value> {
    let records = bench.audited("SessionLifecycle").into_iter();
    records
        .map(|mut record| record["payload"]["event"].take())
        .collect()
}

#[test]
fn a_session_tells_its_life_from_the_first_turn_to_the_end() {
    in_both_forms(|bench| {
        let ear = bench.ear();
        let mut talk = bench.talk(&[]);
        talk.say("one");
        talk.hears("USER one");
        assert_eq!(talk.end().0, 0);
        assert_eq!(
            trigger(&ear, "SessionActive"),
            [json!({"from": "Idle", "to": "Active", "trigger": "FirstTurn"})]
        );
        let [closed] = &trigger(&ear, "SessionClosed")[..] else {
            panic!("it was closed once");
        };
        assert_eq!(
            (&closed["from"], &closed["to"]),
            (&json!("Persisted"), &json!("Closed"))
        );
        let names: Vec<Value> = ear
            .events()
            .into_iter()
            .map(|mut event| event["heard"].take())
            .collect();
        let place = |name: &str| names.iter().position(|other| other == name);
        assert!(place("SessionPersisted") < place("SessionClosed"));
        assert_eq!(lifecycle(bench).first(), Some(&json!("start")));
        assert_eq!(lifecycle(bench).last(), Some(&json!("end")));
    });
}

#[test]
fn the_next_process_goes_on_with_what_was_said() {
    in_both_forms(|bench| {
        bench.settings(&json!({"providers": {"echo": {"models": ["echo-1"]}}}));
        bench.headless(&[], "one").answer();
        let session = bench.sessions();
        bench.hook("script-observer", "looker", "SEND_REQUEST/pre", json!({}));
        let ear = bench.ear();
        let run = bench.headless(&["--continue"], "two");
        assert_eq!(run.answer(), "USER two");
        assert_eq!(bench.sessions(), session, "it is the same session");

        let [resumed] = &ear.heard("SessionResumed")[..] else {
            panic!("it was resumed once");
        };
        assert_eq!(resumed["to"], "Resumed");
        let names = ear.events();
        let place = |name: &str| names.iter().position(|event| event["heard"] == name);
        assert!(place("SessionResumed") < place("SessionTurnStart"));
        assert!(lifecycle(bench).contains(&json!("resume")));
        let root = bench.world.project().canonicalize().unwrap().join(".stud");
        let facts = |event: &str| {
            json!([
                event,
                root,
                "ask",
                "echo",
                "echo-1",
                "filesystem-session-store"
            ])
        };
        assert_eq!(begins(bench), [facts("start"), facts("resume")]);

        let messages = &bench.seen_by("looker")[0]["messages"];
        let expected = json!([
            {"role": "user", "content": "one"},
            {"role": "assistant", "content": "USER one"},
            {"role": "user", "content": "two"},
        ]);
        assert_eq!(*messages, expected);
    });
}

#[test]
fn the_mode_is_the_one_the_session_began_with() {
    in_both_forms(|bench| {
        bench.install("gated-tools", "tools");
        bench.headless(&["--mode", "ask"], "one").answer();
        let run = bench.headless(&["--continue", "--mode", "yolo"], LS);
        assert_eq!(run.status, 3, "{run:#?}");
        let session = bench.sessions().pop().unwrap();
        let manifest = bench.world.home().join("sessions").join(session);
        let manifest = std::fs::read_to_string(manifest.join("manifest.json")).unwrap();
        let manifest: Value = serde_json::from_str(&manifest).unwrap();
        assert_eq!(manifest["mode"], "ask");
    });
}

#[test]
fn calls_and_their_results_come_back_in_order() {
    in_both_forms(|bench| {
        bench.install("gated-tools", "tools");
        let ui = bench.ui("one", &json!({"prompts": {"Approve": approve(&json!({}))}}));
        bench.headless(&[], LS).result();
        bench.hook("script-observer", "looker", "SEND_REQUEST/pre", json!({}));
        bench.headless(&["--continue"], "and now?").answer();
        let request = &bench.seen_by("looker")[0];
        let messages = request["messages"].as_array().unwrap();
        let roles: Vec<_> = messages.iter().map(|message| &message["role"]).collect();
        assert_eq!(roles, ["user", "assistant", "tool", "assistant", "user"]);
        let id = &ui.heard("ToolInvocationProposed")[0]["toolCallId"];
        assert_eq!(messages[1]["content"][0]["toolCallId"], *id);
        assert_eq!(messages[2]["content"][0]["toolCallId"], *id);
    });
}

#[test]
fn the_newest_session_is_the_one_to_go_on_with() {
    in_both_forms(|bench| {
        bench.headless(&[], "old").answer();
        let old = bench.sessions().pop().unwrap();
        bench.headless(&[], "new").answer();
        bench.hook("script-observer", "looker", "SEND_REQUEST/pre", json!({}));
        bench.headless(&["--continue"], "more").answer();
        assert_eq!(bench.seen_by("looker")[0]["messages"][0]["content"], "new");
        bench.headless(&["--resume", &old], "more").answer();
        assert_eq!(bench.seen_by("looker")[1]["messages"][0]["content"], "old");
        // Now that one was written last.
        bench.headless(&["--continue"], "more").answer();
        assert_eq!(bench.seen_by("looker")[2]["messages"][0]["content"], "old");
    });
}

#[test]
fn what_was_said_is_shown_before_anybody_is_asked_for_more() {
    in_both_forms(|bench| {
        bench.headless(&[], "one").answer();
        let mut talk = bench.talk(&["--continue"]);
        talk.is_asked("What was said so far:\nyou: one\nassistant: USER one\n");
        talk.say("two");
        talk.hears("USER two");
        let (status, stdout, stderr) = talk.end();
        assert_eq!(
            (status, &*stdout),
            (0, "USER two\n"),
            "the past is no answer"
        );
        assert_eq!(stderr.matches("you: one").count(), 1, "{stderr}");
        // A new session has no past.
        let (_, _, stderr) = bench.talk(&[]).end();
        assert!(!stderr.contains("What was said"), "{stderr}");

        bench.settings(&json!({"active": {"provider": "echo"}}));
        let terminal = bench.terminal(&["--continue"]);
        terminal.sees("you: two");
        terminal.answers("> ", "three\n");
        terminal.sees("USER three");
        terminal.types("\u{4}");
        let (_, screen) = terminal.end();
        let place = |text: &str| screen.find(text).unwrap_or_else(|| panic!("{screen}"));
        assert!(place("mode ask") < place("you: one"));
        assert!(place("assistant: USER two") < place("> "));
    });
}

#[test]
fn without_a_session_there_is_nothing_to_go_on_with() {
    in_both_forms(|bench| {
        let run = bench.headless(&["--continue"], "hello");
        assert_eq!((run.status, &*run.stdout), (1, ""));
        assert!(
            run.stderr.contains("error[Session/ResumeMismatch]"),
            "{run:#?}"
        );
    });
}
