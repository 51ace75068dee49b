//! Approvals: what one yes covers, for how long, and what is said about what it does not cover.

use serde_json::{Value, json};
use stud_tests::{cause_of, eventually};

use crate::bench::{Bench, Ui, approve, deny, in_both_forms};

fn asked_keys(ui: &Ui) -> Vec<Value> {
    let asked = ui.asked().into_iter();
    asked
        .map(|mut request| request["payload"]["approvalKey"].take())
        .collect()
}

fn seq(calls: &Value) -> String {
    format!("!seq {calls}")
}

fn approving(bench: &Bench, how: &Value) -> Ui {
    bench.install("gated-tools", "tools");
    bench.ui("one", &json!({"prompts": {"Approve": approve(how)}}))
}

#[test]
fn a_folder_covers_what_lies_below_it_and_nothing_beside_it() {
    in_both_forms(|bench| {
        let ui = approving(bench, &json!({}));
        let calls = json!([
            ["gt_note", {"path": "src/a"}],
            ["gt_note", {"path": "src/core/b"}],
            ["gt_note", {"path": "srcs/c"}],
            ["gt_note", {"path": "d"}],
            ["gt_note", {"path": "elsewhere/e"}],
        ]);
        bench.headless(&[], &seq(&calls)).result();
        // `.` covers every folder of the project.
        assert_eq!(asked_keys(&ui), ["src", "srcs", "."]);
        assert_eq!(bench.audited("Approval").len(), 5);
    });
}

#[test]
fn several_folders_are_covered_each_by_itself() {
    in_both_forms(|bench| {
        let ui = approving(bench, &json!({}));
        let calls = json!([
            ["gt_move", {"from": "src/a", "to": "docs/a"}],
            ["gt_move", {"from": "docs/old/b", "to": "src/core/b"}],
            ["gt_move", {"from": "src/c", "to": "out/c"}],
            ["gt_note", {"path": "src/d"}],
        ]);
        bench.headless(&[], &seq(&calls)).result();
        // What one tool may do says nothing about another.
        assert_eq!(asked_keys(&ui), ["src|docs", "src|out", "src"]);
    });
}

