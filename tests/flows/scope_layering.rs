//! Scope layering: what the global scope and the project say together.

use serde_json::{Value, json};

use crate::bench::{Bench, in_both_forms};

fn run(bench: &Bench, command: &str) -> Value {
    let call = json!({"command": command});
    let run = bench.headless(&[], &format!("!tool gt_run {call}"));
    run.result()
}

fn allowlists(bench: &Bench) {
    bench.install("gated-tools", "tools");
    let mode = json!({"mode": "allowlist", "allowlist": ["ls*", "cargo test"]});
    bench.settings(&json!({"securityMode": mode}));
    let project = json!({"securityMode": {"allowlist": ["pwd", "cargo test"]}});
    bench
        .world
        .write("project/.stud/settings.json", project.to_string());
}

#[test]
fn the_allowlists_of_all_scopes_count_together() {
    in_both_forms(|bench| {
        allowlists(bench);
        bench.trust();
        for command in ["ls -l", "cargo test", "pwd"] {
            assert_eq!(run(bench, command)["ok"], true, "{command}");
        }
        assert_eq!(
            run(bench, "rm")["error"]["context"]["code"],
            "NotOnAllowlist"
        );
    });
}

#[test]
fn a_project_that_is_not_trusted_adds_nothing() {
    in_both_forms(|bench| {
        allowlists(bench);
        let mut talk = bench.talk(&[]);
        talk.say(r#"!tool gt_run {"command": "ls"}"#);
        talk.hears(r#""ran":"ls""#);
        talk.say(r#"!tool gt_run {"command": "pwd"}"#);
        talk.hears("NotOnAllowlist");
        let (_, _, stderr) = talk.end();
        assert!(stderr.contains("Session/ProjectTrustRequired"), "{stderr}");
    });
}

#[test]
fn patterns_that_no_scope_wants_are_a_mistake() {
    in_both_forms(|bench| {
        bench.settings(&json!({"securityMode": {"allowlist": ["ls"]}}));
        let run = bench.headless(&[], "hello");
        assert_eq!(run.status, 1);
        assert!(
            run.stderr
                .contains("error[Validation/AllowlistWithoutMode]"),
            "{run:#?}"
        );
        // A launch that chooses another mode leaves the patterns be, as long as some scope wants them.
        let mode = json!({"mode": "allowlist", "allowlist": ["ls"]});
        bench.settings(&json!({"securityMode": mode}));
        let run = bench.headless(&["--mode", "ask"], "hello");
        assert_eq!(run.answer(), "USER hello");
    });
}

/// Puts `/greet` into a scope under an id of its own.
fn greeter(bench: &Bench, root: &str, id: &str) {
    bench.place(
        "good-command",
        &format!("{root}/commands/{id}"),
        |manifest| {
            manifest["extId"] = id.into();
            manifest["discoveryRules"]["manifestKey"] = id.into();
        },
    );
}

#[test]
fn the_command_of_the_project_is_the_one_that_runs() {
    in_both_forms(|bench| {
        bench.trust();
        greeter(bench, "home", "a-global");
        greeter(bench, "project/.stud", "z-project");
        let ear = bench.ear();
        let mut talk = bench.talk(&[]);
        // Whoever is answered is past the beginning, and finds every command in its place.
        talk.say("hello");
        talk.hears("USER hello");
        talk.say("/greet Ada");
        talk.is_asked("Hello Ada");
        assert_eq!(talk.end().0, 0);
        let [dispatched] = &ear.heard("CommandDispatched")[..] else {
            panic!("one command ran");
        };
        assert_eq!(dispatched["extId"], "z-project");
        assert_eq!(
            ear.heard("SessionTurnStart").len(),
            1,
            "a command is no turn"
        );
    });
}

#[test]
fn two_commands_of_one_name_in_one_scope_are_both_refused() {
    in_both_forms(|bench| {
        greeter(bench, "home", "one-greeter");
        greeter(bench, "home", "two-greeter");
        let mut talk = bench.talk(&[]);
        talk.say("hello");
        talk.hears("USER hello");
        talk.say("/greet Ada");
        let (_, stdout, stderr) = talk.end();
        assert_eq!(stdout, "USER hello\n");
        assert!(!stderr.contains("Hello Ada"), "{stderr}");
        assert!(stderr.contains("Validation/CommandUnknown"), "{stderr}");
        assert_eq!(
            stderr.matches("Validation/CommandAmbiguous").count(),
            2,
            "{stderr}"
        );
    });
}
