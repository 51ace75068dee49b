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
    let mode = json!({"mode": "allowlist", "allowlist": ["gt_run(ls*)", "gt_run(cargo test)"]});
    bench.settings(&json!({"securityMode": mode}));
    let project = json!({"securityMode": {"allowlist": ["gt_run(pwd)", "gt_run(cargo test)"]}});
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
        bench.settings(&json!({"securityMode": {"allowlist": ["gt_run(ls)"]}}));
        let run = bench.headless(&[], "hello");
        assert_eq!(run.status, 1);
        assert!(
            run.stderr
                .contains("error[Validation/AllowlistWithoutMode]"),
            "{run:#?}"
        );
        // A launch that chooses another mode leaves the patterns be, as long as some scope wants them.
        let mode = json!({"mode": "allowlist", "allowlist": ["gt_run(ls)"]});
        bench.settings(&json!({"securityMode": mode}));
        let run = bench.headless(&["--mode", "ask"], "hello");
        assert_eq!(run.answer(), "USER hello");
    });
}

/// What `stud doctor` says of a setting: its value, its scope and its file; and the codes of all problems.
fn effective(bench: &Bench, key: &str) -> (Value, Value, Vec<Value>) {
    let found = bench.world.stud(&["doctor", "--json"]).json();
    let settings = found["settings"].as_array().unwrap();
    let set = settings.iter().find(|set| set["key"] == key).unwrap();
    let problems = found["problems"].as_array().unwrap();
    let problems = problems.iter().map(|problem| problem["code"].clone());
    (
        set["value"].clone(),
        set["scope"].clone(),
        problems.collect(),
    )
}

#[test]
fn a_value_is_that_of_the_highest_scope_and_knows_it() {
    in_both_forms(|bench| {
        let key = "loop.maxContinuations";
        let is = |value: u64, scope: &str| (json!(value), json!(scope), Vec::new());
        assert_eq!(effective(bench, key), is(50, "bundled"));
        bench.settings(&json!({"loop": {"maxContinuations": 7}}));
        assert_eq!(effective(bench, key), is(7, "global"));
        let project = json!({"loop": {"maxContinuations": 8}});
        bench
            .world
            .write("project/.stud/settings.json", project.to_string());
        let (value, scope, problems) = effective(bench, key);
        assert_eq!((value, scope), (json!(7), json!("global")), "not trusted");
        assert_eq!(problems, ["ProjectTrustRequired"]);
        bench.trust();
        assert_eq!(effective(bench, key), is(8, "project"));
    });
}

#[test]
fn a_value_of_the_project_that_cannot_be_used_gives_way_to_the_one_below() {
    in_both_forms(|bench| {
        let key = "loop.maxContinuations";
        bench.settings(&json!({"loop": {"maxContinuations": 7}}));
        let project = json!({"loop": {"maxContinuations": "many"}});
        bench
            .world
            .write("project/.stud/settings.json", project.to_string());
        bench.trust();
        let (value, scope, problems) = effective(bench, key);
        assert_eq!((value, scope), (json!(7), json!("global")));
        assert_eq!(problems, ["SettingsShapeInvalid"]);
        // The session starts, reports the problem, and shows it on request.
        let mut talk = bench.talk(&[]);
        talk.is_asked("`/loop/maxContinuations` is not a whole number of 1 or more");
        talk.say("/health");
        talk.is_asked("\"toScope\": \"global\"");
        assert_eq!(talk.end().0, 0);
        // What the person gets wrong has nothing to give way to.
        std::fs::remove_file(bench.world.path("project/.stud/settings.json")).unwrap();
        bench.settings(&project);
        let run = bench.headless(&[], "hello");
        assert_eq!(run.status, 1);
        assert!(run.stderr.contains("Validation/SettingsShapeInvalid"));
        assert_eq!(bench.world.stud(&["doctor"]).status, 1);
    });
}

#[test]
fn a_config_of_the_project_that_does_not_fit_gives_way_to_the_one_below() {
    in_both_forms(|bench| {
        let own = json!({"color": "never"});
        bench.settings(&json!({"ui": {"line-ui": own}}));
        let project = json!({"ui": {"line-ui": {"color": 5}}});
        bench
            .world
            .write("project/.stud/settings.json", project.to_string());
        bench.trust();
        let (value, scope, problems) = effective(bench, "ui.line-ui");
        assert_eq!((value, scope), (own, json!("global")));
        assert_eq!(problems, ["ConfigSchemaViolation"]);
        let found = bench.world.stud(&["doctor", "--json"]);
        assert_eq!(found.status, 0, "it is a warning");
        let problem = &found.json()["problems"][0];
        assert_eq!(
            problem["context"]["fallback"],
            json!({"toScope": "global", "fromExtensionId": "line-ui"})
        );
        // The session begins all the same, and says so.
        let mut talk = bench.talk(&[]);
        talk.is_asked("Validation/ConfigSchemaViolation");
        talk.say("hello");
        talk.hears("USER hello");
        assert_eq!(talk.end().0, 0);
        // What the person gets wrong has nothing to give way to.
        std::fs::remove_file(bench.world.path("project/.stud/settings.json")).unwrap();
        bench.settings(&json!({"ui": {"line-ui": {"color": 5}}}));
        assert_eq!(bench.world.stud(&["doctor"]).status, 1);
    });
}

#[test]
fn a_key_that_the_extension_did_not_declare_is_unknown() {
    in_both_forms(|bench| {
        bench.settings(&json!({"ui": {"line-ui": {"colour": "never"}}}));
        let found = bench.world.stud(&["doctor", "--json"]);
        assert_eq!(found.status, 1);
        let problem = &found.json()["problems"][0];
        assert_eq!(problem["class"], "Validation");
        assert_eq!(problem["code"], "UnknownConfigKey");
        assert_eq!(problem["extId"], "line-ui");
        assert_eq!(problem["fieldPath"], "/colour");
        assert_eq!(problem["context"]["extId"], "line-ui");
        assert_eq!(problem["context"]["key"], "colour");
        let help = problem["help"].as_array().unwrap();
        assert!(help.contains(&json!("did you mean `color`?")), "{help:?}");
        // One of a project gives way to what is below it.
        bench.settings(&json!({"ui": {"line-ui": {"color": "never"}}}));
        let project = json!({"ui": {"line-ui": {"colour": "never"}}});
        bench
            .world
            .write("project/.stud/settings.json", project.to_string());
        bench.trust();
        let (value, scope, problems) = effective(bench, "ui.line-ui");
        assert_eq!((value, scope), (json!({"color": "never"}), json!("global")));
        assert_eq!(problems, ["UnknownConfigKey"]);
    });
}

#[test]
fn an_entry_for_a_plugin_that_is_not_there_names_the_nearest() {
    in_both_forms(|bench| {
        bench.settings(&json!({"hooks": {"gard-example": {"enabled": true}}}));
        let found = bench.world.stud(&["doctor", "--json"]);
        assert_eq!(found.status, 0, "it is a warning");
        let problem = &found.json()["problems"][0];
        assert_eq!(problem["code"], "ExtensionNotFound");
        assert_eq!(problem["fieldPath"], "/hooks/gard-example");
        assert_eq!(problem["help"][0], "did you mean `guard-example`?");
        // The screen is there in a terminal, and setting it up is no mistake without one.
        bench.settings(&json!({"ui": {"line-ui": {"color": "never"}}}));
        let run = bench.headless(&[], "hello");
        assert_eq!((run.status, &*run.stderr), (0, ""));
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
        // An answered input means that startup is over and every command is registered.
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