#[test]
fn a_prompt_says_what_is_allowed_that_comes_near() {
    in_both_forms(|bench| {
        let ui = approving(bench, &json!({}));
        let calls = json!([
            ["gt_note", {"path": "src/a"}],
            ["gt_note", {"path": "srcs/b"}],
            ["gt_run", {"command": "src"}],
        ]);
        bench.headless(&[], &seq(&calls)).result();
        let asked = ui.asked();
        let description = |place: usize| asked[place]["payload"]["description"].as_str().unwrap();
        assert_eq!(description(0), r#"gt_note {"path":"src/a"}"#);
        assert_eq!(
            description(1),
            "gt_note {\"path\":\"srcs/b\"}\n`src` is allowed and what lies below it; `srcs` is not it"
        );
        assert_eq!(
            description(2),
            "gt_run {\"command\":\"src\"}\n`src` is allowed to `gt_note`, not to `gt_run`"
        );
    });
}

#[test]
fn an_approval_for_the_project_outlives_the_process() {
    in_both_forms(|bench| {
        bench.trust();
        let ui = approving(bench, &json!({"scope": "always"}));
        let call = r#"!tool gt_note {"path": "src/a"}"#;
        assert_eq!(bench.headless(&[], call).result()["ok"], true);
        let scopes = &ui.asked()[0]["payload"]["approvalScopes"];
        assert_eq!(*scopes, json!(["once", "session", "always"]));

        let file = bench.world.path("project/.stud/approvals.json");
        let grants: Value = serde_json::from_str(&std::fs::read_to_string(&file).unwrap()).unwrap();
        let granted_at = &grants[0]["grantedAt"];
        assert!(granted_at.as_str().unwrap().ends_with('Z'));
        assert_eq!(
            grants,
            json!([{
                "key": {"toolId": "gt_note", "approvalKey": "src"},
                "grantedAt": granted_at,
                "grantedBy": "user",
                "scope": "project",
            }])
        );

        // Another process, and a folder below: no prompt is raised.
        let below = r#"!tool gt_note {"path": "src/core/b"}"#;
        assert_eq!(bench.headless(&[], below).result()["ok"], true);
        assert_eq!(ui.asked().len(), 1);
        let records = bench.audited("Approval");
        assert_eq!(records.len(), 1);
        assert_eq!(records[0]["payload"]["decision"], "approve");
    });
}

#[test]
fn an_approval_for_the_session_ends_with_it() {
    in_both_forms(|bench| {
        bench.trust();
        let ui = approving(bench, &json!({"scope": "session"}));
        let call = r#"!tool gt_note {"path": "src/a"}"#;
        bench.headless(&[], call).result();
        assert!(!bench.world.path("project/.stud/approvals.json").exists());
        bench.headless(&["--continue"], call).result();
        assert_eq!(ui.asked().len(), 2);
    });
}

#[test]
fn without_a_trusted_project_there_is_no_always() {
    in_both_forms(|bench| {
        bench.install("gated-tools", "tools");
        // An answer that was not offered is refused, and the prompt stays open for the next.
        let always = json!({"do": "respond", "value": {"decision": "approve", "scope": "always"}});
        let hasty = bench.ui("hasty", &json!({"prompts": {"Approve": always}}));
        let mut yes = approve(&json!({"scope": "session"}));
        yes["until"] = json!(bench.world.path("refused"));
        let patient = bench.ui("patient", &json!({"prompts": {"Approve": yes}}));
        std::thread::scope(|threads| {
            let run = threads.spawn(|| bench.headless(&[], r#"!tool gt_run {"command": "ls"}"#));
            let refused = eventually("a refused answer", || {
                let mut lines = hasty.lines().into_iter();
                lines.find(|line| line["call"] == "interaction.respond")
            });
            bench.world.write("refused", "");
            assert_eq!(refused["error"]["code"], "InteractionPayloadMismatch");
            assert_eq!(run.join().unwrap().result()["ok"], true);
        });
        let scopes = &patient.asked()[0]["payload"]["approvalScopes"];
        assert_eq!(*scopes, json!(["once", "session"]));
        assert!(!bench.world.project().join(".stud").exists());
    });
}

#[test]
fn approvals_that_cannot_be_read_approve_nothing() {
    in_both_forms(|bench| {
        bench.trust();
        bench
            .world
            .write("project/.stud/approvals.json", "{ not json");
        let ui = approving(bench, &json!({"scope": "always"}));
        assert_eq!(
            bench
                .headless(&[], r#"!tool gt_run {"command": "ls"}"#)
                .result()["ok"],
            true
        );
        assert_eq!(ui.asked().len(), 1);
        let suppressed = ui.heard("SuppressedError");
        for error in &suppressed {
            stud_observed::covers!(APPROVAL_CACHE_UNAVAILABLE, cause_of(error));
        }
        assert_eq!(suppressed.len(), 2, "it is neither read nor written");
        let kept = std::fs::read_to_string(bench.world.path("project/.stud/approvals.json"));
        assert_eq!(kept.unwrap(), "{ not json");
    });
}

#[test]
fn the_allowlist_decides_without_asking_and_names_the_nearest_pattern() {
    in_both_forms(|bench| {
        let ui = approving(bench, &json!({}));
        let mode = json!({"mode": "allowlist", "allowlist": ["gt_run(git status*)", "gt_run(cargo test)"]});
        bench.settings(&json!({"securityMode": mode}));
        let run = |command: &str| {
            let call = json!({"command": command});
            bench
                .headless(&[], &format!("!tool gt_run {call}"))
                .result()
        };
        assert_eq!(run("git status --short")["ok"], true);
        let denied = run("cargo tes");
        let error = &denied["error"];
        assert_eq!(
            (&error["code"], &error["context"]["code"]),
            (&json!("ApprovalDenied"), &json!("NotOnAllowlist"))
        );
        assert_eq!(
            error["message"],
            "`cargo tes` is not on the allowlist; the nearest entry is `gt_run(cargo test)`; the entry \
             `gt_run(cargo tes)` would allow it"
        );
        assert!(ui.asked().is_empty());
        assert_eq!(bench.audited("Approval")[0]["payload"]["decision"], "deny");
    });
}

#[test]
fn arguments_that_a_transform_changes_are_asked_about_again() {
    in_both_forms(|bench| {
        bench.install("gated-tools", "tools");
        let config = json!({"at": "/args/command", "put": "pwd"});
        bench.hook("script-transform", "change", "TOOL_CALL/pre", config);
        let call = r#"!tool gt_run {"command": "ls"}"#;

        let script = json!({"prompts": {"Approve": [approve(&json!({})), deny()]}});
        let ui = bench.ui("one", &script);
        let result = bench.headless(&[], call).result();
        assert_eq!(result["error"]["context"]["approvalKey"], "pwd");
        assert_eq!(asked_keys(&ui), ["ls", "pwd"]);
        assert!(ui.heard("ToolInvocationStarted").is_empty());

        let ui = bench.ui("two", &json!({}));
        let mode = json!({"mode": "allowlist", "allowlist": ["gt_run(ls)"]});
        bench.settings(&json!({"securityMode": mode}));
        let result = bench.headless(&[], call).result();
        assert_eq!(result["error"]["context"]["code"], "NotOnAllowlist");
        assert!(ui.heard("ToolInvocationStarted").is_empty());
    });
}

#[test]
fn arguments_that_a_transform_changes_have_to_fit_the_schema() {
    in_both_forms(|bench| {
        bench.install("gated-tools", "tools");
        let config = json!({"at": "/args/command", "put": 7});
        bench.hook("script-transform", "change", "TOOL_CALL/pre", config);
        let ear = bench.ear();
        let call = r#"!tool gt_run {"command": "ls"}"#;
        let result = bench.headless(&["--mode", "yolo"], call).result();
        assert_eq!(result["error"]["code"], "InputInvalid");
        assert!(ear.heard("ToolInvocationStarted").is_empty());
    });
}
