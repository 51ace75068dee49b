//! Project trust: what a person is asked about a project, what each answer brings about, and what is put on record.

use serde_json::{Value, json};
use stud_tests::Terminal;

use crate::bench::{Bench, in_both_forms};

const CALL: &str = r#"!tool gt_run {"command": "ls"}"#;

/// A project with a tool in it, and a person who has a provider.
fn project(bench: &Bench) {
    bench.settings(&json!({"active": {"provider": "echo"}}));
    std::fs::write(bench.world.home().join("system.md"), "").unwrap();
    bench.place("gated-tools", "project/.stud/tools/gated-tools", |_| {});
}

fn decisions(bench: &Bench) -> Vec<Value> {
    let text = std::fs::read_to_string(bench.world.path("home/trust.json"));
    let store: Value = serde_json::from_str(&text.unwrap_or_else(|_| "{}".into())).unwrap();
    store["entries"].as_array().cloned().unwrap_or_default()
}

fn folder(bench: &Bench) -> String {
    let folder = bench.world.project().join(".stud").canonicalize().unwrap();
    folder.to_str().unwrap().to_owned()
}

/// Asks for the project's tool, approves it if it is there, and ends.
fn try_tool(terminal: Terminal, there: bool) -> String {
    terminal.sees("> ");
    terminal.types(&format!("{CALL}\n"));
    if there {
        terminal.answers("n = no:", "y\n");
        terminal.sees(r#""ran":"ls""#);
    } else {
        terminal.sees("there is no tool `gt_run`");
    }
    terminal.types("\u{4}");
    let (status, screen) = terminal.end();
    assert_eq!(status, 0, "{screen}");
    screen
}

#[test]
fn trusting_is_asked_once_and_kept() {
    in_both_forms(|bench| {
        project(bench);
        let terminal = bench.terminal(&["--yolo"]);
        terminal.sees("[a]bort?");
        let question = terminal.so_far();
        for word in [".stud", "tools/gated-tools", "with everything you may do"] {
            assert!(question.contains(word), "{question}");
        }
        terminal.types("t\n");
        terminal.sees("> ");
        let screen = {
            terminal.types(&format!("{CALL}\n"));
            terminal.sees(r#""ran":"ls""#);
            terminal.types("\u{4}");
            terminal.end().1
        };
        assert_eq!(screen.matches("[a]bort?").count(), 1);
        let [entry] = &decisions(bench)[..] else {
            panic!("one decision is kept");
        };
        assert_eq!(
            (&entry["canonicalPath"], &entry["decision"]),
            (&json!(folder(bench)), &json!("trusted"))
        );
        let [deed] = &bench.deeds()[..] else {
            panic!("{:#?}", bench.deeds());
        };
        assert_eq!(
            (&deed["type"], &deed["class"]),
            (&json!("ProjectTrusted"), &json!("TrustDecision"))
        );
        assert_eq!(deed["payload"]["decision"], "granted");
        assert_eq!(deed["payload"]["canonicalPath"], folder(bench));
        assert!(deed["payload"]["at"].as_str().unwrap().ends_with('Z'));

        // The second launch asks nothing, and is on record.
        let screen = try_tool(bench.terminal(&[]), true);
        assert!(!screen.contains("[a]bort?"), "{screen}");
        assert_eq!(decisions(bench).len(), 1);
        let deeds = bench.deeds();
        assert_eq!(deeds.len(), 2);
        assert_eq!(
            (&deeds[1]["type"], &deeds[1]["payload"]["decision"]),
            (&json!("TrustDecision"), &json!("granted"))
        );

        // Taken back, the next launch asks again.
        assert_eq!(bench.world.stud(&["trust", "--revoke"]).status, 0);
        assert_eq!(bench.deeds()[2]["type"], "ProjectDeclined");
        let terminal = bench.terminal(&[]);
        terminal.answers("[a]bort?", "a\n");
        assert_eq!(terminal.end().0, 0);
    });
}

#[test]
fn trusting_once_keeps_nothing() {
    in_both_forms(|bench| {
        project(bench);
        let terminal = bench.terminal(&[]);
        terminal.answers("[a]bort?", "o\n");
        try_tool(terminal, true);
        assert!(decisions(bench).is_empty());
        let [deed] = &bench.deeds()[..] else {
            panic!("{:#?}", bench.deeds());
        };
        assert_eq!(deed["type"], "ProjectTrustOnce");
        assert!(deed["payload"].get("reason").is_none());
        let terminal = bench.terminal(&[]);
        terminal.answers("[a]bort?", "a\n");
        assert_eq!(terminal.end().0, 0);
    });
}

#[test]
fn declining_leaves_the_project_out_and_says_so() {
    in_both_forms(|bench| {
        project(bench);
        let terminal = bench.terminal(&[]);
        terminal.answers("[a]bort?", "x\n");
        terminal.answers("Please answer", "d\n");
        let screen = try_tool(terminal, false);
        assert!(screen.contains("Session/ProjectTrustRequired"), "{screen}");
        let [entry] = &decisions(bench)[..] else {
            panic!("one decision is kept");
        };
        assert_eq!(entry["decision"], "declined");
        let [deed] = &bench.deeds()[..] else {
            panic!("{:#?}", bench.deeds());
        };
        assert_eq!(
            (&deed["type"], &deed["payload"]["decision"]),
            (&json!("ProjectDeclined"), &json!("refused"))
        );
        // A decline is not a trust: the next launch asks again.
        let terminal = bench.terminal(&[]);
        terminal.answers("[a]bort?", "\u{4}");
        assert_eq!(terminal.end().0, 0);
        assert_eq!(bench.sessions().len(), 1, "who aborts begins no session");
    });
}

#[test]
fn without_anybody_to_ask_only_yolo_goes_in() {
    in_both_forms(|bench| {
        project(bench);
        let run = bench.headless(&[], CALL);
        assert_eq!(run.status, 1);
        assert!(
            run.stderr.contains("Validation/HeadlessTrustRequired"),
            "{run:#?}"
        );
        let [refused] = &bench.deeds()[..] else {
            panic!("{:#?}", bench.deeds());
        };
        assert_eq!(
            (&refused["type"], &refused["payload"]["decision"]),
            (&json!("TrustDecision"), &json!("refused"))
        );
        let run = bench.headless(&["--yolo"], CALL);
        assert_eq!(run.result()["result"]["ran"], "ls");
        let [_, deed] = &bench.deeds()[..] else {
            panic!("{:#?}", bench.deeds());
        };
        assert_eq!(
            (&deed["type"], &deed["payload"]["reason"]),
            (&json!("ProjectTrustOnce"), &json!("headless-yolo"))
        );
        assert!(decisions(bench).is_empty());
    });
}

#[test]
fn a_session_that_goes_on_elsewhere_has_the_project_it_began_in() {
    in_both_forms(|bench| {
        project(bench);
        bench.trust();
        bench.headless(&["--yolo"], CALL).result();
        let session = bench.sessions().pop().unwrap();
        let elsewhere = bench.world.path("elsewhere");
        // An untrusted folder, with content whose use would be noticed.
        bench.world.write("elsewhere/.stud/settings.json", "{");
        let go_on = |way: &[&str]| {
            let mut command = bench.world.command();
            command
                .current_dir(&elsewhere)
                .args(["--headless", "--yolo"])
                .args(way)
                .arg(CALL);
            let output = command.output().unwrap();
            (
                String::from_utf8(output.stdout).unwrap(),
                String::from_utf8(output.stderr).unwrap(),
            )
        };
        for way in [&["--continue"][..], &["--resume", &session[..20]]] {
            let (stdout, stderr) = go_on(way);
            assert!(stdout.contains(r#""ran":"ls""#), "{stdout}{stderr}");
        }
        // Without the trust it continues without the project, and raises no prompt.
        assert_eq!(bench.world.stud(&["trust", "--revoke"]).status, 0);
        let (stdout, stderr) = go_on(&["--continue"]);
        assert!(
            stdout.contains("there is no tool `gt_run`"),
            "{stdout}{stderr}"
        );
        assert!(stderr.contains("Session/ProjectTrustRequired"), "{stderr}");
        assert_eq!(bench.sessions(), [session]);
    });
}
